import Chat
import HTTPServer
import JSON
import WebSocket

@testable import Services

/// What it answers over HTTP.
extension ScriptedSendbird {
    func answer(_ request: HTTPRequest) -> HTTPReply {
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
    func act(
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

    func room(_ url: String) -> JSON? {
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

    func messages(_ room: Room, _ query: [String: String]) -> JSON? {
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
