internal import Chat
internal import JSON

/// A command or request that was not answered as it should be.
enum SendbirdFailure: ConnectionFailure, Sendable {
    /// Nothing was sent.
    case notConnected(String)
    /// Sent; whether it was done is unknown.
    case unknown(String)
    /// The service said no.
    case refused(SendbirdRefusal)

    var reason: String {
        switch self {
        case .notConnected(let why), .unknown(let why): why
        case .refused(let refusal): refusal.description
        }
    }

    var code: Int64? {
        guard case .refused(let refusal) = self else { return nil }
        return refusal.code
    }

    /// Whether the connection as such is of no more use.
    var isOfConnection: Bool {
        switch self {
        case .notConnected, .unknown: true
        case .refused: false
        }
    }

    /// Whether waiting may help, when it is only read.
    var mayPass: Bool {
        guard case .refused(let refusal) = self else { return false }
        return refusal.mayPass
    }

    /// What it means for the action it was part of.
    func asError(repeatsFreely: Bool) -> ChatServiceError {
        switch self {
        case .notConnected(let why): .unreachable(why)
        case .unknown(let why): .unknownOutcome(why)
        case .refused(let refusal):
            if refusal.isAboutSession {
                .unauthorized(refusal.description)
            } else if refusal.isTooMuch {
                .rateLimited(after: refusal.pause ?? .seconds(1), refusal.description)
            } else if refusal.mayPass {
                // Whoever answers so may not know how far it came.
                repeatsFreely
                    ? .rateLimited(after: refusal.pause ?? .seconds(1), refusal.description)
                    : .unknownOutcome(refusal.description)
            } else {
                .rejected(refusal.description)
            }
        }
    }
}

/// What the service says when it does not do something: an EROR command, or an answer over HTTP.
struct SendbirdRefusal: Sendable, Equatable, CustomStringConvertible {
    var code: Int64
    var message: String
    /// Of an answer over HTTP.
    var status: Int?
    /// How long it wants us to wait.
    var pause: Duration?

    init(code: Int64, message: String, status: Int? = nil, pause: Duration? = nil) {
        self.code = code
        self.message = message
        self.status = status
        self.pause = pause
    }

    init(_ node: JSONNode) {
        code = node["code"]?.number ?? 0
        message = node["message"]?.string ?? ""
    }

    var description: String {
        let number = code != 0 ? "\(code)" : status.map { "HTTP \($0)" } ?? "refused"
        let words = message.isEmpty ? Self.words[code] ?? "" : message
        return words.isEmpty ? number : "\(number): \(words)"
    }

    // Source of the codes: the behaviour of Sendbird's clients.

    /// The session's key has ended, and the token may give another.
    var isSessionEnd: Bool { code == 400309 || code == 400303 }
    /// The token is not wanted; another may be.
    var isTokenRefusal: Bool { code == 400302 }
    var isAboutSession: Bool { isSessionEnd || isTokenRefusal || code == 400401 }
    /// No token helps: the user or the application is not there any more, or the token was taken back.
    var isFinal: Bool { [400300, 400301, 400304, 400305, 400310, 900021].contains(code) }
    /// The service has no such thing.
    var isMissing: Bool { code == 400201 || code == 900500 || code == 900300 || code == 900070 }
    var isTooMuch: Bool { status == 429 || code == 500910 || code == 900200 }
    /// All else is refused again the next time.
    var mayPass: Bool {
        isTooMuch || code == 500901 || code == 503 || status == 408 || (code == 0 && (status ?? 0) >= 500)
            || (status ?? 0) >= 502
    }

    private static let words: [Int64: String] = [
        400108: "we are no operator there", 400300: "the user is deactivated",
        400301: "there is no such user",
        400302: "the token is not valid", 400309: "the session has ended", 400310: "the token was revoked",
        900041: "we are muted there", 900050: "the channel is frozen", 900100: "we are banned there",
    ]
}
