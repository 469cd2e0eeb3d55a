import HTTP
import HTTPServer
import Peers
import Testing
import WebSocket

/// A server that answers as told, and a client.
func withServer<Result: Sendable>(
    limits: HTTPLimits = .init(), _ handler: @escaping @Sendable (HTTPRequest) async -> HTTPReply,
    _ body: @Sendable (_ url: String, _ client: HTTPClient) async throws -> Result
) async throws -> Result {
    let loop = try SocketLoop()
    let server = try await HTTPServer.start(
        host: "127.0.0.1", port: 0, loop: loop, limits: limits, handler: handler)
    let client = HTTPClient()
    let result: Swift.Result<Result, any Error>
    do {
        result = .success(try await body("http://127.0.0.1:\(server.port)", client))
    } catch {
        result = .failure(error)
    }
    await client.shutdown()
    await server.shutdown(grace: .zero)
    await loop.shutdown(grace: .zero)
    return try result.get()
}

@Suite(.timeLimit(.minutes(1))) struct Requests {
    @Test func `method, path, query, headers and body arrive as sent`() async throws {
        let answer = try await withServer { request in
            let query = request.query.map { "\($0.name)=\($0.value)" }.joined(separator: ";")
            let lines = [
                request.method, request.path, query, request.header("x-token") ?? "-",
                request.segments.joined(separator: "|"), String(decoding: request.body, as: UTF8.self),
            ]
            return .text(201, lines.joined(separator: "\n"), headers: [("X-Seen", "yes")])
        } _: { url, client in
            try await client.send(
                OutgoingRequest(
                    method: "POST", url: url + "/rooms/%21a%2Fb%3Ac/send?a=1+2&b=%C3%A9&a",
                    headers: [("X-Token", "secret")], body: Array("hello".utf8)))
        }
        #expect(answer.status == 201)
        #expect(answer.header("x-seen") == "yes")
        #expect(
            String(decoding: answer.body, as: UTF8.self)
                == "POST\n/rooms/%21a%2Fb%3Ac/send\na=1 2;b=é;a=\nsecret\nrooms|!a/b:c|send\nhello")
    }

    @Test func `large bodies go there and come back`() async throws {
        let large = [UInt8](repeating: 0x61, count: 9_000_000)
        let answer = try await withServer { request in
            .answer(status: 200, headers: [("Content-Type", "x/y")], body: request.body)
        } _: { url, client in
            try await client.send(OutgoingRequest(method: "PUT", url: url, body: large))
        }
        #expect(answer.body == large)
        #expect(answer.header("Content-Length") == "9000000")
    }

    @Test func `many requests at once each get their own answer`() async throws {
        try await withServer { request in
            .text(200, request.path)
        } _: { url, client in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<200 {
                    group.addTask {
                        let answer = try await client.send(OutgoingRequest(url: url + "/\(number)"))
                        #expect(String(decoding: answer.body, as: UTF8.self) == "/\(number)")
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    @Test func `statuses, HEAD and empty answers are answers`() async throws {
        try await withServer { request in
            switch request.path {
            case "/moved": .answer(status: 302, headers: [("Location", "/elsewhere")])
            case "/none": .answer(status: 204)
            default: .text(429, "slow down", headers: [("Retry-After", "3")])
            }
        } _: { url, client in
            let moved = try await client.send(OutgoingRequest(url: url + "/moved"))
            #expect(moved.status == 302)
            #expect(moved.header("location") == "/elsewhere")
            let none = try await client.send(OutgoingRequest(method: "DELETE", url: url + "/none"))
            #expect(none.status == 204)
            #expect(none.body == [])
            let head = try await client.send(OutgoingRequest(method: "HEAD", url: url))
            #expect(head.status == 429)
            #expect(head.header("Retry-After") == "3")
            #expect(head.header("Content-Length") == "9")
            #expect(head.body == [])
            let empty = try await client.send(OutgoingRequest(method: "POST", url: url))
            #expect(String(decoding: empty.body, as: UTF8.self) == "slow down")
        }
    }

    @Test func `nothing is added that was not asked for`() async throws {
        try await withServer { request in
            .text(200, request.headers.map { $0.name.lowercased() }.sorted().joined(separator: ","))
        } _: { url, client in
            let post = OutgoingRequest(method: "POST", url: url, headers: [("X-Empty", "")], body: [1])
            let answer = try await client.send(post)
            #expect(
                String(decoding: answer.body, as: UTF8.self)
                    == "accept,accept-encoding,content-length,host,user-agent,x-empty")
        }
    }

    @Test func `a request ends when its task is cancelled, when its time is over, and at shutdown`()
        async throws
    {
        try await withServer { _ in
            try? await Task.sleep(for: .seconds(600))
            return .text(200, "late")
        } _: { url, client in
            let cancelled = Task { try await client.send(OutgoingRequest(url: url)) }
            await Task.yield()
            cancelled.cancel()
            let error = await #expect(throws: HTTPError.self) { _ = try await cancelled.value }
            #expect(error?.kind == .cancelled)
            let late = await #expect(throws: HTTPError.self) {
                _ = try await client.send(OutgoingRequest(url: url, timeout: .milliseconds(100)))
            }
            #expect(late?.kind == .timeout)
            #expect(late?.mayHaveArrived == true)
            let pending = Task { try await client.send(OutgoingRequest(url: url)) }
            await Task.yield()
            await withTaskGroup { group in
                for _ in 0..<3 { group.addTask { await client.shutdown() } }
            }
            let stopped = await #expect(throws: HTTPError.self) { _ = try await pending.value }
            #expect(stopped?.kind == .cancelled)
            let after = await #expect(throws: HTTPError.self) {
                _ = try await client.send(OutgoingRequest(url: url))
            }
            #expect(after?.kind == .cancelled)
        }
    }

    @Test(arguments: [
        ("example.com/x", "cannot use the address of a request: it is not a valid URL"),
        ("ftp://example.com/", "cannot use the address of a request: its scheme is not http or https"),
        ("http://a b/", "cannot use the address of a request: it is not a valid URL"),
        ("", "cannot use the address of a request: it is not a valid URL"),
    ])
    func `an address that cannot be used says why`(_ url: String, _ text: String) async {
        let client = HTTPClient()
        let error = await #expect(throws: HTTPError.self) {
            _ = try await client.send(OutgoingRequest(url: url))
        }
        #expect(error == HTTPError(.badURL, text))
        await client.shutdown()
    }

    @Test func `a header cannot smuggle another one in, and its value is not told`() async {
        let client = HTTPClient()
        let request = OutgoingRequest(url: "http://a/", headers: [("X-Token", "secret\nX-More: 1")])
        let error = await #expect(throws: HTTPError.self) { _ = try await client.send(request) }
        #expect(error?.text == "a:80: the header \"X-Token\" holds a character it must not")
        await client.shutdown()
    }
}

