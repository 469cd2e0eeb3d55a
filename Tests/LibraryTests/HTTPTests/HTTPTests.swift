import HTTP
import HTTPServer
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
}
