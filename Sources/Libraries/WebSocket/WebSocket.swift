/// A WebSocket, whichever side opened it. Any task may use it; letting go of it hangs up.
package final class WebSocket: Sendable {
    /// What both sides agreed to speak.
    package let subprotocol: String?
    /// The other end: `host:port`.
    package let peer: String
    let link: SocketLink

    init(link: SocketLink, subprotocol: String?, peer: String) {
        self.link = link
        self.subprotocol = subprotocol
        self.peer = peer
    }

    deinit { link.letGo() }

    /// All messages that have arrived, at least one, in order; nil when the socket is over (see `end`).
    /// Throws `CancellationError` when the task is cancelled; nothing is lost then.
    package func receive() async throws -> [SocketMessage]? {
        try await link.receive()
    }

    /// Queues a message; waits while too much is queued already. Messages of one task arrive in order.
    /// When it throws, the message was not queued.
    package func send(_ message: SocketMessage) async throws(WebSocketError) {
        try await link.send([message])
    }

    /// Queues several messages at once, with nothing between them.
    package func send(_ messages: [SocketMessage]) async throws(WebSocketError) {
        try await link.send(messages)
    }

    /// Queues a message unless that would mean waiting; false when the queue is full or the socket closed.
    package func offer(_ message: SocketMessage) -> Bool {
        link.offer([message])
    }

    /// Starts the closing handshake once all that is queued has left, and returns at once.
    /// `code` is 1000 to 1003, 1007 to 1014 or 3000 to 4999; another one becomes 1000.
    package func close(code: UInt16 = 1000, reason: String = "") {
        link.close(code: isCloseCode(code) ? code : 1000, reason: reason)
    }

    /// Drops the connection without a word.
    package func kill() {
        link.kill()
    }

    /// Why it is over; nil while it is not.
    package var end: WebSocketEnd? { link.end }
}

extension WebSocket {
    /// Takes over a socket on which the server's handshake has been answered. `early` is what the client sent behind
    /// it. The loop calls `release` once, when it no longer uses the descriptor.
    package static func adopt(
        _ descriptor: Int32, early: [UInt8], subprotocol: String?, peer: String,
        limits: SocketLimits = .server, on loop: SocketLoop, release: @escaping @Sendable () -> Void
    ) -> WebSocket {
        let link = SocketLink(mailbox: loop.mailbox, limits: limits, masks: false)
        let arrival = SocketArrival(
            link: link, transport: .descriptor(descriptor, release: release), early: early)
        if !loop.mailbox.put(.socket(arrival)) { arrival.refuse() }
        return WebSocket(link: link, subprotocol: subprotocol, peer: peer)
    }
}
