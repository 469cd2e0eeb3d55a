import HTTPServer
import Testing

@testable import WebSocket

/// A server that says everything back, and a client's way to it.
func withEcho<Result: Sendable>(
    limits: HTTPLimits = .init(), _ body: @Sendable (_ url: String, _ loop: SocketLoop) async throws -> Result
) async throws -> Result {
    let loop = try SocketLoop()
    let server = try await HTTPServer.start(host: "127.0.0.1", port: 0, loop: loop, limits: limits) { _ in
        .webSocket(subprotocol: nil) { socket in
            while let batch = try? await socket.receive() {
                guard (try? await socket.send(batch)) != nil else { return }
            }
        }
    }
    do {
        let result = try await body("ws://127.0.0.1:\(server.port)/echo", loop)
        await server.shutdown(grace: .seconds(5))
        await loop.shutdown(grace: .seconds(5))
        return result
    } catch {
        await server.shutdown(grace: .zero)
        await loop.shutdown(grace: .zero)
        throw error
    }
}

@Suite(.timeLimit(.minutes(1))) struct WebSockets {
    @Test func `messages go there and come back in order`() async throws {
        try await withEcho { url, loop in
            let socket = try await WebSocket.connect(to: url, on: loop)
            let sent =
                (0..<500).map { SocketMessage.text("message \($0)") } + [.binary([0, 255, 7]), .text("")]
            for message in sent { try await socket.send(message) }
            var received: [SocketMessage] = []
            while received.count < sent.count, let batch = try await socket.receive() { received += batch }
            #expect(received == sent)
            socket.close(code: 4000, reason: "enough")
            while try await socket.receive() != nil {}
            #expect(socket.end == WebSocketEnd(code: 4000, reason: "", wasClean: true))
        }
    }

    @Test func `five megabytes are echoed`() async throws {
        try await withEcho { url, loop in
            let socket = try await WebSocket.connect(to: url, on: loop)
            let large = (0..<5_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
            try await socket.send(.binary(large))
            #expect(try await socket.receive() == [.binary(large)])
        }
    }
}
