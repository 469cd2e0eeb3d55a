internal import Chat
internal import HTTP
internal import JSON
internal import Services
internal import WebSocket

/// A bare client of Twilio's protocol: frames in and out, no state beyond open requests.
final class TwilsockClient: Sendable {
    let identity: String
    private let socket: WebSocket
    private let state = Locked(State())

    private struct State {
        var number = 0
        var waiting: [String: CheckedContinuation<Answer, Never>] = [:]
        var service = ""
        var counts = Counts()
        var isOver = false
    }

    struct Answer: Sendable {
        var status: Int
        var body: JSON
        var header: JSON
    }

    /// What came of posts whose answers nobody waits for.
    struct Counts: Sendable {
        var sent = 0
        var done = 0
        var refused = 0
    }

    /// Is given the payload of each notification.
    typealias Hear = @Sendable (JSONNode) -> Void

    private init(_ identity: String, _ socket: WebSocket) {
        self.identity = identity
        self.socket = socket
    }

    /// Connects and logs in. The socket must be read by `run` meanwhile, so `body` does the rest.
    static func connect(_ identity: String, to server: ServerAddress, _ tools: NetTools) async throws
        -> TwilsockClient
    {
        TwilsockClient(identity, try await WebSocket.connect(to: server.socketURL, on: tools.loop))
    }

    var counts: Counts { state.withLock { $0.counts } }

    func close() { socket.kill() }

    /// Reads until the socket is over.
    func run(_ hear: Hear = { _ in }) async {
        let json = JSONReader()
        while let messages = try? await socket.receive() {
            var acknowledgements: [SocketMessage] = []
            for case .binary(let bytes) in messages {
                bytes.withUnsafeBytes { read($0, json, hear, &acknowledgements) }
            }
            for acknowledgement in acknowledgements { _ = socket.offer(acknowledgement) }
        }
        let waiting = state.withLock { state in
            state.isOver = true
            defer { state.waiting = [:] }
            return state.waiting.values.map(\.self)
        }
        for continuation in waiting {
            continuation.resume(returning: Answer(status: 0, body: .null, header: .null))
        }
    }

    private func read(
        _ frame: UnsafeRawBufferPointer, _ json: JSONReader, _ hear: Hear,
        _ acknowledgements: inout [SocketMessage]
    ) {
        guard let range = try? TwilsockFrame.header(in: frame) else { return }
        var (size, id, isReply, status) = (Int64(0), "", false, 0)
        var header = JSON.null
        try? json.read(UnsafeRawBufferPointer(rebasing: frame[range])) { node in
            size = node["payload_size"]?.int ?? 0
            isReply = node["method"]?.equals("reply") ?? false
            id = node["id"]?.string ?? ""
            guard isReply else { return }
            status = Int(node["http_status"]?["code"]?.int ?? node["status"]?["code"]?.int ?? 0)
            if id.hasPrefix("R") { header = node.json }
        }
        guard let place = try? TwilsockFrame.payload(of: size, after: range, in: frame) else { return }
        let payload = UnsafeRawBufferPointer(rebasing: frame[place])
        guard isReply else {
            var text = id
            acknowledgements.append(.binary(text.withUTF8 { TwilsockFrame.acknowledgement(of: $0) }))
            try? json.read(payload, hear)
            return
        }
        guard id.hasPrefix("R") else {
            return state.withLock { state in
                if status == 201 { state.counts.done += 1 } else { state.counts.refused += 1 }
            }
        }
        let answer = Answer(status: status, body: (try? json.tree(payload)) ?? .null, header: header)
        state.withLock { $0.waiting.removeValue(forKey: id) }?.resume(returning: answer)
    }

