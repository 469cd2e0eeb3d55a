/// Why a WebSocket could not be opened, or cannot be used any more.
package struct WebSocketError: Error, CustomStringConvertible, Equatable {
    package enum Kind: Sendable, Equatable {
        /// The server answered the upgrade with this status instead of 101.
        case refused(status: Int)
        case unreachable
        /// The server's certificate is not to be trusted, or no common way to encrypt.
        case tls
        case timeout
        /// The peer does not speak WebSocket as it should.
        case protocolError
        /// The socket, or the loop under it, is over.
        case closed
        case tooLarge
        case cancelled
        /// The address, a header or a subprotocol cannot be used.
        case invalid
        /// The system has no more threads or descriptors.
        case exhausted
    }

    package let kind: Kind
    package let text: String
    /// How long the refusing server asks us to stay away.
    package let retryAfter: Duration?

    package init(_ kind: Kind, _ text: String, retryAfter: Duration? = nil) {
        self.kind = kind
        self.text = text
        self.retryAfter = retryAfter
    }

    package var description: String { text }

    static let closed = WebSocketError(.closed, "the socket is closed")
    static let cancelled = WebSocketError(.cancelled, "cancelled")
}

/// Why a socket is over.
package struct WebSocketEnd: Sendable, Equatable {
    /// The close code: the peer's, or 1005 when it gave none, 1006 when it left without a word,
    /// or ours when we hung up on a mistake.
    package let code: UInt16
    package let reason: String
    /// Both sides said goodbye.
    package let wasClean: Bool

    package init(code: UInt16, reason: String, wasClean: Bool) {
        self.code = code
        self.reason = reason
        self.wasClean = wasClean
    }

    static func lost(_ reason: String) -> WebSocketEnd { .init(code: 1006, reason: reason, wasClean: false) }
}
