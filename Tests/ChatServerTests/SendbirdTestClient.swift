import Gzip
import HTTP
import JSON
import Testing
import WebSocket

@testable import ChatServer

/// A client of Sendbird's protocol, written from the protocol's description alone: it shares no code with the server and
/// none with steward's own client.
actor SendbirdTestClient {
    struct Frame: Sendable {
        let code: String
        let fields: JSON
        /// How it came.
        var isBinary = false

        subscript(key: String) -> JSON? { fields[key] }
        var category: Int64 { code == "SYEV" ? fields["cat"]?.int ?? 0 : 0 }
    }

    enum Lost: Error { case closed, badFrame }

    let socket: WebSocket
    let identity: String
    private(set) var login: JSON = .null
    private var waiting: [Frame] = []
    private var sent: Int64 = 1_800_000_000_000

    init(
        _ server: TestServer, _ identity: String, query: [(String, String)] = [],
        headers: [(String, String)] = [], subprotocols: [String] = [], named: Bool = true
    ) async throws {
        self.identity = identity
        var text = "p=Test&pv=1&sv=4.0.0&ai=\(server.server.application)"
        if named { text += "&user_id=\(identity)" }
        for (name, value) in query { text += "&\(name)=\(value)" }
        socket = try await WebSocket.connect(
            to: "ws://127.0.0.1:\(server.server.port)/?\(text)", headers: headers, subprotocols: subprotocols,
            on: server.loop)
    }

    /// One who is in.
    static func start(
        _ server: TestServer, _ identity: String, query: [(String, String)] = [],
        headers: [(String, String)] = []
    ) async throws -> SendbirdTestClient {
        let client = try await SendbirdTestClient(server, identity, query: query, headers: headers)
        let login = try await client.enter()
        try #require(login["error"] == nil, "\(login)")
        return client
    }

    func enter() async throws -> JSON {
        login = try await next { $0.code == "LOGI" }.fields
        return login
    }

    var key: String { login["key"]?.string ?? "" }

    /// The first frame that is wanted; others that came before it stay for later.
    @discardableResult
    func next(_ isWanted: @Sendable (Frame) -> Bool) async throws -> Frame {
        while true {
            if let place = waiting.firstIndex(where: isWanted) { return waiting.remove(at: place) }
            guard let messages = try await socket.receive() else { throw Lost.closed }
            for message in messages {
                switch message {
                case .text(let text): try read(text, isBinary: false)
                case .binary(let bytes):
                    try read(try Gzip.decompress(bytes, limit: 1 << 20), isBinary: true)
                }
            }
        }
    }

    private func read(_ text: [UInt8], isBinary: Bool) throws {
        for line in text.split(separator: UInt8(ascii: "\n")) {
            guard line.count > 4, let fields = try? JSON(parsing: Array(line.dropFirst(4))) else {
                throw Lost.badFrame
            }
            waiting.append(
                Frame(
                    code: String(decoding: line.prefix(4), as: UTF8.self), fields: fields, isBinary: isBinary)
            )
        }
    }

    /// All that has come and was not asked for, taken away.
    func rest() -> [Frame] {
        defer { waiting = [] }
        return waiting
    }

    func event(_ code: String, where isWanted: @escaping @Sendable (Frame) -> Bool = { _ in true })
        async throws
        -> Frame
    {
        try await next { $0.code == code && isWanted($0) }
    }

    func system(_ category: Int64) async throws -> Frame { try await next { $0.category == category } }

    /// Sends a command without waiting.
    @discardableResult
    func say(_ code: String, _ fields: JSON) async throws -> JSON {
        sent += 1
        var object = fields.object ?? JSONObject()
        let number = object["req_id"] ?? .string(String(sent))
        object["req_id"] = number
        try await socket.send(.text(Array(code.utf8) + JSON.object(object).bytes() + [10]))
        return number
    }

    /// Sends a command and waits for its answer: the same four letters with the same number, or an error with it.
    @discardableResult
    func command(_ code: String, _ fields: JSON) async throws -> Frame {
        let number = try await say(code, fields)
        return try await next { ($0.code == code || $0.code == "EROR") && $0["req_id"] == number }
    }

    @discardableResult
    func message(_ text: String, in channel: String, _ more: JSON = [:]) async throws -> Frame {
        var fields = more.object ?? JSONObject()
        fields["channel_url"] = .string(channel)
        fields["message"] = .string(text)
        return try await command("MESG", .object(fields))
    }

    /// What came before is here: an answer to a ping comes behind it.
    func settle() async throws {
        try await socket.send(.text(Array("PING{\"id\":1,\"active\":1,\"req_id\":\"\"}\n".utf8)))
        _ = try await event("PONG")
    }

    func close() { socket.close() }

    /// Until the server has hung up.
    func end() async {
        while (try? await socket.receive()) != nil {}
    }
}

/// Requests to the server over HTTP, as a user or as a program.
struct SendbirdTestAPI: Sendable {
    struct Answer: Sendable {
        let status: Int
        let body: JSON
        let headers: [(name: String, value: String)]
        subscript(key: String) -> JSON? { body[key] }
        var code: Int64 { body["code"]?.int ?? 0 }
    }

    static let token = "a master token for tests"

    let server: TestServer
    let http: HTTPClient
    var headers: [(String, String)]

    /// `body` with clients of HTTP that end with it.
    static func run(
        _ server: TestServer, _ body: (SendbirdTestAPI) async throws -> Void
    ) async throws {
        let http = HTTPClient()
        do {
            try await body(SendbirdTestAPI(server: server, http: http, headers: [("Api-Token", token)]))
        } catch {
            await http.shutdown()
            throw error
        }
        await http.shutdown()
    }

    func user(_ client: SendbirdTestClient) async -> SendbirdTestAPI {
        await with(key: client.key)
    }

    func with(key: String) -> SendbirdTestAPI {
        SendbirdTestAPI(server: server, http: http, headers: [("Session-Key", key)])
    }

    @discardableResult
    func call(
        _ method: String, _ path: String, _ body: JSON? = nil, headers more: [(String, String)] = []
    ) async throws -> Answer {
        var headers = headers + more
        if body != nil { headers.append(("Content-Type", "application/json; charset=utf-8")) }
        let answer = try await http.send(
            OutgoingRequest(
                method: method, url: "http://127.0.0.1:\(server.server.port)/v3/\(path)", headers: headers,
                body: body?.bytes()))
        return Answer(
            status: answer.status, body: (try? JSON(parsing: answer.body)) ?? .null, headers: answer.headers)
    }

    /// The same, where anything but success ends the test.
    @discardableResult
    func ask(_ method: String, _ path: String, _ body: JSON? = nil) async throws -> JSON {
        let answer = try await call(method, path, body)
        try #require(answer.status == 200, "\(method) \(path): \(answer.status) \(answer.body)")
        return answer.body
    }
}

extension TestServer {
    /// A server with the Platform API open.
    static func sendbird(
        _ change: (inout ServerSettings) -> Void = { _ in },
        _ body: (TestServer, SendbirdTestAPI) async throws -> Void
    ) async throws {
        try await run({ settings in
            settings.sendbird.apiToken = SendbirdTestAPI.token
            change(&settings)
        }) { server in
            try await SendbirdTestAPI.run(server) { try await body(server, $0) }
        }
    }

    func bird(_ identity: String) async throws -> SendbirdTestClient {
        try await SendbirdTestClient.start(self, identity)
    }
}
