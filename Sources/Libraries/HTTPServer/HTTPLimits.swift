package import WebSocket

/// How much a client may send and how long it may take.
package struct HTTPLimits: Sendable {
    /// Connections at a time, WebSockets among them; more wait in the system's queue.
    package var connections = 4_096
    /// Bytes of request line and fields; more is answered with 431.
    package var head = 32 << 10
    /// Fields of a request; more is answered with 431.
    package var fields = 200
    /// Bytes of a body; more is answered with 413.
    package var body = 10 << 20
    /// From the connection, or the answer before, until a head is whole. Idle connections end after it, too.
    package var headWithin = Duration.seconds(60)
    /// From the head until the body is whole.
    package var bodyWithin = Duration.seconds(60)
    /// From the answer's begin until the client has taken it.
    package var answerWithin = Duration.seconds(300)
    /// Without any byte moved, whatever else is allowed; whole seconds.
    package var stalledFor = Duration.seconds(60)
    package var sockets = SocketLimits.server

    package init() {}
}
