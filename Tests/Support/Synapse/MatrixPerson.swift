import HTTP
package import JSON
import Glibc

/// Somebody with an account on the homeserver and a client of few words.
package struct MatrixPerson: Sendable {
    /// `@name-123:steward.test`.
    package let id: String
    /// The part of the id that one logs in with.
    package let name: String
    package let password: String
    package let device: String
    package let token: String
    private let homeserver: String
    private let http: HTTPClient

    /// Without a refresh token, so that nothing here ever expires.
    static func login(
        _ name: String, password: String, at homeserver: String, with http: HTTPClient
    ) async throws -> MatrixPerson {
        let answer = try await request(
            "POST", homeserver + "/_matrix/client/v3/login", token: nil,
            [
                "type": "m.login.password", "password": .string(password),
                "identifier": ["type": "m.id.user", "user": .string(name)],
            ], with: http)
        guard let token = answer["access_token"]?.string, let id = answer["user_id"]?.string,
            let device = answer["device_id"]?.string
        else { throw SynapseError("no token in \(answer)") }
        return MatrixPerson(
            id: id, name: name, password: password, device: device, token: token, homeserver: homeserver,
            http: http)
    }

    /// Any call; a path below `/_matrix/client/v3` unless it begins with `/_`. Throws what the server refuses.
    @discardableResult
    package func call(_ method: String, _ path: String, _ body: JSON? = nil) async throws -> JSON {
        let path = path.hasPrefix("/_") ? path : "/_matrix/client/v3" + path
        return try await Self.request(method, homeserver + path, token: token, body, with: http)
    }

    private static func request(
        _ method: String, _ url: String, token: String?, _ body: JSON?, with http: HTTPClient
    ) async throws -> JSON {
        var headers = [("Content-Type", "application/json")]
        if let token { headers.append(("Authorization", "Bearer \(token)")) }
        let answer = try await http.send(
            OutgoingRequest(
                method: method, url: url, headers: headers,
                body: body?.bytes() ?? (method == "GET" ? nil : Array("{}".utf8))))
        let text = String(decoding: answer.body, as: UTF8.self)
        guard answer.status == 200 || answer.status == 201 else {
            throw SynapseError("\(method) \(url): \(answer.status) \(text)")
        }
        return try JSON(parsing: answer.body)
    }

    /// As part of a path or query.
    package static func escape(_ text: String) -> String {
        let plain = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~".utf8)
        return text.utf8.map { byte in
            if plain.contains(byte) { return String(UnicodeScalar(byte)) }
            let digits = String(byte, radix: 16, uppercase: true)
            return "%" + (digits.count == 1 ? "0" : "") + digits
        }.joined()
    }
}

extension MatrixPerson {
    /// A room that everybody may join, unless told otherwise; the newest version, unless told.
    package func createRoom(
        _ name: String? = nil, version: Int? = nil, preset: String = "public_chat", alias: String? = nil,
        inviting guests: [String] = []
    ) async throws -> String {
        var wish: JSONObject = [:]
        wish["preset"] = .string(preset)
        if let name { wish["name"] = .string(name) }
        if let version { wish["room_version"] = .string("\(version)") }
        if let alias { wish["room_alias_name"] = .string(alias) }
        if !guests.isEmpty { wish["invite"] = .array(guests.map { .string($0) }) }
        let answer = try await call("POST", "/createRoom", .object(wish))
        guard let room = answer["room_id"]?.string else { throw SynapseError("no room in \(answer)") }
        return room
    }

    package func join(_ room: String) async throws { try await call("POST", "/join/\(Self.escape(room))") }
    package func leave(_ room: String) async throws { try await call("POST", path(room, "leave")) }

    package func invite(_ user: String, to room: String) async throws {
        try await call("POST", path(room, "invite"), ["user_id": .string(user)])
    }

    package func kick(_ user: String, from room: String, reason: String = "") async throws {
        try await call("POST", path(room, "kick"), ["user_id": .string(user), "reason": .string(reason)])
    }

    package func ban(_ user: String, from room: String, reason: String = "") async throws {
        try await call("POST", path(room, "ban"), ["user_id": .string(user), "reason": .string(reason)])
    }

    package func unban(_ user: String, in room: String) async throws {
        try await call("POST", path(room, "unban"), ["user_id": .string(user)])
    }

    /// The id of the event.
    @discardableResult
    package func say(_ text: String, in room: String, type: String = "m.text") async throws -> String {
        try await send(["msgtype": .string(type), "body": .string(text)], in: room)
    }

