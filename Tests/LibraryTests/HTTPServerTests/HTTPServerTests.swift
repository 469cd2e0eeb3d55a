import Peers
import Testing
import WebSocket

@testable import HTTPServer

/// The server that the scripts expect.
private func withServer(
    limits: HTTPLimits = .init(), _ body: @Sendable (HTTPServer, SocketLoop) async throws -> Void
) async throws {
    let loop = try SocketLoop()
    let server = try await HTTPServer.start(host: "127.0.0.1", port: 0, loop: loop, limits: limits) {
        request in
        switch request.path {
        case "/": .text(200, "ok")
        case "/length": .text(200, String(request.body.count))
        case "/large": .answer(status: 200, body: [UInt8](repeating: 0x78, count: 4 << 20))
        case "/echo":
            .webSocket(subprotocol: nil) { socket in
                while let batch = try? await socket.receive() {
                    guard (try? await socket.send(batch)) != nil else { return }
                }
            }
        default: .text(404, "nothing here")
        }
    }
    let result: Result<Void, any Error>
    do { result = .success(try await body(server, loop)) } catch { result = .failure(error) }
    await server.shutdown(grace: .seconds(1))
    await loop.shutdown(grace: .seconds(1))
    try result.get()
}

private func run(_ part: String, _ server: HTTPServer) async throws {
    let peer = try Peer("bad_client.py", [String(server.port), part])
    let (status, output) = await peer.finish()
    #expect(output == [])
    #expect(status == 0)
}

@Suite(.timeLimit(.minutes(3))) struct BadClients {
    @Test(arguments: ["requests", "limits", "frames"])
    func `each mistake of a client gets its answer, and the next client its own`(_ part: String) async throws
    {
        try await withServer { server, _ in try await run(part, server) }
    }

    @Test func `slow clients are hung up on`() async throws {
        var limits = HTTPLimits()
        limits.headWithin = .seconds(1)
        limits.bodyWithin = .seconds(1)
        try await withServer(limits: limits) { server, _ in try await run("slow", server) }
    }

    @Test(arguments: ["fuzz-requests", "fuzz-frames"])
    func `damaged input leaves the server answering and idle`(_ part: String) async throws {
        try await withServer { server, _ in
            try await run(part, server)
            #expect(await busyThreads() == [])
        }
    }
}
