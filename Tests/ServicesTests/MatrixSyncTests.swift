import Chat
import HTTPServer
import JSON
import Testing

@testable import Services

/// How an account follows what happens, and what it asks the server for.
@Suite(.timeLimit(.minutes(1))) struct MatrixSyncs {
    let place = Place(account: "matrix", channel: "!r")

    func text(_ id: Int, by sender: String = "@ana:t") -> String {
        #"{"type":"m.room.message","event_id":"$\#(id)","sender":"\#(sender)","origin_server_ts":\#(2_000_000 - id),"content":{"msgtype":"m.text","body":"\#(id)"}}"#
    }

    let joined =
        #"{"type":"m.room.member","event_id":"$j","sender":"@bot:t","state_key":"@bot:t","origin_server_ts":1,"content":{"membership":"join"}}"#

    func answer(
        _ next: String, _ events: [String], limited: Bool = false, state: [String] = []
    ) -> String {
        """
        {"next_batch":"\(next)","rooms":{"join":{"!r":{"state":{"events":[\(state.joined(separator: ","))]},
        "timeline":{"limited":\(limited),"prev_batch":"p-\(next)","events":[\(events.joined(separator: ","))]}}}}}
        """
    }

    private func page(_ events: [Int], end: String?) -> String {
        let end = end.map { #","end":"\#($0)""# } ?? ""
        return #"{"chunk":[\#(events.map { text($0) }.joined(separator: ","))]\#(end)}"#
    }

    /// A server on which the bot is in one room, and a log-in that is up.
    func withRoom(
        cursor: String? = nil, first: String? = nil,
        _ body: (ScriptedHomeserver, MatrixService, TestInbox) async throws -> Void
    ) async throws {
        try await withHomeserver { server in
            let snapshot = first ?? answer("s0", [text(1)], limited: true, state: [joined])
            server.state.withLock { $0.first = snapshot }
            let inbox = TestInbox(cursors: cursor.map { ["sync/@bot:t": .token($0)] } ?? [:])
            let service = server.login(inbox)
            try await inbox.waitUntilUp()
            try await body(server, service, inbox)
        }
    }

    func texts(_ inbox: TestInbox) -> [String] {
        inbox.state.withLock { $0.events.compactMap { $0.message?.text } }
    }

    private func cursors(_ inbox: TestInbox) -> [String] {
        inbox.state.withLock { state in
            state.events.map { event in
                if case .token(let text)? = event.cursor?.position { text } else { "-" }
            }
        }
    }

    // MARK: Where it begins

    @Test func `a first sync is history, and where it ends is noted`() async throws {
        try await withRoom { server, _, inbox in
            #expect(inbox.state.withLock { $0.cursors } == ["sync/@bot:t": .token("s0")])
            server.sync(answer("s1", [text(2), text(3)]))
            try await inbox.wait { $0.events.count == 2 }
            #expect(texts(inbox) == ["2", "3"])
            // Only the last of them says that all were read.
            #expect(cursors(inbox) == ["s0", "s1"])
            let sync = try #require(server.calls("GET /sync").last)
            let filter = try JSON(parsing: try #require(sync.query["filter"]))
            #expect(filter["room"]?["state"]?["lazy_load_members"] == true)
            #expect(filter["room"]?["ephemeral"]?["types"] == ["none"])
            #expect(filter["presence"]?["types"] == ["none"])
        }
    }

    @Test func `with a kept token the first answer is news, after the state was read`() async throws {
        try await withHomeserver { server in
            server.state.withLock { $0.first = answer("s9", [text(8)], state: [joined]) }
            server.sync(answer("s9", [text(7), text(8)]))
            let inbox = TestInbox(cursors: ["sync/@bot:t": .token("s5")])
            _ = server.login(inbox)
            try await inbox.wait { $0.events.count == 2 }
            #expect(texts(inbox) == ["7", "8"])
            #expect(server.calls("GET /sync").map { $0.query["since"] ?? "-" }.prefix(2) == ["-", "s5"])
        }
    }

    @Test func `each question about the state is another, as servers keep answers`() async throws {
        try await withRoom { server, _, _ in
            await server.logout()
            let again = TestInbox()
            _ = server.login(again)
            try await again.waitUntilUp()
            let firsts = server.calls("GET /sync").filter { $0.query["since"] == nil }
            #expect(firsts.count == 2)
            #expect(firsts[0].query["filter"] != firsts[1].query["filter"])
        }
    }

    @Test func `a place that the server has forgotten is given up for now`() async throws {
        try await withHomeserver { server in
            server.state.withLock { $0.first = answer("s0", [text(1)], state: [joined]) }
            server.on("GET /sync") { call in .json(200, Array(answer("s0", [], state: [joined]).utf8)) }
            server.on("GET /sync", 400, #"{"errcode":"M_UNKNOWN","error":"Invalid stream token"}"#)
            let inbox = TestInbox(cursors: ["sync/@bot:t": .token("s-of-long-ago")])
            _ = server.login(inbox)
            try await inbox.wait { $0.statuses.contains(.down(reason: "M_UNKNOWN: Invalid stream token")) }
            try await inbox.waitUntilUp()
            server.sync(answer("s1", [text(2)]))
            try await inbox.wait { !$0.events.isEmpty }
            #expect(texts(inbox) == ["2"])
            #expect(inbox.state.withLock { $0.cursors } == ["sync/@bot:t": .token("s1")])
            #expect(server.said("what happened meanwhile is lost"))
        }
    }

    // MARK: Gaps and order

    @Test func `a gap is filled in order, page by page, each event once`() async throws {
        try await withRoom { server, _, inbox in
            server.on("GET /rooms/!r/messages", 200, page([7, 6, 5], end: "p2"))
            server.on("GET /rooms/!r/messages", 200, page([4, 3], end: "p3"))
            server.on("GET /rooms/!r/messages", 200, page([], end: nil))
            server.sync(answer("s1", [text(8), text(9)], limited: true))
            try await inbox.wait { $0.events.count == 7 }
            #expect(texts(inbox) == ["3", "4", "5", "6", "7", "8", "9"])
            #expect(cursors(inbox) == Array(repeating: "s0", count: 6) + ["s1"])
            let pages = server.calls("GET /rooms/!r/messages")
            #expect(pages.map { $0.query["from"] } == ["p-s1", "p2", "p3"])
            #expect(pages.allSatisfy { $0.query["to"] == "s0" && $0.query["dir"] == "b" })
        }
    }

    @Test func `a page that cannot be read now is asked for again before anything is told`() async throws {
        try await withRoom { server, _, inbox in
            server.on("GET /rooms/!r/messages", 502, "")
            server.on("GET /rooms/!r/messages", 200, page([7], end: nil))
            server.sync(answer("s1", [text(8)], limited: true))
            server.sync(answer("s1", [text(8)], limited: true))
            try await inbox.wait { $0.events.count == 2 }
            #expect(texts(inbox) == ["7", "8"])
            #expect(server.calls("GET /sync").suffix(3).map { $0.query["since"] }.contains("s0"))
        }
    }

    @Test func `a gap that we may not read is told to people, and what can be read goes on`() async throws {
        try await withRoom { server, _, inbox in
            server.on("GET /rooms/!r/messages", 403, #"{"errcode":"M_FORBIDDEN","error":"no"}"#)
            server.sync(answer("s1", [text(8)], limited: true))
            try await inbox.wait { $0.events.count == 1 }
            #expect(server.said("what happened meanwhile in !r cannot be read: M_FORBIDDEN: no"))
        }
    }

    @Test func `a gap has an end`() async throws {
        try await withRoom { server, _, inbox in
            for number in 0..<60 {
                server.on("GET /rooms/!r/messages", 200, page([900 - number], end: "p\(number)"))
            }
            server.sync(answer("s1", [text(1000)], limited: true))
            try await inbox.wait { !$0.events.isEmpty }
            #expect(texts(inbox).count == 51)
            #expect(texts(inbox).first == "851")
            #expect(server.said("more happened meanwhile in !r than the last 50 events"))
        }
    }

    @Test func `a large answer is noted piece by piece, and read on from there`() async throws {
        let events = (2...1_201).map { text($0) }
        var position = ""
        try await withRoom { server, _, inbox in
            server.sync(answer("s1", events))
            try await inbox.wait { $0.events.count == 1_200 }
            let tokens = cursors(inbox)
            #expect(Array(tokens.prefix(499)) == Array(repeating: "s0", count: 499))
            position = tokens[499]
            #expect(SyncPosition(position) == SyncPosition(since: "s0", done: ["!r": "$501"]))
            #expect(tokens[500] == position)
            #expect(tokens.last == "s1")
        }
        let noted = position
        try await withHomeserver { server in
            server.state.withLock { $0.first = answer("s9", [], state: [joined]) }
            server.sync(answer("s1", events))
            let inbox = TestInbox(cursors: ["sync/@bot:t": .token(noted)])
            _ = server.login(inbox)
            try await inbox.wait { $0.events.count == 700 }
            #expect(texts(inbox).first == "502")
            #expect(texts(inbox).last == "1201")
            #expect(server.calls("GET /sync")[1].query["since"] == "s0")
        }
    }

    @Test func `while steward is behind nothing more is asked for, and nothing is lost`() async throws {
        try await withRoom { server, _, inbox in
            inbox.change { $0.refuses = 3 }
            server.sync(answer("s1", [text(2)]))
            server.sync(answer("s2", [text(3)]))
            try await inbox.wait { $0.events.count == 2 }
            #expect(texts(inbox) == ["2", "3"])
        }
    }

    @Test func `an edit of a message from before is looked up`() async throws {
        func edit(_ id: Int, of original: String, by sender: String) -> String {
            #"{"type":"m.room.message","event_id":"$\#(id)","sender":"\#(sender)","origin_server_ts":1,"content":{"msgtype":"m.text","body":"* new","m.new_content":{"msgtype":"m.text","body":"new"},"m.relates_to":{"rel_type":"m.replace","event_id":"\#(original)"}}}"#
        }
        try await withRoom { server, _, inbox in
            server.on("GET /rooms/!r/event/$1", 200, text(1))
            server.on("GET /rooms/!r/event/$0", 404, #"{"errcode":"M_NOT_FOUND","error":"no"}"#)
            server.sync(
                answer(
                    "s1",
                    [
                        edit(2, of: "$1", by: "@ana:t"), edit(3, of: "$1", by: "@eve:t"),
                        edit(4, of: "$0", by: "@ana:t"),
                    ]))
            try await inbox.wait { !$0.events.isEmpty }
            #expect(inbox.story == ["!r ~ ana: new"])
            #expect(server.calls("GET /rooms/!r/event").count == 2)
        }
    }

    // MARK: Lines that break

    @Test func `a server in trouble is asked again, with pauses`() async throws {
        try await withRoom { server, _, inbox in
            server.on("GET /sync", 500, "")
            server.on("GET /sync", 200, "not json")
            server.on("GET /sync", 200, "{}")
            server.on("GET /sync", 429, #"{"errcode":"M_LIMIT_EXCEEDED","retry_after_ms":30}"#)
            server.sync(answer("s1", [text(2)]))
            server.sync(answer("s2", [text(3)]))
            try await inbox.wait { $0.events.count == 2 }
            try await inbox.waitUntilUp(times: 2)
            #expect(inbox.state.withLock { $0.statuses }.contains(.down(reason: "the server answered 500")))
        }
    }

    @Test func `empty answers and those of other things are no events`() async throws {
        try await withRoom { server, _, inbox in
            server.sync(#"{"next_batch":"s1"}"#)
            server.sync(
                #"{"next_batch":"s2","presence":{"events":[{"type":"m.presence"}]},"device_lists":{}}"#)
            server.sync(#"{"next_batch":"s3","rooms":{"join":{"!r":{}},"knock":{},"invite":{"!i":{}}}}"#)
            server.sync(answer("s4", [text(2)]))
            try await inbox.wait { !$0.events.isEmpty }
            #expect(texts(inbox) == ["2"])
            #expect(cursors(inbox) == ["s4"])
        }
    }

    // MARK: Rooms

    @Test func `only those may invite us whom the configuration names`() async throws {
        func invitation(_ room: String, by sender: String) -> String {
            #"{"next_batch":"s1","rooms":{"invite":{"\#(room)":{"invite_state":{"events":[{"type":"m.room.member","state_key":"@bot:t","sender":"\#(sender)","content":{"membership":"invite"}}]}}}}}"#
        }
        try await withHomeserver { server in
            let inbox = TestInbox()
            _ = server.login(inbox) { $0.invites = ["@*:t"] }
            try await inbox.waitUntilUp()
            server.on("POST /join/!a", 502, "")
            server.on("POST /join/!a", 200, #"{"room_id":"!a"}"#)
            server.sync(invitation("!b", by: "@eve:evil"))
            server.sync(invitation("!a", by: "@ana:t"))
            await eventually { server.calls("POST /join/!a").count == 2 }
            #expect(server.calls("POST /join").allSatisfy { $0.path == "/join/!a" && $0.query["via"] == "t" })
            #expect(server.said("@eve:evil invites us to !b, and is not under \"invites\"; it is left alone"))
        }
    }

    @Test func `a room that was upgraded is followed through the server of who did it`() async throws {
        let stone =
            #"{"type":"m.room.tombstone","event_id":"$s","sender":"@ana:elsewhere:8448","state_key":"","origin_server_ts":1,"content":{"replacement_room":"!new"}}"#
        try await withRoom { server, _, inbox in
            server.on("POST /join/!new", 200, #"{"room_id":"!new"}"#)
            server.sync(answer("s1", [stone]))
            await eventually { !server.calls("POST /join/!new").isEmpty }
            #expect(server.calls("POST /join/!new").first?.query["via"] == "elsewhere:8448")
        }
    }

    @Test func `a room of the configuration that is not there is made, and one that is slow is tried again`()
        async throws
    {
        try await withHomeserver { server in
            server.on("GET /directory/room/#new:t", 404, #"{"errcode":"M_NOT_FOUND","error":"no"}"#)
            server.on("POST /createRoom", 200, #"{"room_id":"!n"}"#)
            server.on("POST /join/!n", 200, #"{"room_id":"!n"}"#)
            server.on("POST /join/!far", 504, "")
            server.on("POST /join/!far", 200, #"{"room_id":"!far"}"#)
            let inbox = TestInbox()
            _ = server.login(inbox) { $0.join = ["new", "!far"] }
            try await inbox.waitUntilUp()
            await eventually { server.calls("POST /join/!far").count == 2 }
            #expect(server.calls("POST /createRoom").first?.body["room_alias_name"] == "new")
        }
    }
}
