import HTTPServer
import Testing

@testable import WebSocket

/// A client and the server's side of the same socket; the test plays both.
private func withPair<Result: Sendable>(
    client limits: SocketLimits = .init(), server serverLimits: SocketLimits = .server,
    _ body: @Sendable (_ client: WebSocket, _ server: WebSocket, SocketLoop) async throws -> Result
) async throws -> Result {
    let loop = try SocketLoop()
    let (sockets, sink) = AsyncStream.makeStream(of: WebSocket.self)
    var http = HTTPLimits()
    http.sockets = serverLimits
    let server = try await HTTPServer.start(host: "127.0.0.1", port: 0, loop: loop, limits: http) { _ in
        .webSocket(subprotocol: nil) { socket in
            sink.yield(socket)
            // The test reads; here we only wait until it is over.
            while socket.end == nil { try? await Task.sleep(for: .milliseconds(5)) }
        }
    }
    let result: Swift.Result<Result, any Error>
    do {
        let client = try await WebSocket.connect(
            to: "ws://127.0.0.1:\(server.port)/", limits: limits, on: loop)
        var iterator = sockets.makeAsyncIterator()
        let other = try #require(await iterator.next())
        result = .success(try await body(client, other, loop))
        client.kill()
    } catch {
        result = .failure(error)
    }
    await server.shutdown(grace: .seconds(5))
    await loop.shutdown(grace: .seconds(5))
    return try result.get()
}

@Suite(.timeLimit(.minutes(1))) struct Pressure {
    @Test func `a sender waits for a slow reader, little is held, and nothing is lost`() async throws {
        try await withPair { client, server, _ in
            let piece = [UInt8](repeating: 1, count: 100_000)
            // Far more than inbox, outbox and the system's own buffers hold together.
            var offered = 0
            while offered < 2_000, server.offer(.binary(piece)) { offered += 1 }
            // The loop moves on meanwhile, so offer until it has been refused for good.
            var refusals = 0
            while refusals < 100, offered < 2_000 {
                if server.offer(.binary(piece)) {
                    offered += 1; refusals = 0
                } else {
                    refusals += 1
                    try await Task.sleep(for: .milliseconds(2))
                }
            }
            #expect(offered < 500)
            let waiting = Task { try await server.send(.text("after the flood")) }
            var received = 0
            var last: SocketMessage?
            while received <= offered, let batch = try await client.receive() {
                received += batch.count
                last = batch.last
            }
            #expect(received == offered + 1)
            #expect(last == .text("after the flood"))
            try await waiting.value
        }
    }

    @Test func `a waiting sender ends when cancelled or when the socket ends`() async throws {
        try await withPair { client, server, _ in
            let piece = [UInt8](repeating: 1, count: 1 << 20)
            let flood = Task { () async throws -> Void in
                while true { try await server.send(.binary(piece)) }
            }
            // Full once an offer is refused.
            while server.offer(.binary(piece)) { await Task.yield() }
            flood.cancel()
            await #expect(throws: WebSocketError.cancelled) { try await flood.value }
            let second = Task { () async throws -> Void in
                while true { try await server.send(.binary(piece)) }
            }
            client.kill()
            await #expect(throws: WebSocketError.closed) { try await second.value }
        }
    }

    @Test func `a message larger than the bound goes through alone`() async throws {
        try await withPair { client, server, _ in
            let large = [UInt8](repeating: 9, count: 6_000_000)
            #expect(client.offer(.binary(large)))
            let received = try await server.receive()
            #expect(received == [.binary(large)])
        }
    }

    @Test func `a message over the limit ends the socket with 1009`() async throws {
        var limits = SocketLimits.server
        limits.message = 1_000
        try await withPair(server: limits) { client, server, _ in
            try await client.send(.binary([UInt8](repeating: 9, count: 1_001)))
            #expect(try await client.receive() == nil)
            #expect(client.end?.code == 1009)
            #expect(server.end?.wasClean == false)
        }
    }

    @Test func `receiving ends when its task is cancelled, and loses nothing`() async throws {
        try await withPair { client, server, _ in
            for _ in 0..<50 {
                let reader = Task { try await client.receive() }
                await Task.yield()
                reader.cancel()
                await #expect(throws: CancellationError.self) { _ = try await reader.value }
            }
            try await server.send(.text("here"))
            #expect(try await client.receive() == [.text("here")])
        }
    }

    @Test func `what came before a goodbye is read, then the end`() async throws {
        try await withPair { client, server, _ in
            for number in 0..<100 { try await server.send(.text("\(number)")) }
            server.close(code: 4000, reason: "that was all")
            #expect(!server.offer(.text("more")))
            var received: [SocketMessage] = []
            while let batch = try await client.receive() { received += batch }
            #expect(received == (0..<100).map { .text("\($0)") })
            #expect(client.end == WebSocketEnd(code: 4000, reason: "that was all", wasClean: true))
            #expect(try await server.receive() == nil)
            #expect(server.end?.wasClean == true)
        }
    }

    @Test func `a goodbye that is not answered ends after its time`() async throws {
        var limits = SocketLimits()
        limits.closeWithin = .milliseconds(100)
        // The server's inbox is full, so it does not come to our goodbye.
        var server = SocketLimits.server
        server.inboxMessages = 1
        try await withPair(client: limits, server: server) { client, _, _ in
            try await client.send(.text("one"))
            for _ in 0..<5 { try await client.send(.binary([UInt8](repeating: 1, count: 100_000))) }
            client.close()
            #expect(try await client.receive() == nil)
            #expect(client.end == .lost("the peer did not say goodbye"))
        }
    }

    @Test func `idle clients are pinged and stay`() async throws {
        var limits = SocketLimits.server
        limits.pingAfter = .milliseconds(20)
        limits.hangUpAfter = .milliseconds(5_000)
        try await withPair(server: limits) { client, server, _ in
            try await Task.sleep(for: .milliseconds(200))
            #expect(server.end == nil)
            try await server.send(.text("still here"))
            #expect(try await client.receive() == [.text("still here")])
        }
    }

    @Test func `a socket let go of hangs up`() async throws {
        let loop = try SocketLoop()
        let (ends, sink) = AsyncStream.makeStream(of: WebSocketEnd?.self)
        let server = try await HTTPServer.start(host: "::1", port: 0, loop: loop) { _ in
            .webSocket(subprotocol: nil) { socket in
                while let batch = try? await socket.receive() { _ = batch }
                sink.yield(socket.end)
            }
        }
        // IPv6 as well.
        _ = try await WebSocket.connect(to: "ws://[::1]:\(server.port)/", on: loop)
        for await end in ends {
            #expect(end?.code == 1006)
            break
        }
        await server.shutdown(grace: .seconds(5))
        await loop.shutdown(grace: .seconds(5))
    }
}

