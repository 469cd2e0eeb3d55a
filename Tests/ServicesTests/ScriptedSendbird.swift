import Chat
import HTTPServer
import JSON
import WebSocket

@testable import Services

/// A Sendbird of one user that does what a test tells it, faults included. Written from the protocol, for tests alone.
final class ScriptedSendbird: Sendable {
    struct Room {
        var url: String
        var isOpen: Bool
        var name: String
        var isDistinct = false
        var isSuper = false
        var members: [String] = []
        var invited: [String] = []
        var operators: [String] = []
        var messages: [JSONObject] = []
        var deleted: [(id: Int64, at: Int64)] = []
        var read: [String: Int64] = [:]
        var entered = false
        var frozen = false
    }

    struct State {
        var rooms: [String: Room] = [:]
        var sockets: [WebSocket] = []
        /// How each connection came: the query, and its headers of ours.
        var visits: [(query: [String: String], token: String?, key: String?)] = []
        var commands: [(letters: String, body: JSON)] = []
        var requests: [(method: String, path: String, query: [String: String], body: JSON, key: String?)] = []
        var nextID: Int64 = 70_000
        var now: Int64 = 1_800_000_000_000
        var keys = 0
        /// What the next connections get instead of a welcome.
        var greetings: [String] = []
        /// Changes of the welcome.
        var welcome: JSONObject = [:]
        var isSilent = false
        var isPlatformKeyWanted = false
    }

    /// What a test wants done with a command or request before it is looked at.
    enum Verdict: Sendable {
        case normal
        case error(Int64, status: Int = 400, headers: [(String, String)] = [])
        /// Done, but nobody hears of it.
        case doneInSilence
        /// Done, but nobody hears of it: the socket is cut.
        case doneAndCut
        case cut
        case silence
        case answer(JSON)
    }

    let state = Locked(State())
    let own: String
    private let verdict: Locked<@Sendable (String, JSON) -> Verdict> = Locked { _, _ in .normal }
    private let loop: SocketLoop
    let server: Locked<HTTPServer?> = Locked(nil)

    init(own: String = "bot", loop: SocketLoop) {
        self.own = own
        self.loop = loop
    }

    func start() async throws -> String {
        let server = try await HTTPServer.start(host: "127.0.0.1", port: 0, loop: loop) { [self] request in
            guard request.wantsWebSocket else { return answer(request) }
            let query = Dictionary(request.query.map { ($0.name, $0.value) }, uniquingKeysWith: { $1 })
            let visit = (
                query, request.header("SENDBIRD-WS-TOKEN"), request.header("SENDBIRD-WS-AUTH")
            )
            return .webSocket(subprotocol: nil) { await self.serve($0, visit) }
        }
        self.server.withLock { $0 = server }
        return "ws://127.0.0.1:\(server.port)"
    }

    func stop() async {
        await server.withLock { $0 }?.shutdown(grace: .zero)
    }

    /// `what` is a command's letters, or `GET /group_channels/x`.
    func judge(_ verdict: @escaping @Sendable (_ what: String, _ body: JSON) -> Verdict) {
        self.verdict.withLock { $0 = verdict }
    }

    // MARK: The world

    func addRoom(
        _ url: String, open: Bool = true, name: String? = nil, members: [String] = [],
        change: (inout Room) -> Void = { _ in }
    ) {
        var room = Room(url: url, isOpen: open, name: name ?? "Room \(url)", members: members)
        change(&room)
        state.withLock { $0.rooms[url] = room }
    }

    func tick(_ milliseconds: Int64 = 10) -> Int64 {
        state.withLock {
            $0.now += milliseconds
            return $0.now
        }
    }

    static func user(_ id: String) -> JSON {
        [
            "guest_id": .string(id), "id": 11, "name": .string(id), "image": "", "metadata": [:], "role": "",
            "is_active": true,
        ]
    }

