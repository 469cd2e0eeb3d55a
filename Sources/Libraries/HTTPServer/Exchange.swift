import WebSocket

/// One request and its answer, as libmicrohttpd's thread sees them. Only `reply` comes from elsewhere.
final class Exchange {
    enum Stage {
        case head
        case body
        /// Nothing more of it comes; libmicrohttpd has to go round once before the handler may run.
        case whole
        /// Suspended until `reply` is there.
        case handling
        case answered
    }

    /// The request line's target, as it came.
    let target: String
    var stage = Stage.head
    var method = ""
    /// HTTP/1.1, not 1.0.
    var isModern = false
    var headers: [(name: String, value: String)] = []
    var body: [UInt8] = []
    /// Bytes of the body that were thrown away.
    var surplus = 0
    var client: Client?
    var id: UInt64 = 0
    let reply = Guarded<HTTPReply?>(nil)
    /// What is to happen once the socket is ours.
    var upgrade: Upgrade?

    struct Upgrade {
        let subprotocol: String?
        let serve: @Sendable (WebSocket) async -> Void
    }

    init(target: String) {
        self.target = target
    }

    func request() -> HTTPRequest {
        let body = self.body
        self.body = []
        return HTTPRequest(
            method: method, target: target, headers: headers, body: body, remote: client?.remote ?? "unknown")
    }
}

/// A connection, for as long as libmicrohttpd knows it.
final class Client {
    let descriptor: Int32
    let remote: String
    var isUpgraded = false

    init(descriptor: Int32, remote: String) {
        self.descriptor = descriptor
        self.remote = remote
    }
}
