import HTTP
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
        case "/smuggle": .text(200, "", headers: [("X-One", "1\r\nX-More: 2")])
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

    @Test func `clients that leave in the middle of a request make room at once`() async throws {
        var limits = HTTPLimits()
        limits.connections = 20
        try await withServer(limits: limits) { server, _ in try await run("leaving", server) }
    }

    @Test func `clients that send a whole request and nothing more have their answer`() async throws {
        try await withServer { server, _ in try await run("half-closing", server) }
    }

    @Test(arguments: ["fuzz-requests", "fuzz-frames"])
    func `damaged input leaves the server answering and idle`(_ part: String) async throws {
        try await withServer { server, _ in
            try await run(part, server)
            #expect(await busyThreads() == [])
        }
    }
}

@Suite(.timeLimit(.minutes(1))) struct Serving {
    @Test func `what cannot be listened on is named`() async throws {
        let loop = try SocketLoop()
        let first = try await HTTPServer.start(host: "127.0.0.1", port: 0, loop: loop) { _ in .text(200, "") }
        let inUse = await #expect(throws: HTTPServerError.self) {
            _ = try await HTTPServer.start(host: "127.0.0.1", port: first.port, loop: loop) { _ in
                .text(200, "")
            }
        }
        #expect(
            inUse
                == HTTPServerError(
                    kind: .addressInUse,
                    text: "cannot listen on 127.0.0.1:\(first.port): address already in use"))
        let elsewhere = await #expect(throws: HTTPServerError.self) {
            _ = try await HTTPServer.start(host: "192.0.2.1", port: 0, loop: loop) { _ in .text(200, "") }
        }
        #expect(elsewhere?.kind == .badAddress)
        await first.shutdown(grace: .zero)
        await loop.shutdown(grace: .zero)
    }

    @Test func `stopping waits for answers in the making, and refuses new connections`() async throws {
        let loop = try SocketLoop()
        let (arrivals, arrived) = AsyncStream.makeStream(of: Void.self)
        let (goes, go) = AsyncStream.makeStream(of: Void.self)
        let server = try await HTTPServer.start(host: "127.0.0.1", port: 0, loop: loop) { request in
            if request.path == "/probe" { return .text(200, "") }
            arrived.yield()
            for await _ in goes { break }
            return .text(200, "in time")
        }
        let client = HTTPClient()
        let url = "http://127.0.0.1:\(server.port)/"
        async let answer = client.send(OutgoingRequest(url: url))
        for await _ in arrivals { break }
        async let stopped: Void = server.shutdown(grace: .seconds(30))
        // Refused once the listener is closed.
        let other = HTTPClient()
        let probe = OutgoingRequest(url: url + "probe", headers: [("Connection", "close")])
        while (try? await other.send(probe)) != nil {}
        await other.shutdown()
        go.yield()
        let body = try await answer.body
        #expect(body == Array("in time".utf8))
        await stopped
        await client.shutdown()
        await loop.shutdown(grace: .zero)
    }

    @Test func `a handler that does not end is cancelled when the grace is over, and its client told`()
        async throws
    {
        let loop = try SocketLoop()
        let (arrivals, arrived) = AsyncStream.makeStream(of: Void.self)
        let server = try await HTTPServer.start(host: "127.0.0.1", port: 0, loop: loop) { _ in
            arrived.yield()
            try? await Task.sleep(for: .seconds(600))
            return .text(200, "late")
        }
        let client = HTTPClient()
        async let answer = client.send(OutgoingRequest(url: "http://127.0.0.1:\(server.port)/"))
        for await _ in arrivals { break }
        await server.shutdown(grace: .milliseconds(50))
        let status = try await answer.status
        #expect(status == 503 || status == 200)
        await client.shutdown()
        await loop.shutdown(grace: .zero)
    }

    @Test func `a header of the program's cannot smuggle another one in`() async throws {
        try await withServer { server, _ in
            let client = HTTPClient()
            let answer = try await client.send(
                OutgoingRequest(url: "http://127.0.0.1:\(server.port)/smuggle"))
            #expect(answer.status == 500)
            #expect(answer.header("X-More") == nil)
            await client.shutdown()
        }
    }

    @Test func `at the limit of connections the next one waits its turn`() async throws {
        var limits = HTTPLimits()
        limits.connections = 2
        try await withServer(limits: limits) { server, _ in
            let url = "http://127.0.0.1:\(server.port)/"
            await withTaskGroup { group in
                for _ in 0..<20 {
                    group.addTask {
                        let client = HTTPClient()
                        let answer = try? await client.send(OutgoingRequest(url: url))
                        #expect(answer?.body == Array("ok".utf8))
                        await client.shutdown()
                    }
                }
            }
        }
    }

    @Test func `a target is taken apart and decoded piece by piece`() throws {
        let request = HTTPRequest(method: "GET", target: "/a%2Fb//c%zz?x=%26&y=1+1&=3&z")
        #expect(request.path == "/a%2Fb//c%zz")
        #expect(request.segments == ["a/b", "c%zz"])
        #expect(request.query.map(\.name) == ["x", "y", "", "z"])
        #expect(request.query.map(\.value) == ["&", "1 1", "3", ""])
        #expect(request.parameter("y") == "1 1")
        #expect(
            HTTPRequest(method: "POST", target: "/", body: Array("a=1&b=%20".utf8)).form.map(\.value) == [
                "1", " ",
            ])
    }
}
