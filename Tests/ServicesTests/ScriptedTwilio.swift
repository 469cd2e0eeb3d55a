import Chat
import HTTPServer
import JSON
import WebSocket

@testable import Services

/// A Twilio of one user that does what a test tells it, faults included. Written from the protocol, for tests alone.
final class ScriptedTwilio: Sendable {
    struct State {
        var channels: [String: Room] = [:]
        /// Events by object, in order; the first number is 1.
        var log: [String: [(id: Int64, type: String, fields: JSONObject)]] = [:]
        /// Events that a replay does not give any more.
        var forgotten: [String: Int64] = [:]
        var sockets: [WebSocket] = []
        var inits: [JSON] = []
        var updates: [String] = []
        var requests: [(method: String, path: String, body: JSON)] = []
        var acknowledged: Set<String> = []
        var sent: Set<String> = []
        var nextID = 0
        /// What the next log-ins get instead of a welcome.
        var initStatus: [(status: JSON, payload: JSON)] = []
        var updateStatus: [JSON] = []
        /// A pause in sending live events: they are kept and sent in the order that `release` is told.
        var isHolding = false
        var kept: [[UInt8]] = []
        /// Subscriptions get no confirmation.
        var withholdsConfirmations = 0
    }

    struct Room {
        var sid: String
        var uniqueName: String
        var title: String
        var items: [Int64: JSONObject] = [:]
        var members: [String: JSONObject] = [:]
        var attributes = "{}"
    }

    /// What a test wants done with a request before it is looked at.
    enum Verdict: Sendable {
        case normal
        case answer(status: Int, JSON, headers: JSON = [:])
        case transport(JSON, payload: JSON = .null)
        /// Done, but nobody hears of it: the socket is cut.
        case doneAndCut
        case cut
        case silence
    }

    let state = Locked(State())
    let own: String
    let service: String
    private let verdict: Locked<@Sendable (String, String) -> Verdict> = Locked { _, _ in .normal }
    private let loop: SocketLoop
    let server: Locked<HTTPServer?> = Locked(nil)

    init(own: String = "bot", service: String = "IS0f1e2d3c4b5a69788796a5b4c3d2e1f0", loop: SocketLoop) {
        self.own = own
        self.service = service
        self.loop = loop
    }

    func start(port: UInt16 = 0) async throws -> String {
        let server = try await HTTPServer.start(host: "127.0.0.1", port: port, loop: loop) { [self] _ in
            .webSocket(subprotocol: nil) { await self.serve($0) }
        }
        self.server.withLock { $0 = server }
        return "ws://127.0.0.1:\(server.port)/v3/wsconnect"
    }

    func stop() async {
        await server.withLock { $0 }?.shutdown(grace: .zero)
    }

    func judge(_ verdict: @escaping @Sendable (_ method: String, _ path: String) -> Verdict) {
        self.verdict.withLock { $0 = verdict }
    }

    // MARK: The world

    var standings: String { "MP00000000000000000000000000000000" }

    func addChannel(_ number: Int, name: String, members: [String] = [], joined: Bool = true) -> String {
        let sid = "CH" + String(repeating: "0", count: 31) + "\(number)"
        state.withLock { $0.channels[sid] = Room(sid: sid, uniqueName: name, title: "Channel \(name)") }
        for member in members { addMember(member, to: sid) }
        if joined { addMember(own, to: sid) }
        return sid
    }

    func object(_ kind: String, _ channel: String) -> String { kind + channel.dropFirst(2) }

    func addMember(_ identity: String, to channel: String, at date: String = "2024-05-01T10:00:00.000Z") {
        let key = "MB" + identity
        let data = Self.fields([
            "identity": .string(identity), "roleSid": "RLc4a44e10000000000000000000000001",
            "attributes": "{}", "dateCreated": .string(date),
        ])
        let id = emit(
            object("MP", channel), "map_item_added", ["item_key": .string(key), "item_data": .object(data)])
        state.withLock {
            $0.channels[channel]?.members[key] = item(data, id, key: "key", .string(key))
        }
        if identity == own {
            emit(
                standings, "map_item_added",
                ["item_key": .string(channel), "item_data": ["status": "joined"]])
        }
    }

    func updateMember(_ identity: String, in channel: String, _ changes: JSONObject) {
        let key = "MB" + identity
        guard var data = state.withLock({ $0.channels[channel]?.members[key]?["data"]?.object }) else {
            return
        }
        for (name, value) in changes { data[name] = value }
        let id = emit(
            object("MP", channel), "map_item_updated", ["item_key": .string(key), "item_data": .object(data)])
        state.withLock { $0.channels[channel]?.members[key] = item(data, id, key: "key", .string(key)) }
    }