    /// Any event that is not state; the id of it.
    @discardableResult
    package func send(
        _ content: JSON, as type: String = "m.room.message", in room: String
    ) async throws -> String {
        let transaction = "t\(UInt64.random(in: 0 ... .max))"
        let answer = try await call("PUT", path(room, "send/\(type)/\(transaction)"), content)
        guard let event = answer["event_id"]?.string else { throw SynapseError("no event in \(answer)") }
        return event
    }

    @discardableResult
    package func reply(_ text: String, to event: String, in room: String) async throws -> String {
        try await send(
            [
                "msgtype": "m.text", "body": .string(text),
                "m.relates_to": ["m.in_reply_to": ["event_id": .string(event)]],
            ], in: room)
    }

    @discardableResult
    package func edit(_ event: String, to text: String, in room: String) async throws -> String {
        try await send(
            [
                "msgtype": "m.text", "body": .string("* \(text)"),
                "m.new_content": ["msgtype": "m.text", "body": .string(text)],
                "m.relates_to": ["rel_type": "m.replace", "event_id": .string(event)],
            ], in: room)
    }

    @discardableResult
    package func react(_ key: String, to event: String, in room: String) async throws -> String {
        let relation: JSON = [
            "rel_type": "m.annotation", "event_id": .string(event), "key": .string(key),
        ]
        return try await send(["m.relates_to": relation], as: "m.reaction", in: room)
    }

    package func redact(_ event: String, in room: String, reason: String = "") async throws {
        let transaction = "r\(UInt64.random(in: 0 ... .max))"
        try await call(
            "PUT", path(room, "redact/\(Self.escape(event))/\(transaction)"), ["reason": .string(reason)])
    }

    package func setState(
        _ type: String, _ content: JSON, key: String = "", in room: String
    ) async throws {
        try await call("PUT", path(room, "state/\(type)/\(Self.escape(key))"), content)
    }

    /// The content of a piece of state.
    package func state(_ type: String, key: String = "", in room: String) async throws -> JSON {
        try await call("GET", path(room, "state/\(type)/\(Self.escape(key))"))
    }

    /// Changes the power level of a user and nothing else.
    package func setPower(_ level: Int, of user: String, in room: String) async throws {
        var levels = try await state("m.room.power_levels", in: room).object ?? [:]
        var users = levels["users"]?.object ?? [:]
        users[user] = JSON(level)
        levels["users"] = .object(users)
        try await setState("m.room.power_levels", .object(levels), in: room)
    }

    package func setDisplayName(_ name: String) async throws {
        try await call(
            "PUT", "/profile/\(Self.escape(id))/displayname", ["displayname": .string(name)])
    }

    /// The newest events of a room as clients get them, oldest first.
    package func events(in room: String, limit: Int = 1000) async throws -> [JSON] {
        let answer = try await call("GET", path(room, "messages?dir=b&limit=\(limit)"))
        return (answer["chunk"]?.array ?? []).reversed()
    }

    /// `name: text` of each message that is still there, oldest first; edits and notices are messages too.
    package func texts(in room: String, limit: Int = 1000) async throws -> [String] {
        try await events(in: room, limit: limit).compactMap { event in
            guard event["type"] == "m.room.message", let body = event["content"]?["body"]?.string,
                let sender = event["sender"]?.string
            else { return nil }
            return "\(sender.dropFirst().prefix { $0 != ":" && $0 != "-" }): \(body)"
        }
    }

    /// Waits until the texts of a room are so, and gives them. The test's time limit ends it.
    @discardableResult
    package func texts(
        in room: String, until isEnough: ([String]) -> Bool
    ) async throws -> [String] {
        try await watch {
            let texts = try await texts(in: room)
            return isEnough(texts) ? texts : nil
        }
    }

    /// Waits until an event of a room is so, among the newest first and then as they come.
    @discardableResult
    package func event(in room: String, where isIt: (JSON) -> Bool) async throws -> JSON {
        try await watch { try await events(in: room).last(where: isIt) }
    }

    /// Looks again after all that comes until there is a result.
    private func watch<Result>(_ look: () async throws -> Result?) async throws -> Result {
        var since: String?
        while true {
            // The sync first: what is sent between it and the look wakes the next.
            let query = since.map { "timeout=5000&since=\($0)" } ?? "timeout=0"
            since = try await call("GET", "/sync?\(query)")["next_batch"]?.string
            if let result = try await look() { return result }
        }
    }

    private func path(_ room: String, _ rest: String) -> String { "/rooms/\(Self.escape(room))/\(rest)" }
}

/// Whether there is such a file.
func exists(_ file: String) -> Bool { access(file, R_OK) == 0 }