    /// Says something as somebody; told to us unless `silently`. `at` is as it is told, whatever time it is.
    @discardableResult
    func say(
        _ text: String, by user: String, in url: String, at: Int64? = nil, id: Int64? = nil,
        silently: Bool = false, fields: JSONObject = [:], request: String? = nil
    ) -> Int64 {
        let now = at ?? tick()
        let message = state.withLock { state -> JSONObject in
            state.nextID += 1
            var message: JSONObject = [
                "msg_id": .int(id ?? state.nextID), "channel_url": .string(url),
                "channel_type": .string(state.rooms[url]?.isOpen == false ? "group" : "open"),
                "ts": .int(now),
                "updated_at": 0, "message": .string(text), "data": "", "custom_type": "",
                "user": Self.user(user), "mention_type": "users", "mentioned_users": [], "silent": false,
                "is_op_msg": false, "parent_message_id": 0, "request_id": .string(request ?? ""),
                "req_id": "",
            ]
            for (name, value) in fields { message[name] = value }
            state.rooms[url]?.messages.append(message)
            return message
        }
        if !silently {
            emit(message["file"] != nil || message["url"] != nil ? "FILE" : "MESG", .object(message), in: url)
        }
        return message["msg_id"]?.int ?? 0
    }

    func edit(_ id: Int64, in url: String, to text: String, silently: Bool = false, at: Int64? = nil) {
        let now = at ?? tick()
        let message = state.withLock { state -> JSONObject? in
            guard let place = state.rooms[url]?.messages.firstIndex(where: { $0["msg_id"]?.int == id }) else {
                return nil
            }
            state.rooms[url]?.messages[place]["message"] = .string(text)
            state.rooms[url]?.messages[place]["updated_at"] = .int(now)
            return state.rooms[url]?.messages[place]
        }
        if let message, !silently { emit("MEDI", .object(message), in: url) }
    }

    func delete(_ id: Int64, in url: String, silently: Bool = false, asText: Bool = false) {
        let now = tick()
        state.withLock { state in
            state.rooms[url]?.messages.removeAll { $0["msg_id"]?.int == id }
            state.rooms[url]?.deleted.append((id, now))
        }
        guard !silently else { return }
        let shown: JSON = asText ? .string("\(id)") : .int(id)
        emit("DELM", ["channel_url": .string(url), "msg_id": shown, "ts": .int(now)], in: url)
    }

    /// A system event.
    func system(_ category: Int64, in url: String, _ data: JSON, fields: JSONObject = [:], at: Int64? = nil) {
        var body: JSONObject = [
            "cat": .int(category), "channel_url": .string(url),
            "channel_type": .string(state.withLock { $0.rooms[url]?.isOpen == false } ? "group" : "open"),
            "ts": .int(at ?? tick()), "data": data,
        ]
        for (name, value) in fields { body[name] = value }
        emit("SYEV", .object(body), in: nil)
    }

    /// To our sockets, if they may hear it.
    func emit(_ letters: String, _ body: JSON, in url: String?) {
        if let url, state.withLock({ $0.rooms[url].map { $0.isOpen && !$0.entered } ?? false }) { return }
        raw(letters + body.description + "\n")
    }

    func raw(_ text: String) {
        for socket in state.withLock({ $0.sockets }) { _ = socket.offer(.text(text)) }
    }

    func cut() {
        let sockets = state.withLock { state in
            defer { state.sockets = [] }
            for url in state.rooms.keys { state.rooms[url]?.entered = false }
            return state.sockets
        }
        for socket in sockets { socket.kill() }
    }

    var commands: [String] { state.withLock { $0.commands.map(\.letters) } }

    func paths(_ method: String? = nil) -> [String] {
        state.withLock { $0.requests.filter { method == nil || $0.method == method }.map(\.path) }
    }

    // MARK: The socket

    private func serve(
        _ socket: WebSocket, _ visit: (query: [String: String], token: String?, key: String?)
    ) async {
        let greeting = state.withLock { state in
            state.visits.append(visit)
            return state.greetings.isEmpty ? nil : state.greetings.removeFirst()
        }
        if let greeting {
            if !greeting.isEmpty { _ = socket.offer(.text(greeting)) }
            if greeting.hasPrefix("LOGI") { return }
        } else {
            _ = socket.offer(.text("LOGI" + welcome().description + "\n"))
            state.withLock { $0.sockets.append(socket) }
        }
        while let messages = try? await socket.receive() {
            for message in messages {
                SendbirdCommand.each(in: message.bytes, damage: { _ in }) { letters, body in
                    guard let json = try? JSON(parsing: Array(body)) else { return }
                    take(letters, json, socket)
                }
            }
        }
    }

