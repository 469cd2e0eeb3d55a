import JSON
import Testing
import WebSocket

/// A client of the Twilsock protocol, written from the protocol's description alone: it shares no code with the server
/// and none with steward's own client.
actor TestClient {
    struct Frame: Sendable {
        let header: JSON
        let payload: JSON

        var method: String { header["method"]?.string ?? "" }
        var status: Int64 { header["status"]?["code"]?.int ?? -1 }
        var httpStatus: Int64 { header["http_status"]?["code"]?.int ?? -1 }
        var type: String { header["message_type"]?.string ?? "" }
        var event: String { payload["event_type"]?.string ?? "" }
        /// The event itself, in either form.
        var body: JSON { payload["events"]?[0] ?? payload["event"] ?? .null }
    }

    enum Lost: Error { case closed, badFrame }

    let socket: WebSocket
    private var waiting: [Frame] = []
    private var sent = 0
    private(set) var acked = 0
    /// Whether frames of the server are acknowledged, as real clients do.
    var acknowledges = true

    init(_ url: String, on loop: SocketLoop) async throws {
        socket = try await WebSocket.connect(to: url, on: loop)
    }

    /// The frame as bytes: the way JavaScript does it, nothing after the payload.
    static func encode(_ header: JSON, payload: [UInt8] = []) -> [UInt8] {
        var members = header.object ?? JSONObject()
        members["payload_size"] = .int(Int64(payload.count))
        let head = JSON.object(members).bytes()
        return Array("TWILSOCK V3.0 \(head.count)\r\n".utf8) + head + Array("\r\n".utf8) + payload
    }

    static func decode(_ bytes: [UInt8]) throws -> Frame {
        let start = Array("TWILSOCK V3.0 ".utf8)
        guard bytes.starts(with: start), let line = bytes.firstIndex(of: 13), bytes[line + 1] == 10,
            let size = Int(String(decoding: bytes[start.count..<line], as: UTF8.self))
        else { throw Lost.badFrame }
        let header = try JSON(parsing: Array(bytes[(line + 2)..<(line + 2 + size)]))
        let from = line + 2 + size + 2
        guard Array(bytes[(from - 2)..<from]) == [13, 10] else { throw Lost.badFrame }
        let count = Int(header["payload_size"]?.int ?? 0)
        let payload = Array(bytes[from..<(from + count)])
        let rest = Array(bytes[(from + count)...])
        guard rest.isEmpty || rest == [13, 10] else { throw Lost.badFrame }
        return Frame(header: header, payload: payload.isEmpty ? .null : try JSON(parsing: payload))
    }

    func nextID() -> String {
        sent += 1
        return "TM00000000-0000-4000-8000-\(String(repeating: "0", count: 12 - String(sent).count))\(sent)"
    }

    func send(_ header: JSON, payload: [UInt8] = []) async throws {
        try await socket.send(.binary(Self.encode(header, payload: payload)))
    }

    /// The first frame that is wanted; others that came before it stay for later.
    func next(_ isWanted: @Sendable (Frame) -> Bool) async throws -> Frame {
        while true {
            if let place = waiting.firstIndex(where: isWanted) { return waiting.remove(at: place) }
            try await read()
        }
    }

    private func read() async throws {
        guard let messages = try await socket.receive() else { throw Lost.closed }
        for message in messages {
            guard case .binary(let bytes) = message else { throw Lost.badFrame }
            let frame = try Self.decode(bytes)
            waiting.append(frame)
            guard acknowledges, frame.method != "reply", let id = frame.header["id"] else { continue }
            acked += 1
            try? await send([
                "id": id, "method": "reply", "payload_type": "application/json",
                "status": ["code": 200, "status": "OK"],
            ])
        }
    }

    func setAcknowledges(_ value: Bool) { acknowledges = value }

    /// All notifications that have come so far, in order, taken away.
    func notifications() -> [Frame] {
        defer { waiting.removeAll { $0.method == "notification" } }
        return waiting.filter { $0.method == "notification" }
    }

    func reply(to id: String) async throws -> Frame {
        try await next { $0.method == "reply" && $0.header["id"]?.string == id }
    }

    @discardableResult
    func start(
        token: String, continuation: String? = nil,
        types: [String] = [
            "twilio.ipmsg.typing_indicator", "twilio.sync.event", "com.twilio.rtd.cds.document",
            "com.twilio.rtd.cds.list", "com.twilio.rtd.cds.map",
        ], capabilities: [String] = ["client_update", "offline_storage"]
    ) async throws -> Frame {
        let id = nextID()
        try await send([
            "id": .string(id), "method": "init", "token": .string(token),
            "continuation_token": continuation.map { .string($0) } ?? .null,
            "metadata": ["type": "conversations", "sdk": "JS"],
            "registrations": [
                [
                    "product": "ip_messaging", "type": "ers", "notification_protocol_version": 0,
                    "message_types": .array(types.map { .string($0) }),
                ]
            ],
            "tweaks": .null, "capabilities": .array(capabilities.map { .string($0) }),
        ])
        return try await reply(to: id)
    }

    /// Sends a request and returns its id.
    func order(
        _ method: String, _ address: String, body: JSON? = nil, form: String? = nil, params: JSON = [:],
        headers more: [(String, String)] = []
    ) async throws -> String {
        let id = nextID()
        let parts = address.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false)
        // https://host/path
        let isURL = address.hasPrefix("https://")
        let host = isURL ? String(parts[2].prefix { $0 != "/" }) : "aim.us1.twilio.com"
        var path = isURL ? String(parts[2].dropFirst(host.count)) : address
        var params = params
        if let mark = path.firstIndex(of: "?") {
            var members = params.object ?? JSONObject()
            for pair in path[path.index(after: mark)...].split(separator: "&") {
                let sides = pair.split(separator: "=", maxSplits: 1)
                members[String(sides[0])] = .string(sides.count > 1 ? String(sides[1]) : "")
            }
            params = .object(members)
            path = String(path[..<mark])
        }
        let type = form == nil ? "application/json; charset=utf-8" : "application/x-www-form-urlencoded"
        var headers: JSONObject = .init([("Content-Type", .string(type))])
        for (name, value) in more { headers[name] = .string(value) }
        try await send(
            [
                "id": .string(id), "method": "message", "active_grant": "ip_messaging",
                "payload_type": .string(type),
                "http_request": [
                    "host": .string(host), "path": .string(path), "method": .string(method), "params": params,
                    "headers": .object(headers),
                ],
            ], payload: form.map { Array($0.utf8) } ?? body?.bytes() ?? [])
        return id
    }

    @discardableResult
    func request(
        _ method: String, _ address: String, body: JSON? = nil, form: String? = nil, params: JSON = [:],
        headers: [(String, String)] = []
    ) async throws -> Frame {
        try await reply(
            to: order(method, address, body: body, form: form, params: params, headers: headers))
    }

    /// Waits for an event of this type.
    func event(_ type: String, where isWanted: @escaping @Sendable (JSON) -> Bool = { _ in true })
        async throws
        -> Frame
    {
        try await next { $0.event == type && isWanted($0.body) }
    }
}
