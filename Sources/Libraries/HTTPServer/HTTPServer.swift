package import WebSocket

/// Answers HTTP/1.1 requests and takes WebSockets.
package final class HTTPServer: Sendable {
    package let port: UInt16
    private let core: ServerCore

    private init(core: ServerCore, port: UInt16) {
        self.core = core
        self.port = port
    }

    deinit { core.letGo() }

    /// Listens, on a free port when `port` is 0, until `shutdown`. `handler` runs in a task per request, many at once;
    /// requests of one connection come one after the other. WebSockets live on `loop`, which must outlive the server.
    /// `onShortage` is told why nobody can be let in for now, once a minute at most, and must be quick.
    package static func start(
        host: String, port: UInt16, loop: SocketLoop, limits: HTTPLimits = .init(),
        onShortage: @escaping @Sendable (String) -> Void = { _ in },
        handler: @escaping @Sendable (HTTPRequest) async -> HTTPReply
    ) async throws(HTTPServerError) -> HTTPServer {
        let started: Result<HTTPServer, HTTPServerError>? = await onThread("listen") {
            do throws(HTTPServerError) {
                let listener = try listen(host: host, port: port)
                let core = ServerCore(
                    loop: loop, limits: limits, onShortage: onShortage, handler: handler)
                try core.open(listener.descriptor)
                return .success(.init(core: core, port: listener.port))
            } catch {
                return .failure(error)
            }
        }
        guard let started else {
            throw HTTPServerError(kind: .exhausted, text: "cannot start the server: no more threads")
        }
        return try started.get()
    }

    /// Takes no more connections, says goodbye (1001) on every WebSocket, and waits for handlers and sockets, at most
    /// for `grace`; then their tasks are cancelled and the clients get 503. May be called again, and by several at once.
    package func shutdown(grace: Duration) async {
        await core.shutdown(grace: grace)
    }
}