    private func welcome() -> JSON {
        state.withLock { state in
            state.keys += 1
            var welcome: JSONObject = [
                "user_id": .string(own), "nickname": .string(own), "key": .string("key\(state.keys)"),
                "ekey": "ekey", "login_ts": .int(state.now), "services": ["chat"], "ping_interval": 15,
                "pong_timeout": 5,
                "reconnect": ["interval": 0.05, "max_interval": 0.2, "mul": 2, "retry_cnt": 5],
                "unread_cnt": ["all": 0, "ts": .int(state.now)], "file_upload_size_limit": 25,
            ]
            for (name, value) in state.welcome { welcome[name] = value }
            return .object(welcome)
        }
    }

    private func take(_ letters: String, _ body: JSON, _ socket: WebSocket) {
        state.withLock { $0.commands.append((letters, body)) }
        let id = body["req_id"] ?? ""
        func answer(_ letters: String, _ fields: JSONObject) {
            var fields = fields
            fields["req_id"] = id
            _ = socket.offer(.text(letters + JSON.object(fields).description + "\n"))
        }
        let verdict = verdict.withLock { $0 }(letters, body)
        switch verdict {
        case .error(let code, _, _):
            let shown = letters == "LOGI" ? "LOGI" : "EROR"
            return answer(shown, ["error": true, "code": .int(code), "message": .string("no \(code)")])
        case .cut: return cut()
        case .silence: return
        case .answer(let json): return answer(letters, json.object ?? [:])
        case .normal, .doneAndCut, .doneInSilence: break
        }
        let reply = act(letters, body)
        if case .doneAndCut = verdict { return cut() }
        if case .doneInSilence = verdict { return }
        if let reply { answer(reply.0, reply.1) }
    }

    /// Does it, and gives the acknowledgement.
    private func act(_ letters: String, _ body: JSON) -> (String, JSONObject)? {
        let url = body["channel_url"]?.string ?? ""
        switch letters {
        case "PING": return state.withLock { $0.isSilent } ? nil : ("PONG", ["ts": .int(tick())])
        case "LOGI":
            return state.withLock {
                $0.keys += 1
                return ("LOGI", ["new_key": .string("key\($0.keys)")])
            }
        case "ENTR", "EXIT":
            guard state.withLock({ $0.rooms[url] != nil }) else {
                return ("EROR", ["error": true, "code": 900500, "message": "no such channel"])
            }
            state.withLock { $0.rooms[url]?.entered = letters == "ENTR" }
            return (letters, ["channel_url": .string(url), "participant_count": 2, "edge_ts": .int(tick())])
        case "MESG", "FILE":
            var fields: JSONObject = [:]
            for name in ["url", "name", "type", "size", "data", "silent", "parent_message_id"] {
                if let value = body[name] { fields[name] = value }
            }
            let id = say(
                body["message"]?.string ?? "", by: own, in: url, silently: true, fields: fields,
                request: body["req_id"]?.string)
            let message = state.withLock { $0.rooms[url]?.messages.first { $0["msg_id"]?.int == id } }
            return (letters, message ?? [:])
        case "MEDI", "FEDI":
            guard let id = body["msg_id"]?.int else { return nil }
            edit(id, in: url, to: body["message"]?.string ?? "", silently: true)
            let message = state.withLock { $0.rooms[url]?.messages.first { $0["msg_id"]?.int == id } }
            return (letters, message ?? [:])
        case "READ":
            let now = tick()
            state.withLock { $0.rooms[url]?.read[own] = now }
            return ("READ", ["channel_url": .string(url), "ts": .int(now), "user": Self.user(own)])
        default: return nil
        }
    }

    // MARK: Requests