    /// Says `init` and learns where things are.
    func logIn(_ server: ServerAddress, _ tools: NetTools, hears: Bool = false) async throws {
        let answer = try await tools.http.send(
            OutgoingRequest(url: "\(server.url)/token?identity=\(identity)"))
        let token = (try? JSON(parsing: answer.body))?["token"]?.string ?? ""
        let types: [JSON] = hears ? ["twilio.sync.event", "com.twilio.rtd.cds.list"] : []
        let begun = await ask([
            "method": "init", "token": .string(token), "continuation_token": .null, "capabilities": [],
            "registrations": [
                [
                    "product": "ip_messaging", "type": "ers", "notification_protocol_version": 0,
                    "message_types": .array(types),
                ]
            ],
        ])
        guard begun.status == 200 else { throw BenchError("\(identity) cannot log in: \(begun.header)") }
        let configuration = await request("GET", "/Client/v2/Configuration")
        let link = configuration.body["links"]?["conversations"]?.string ?? ""
        // https: // host / the rest
        let parts = link.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 4 else { throw BenchError("no links in \(configuration.body)") }
        state.withLock { $0.service = "/\(parts[3])" }
    }

    /// A request through the socket. `path` is below the service's channels when it does not begin with a slash.
    func request(
        _ method: String, _ path: String, host: String = "aim.us1.twilio.com", body: JSON? = nil
    ) async -> Answer {
        let service = state.withLock { $0.service }
        return await ask(
            Self.header(
                method, path.hasPrefix("/") ? path : "\(service)\(path.isEmpty ? "" : "/")\(path)", host),
            payload: body?.bytes() ?? [])
    }

    /// The same, again while the server wants it slower.
    func change(_ path: String, body: JSON) async throws -> JSON {
        while true {
            let answer = await request("POST", path, body: body)
            if answer.status == 201 { return answer.body }
            guard answer.status == 429 else {
                throw BenchError("\(identity): \(path) was answered \(answer.status) \(answer.body)")
            }
            try await Task.sleep(for: .milliseconds(100))
        }
    }

    /// Becomes a member of a channel, or stays one.
    func join(_ channel: String) async throws {
        let order: JSON = ["identity": .string(identity)]
        while true {
            let answer = await request("POST", "\(channel)/Participants", body: order)
            switch answer.status {
            case 201, 409: return
            case 429: try await Task.sleep(for: .milliseconds(100))
            default: throw BenchError("\(identity) cannot join: \(answer.status) \(answer.body)")
            }
        }
    }

    /// Sends a message; its answer is only counted.
    func post(_ text: String, in channel: String) {
        let (number, service) = state.withLock { state in
            state.number += 1
            state.counts.sent += 1
            return (state.number, state.service)
        }
        let body: JSON = ["body": .string(text), "attributes": "{}"]
        let header = Self.header("POST", "\(service)/\(channel)/Messages", "aim.us1.twilio.com")
        _ = socket.offer(.binary(Self.frame(header, id: "P\(number)", payload: body.bytes())))
    }

    private func ask(_ header: JSON, payload: [UInt8] = []) async -> Answer {
        let id = state.withLock { state in
            state.number += 1
            return "R\(state.number)"
        }
        return await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                if !state.isOver { state.waiting[id] = continuation }
                return state.isOver
            }
            if isOver { return continuation.resume(returning: Answer(status: 0, body: .null, header: .null)) }
            _ = socket.offer(.binary(Self.frame(header, id: id, payload: payload)))
        }
    }

    private static func header(_ method: String, _ path: String, _ host: String) -> JSON {
        [
            "method": "message", "active_grant": "ip_messaging",
            "payload_type": "application/json; charset=utf-8",
            "http_request": [
                "host": .string(host), "path": .string(path), "method": .string(method), "params": [:],
                "headers": ["Content-Type": "application/json; charset=utf-8"],
            ],
        ]
    }

    private static func frame(_ header: JSON, id: String, payload: [UInt8]) -> [UInt8] {
        var header = header.object ?? JSONObject()
        header["id"] = .string(id)
        header["payload_size"] = .int(Int64(payload.count))
        return TwilsockFrame.bytes(header: JSON.object(header).bytes(), payload: payload)
    }
}

/// What clients are made with.
struct NetTools: Sendable {
    let loop: SocketLoop
    let http = HTTPClient()

    init() throws { loop = try SocketLoop() }

    func shutdown() async {
        await http.shutdown()
        await loop.shutdown(grace: .milliseconds(200))
    }
}

/// Where a chat server listens: `127.0.0.1:1234`.
struct ServerAddress: Sendable {
    let name: String

    var url: String { "http://\(name)" }
    var socketURL: String { "ws://\(name)/v3/wsconnect" }
    var pageURL: String { "ws://\(name)/browser" }
}
