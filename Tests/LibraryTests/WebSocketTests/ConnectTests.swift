import HTTP
import Peers
import Testing

@testable import WebSocket

/// A Python server that shares no code with us.
private func withPeer<Result: Sendable>(
    _ arguments: [String] = [], _ body: @Sendable (_ port: String, SocketLoop, Peer) async throws -> Result
) async throws -> Result {
    let peer = try Peer("echo_peer.py", arguments)
    let loop = try SocketLoop()
    let port = try #require(await peer.line())
    let result: Swift.Result<Result, any Error>
    do { result = .success(try await body(port, loop, peer)) } catch { result = .failure(error) }
    await loop.shutdown(grace: .seconds(1))
    peer.kill()
    return try result.get()
}

@Suite(.timeLimit(.minutes(1))) struct Connecting {
    @Test(
        arguments: [
            ("/refuse", .refused(status: 401), "answered 401 instead of a WebSocket"),
            ("/no-upgrade", .protocolError, "answered 101 but did not switch to WebSocket"),
            ("/wrong-key", .protocolError, "answered another client's key"),
            ("/extension", .protocolError, "chose an extension that was not offered"),
            ("/other-subprotocol", .protocolError, "chose a subprotocol that was not offered"),
            ("/leave", .unreachable, "left without answering the upgrade"),
        ] as [(String, WebSocketError.Kind, String)])
    func `a server's bad answer is told apart`(
        _ path: String, _ kind: WebSocketError.Kind, _ text: String
    ) async throws {
        try await withPeer { port, loop, _ in
            let error = await #expect(throws: WebSocketError.self) {
                try await WebSocket.connect(to: "ws://127.0.0.1:\(port)\(path)?token=secret", on: loop)
            }
            #expect(error?.kind == kind)
            #expect(error?.text == "127.0.0.1:\(port) " + text)
            if case .refused = kind { #expect(error?.retryAfter == .seconds(7)) }
        }
    }

    @Test func `an endless head is refused`() async throws {
        try await withPeer { port, loop, _ in
            let error = await #expect(throws: WebSocketError.self) {
                try await WebSocket.connect(to: "ws://127.0.0.1:\(port)/long-head", on: loop)
            }
            #expect(error?.kind == .protocolError)
        }
    }

    @Test func `a chosen subprotocol is known, and headers arrive`() async throws {
        try await withPeer { port, loop, _ in
            let url = "ws://127.0.0.1:\(port)"
            let socket = try await WebSocket.connect(
                to: url + "/second-subprotocol", subprotocols: ["one", "two"], on: loop)
            #expect(socket.subprotocol == "two")
            #expect(socket.peer == "127.0.0.1:\(port)")
            let other = try await WebSocket.connect(
                to: url + "/headers", headers: [("Origin", "https://example.com")], on: loop)
            let batch = try #require(try await other.receive())
            #expect(String(decoding: batch[0].bytes, as: UTF8.self).contains("\nOrigin: https://example.com"))
        }
    }

    @Test func `messages of another program are read: early, in pieces, with pings between, and a goodbye`()
        async throws
    {
        try await withPeer { port, loop, _ in
            let url = "ws://127.0.0.1:\(port)"
            let early = try await WebSocket.connect(to: url + "/early", on: loop)
            #expect(try await early.receive() == [.text("early")])
            try await early.send(.binary([UInt8](repeating: 3, count: 100_000)))
            #expect(try await early.receive() == [.binary([UInt8](repeating: 3, count: 100_000))])
            let pieces = try await WebSocket.connect(to: url + "/pieces", on: loop)
            var received: [SocketMessage] = []
            while received.count < 2, let batch = try await pieces.receive() { received += batch }
            #expect(received == [.text("grün"), .text("pong are you there")])
            let goodbye = try await WebSocket.connect(to: url + "/goodbye", on: loop)
            #expect(try await goodbye.receive() == [.text("last")])
            #expect(try await goodbye.receive() == nil)
            #expect(goodbye.end == WebSocketEnd(code: 4321, reason: "enough", wasClean: true))
        }
    }

    @Test func `a server that masks is hung up on`() async throws {
        try await withPeer { port, loop, _ in
            let socket = try await WebSocket.connect(to: "ws://127.0.0.1:\(port)/masked", on: loop)
            #expect(try await socket.receive() == nil)
            #expect(socket.end == WebSocketEnd(code: 1002, reason: "a frame is masked", wasClean: false))
            await #expect(throws: WebSocketError.closed) { try await socket.send(.text("more")) }
        }
    }

    @Test func `a peer killed in the middle of a message ends the socket`() async throws {
        try await withPeer { port, loop, peer in
            let inside = try await WebSocket.connect(to: "ws://127.0.0.1:\(port)/die-inside", on: loop)
            #expect(try await inside.receive() == nil)
            #expect(inside.end?.code == 1006)
            let silent = try await WebSocket.connect(to: "ws://127.0.0.1:\(port)/silent", on: loop)
            peer.kill()
            #expect(try await silent.receive() == nil)
            #expect(silent.end?.wasClean == false)
        }
    }

    @Test func `a peer that no longer answers pings is noticed`() async throws {
        try await withPeer { port, loop, peer in
            var limits = SocketLimits()
            limits.pingAfter = .milliseconds(50)
            limits.hangUpAfter = .seconds(2)
            let socket = try await WebSocket.connect(to: "ws://127.0.0.1:\(port)/", limits: limits, on: loop)
            try await socket.send(.text("still there"))
            #expect(try await socket.receive() == [.text("still there")])
            peer.freeze()
            #expect(try await socket.receive() == nil)
            #expect(socket.end == .lost("the peer no longer answers"))
        }
    }

    @Test func `nobody listening, no such host, and no answer in time are told apart`() async throws {
        try await withPeer { port, loop, _ in
            let refused = await #expect(throws: WebSocketError.self) {
                try await WebSocket.connect(to: "ws://127.0.0.1:1/", on: loop)
            }
            #expect(refused?.kind == .unreachable)
            let late = await #expect(throws: WebSocketError.self) {
                try await WebSocket.connect(
                    to: "ws://127.0.0.1:\(port)/hang", timeout: .milliseconds(100), on: loop)
            }
            #expect(late == WebSocketError(.timeout, "127.0.0.1:\(port) took too long to answer"))
        }
    }

    @Test func `connecting ends when its task is cancelled`() async throws {
        try await withPeer { port, loop, _ in
            let task = Task { () async throws -> Void in
                _ = try await WebSocket.connect(to: "ws://127.0.0.1:\(port)/hang", on: loop)
            }
            task.cancel()
            await #expect(throws: WebSocketError.cancelled) { try await task.value }
        }
    }

    @Test func `a loop that is over takes no more sockets`() async throws {
        try await withPeer { port, loop, _ in
            await loop.shutdown(grace: .zero)
            await #expect(throws: WebSocketError.closed) {
                try await WebSocket.connect(to: "ws://127.0.0.1:\(port)/", on: loop)
            }
        }
    }
}