    private func answer(_ request: HTTPRequest) -> HTTPReply {
        let query = Dictionary(request.query.map { ($0.name, $0.value) }, uniquingKeysWith: { $1 })
        let body = (try? JSON(parsing: request.body)) ?? .null
        let path = "/" + request.segments.dropFirst().joined(separator: "/")
        let key = request.header("Session-Key") ?? request.header("Api-Token").map { "platform " + $0 }
        state.withLock { $0.requests.append((request.method, path, query, body, key)) }
        let verdict = verdict.withLock { $0 }("\(request.method) \(path)", body)
        switch verdict {
        case .error(let code, let status, let headers): return refuse(code, status, headers)
        case .silence, .cut:
            cut()
            return .answer(status: 503)
        case .answer(let json): return .json(200, json.bytes())
        case .normal, .doneAndCut, .doneInSilence: break
        }
        let reply = act(request.method, Array(request.segments.dropFirst()), query, body)
        if case .doneAndCut = verdict { cut() }
        if case .doneInSilence = verdict { return .answer(status: 504) }
        guard let reply else { return refuse(400201, 400, []) }
        return .json(200, reply.bytes())
    }

    private func refuse(_ code: Int64, _ status: Int, _ headers: [(String, String)]) -> HTTPReply {
        let body: JSON = ["error": true, "code": .int(code), "message": .string("no \(code)")]
        return .json(status, body.bytes(), headers: headers)
    }

    /// Nil for what is not there.
    private func act(
        _ method: String, _ path: [String], _ query: [String: String], _ body: JSON
    ) -> JSON? {
        switch (method, path.first, path.count) {
        case ("GET", "users", 3) where path[2] == "my_group_channels":
            return page(query) { !$0.isOpen && ($0.members.contains(own) || $0.invited.contains(own)) }
        case ("POST", "users", 3) where path[2] == "token":
            return ["token": "session-token", "expires_at": body["expires_at"] ?? 0]
        case ("POST", "users", 3) where path[2] == "session_key":
            return state.withLock {
                $0.keys += 1
                return ["key": .string("key\($0.keys)")]
            }
        case ("POST", "storage", 2): return ["url": "https://files.example/1", "file_size": 3]
        case ("GET", "open_channels", 1): return page(query) { $0.isOpen }
        case ("POST", "open_channels", 1):
            let url = body["channel_url"]?.string ?? "sendbird_open_channel_1"
            addRoom(url, name: body["name"]?.string) { $0.operators = [self.own] }
            return room(url)
        case ("POST", "group_channels", 1):
            let users = (body["user_ids"]?.array ?? []).compactMap(\.string).sorted()
            let known = state.withLock {
                $0.rooms.values.first { $0.isDistinct && $0.members.sorted() == users }
            }
            if let known { return room(known.url) }
            let url = "group_of_" + users.joined(separator: "_")
            addRoom(url, open: false, name: "", members: users) { $0.isDistinct = true }
            return room(url)
        default: break
        }
        guard path.count >= 2, let url = Optional(path[1]), let room = state.withLock({ $0.rooms[url] }),
            path[0] == (room.isOpen ? "open_channels" : "group_channels")
        else { return nil }
        switch (method, path.count > 2 ? path[2] : nil, path.count) {
        case ("GET", nil, _): return self.room(url)
        case ("PUT", nil, _):
            state.withLock { state in
                if let name = body["name"]?.string { state.rooms[url]?.name = name }
            }
            return self.room(url)
        case ("PUT", "accept"?, _), ("PUT", "join"?, _):
            state.withLock { state in
                state.rooms[url]?.invited.removeAll { $0 == own }
                if !room.members.contains(own) { state.rooms[url]?.members.append(own) }
            }
            return [:]
        case ("GET", "messages"?, 3): return messages(room, query)
        case ("GET", "messages"?, 4) where path[3] == "changelogs": return changes(room, query)
        case ("DELETE", "messages"?, 4):
            guard let id = Int64(path[3]), room.messages.contains(where: { $0["msg_id"]?.int == id }) else {
                return nil
            }
            delete(id, in: url)
            return [:]
        default: return [:]
        }
    }

    private func page(_ query: [String: String], _ isIn: (Room) -> Bool) -> JSON {
        let rooms = state.withLock { $0.rooms.values.filter(isIn).sorted { $0.url < $1.url } }
        let start = Int(query["token"] ?? "") ?? 0
        // Two a page at most when a test does not ask for pages of its own, so that pages are turned.
        let limit = query["limit"] == "100" ? 2 : Int(query["limit"] ?? "") ?? 20
        let part = rooms.dropFirst(start).prefix(limit)
        let next = start + limit < rooms.count ? "\(start + limit)" : ""
        return ["channels": .array(part.compactMap { room($0.url) }), "next": .string(next)]
    }