    func removeMember(_ identity: String, from channel: String) {
        let key = "MB" + identity
        let item = state.withLock { $0.channels[channel]?.members.removeValue(forKey: key) }
        guard let data = item?["data"] else { return }
        emit(object("MP", channel), "map_item_removed", ["item_key": .string(key), "item_data": data])
        if identity == own {
            emit(
                standings, "map_item_removed",
                ["item_key": .string(channel), "item_data": ["status": "joined"]])
        }
    }

    @discardableResult
    func say(_ text: String, by author: String, in channel: String, attributes: String = "{}") -> JSONObject {
        let index = state.withLock {
            Int64(($0.log[object("ES", channel)] ?? []).count { $0.type == "list_item_added" })
        }
        let data = Self.fields([
            "sid": .string("IM\(channel.suffix(3))\(index)"), "type": "text", "author": .string(author),
            "memberSid": .string("MB" + author), "text": .string(text), "attributes": .string(attributes),
            "timestamp": "2024-05-01T12:00:00.000Z", "dateUpdated": "2024-05-01T12:00:00.000Z",
        ])
        let id = emit(
            object("ES", channel), "list_item_added", ["item_index": .int(index), "item_data": .object(data)])
        state.withLock { $0.channels[channel]?.items[index] = item(data, id, key: "index", .int(index)) }
        return data
    }

    func invite(to channel: String) {
        emit(standings, "map_item_added", ["item_key": .string(channel), "item_data": ["status": "invited"]])
    }

    func destroy(_ channel: String) {
        state.withLock { $0.channels[channel] = nil }
        emit(
            standings, "map_item_removed", ["item_key": .string(channel), "item_data": ["status": "joined"]])
    }

    func edit(_ index: Int64, in channel: String, to text: String) {
        guard var data = state.withLock({ $0.channels[channel]?.items[index]?["data"]?.object }) else {
            return
        }
        data["text"] = .string(text)
        let id = emit(
            object("ES", channel), "list_item_updated",
            ["item_index": .int(index), "item_data": .object(data)])
        state.withLock { $0.channels[channel]?.items[index] = item(data, id, key: "index", .int(index)) }
    }

    func delete(_ index: Int64, in channel: String) {
        let item = state.withLock { $0.channels[channel]?.items.removeValue(forKey: index) }
        guard let data = item?["data"] else { return }
        emit(object("ES", channel), "list_item_removed", ["item_index": .int(index), "item_data": data])
    }

    func rename(_ channel: String, to title: String) {
        state.withLock { $0.channels[channel]?.title = title }
        let data = document(channel)
        emit(object("ET", channel), "document_updated", ["document_data": data])
    }

    func document(_ channel: String) -> JSON {
        state.withLock { state in
            let room = state.channels[channel]
            return [
                "friendlyName": .string(room?.title ?? ""), "uniqueName": .string(room?.uniqueName ?? ""),
                "attributes": .string(room?.attributes ?? "{}"),
            ]
        }
    }

    private func item(_ data: JSONObject, _ id: Int64, key: String, _ name: JSON) -> JSONObject {
        JSONObject([
            (key: key, value: name), (key: "last_event_id", value: .int(id)),
            (key: "data", value: .object(data)),
        ])
    }

    @discardableResult
    private func emit(_ object: String, _ type: String, _ fields: JSON) -> Int64 {
        let (id, sockets) = state.withLock { state in
            let id = (state.log[object]?.last?.id ?? 0) + 1
            state.log[object, default: []].append((id, type, fields.object ?? JSONObject()))
            return (id, state.sockets)
        }
        let event = event(object, id, fields.object ?? JSONObject())
        let payload: JSON = ["event_type": .string(type), "event_protocol_version": 4, "events": [event]]
        let kind = ["ET": "document", "ES": "list"][String(object.prefix(2))] ?? "map"
        let frame = notification("com.twilio.rtd.cds.\(kind)", payload)
        let isKept = state.withLock { state in
            if state.isHolding { state.kept.append(frame) }
            return state.isHolding
        }
        if !isKept { for socket in sockets { _ = socket.offer(.binary(frame)) } }
        return id
    }

    func event(_ object: String, _ id: Int64, _ fields: JSONObject) -> JSON {
        let name = ["ET": "document_sid", "ES": "list_sid"][String(object.prefix(2))] ?? "map_sid"
        var event = fields
        event["id"] = .int(id)
        event["date_created"] = "2024-05-01T12:00:00.000Z"
        event[name] = .string(object)
        return .object(event)
    }

    /// Keeps live events back until `release`.
    func hold() {
        state.withLock { $0.isHolding = true }
    }

    func release(_ order: ([[UInt8]]) -> [[UInt8]]) {
        let (kept, sockets) = state.withLock { state in
            defer { state.kept = [] }
            state.isHolding = false
            return (state.kept, state.sockets)
        }
        for frame in order(kept) { for socket in sockets { _ = socket.offer(.binary(frame)) } }
    }

