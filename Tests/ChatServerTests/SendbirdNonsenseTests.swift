import JSON
import Seeds
import Testing
import WebSocket

@testable import ChatServer

/// Whatever clients send, the server goes on.
@Suite(.timeLimit(.minutes(2))) struct SendbirdNonsense {
    static let keys = [
        "user_id", "user_ids", "message", "message_type", "data", "custom_type", "channel_url", "name",
        "seconds", "freeze",
        "operator_ids", "is_distinct", "expires_at", "metadata", "metaarray", "mentioned_user_ids", "msg_id",
        "url", "files",
        "size", "parent_message_id", "invitation_status", "enabled_events", "enabled", "reaction",
        "target_id", "token",
        "silent", "dedup_id", "req_id", "is_active", "issue_access_token", "should_leave_all",
    ]

    static func value(_ dice: inout SeededRandom, depth: Int = 0) -> JSON {
        switch Int.random(in: 0..<(depth < 2 ? 11 : 8), using: &dice) {
        case 0: return .null
        case 1: return .bool(Bool.random(using: &dice))
        case 2: return .int([0, -1, 1, .max, .min, 4_000_000_000_000].randomElement(using: &dice) ?? 0)
        case 3: return .double(1e300)
        case 4: return ""
        case 5:
            return ["ann", "bob", "room", "talk", "MESG", "FILE", "ADMM"].randomElement(using: &dice) ?? ""
        case 6: return .string(String(repeating: "ä\u{0}\n\"", count: Int.random(in: 0...50, using: &dice)))
        case 7: return .string(String(repeating: "x", count: 40_000))
        case 8: return .array((0..<3).map { _ in value(&dice, depth: depth + 1) })
        case 9: return .array(["ann", "bob"])
        default:
            return .object(JSONObject(keys.prefix(3).map { ($0, value(&dice, depth: depth + 1)) }))
        }
    }

    static func fields(_ dice: inout SeededRandom) -> JSON {
        var object = JSONObject()
        for _ in 0..<Int.random(in: 0...5, using: &dice) {
            if let key = keys.randomElement(using: &dice) { object[key] = value(&dice) }
        }
        return .object(object)
    }

    @Test(arguments: [1, 2, 3]) func `requests of all kinds with anything in them`(_ seed: UInt64)
        async throws
    {
        try await TestServer.sendbird { server, api async throws in
            var dice = SeededRandom(seed: seed)
            let ann = try await server.bird("ann")
            for name in ["bob", "eve"] { try await api.ask("POST", "users", ["user_id": .string(name)]) }
            try await api.ask("POST", "open_channels", ["channel_url": "room"])
            _ = try await api.group(["ann", "bob"], ["channel_url": "talk"])
            let number = try await ann.message("first", in: "talk")["msg_id"]?.int ?? 0
            let mine = await api.user(ann)
            let ends = [
                "", "/messages", "/messages/\(number)", "/messages/\(number)/reactions",
                "/messages/changelogs", "/invite",
                "/join", "/leave", "/hide", "/members", "/participants", "/ban", "/mute", "/ban/bob",
                "/mute/bob",
                "/freeze", "/operators", "/metadata", "/metadata/k", "/typing", "/messages/mark_as_read",
                "/accept",
                "/decline",
            ]
            let others = [
                "open_channels", "group_channels", "users", "users/bob", "users/bob/token", "users/bob/block",
                "users/ann/my_group_channels", "users/ann/my_group_channels/changelogs",
                "users/ann/session_key",
                "applications/settings/webhook", "storage/file", "users/ann/metadata", "users/ann/ban",
            ]
            let queries = [
                "", "?limit=-1", "?limit=9223372036854775807", "?token=zzzzzzzzzzzzzz",
                "?token=p1y2p0ij32e8e7",
                "?token=1y2p0ij32e8e7",
                "?message_ts=9223372036854775807&prev_limit=200&next_limit=200&include=true",
                "?message_ts=-9223372036854775808&next_limit=1", "?message_id=-5", "?change_ts=-1",
                "?%FF=%FF",
            ]
            for _ in 0..<400 {
                let channel = ["group_channels/talk", "open_channels/room"].randomElement(using: &dice) ?? ""
                let isOfChannel = Bool.random(using: &dice)
                let path =
                    isOfChannel
                    ? channel + (ends.randomElement(using: &dice) ?? "")
                    : others.randomElement(using: &dice) ?? ""
                let method = ["GET", "POST", "PUT", "DELETE"].randomElement(using: &dice) ?? ""
                // What all that follows needs stays.
                if method == "DELETE", ends.first == "", path == channel || path == "users/bob" { continue }
                let query = queries.randomElement(using: &dice) ?? ""
                let body: JSON? = method == "GET" ? JSON?.none : Self.fields(&dice)
                let client = Bool.random(using: &dice) ? api : mine
                let answer = try await client.call(method, path + query, body)
                #expect(
                    [200, 400, 401, 404, 405, 413].contains(answer.status),
                    "\(method) \(path)\(query) \(body?.description ?? "")")
            }
            let eve = try await server.bird("eve")
            let url = try await api.group(["eve"])
            #expect(try await eve.message("still here", in: url).code == "MESG")
        }
    }

    @Test func `commands with anything in them`() async throws {
        try await TestServer.sendbird { server, api async throws in
            var dice = SeededRandom(seed: 4)
            let ann = try await server.bird("ann")
            let url = try await api.group(["ann"], ["channel_url": "talk"])
            let codes = [
                "MESG", "FILE", "MEDI", "FEDI", "ENTR", "EXIT", "READ", "TPST", "TPEN", "MACK", "PING",
                "LOGI", "VOTE",
            ]
            for _ in 0..<400 {
                var object = Self.fields(&dice).object ?? JSONObject()
                if Bool.random(using: &dice) { object["channel_url"] = "talk" }
                let code = codes.randomElement(using: &dice) ?? ""
                try await ann.socket.send(.text(Array(code.utf8) + JSON.object(object).bytes() + [10]))
            }
            try await ann.settle()
            #expect(try await ann.message("still here", in: url).code == "MESG")
        }
    }
}
