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
    let verdict: Locked<@Sendable (String, JSON) -> Verdict> = Locked { _, _ in .normal }
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
    func act(_ letters: String, _ body: JSON) -> (String, JSONObject)? {
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
}
