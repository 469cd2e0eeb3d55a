/// How much a socket may hold and how long it may take.
package struct SocketLimits: Sendable {
    /// Bytes of one message; a larger one ends the socket with 1009.
    package var message = 8 << 20
    /// Messages that wait for `receive`; at the bound we stop reading from the peer.
    package var inboxMessages = 1_000
    /// Bytes that wait for `receive`.
    package var inboxBytes = 8 << 20
    /// Bytes that wait to be written; beyond it `send` waits.
    package var outbox = 1 << 20
    /// Silence after which the peer is pinged; nil: never.
    package var pingAfter: Duration?
    /// Silence after a ping that means the peer is gone.
    package var hangUpAfter = Duration.seconds(15)
    /// How long the peer may take to say goodbye.
    package var closeWithin = Duration.seconds(3)

    package init() {}

    /// For sockets others opened to us: idle ones are pinged.
    package static var server: SocketLimits {
        var limits = SocketLimits()
        limits.pingAfter = .seconds(25)
        return limits
    }
}