@Suite(.timeLimit(.minutes(1))) struct Stopping {
    @Test func `stopping says goodbye, and may be asked for again and by several`() async throws {
        let loop = try SocketLoop()
        let server = try await HTTPServer.start(host: "127.0.0.1", port: 0, loop: loop) { _ in
            .webSocket(subprotocol: nil) { socket in
                while let batch = try? await socket.receive() { _ = batch }
            }
        }
        let other = try SocketLoop()
        let socket = try await WebSocket.connect(to: "ws://127.0.0.1:\(server.port)/", on: other)
        await withTaskGroup { group in
            for _ in 0..<5 {
                group.addTask { await server.shutdown(grace: .seconds(10)) }
            }
        }
        #expect(try await socket.receive() == nil)
        #expect(socket.end == WebSocketEnd(code: 1001, reason: "the server is stopping", wasClean: true))
        await withTaskGroup { group in
            for _ in 0..<5 {
                group.addTask { await loop.shutdown(grace: .seconds(10)) }
                group.addTask { await other.shutdown(grace: .seconds(10)) }
            }
        }
        await server.shutdown(grace: .zero)
        await loop.shutdown(grace: .zero)
    }

    @Test func `many sockets open and end with their loop`() async throws {
        try await withEcho { url, _ in
            let own = try SocketLoop()
            let sockets = try await withThrowingTaskGroup(of: WebSocket.self) { group in
                for number in 0..<100 {
                    group.addTask {
                        let socket = try await WebSocket.connect(to: url, on: own)
                        try await socket.send(.text("\(number)"))
                        #expect(try await socket.receive() == [.text("\(number)")])
                        return socket
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            await own.shutdown(grace: .seconds(10))
            for socket in sockets { #expect(socket.end?.wasClean == true) }
        }
    }

    @Test func `loops start and stop again and again`() async throws {
        for _ in 0..<50 {
            let loop = try SocketLoop()
            await loop.shutdown(grace: .zero)
        }
    }
}
