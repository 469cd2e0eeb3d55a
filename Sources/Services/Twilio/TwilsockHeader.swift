internal import JSON

/// What a frame's header says that the client acts on. Source of the names: Twilio's own clients.
enum TwilsockHeader {
    case notification(type: MessageType, payloadSize: Int64)
    case reply(TwilsockReply, payloadSize: Int64)
    case close(TwilsockStatus, payloadSize: Int64)
    case clientUpdate(type: String)
    /// A ping, or something that we do not know; acknowledged like everything.
    case other

    enum MessageType { case sync, typing, other }

    private static let keys = JSONKeys("method", "id", "message_type", "payload_size")

    /// `id` is what an acknowledgement names.
    init(_ node: JSONNode, id: inout JSONNode?) {
        let fields = node.fields(Self.keys)
        id = fields[1]
        let size = fields[3]?.int ?? 0
        guard let method = fields[0]?.utf8 else {
            self = .other
            return
        }
        if method.isEqual(to: "notification") {
            self = .notification(type: MessageType(fields[2]), payloadSize: size)
        } else if method.isEqual(to: "reply") {
            self = .reply(TwilsockReply(node), payloadSize: size)
        } else if method.isEqual(to: "close") {
            self = .close(TwilsockStatus(node["status"]), payloadSize: size)
        } else if method.isEqual(to: "client_update") {
            self = .clientUpdate(type: node["client_update_type"]?.string ?? "")
        } else {
            self = .other
        }
    }
}

extension TwilsockHeader.MessageType {
    init(_ node: JSONNode?) {
        guard let name = node?.utf8 else {
            self = .other
            return
        }
        if name.hasPrefix("com.twilio.rtd.cds.") || name.isEqual(to: "twilio.sync.event") {
            self = .sync
        } else if name.isEqual(to: "twilio.ipmsg.typing_indicator") {
            self = .typing
        } else {
            self = .other
        }
    }
}

/// How the transport fared; 200 to 299 is well.
package struct TwilsockStatus: Sendable, Equatable, CustomStringConvertible {
    package var code: Int
    package var text: String
    package var errorCode: Int?
    package var details: String?

    init(_ node: JSONNode?) {
        code = Int(node?["code"]?.int ?? 0)
        text = node?["status"]?.string ?? ""
        errorCode = (node?["errorCode"]?.int).map(Int.init)
        details = node?["description"]?.string
    }

    package var isFine: Bool { (200..<300).contains(code) }

    package var description: String {
        var words = errorCode.map { "\(code), error \($0)" } ?? "\(code)"
        if let details = details ?? (text.isEmpty ? nil : text) { words += ": \(details)" }
        return words
    }
}

/// The answer to a frame of ours.
package struct TwilsockReply: Sendable {
    package var id: String
    package var status: TwilsockStatus
    /// What the service behind the transport said; nil when it was not asked.
    package var httpStatus: Int?
    package var headers: [(name: String, value: String)] = []
    package var continuationToken: String?
    package var payload: [UInt8] = []

    init(_ node: JSONNode) {
        id = node["id"]?.string ?? ""
        status = TwilsockStatus(node["status"])
        httpStatus = (node["http_status"]?["code"]?.int).map(Int.init)
        if let fields = node["http_headers"] {
            for (name, value) in fields.members {
                if let value = value.string ?? value[0]?.string { headers.append((name, value)) }
            }
        }
        continuationToken = node["continuation_token"]?.string
    }

    /// How long the server wants us to stay away, from the payload's back-off policy: between these.
    package var backoff: ClosedRange<Duration>? { Self.backoff(in: payload) }

    static func backoff(in payload: [UInt8]) -> ClosedRange<Duration>? {
        guard !payload.isEmpty, let policy = (try? JSON(parsing: payload))?["backoff_policy"],
            let least = policy["reconnect_min_ms"]?.int, least >= 0
        else { return nil }
        // Nobody means more than an hour.
        let from = min(least, 3_600_000)
        let to = min(max(policy["reconnect_max_ms"]?.int ?? from, from), 3_600_000)
        return .milliseconds(from) ... .milliseconds(to)
    }
}