@Suite(.timeLimit(.minutes(1))) struct Certificates {
    let authority = Peer.file("certificates/test-authority.pem")

    private func arguments(_ name: String) -> [String] {
        [Peer.file("certificates/test-\(name).pem"), Peer.file("certificates/test-\(name)-key.pem")]
    }

    @Test func `the right name is trusted, and five megabytes go through`() async throws {
        try await withPeer(arguments("localhost")) { port, loop, _ in
            let socket = try await WebSocket.connect(
                to: "wss://localhost:\(port)/", trusting: authority, on: loop)
            let large = [UInt8](repeating: 0x61, count: 5_000_000)
            try await socket.send(.text(large))
            #expect(try await socket.receive() == [.text(large)])
            socket.close()
            #expect(try await socket.receive() == nil)
            #expect(socket.end?.wasClean == true)
            let client = HTTPClient(trusting: authority)
            let answer = try await client.send(OutgoingRequest(url: "https://localhost:\(port)/page"))
            #expect(answer.body == Array("GET /page ".utf8))
            await client.shutdown()
        }
    }

    @Test(arguments: [("elsewhere", true), ("localhost", false)])
    func `a wrong name or an unknown authority is refused`(_ name: String, _ isTrusted: Bool) async throws {
        try await withPeer(arguments(name)) { port, loop, _ in
            let trusting = isTrusted ? authority : nil
            let error = await #expect(throws: WebSocketError.self) {
                try await WebSocket.connect(to: "wss://localhost:\(port)/", trusting: trusting, on: loop)
            }
            #expect(error?.kind == .tls)
            let client = HTTPClient(trusting: trusting)
            let other = await #expect(throws: HTTPError.self) {
                try await client.send(OutgoingRequest(url: "https://localhost:\(port)/?token=secret"))
            }
            #expect(other?.kind == .tls)
            #expect(other?.text.contains("secret") == false)
            #expect(other?.mayHaveArrived == false)
            await client.shutdown()
        }
    }
}
