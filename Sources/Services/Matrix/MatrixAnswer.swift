internal import Chat
internal import HTTP
internal import JSON

/// What a homeserver answered.
struct MatrixAnswer: Sendable {
    let status: Int
    let body: [UInt8]
    /// `M_FORBIDDEN` and the like; nil where there is none.
    let code: String?
    private let words: String?
    /// With an expired token: log in again as the same device.
    let isSoftLogout: Bool
    /// How long the server wants us to wait.
    let retryAfter: Duration?

    init(_ answer: IncomingAnswer) {
        status = answer.status
        body = answer.body
        guard !(200..<300).contains(answer.status) else {
            code = nil
            words = nil
            isSoftLogout = false
            retryAfter = nil
            return
        }
        let error = try? JSON(parsing: answer.body)
        code = error?["errcode"]?.string
        words = error?["error"]?.string
        isSoftLogout = error?["soft_logout"]?.bool ?? false
        // The header is the newer one; both say the same.
        let seconds = answer.header("retry-after").flatMap { Double($0) }
        let milliseconds = error?["retry_after_ms"]?.double ?? seconds.map { $0 * 1000 }
        retryAfter = milliseconds.map { .milliseconds(Int64(min(max($0.isFinite ? $0 : 0, 0), 3_600_000))) }
    }

    var isFine: Bool { (200..<300).contains(status) }

    var isLimit: Bool { status == 429 || code == "M_LIMIT_EXCEEDED" }

    var isUnknownToken: Bool { status == 401 && code != "M_USER_LOCKED" }

    /// The body as a tree; null when it is none.
    var json: JSON { (try? JSON(parsing: body)) ?? .null }

    /// The answer in words, for people.
    var reason: String {
        let parts = [code, words.map { String($0.prefix(300)) }].compactMap(\.self)
        return parts.isEmpty ? "the server answered \(status)" : parts.joined(separator: ": ")
    }
}

/// Why a request to a homeserver came to nothing.
enum MatrixFailure: Error {
    /// No answer.
    case silent(String, mayHaveArrived: Bool)
    /// An answer, but of no homeserver.
    case foreign(String, mayHaveArrived: Bool)
    /// An answer, and not the one that was wanted.
    case refused(MatrixAnswer)
    /// There is no token to ask with.
    case noToken(LoginFailure)

    var reason: String {
        switch self {
        case .silent(let why, _), .foreign(let why, _): why
        case .refused(let answer): answer.reason
        case .noToken(let failure): failure.description
        }
    }

    var answer: MatrixAnswer? {
        if case .refused(let answer) = self { answer } else { nil }
    }

    /// Asking again will give the same.
    var isFinal: Bool {
        guard case .refused(let answer) = self else { return false }
        return (400..<500).contains(answer.status) && !answer.isLimit && answer.status != 401
            && answer.status != 408
    }
}

/// Why there is no token: a case for each reaction.
struct LoginFailure: Error, Equatable, CustomStringConvertible {
    enum Reaction: Equatable {
        /// Asking again may help, no sooner than after the pause.
        case again(after: Duration?)
        /// Somebody has to act.
        case never
    }

    let reaction: Reaction
    let description: String

    init(_ reaction: Reaction, _ description: String) {
        self.reaction = reaction
        self.description = description
    }
}
