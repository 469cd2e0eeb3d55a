internal import JSON

/// Why Sendbird's clients are told no: a code of theirs, and words.
struct SendbirdRefusal: Error, Equatable {
    var code: Int
    var message: String
    /// The status of an answer over HTTP; most are 400, whatever the reason.
    var status = 400
    /// Seconds after which it is worth another try.
    var retryAfter: Int?

    init(_ code: Int, _ message: String, status: Int = 400, retryAfter: Int? = nil) {
        self.code = code
        self.message = message
        self.status = status
        self.retryAfter = retryAfter
    }

    static func missing(_ name: String) -> SendbirdRefusal { .init(400105, "\"\(name)\" is missing.") }
    static let notAuthorized = SendbirdRefusal(400108, "Not authorized.")
    static let wrongToken = SendbirdRefusal(400302, "Invalid access token.")
    static let notFound = SendbirdRefusal(400201, "There is no such thing.")

    /// What the world said, in the codes for commands on a socket or for requests over HTTP.
    init(_ error: WorldError, onSocket: Bool) {
        let code: Int
        switch error {
        case .noSuchChannel: code = onSocket ? 900500 : 400201
        case .noSuchMessage: code = onSocket ? 900300 : 400201
        case .noSuchUser: code = onSocket ? 400301 : 400201
        case .noSuchMember, .noSuchMedia: code = 400201
        case .notMember: code = 900020
        case .notAllowed(.editAnyMessage), .notAllowed(.editAnyMessageAttributes): code = 900022
        case .notAllowed(.sendMessage), .notAllowed(.sendMediaMessage): code = 900023
        case .notAllowed: code = 400108
        case .alreadyMember, .nameTaken: code = 400202
        case .tooLong: code = 400110
        case .tooMany("members", _): code = onSocket ? 900400 : 400203
        case .tooMany: code = 400203
        case .invalid: code = 400111
        case .tooFast: code = onSocket ? 900200 : 500910
        case .muted: code = 900041
        case .frozen: code = 900050
        case .banned: code = onSocket ? 900100 : 400750
        case .blocked: code = 900080
        }
        self.init(code, "\(error)", status: code == 500910 ? 429 : 400, retryAfter: code == 500910 ? 1 : nil)
    }

    var json: [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("error", true)
            writer.member("code", code)
            writer.member("message", message)
        }
        return writer.bytes
    }
}