    func cut() {
        for socket in state.withLock({ $0.sockets }) { socket.kill() }
    }

    func send(_ header: JSON, payload: JSON = .null) {
        let frame = frame(header, payload)
        for socket in state.withLock({ $0.sockets }) { _ = socket.offer(.binary(frame)) }
    }

    // MARK: Frames

    private func newID() -> String {
        state.withLock { state in
            state.nextID += 1
            return "TM\(state.nextID)"
        }
    }

    private func frame(_ header: JSON, _ payload: JSON) -> [UInt8] {
        let body = payload.isNull ? [] : payload.bytes()
        var header = header.object ?? JSONObject()
        if header["id"] == nil {
            let id = newID()
            header["id"] = .string(id)
            state.withLock { _ = $0.sent.insert(id) }
        }
        header["payload_size"] = .int(Int64(body.count))
        return TwilsockFrame.bytes(
            header: JSON.object(header).bytes(), payload: body.isEmpty ? [] : body + [13, 10])
    }

    func notification(_ type: String, _ payload: JSON) -> [UInt8] {
        frame(
            [
                "method": "notification", "message_type": .string(type), "notification_ctx_id": "",
                "payload_type": "application/json",
            ], payload)
    }

    func typing(_ identity: String, in channel: String) {
        let frame = notification(
            "twilio.ipmsg.typing_indicator",
            ["channel_sid": .string(channel), "identity": .string(identity), "typing_timeout": 6])
        for socket in state.withLock({ $0.sockets }) { _ = socket.offer(.binary(frame)) }
    }

    private func serve(_ socket: WebSocket) async {
        state.withLock { state in
            if state.sockets.isEmpty { state.sent = [] }
            state.sockets.append(socket)
        }
        while let messages = try? await socket.receive() {
            for message in messages { take(message.bytes, on: socket) }
        }
        state.withLock { $0.sockets.removeAll { $0 === socket } }
    }

    private func take(_ bytes: [UInt8], on socket: WebSocket) {
        let parts: (JSON, [UInt8])? = bytes.withUnsafeBytes { frame in
            guard let range = try? TwilsockFrame.header(in: frame),
                let header = try? JSON(parsing: UnsafeRawBufferPointer(rebasing: frame[range])),
                let payload = try? TwilsockFrame.payload(
                    of: header["payload_size"]?.int ?? 0, after: range, in: frame)
            else { return nil }
            return (header, Array(frame[payload]))
        }
        guard let (header, payload) = parts, let id = header["id"] else { return }
        func reply(_ more: JSON, _ body: JSON = .null) {
            var fields = more.object ?? JSONObject()
            fields["id"] = id
            fields["method"] = "reply"
            _ = socket.offer(.binary(frame(.object(fields), body)))
        }
        switch header["method"]?.string {
        case "init":
            let next = state.withLock { state in
                state.inits.append(header)
                return state.initStatus.isEmpty ? nil : state.initStatus.removeFirst()
            }
            if let next { return reply(["status": next.status], next.payload) }
            reply([
                "status": Self.fine, "continuation_token": "continue-me", "capabilities": ["client_update"],
            ])
        case "update":
            let next = state.withLock { state in
                state.updates.append(header["token"]?.string ?? "")
                return state.updateStatus.isEmpty ? Self.fine : state.updateStatus.removeFirst()
            }
            reply(["status": next])
        case "reply":
            state.withLock { _ = $0.acknowledged.insert(id.string ?? "") }
        case "message":
            let request = header["http_request"]
            let method = request?["method"]?.string ?? ""
            let path = request?["path"]?.string ?? ""
            let body = (try? JSON(parsing: payload)) ?? .string(String(decoding: payload, as: UTF8.self))
            state.withLock { $0.requests.append((method, path, body)) }
            switch verdict.withLock({ $0 })(method, path) {
            case .normal:
                let (status, json) = answer(method, path, request?["params"] ?? [:], body, on: socket)
                reply(
                    ["status": Self.fine, "http_status": ["code": .int(Int64(status)), "status": "x"]], json)
            case .answer(let status, let json, let headers):
                reply(
                    [
                        "status": Self.fine, "http_status": ["code": .int(Int64(status)), "status": "x"],
                        "http_headers": headers,
                    ], json)
            case .transport(let status, let body): reply(["status": status], body)
            case .doneAndCut:
                _ = answer(method, path, request?["params"] ?? [:], body, on: socket)
                socket.kill()
            case .cut: socket.kill()
            case .silence: break
            }
        default: break
        }
    }

    static func fields(_ json: JSON) -> JSONObject { json.object ?? JSONObject() }

    static let fine: JSON = ["code": 200, "status": "OK"]
}
