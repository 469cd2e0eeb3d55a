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

    private func document(_ channel: String) -> JSON {
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

    private func event(_ object: String, _ id: Int64, _ fields: JSONObject) -> JSON {
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

    private func notification(_ type: String, _ payload: JSON) -> [UInt8] {
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

    private static func fields(_ json: JSON) -> JSONObject { json.object ?? JSONObject() }

    static let fine: JSON = ["code": 200, "status": "OK"]

    // MARK: Answers

    private var base: String { "https://aim.us1.twilio.com/Client/v2/Services/\(service)" }

    private func answer(
        _ method: String, _ path: String, _ params: JSON, _ body: JSON, on socket: WebSocket
    ) -> (Int, JSON) {
        let parts = path.split(separator: "/").map { String($0) }
        if path.hasSuffix("/Configuration") { return (200, configuration) }
        if parts.last == "Subscriptions" { return subscribe(body, on: socket) }
        if parts.last == "Typing" { return (200, ["typing_timeout": 5]) }
        if parts[0] == "v3" { return sync(parts, params) }
        guard let place = parts.firstIndex(of: "Conversations") else { return notFound }
        let rest = Array(parts[(place + 1)...])
        if parts.contains("Users") { return mine(method, rest, params) }
        return conversations(method, rest, body)
    }

    private let notFound: (Int, JSON) = (404, ["status": 404, "code": 20404, "message": "not found"])

    private var configuration: JSON {
        [
            "identity": .string(own), "options": [:],
            "sync_objects": ["my_conversations": .string("\(own).channels"), "my_user_info": "US1.info"],
            "links": [
                "my_conversations": .string("\(base)/Users/US1/Conversations"),
                "conversations": .string("\(base)/Conversations"), "users": .string("\(base)/Users"),
                "typing": .string("https://aim.us1.twilio.com/v1/Instances/\(service)/Typing"),
            ],
        ]
    }

    private func sync(_ parts: [String], _ params: JSON) -> (Int, JSON) {
        if parts.last == "Items" {
            let object = parts[parts.count - 2]
            let channel = "CH" + object.dropFirst(2)
            return state.withLock { state in
                guard let room = state.channels[channel] else { return notFound }
                let from = params["PageToken"]?.string ?? params["From"]?.string
                if object.hasPrefix("MP") {
                    let items = room.members.sorted { $0.key < $1.key }.map { JSON.object($0.value) }
                    return (200, ["items": .array(items), "meta": ["next_token": nil]])
                }
                var items = room.items.sorted { $0.key < $1.key }
                if let index = params["Index"]?.string { items = items.filter { "\($0.key)" == index } }
                // A page's token is its order and its first index.
                let isDescending = params["Order"]?.string == "desc" || from?.hasPrefix("desc") == true
                let start = from.flatMap { Int64($0.drop { !$0.isNumber }) }
                if isDescending { items.reverse() }
                if let start { items = items.filter { isDescending ? $0.key <= start : $0.key >= start } }
                let size = Int(params["PageSize"]?.string ?? "") ?? 3
                let page = items.prefix(min(size, 3))
                let next = items.dropFirst(min(size, 3)).first
                let token = next.map { JSON.string("\(isDescending ? "desc" : "asc")\($0.key)") } ?? .null
                return (
                    200, ["items": .array(page.map { .object($0.value) }), "meta": ["next_token": token]]
                )
            }
        }
        guard let name = parts.last else { return notFound }
        var sid = name
        if name == "\(own).channels" {
            sid = standings
        } else if let dot = name.firstIndex(of: ".") {
            let kind = ["channel": "ET", "messages": "ES", "roster": "MP"][
                String(name[name.index(after: dot)...])]
            sid = object(kind ?? "XX", String(name[..<dot]))
        }
        let channel = "CH" + sid.dropFirst(2)
        let isThere = state.withLock { $0.channels[channel] != nil } || sid == standings
        guard isThere else { return (404, ["status": 404, "code": 54150, "message": "not found"]) }
        let last = state.withLock { $0.log[sid]?.last?.id ?? 0 }
        let kind = ["ET": "Documents", "ES": "Lists"][String(sid.prefix(2))] ?? "Maps"
        let url = "https://cds.us1.twilio.com/v3/Services/\(service)/\(kind)/\(sid)"
        return (
            200,
            [
                "sid": .string(sid), "unique_name": .string(name), "url": .string(url), "revision": "1",
                "last_event_id": .int(last), "links": ["items": .string("\(url)/Items")],
                "data": kind == "Documents" ? document(channel) : .null,
            ]
        )
    }

    private func subscribe(_ body: JSON, on socket: WebSocket) -> (Int, JSON) {
        let isWithheld = state.withLock { state in
            guard state.withholdsConfirmations > 0 else { return false }
            state.withholdsConfirmations -= 1
            return true
        }
        for request in body["requests"]?.array ?? [] where !isWithheld {
            let sid = request["object_sid"]?.string ?? ""
            let from = request["last_event_id"]?.int ?? 0
            let (events, last) = state.withLock { state in
                let forgotten = state.forgotten[sid] ?? 0
                let events = (state.log[sid] ?? []).filter { $0.id > max(from, forgotten) }
                return (events, state.log[sid]?.last?.id ?? 0)
            }
            func send(_ type: String, _ event: JSON) {
                let payload: JSON = [
                    "event_type": .string(type), "correlation_id": body["correlation_id"] ?? 0,
                    "event_protocol_version": 4, "events": [event],
                ]
                _ = socket.offer(.binary(notification("twilio.sync.event", payload)))
            }
            for (id, type, fields) in events { send(type, event(sid, id, fields)) }
            send(
                "subscription_established",
                [
                    "object_sid": .string(sid), "object_type": request["object_type"] ?? "",
                    "replay_status": "completed", "last_event_id": .int(last),
                ])
        }
        return (202, ["estimated_delivery_in_ms": 1000, "max_batch_size": 1000, "ttl_in_s": 86400])
    }

    private func mine(_ method: String, _ rest: [String], _ params: JSON) -> (Int, JSON) {
        let rows = state.withLock { state in
            state.channels.values.filter { $0.members["MB" + own] != nil }.sorted { $0.sid < $1.sid }
        }.map { row($0) }
        guard let name = rest.first else {
            // Two a page, so that pages are turned.
            let start = Int(params["PageToken"]?.string ?? "") ?? 0
            let page = rows.dropFirst(start).prefix(2)
            let next: JSON = start + 2 < rows.count ? .string("\(start + 2)") : .null
            return (
                200,
                ["meta": ["next_token": next, "key": "conversations"], "conversations": .array(Array(page))]
            )
        }
        guard let row = rows.first(where: { $0["conversation_sid"]?.string == name }) else { return notFound }
        return (200, row)
    }

    private func row(_ room: Room) -> JSON {
        [
            "conversation_sid": .string(room.sid), "sid": .string(room.sid), "status": "joined",
            "friendly_name": .string(room.title), "unique_name": .string(room.uniqueName),
            "sync_objects": [
                "conversation": .string("\(room.sid).channel"), "messages": .string("\(room.sid).messages"),
                "participants": .string("\(room.sid).roster"),
            ],
        ]
    }

    private func conversations(_ method: String, _ rest: [String], _ body: JSON) -> (Int, JSON) {
        guard let name = rest.first else {
            guard method == "POST" else {
                return (200, ["meta": ["key": "conversations"], "conversations": []])
            }
            let number = state.withLock { $0.channels.count + 1 }
            let sid = addChannel(number, name: body["unique_name"]?.string ?? "", joined: false)
            state.withLock { $0.channels[sid]?.title = body["friendly_name"]?.string ?? "" }
            return (201, row(state.withLock { $0.channels[sid] } ?? Room(sid: "", uniqueName: "", title: "")))
        }
        let found = state.withLock { $0.channels[name] ?? $0.channels.values.first { $0.uniqueName == name } }
        guard let room = found else {
            return (404, ["status": 404, "code": 50350, "message": "no such channel"])
        }
        switch (method, rest.count > 1 ? rest[1] : nil) {
        case ("GET", nil): return (200, row(room))
        case ("POST", "Messages"?) where rest.count == 2:
            let data = say(
                body["body"]?.string ?? "", by: own, in: room.sid,
                attributes: body["attributes"]?.string ?? "{}")
            let index = state.withLock { $0.channels[room.sid]?.items.keys.max() ?? 0 }
            return (201, ["sid": data["sid"] ?? "", "index": .int(index), "author": .string(own)])
        case ("DELETE", "Messages"?):
            let index = state.withLock {
                $0.channels[room.sid]?.items.first { $0.value["data"]?["sid"]?.string == rest[2] }?.key
            }
            guard let index else { return notFound }
            delete(index, in: room.sid)
            return (204, .null)
        case ("POST", "Messages"?):
            let index = state.withLock {
                $0.channels[room.sid]?.items.first { $0.value["data"]?["sid"]?.string == rest[2] }?.key
            }
            guard let index else { return notFound }
            if let text = body["body"]?.string { edit(index, in: room.sid, to: text) }
            if let attributes = body["attributes"] {
                state.withLock { state in
                    guard var data = state.channels[room.sid]?.items[index]?["data"]?.object else { return }
                    data["attributes"] = attributes
                    state.channels[room.sid]?.items[index]?["data"] = .object(data)
                }
            }
            return (200, ["sid": .string(rest[2])])
        case ("POST", "Participants"?):
            let identity = body["identity"]?.string ?? ""
            if room.members["MB" + identity] != nil {
                return (409, ["status": 409, "code": 50433, "message": "there"])
            }
            addMember(identity, to: room.sid)
            return (201, ["sid": .string("MB" + identity)])
        case ("DELETE", "Participants"?):
            removeMember(rest[2], from: room.sid)
            return (204, .null)
        default: return (200, row(room))
        }
    }
}