@Suite(.timeLimit(.minutes(1))) struct BadServers {
    private func withPeer(_ body: @Sendable (_ url: String, HTTPClient) async throws -> Void) async throws {
        let peer = try Peer("echo_peer.py")
        let client = HTTPClient()
        let port = try #require(await peer.line())
        let result: Result<Void, any Error>
        do { result = .success(try await body("http://127.0.0.1:\(port)", client)) } catch {
            result = .failure(error)
        }
        await client.shutdown()
        peer.kill()
        try result.get()
    }

    @Test func `half an answer, none, and an endless one are errors`() async throws {
        try await withPeer { url, client in
            for (path, kind) in [
                ("/half-answer", HTTPError.Kind.unreachable), ("/leave", .unreachable),
                ("/endless", .tooLarge),
            ] {
                let error = await #expect(throws: HTTPError.self) {
                    _ = try await client.send(
                        OutgoingRequest(url: url + path + "?token=secret", maximumAnswer: 1_000_000))
                }
                #expect(error?.kind == kind)
                #expect(error?.mayHaveArrived == true)
                #expect(error?.text.contains("secret") == false)
            }
            let answer = try await client.send(OutgoingRequest(url: url + "/page"))
            #expect(answer.body == Array("GET /page ".utf8))
        }
    }

    @Test func `nobody listening is certain not to have got it`() async throws {
        try await withPeer { _, client in
            let error = await #expect(throws: HTTPError.self) {
                _ = try await client.send(
                    OutgoingRequest(method: "POST", url: "http://127.0.0.1:1/", body: [1]))
            }
            #expect(error?.kind == .unreachable)
            #expect(error?.mayHaveArrived == false)
        }
    }

    @Test(arguments: [[UInt8]("text".utf8), []])
    func `a post over a kept connection that breaks is not sent twice`(_ body: [UInt8]) async throws {
        try await withPeer { url, client in
            let post = OutgoingRequest(method: "POST", url: url + "/once-then-leave", body: body)
            let first = try await client.send(post)
            #expect(first.body == [UInt8(ascii: "1")])
            // An empty one goes over a connection of its own; another is an error, not a second attempt.
            let second = try? await client.send(post)
            #expect((second != nil) == body.isEmpty)
            let other = HTTPClient()
            let seen = try await other.send(OutgoingRequest(url: url + "/seen"))
            await other.shutdown()
            #expect(seen.body == [UInt8(ascii: "2")])
        }
    }
}