    private func room(_ url: String) -> JSON? {
        guard let room = state.withLock({ $0.rooms[url] }) else { return nil }
        func member(_ id: String, _ state: String) -> JSON {
            [
                "user_id": .string(id), "nickname": .string(id), "state": .string(state),
                "role": room.operators.contains(id) ? "operator" : "none",
            ]
        }
        var json: JSONObject = [
            "channel_url": .string(url), "name": .string(room.name), "data": "", "freeze": .bool(room.frozen),
            "created_at": 1_700_000_000,
        ]
        if room.isOpen {
            json["participant_count"] = 1
            json["operators"] = .array(
                room.operators.map { ["user_id": .string($0), "nickname": .string($0)] })
        } else {
            json["is_distinct"] = .bool(room.isDistinct)
            json["is_super"] = .bool(room.isSuper)
            json["members"] = .array(
                room.members.map { member($0, "joined") } + room.invited.map { member($0, "invited") })
            json["member_count"] = .int(Int64(room.members.count + room.invited.count))
            json["joined_member_count"] = .int(Int64(room.members.count))
            json["member_state"] = room.invited.contains(own) ? "invited" : "joined"
            json["my_role"] = room.operators.contains(own) ? "operator" : "none"
            json["read_receipt"] = .object(JSONObject(room.read.map { (key: $0.key, value: .int($0.value)) }))
            let readAt = room.read[own] ?? 0
            json["unread_message_count"] = .int(
                Int64(
                    room.messages.count {
                        ($0["ts"]?.int ?? 0) > readAt && $0["user"]?["guest_id"]?.string != own
                    }))
            if let last = room.messages.max(by: {
                ($0["ts"]?.int ?? 0, $0["msg_id"]?.int ?? 0) < ($1["ts"]?.int ?? 0, $1["msg_id"]?.int ?? 0)
            }) {
                json["last_message"] = Self.stored(last)
            }
        }
        return .object(json)
    }

    /// A message in the words of answers.
    private static func stored(_ message: JSONObject) -> JSON {
        var json = message
        json["message_id"] = message["msg_id"]
        json["created_at"] = message["ts"]
        json["user"] = message["user"].flatMap { user in
            user.isNull
                ? nil
                : [
                    "user_id": user["guest_id"] ?? "", "nickname": user["name"] ?? "",
                    "role": user["role"] ?? "",
                ]
        }
        for name in ["msg_id", "ts", "req_id"] { json[name] = nil }
        return .object(json)
    }

    private func messages(_ room: Room, _ query: [String: String]) -> JSON? {
        guard let at = Int64(query["message_ts"] ?? "") else { return nil }
        let isInclusive = query["include"] == "true"
        let sorted = room.messages.sorted {
            ($0["ts"]?.int ?? 0, $0["msg_id"]?.int ?? 0) < ($1["ts"]?.int ?? 0, $1["msg_id"]?.int ?? 0)
        }
        func time(_ message: JSONObject) -> Int64 { message["ts"]?.int ?? 0 }
        let before = Int(query["prev_limit"] ?? "") ?? 0
        let after = Int(query["next_limit"] ?? "") ?? 0
        let earlier = sorted.filter { time($0) < at || (isInclusive && after == 0 && time($0) == at) }
        let later = sorted.filter { time($0) > at || (isInclusive && after > 0 && time($0) == at) }
        let found = Array(earlier.suffix(before)) + Array(later.prefix(after))
        return ["messages": .array(found.map { Self.stored($0) }), "has_next": .bool(later.count > after)]
    }

    private func changes(_ room: Room, _ query: [String: String]) -> JSON {
        let since = Int64(query["change_ts"] ?? query["token"] ?? "") ?? 0
        let updated = room.messages.filter {
            ($0["updated_at"]?.int ?? 0) >= since && $0["updated_at"]?.int != 0
        }
        let deleted = room.deleted.filter { $0.at >= since }
        return [
            "updated": .array(updated.map { Self.stored($0) }),
            "deleted": .array(deleted.map { ["message_id": .int($0.id), "deleted_at": .int($0.at)] }),
            "has_more": false, "next": "",
        ]
    }
}
