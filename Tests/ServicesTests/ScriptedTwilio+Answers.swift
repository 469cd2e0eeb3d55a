import Chat
import HTTPServer
import JSON
import WebSocket

@testable import Services

/// What it answers to requests.
extension ScriptedTwilio {
    private var base: String { "https://aim.us1.twilio.com/Client/v2/Services/\(service)" }

    func answer(
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

    private var notFound: (Int, JSON) { (404, ["status": 404, "code": 20404, "message": "not found"]) }

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
