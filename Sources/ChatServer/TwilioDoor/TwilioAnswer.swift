internal import JSON

/// What a tunnelled request is answered with, and what else it leads to.
struct TwilioAnswer: Sendable {
    var status: Int
    var body: [UInt8]
    var headers: [(name: String, value: String)] = []
    /// Feeds whose events are wanted from here on, and in which form.
    var subscribed: [(feed: FeedID, version: Int)] = []
    var cancelled: [FeedID] = []
    /// Notifications that go out before the answer.
    var notifications: [TwilioNotification] = []
    var typing: (Typing, hearers: [String])?

    init(_ status: Int, _ body: [UInt8] = []) {
        self.status = status
        self.body = body
    }

    static func json(_ status: Int = 200, _ write: (inout JSONWriter) -> Void) -> TwilioAnswer {
        var writer = JSONWriter()
        writer.object { write(&$0) }
        return TwilioAnswer(status, writer.bytes)
    }

    /// The service's way to say no.
    static func refusal(_ status: Int, code: Int, _ message: String) -> TwilioAnswer {
        json(status) { writer in
            writer.member("status", status)
            writer.member("code", code)
            writer.member("message", message)
            writer.member("more_info", "https://www.twilio.com/docs/errors/\(code)")
        }
    }

    /// The words that HTTP has for a status.
    static func words(for status: Int) -> String {
        switch status {
        case 200: "OK"
        case 201: "Created"
        case 202: "Accepted"
        case 204: "No Content"
        case 400: "Bad Request"
        case 401: "Unauthorized"
        case 403: "Forbidden"
        case 404: "Not Found"
        case 405: "Method Not Allowed"
        case 409: "Conflict"
        case 412: "Precondition Failed"
        case 413: "Payload Too Large"
        case 429: "Too Many Requests"
        case 503: "Service Unavailable"
        default: status < 400 ? "OK" : "Error"
        }
    }
}

/// Pushed data: its type and its payload.
struct TwilioNotification: Sendable {
    let type: String
    let payload: [UInt8]
}

extension WorldError {
    /// The HTTP status and the code that the service answers with.
    var twilio: (status: Int, code: Int) {
        switch self {
        case .noSuchChannel: (404, 50350)
        case .noSuchMessage: (404, 50300)
        case .noSuchMember: (404, 50402)
        case .noSuchUser: (404, 50200)
        case .noSuchMedia: (404, 20404)
        case .notMember: (403, 50430)
        case .notAllowed, .muted, .frozen, .banned, .blocked: (403, 50107)
        case .alreadyMember: (409, 50433)
        case .nameTaken: (409, 50307)
        case .tooLong: (400, 20001)
        case .tooMany("members", _): (403, 50417)
        case .tooMany: (403, 50214)
        case .invalid: (400, 20001)
        case .tooFast: (429, 50063)
        }
    }
}
