import JSON
import Testing
import WebSocket

@testable import ChatServer

/// What the page says and hears, without the page.
actor TestPage {
    private let socket: WebSocket
    private var waiting: [JSON] = []
    private var number: Int64 = 0

    /// Without a name it stays at the door.
    init(_ server: TestServer, name: String?, proof: JSON = [:]) async throws {
        let origin = "http://127.0.0.1:\(server.server.port)"
        socket = try await WebSocket.connect(
            to: "ws://127.0.0.1:\(server.server.port)/browser", headers: [("Origin", origin)], on: server.loop
        )
        if let name { try await enter(name, proof) }
    }

    func enter(_ name: String, _ proof: JSON = [:]) async throws {
        var hello = proof.object ?? JSONObject()
        hello["do"] = "hello"
        hello["name"] = .string(name)
        try await send(.object(hello))
    }

    private func send(_ order: JSON) async throws { try await socket.send(.text(order.bytes())) }

    /// Sends what may be no JSON at all.
    func send(text: String) async throws { try await socket.send(.text(Array(text.utf8))) }

    func next(_ isWanted: @Sendable (JSON) -> Bool) async throws -> JSON {
        while true {
            if let place = waiting.firstIndex(where: isWanted) { return waiting.remove(at: place) }
            guard let messages = try await socket.receive() else { throw TestClient.Lost.closed }
            waiting += try messages.map { try JSON(parsing: $0.bytes) }
        }
    }

    /// Until the server has hung up: with which code.
    func end() async -> UInt16? {
        while (try? await socket.receive()) != nil {}
        return socket.end?.code
    }

    func hear(_ kind: String) async throws -> JSON { try await next { $0["on"]?.string == kind } }

    func order(_ verb: String, _ fields: JSON = [:]) async throws -> JSON {
        try await answer(to: begin(verb, fields))
    }

    /// Sends an order and returns its number.
    func begin(_ verb: String, _ fields: JSON = [:]) async throws -> Int64 {
        number += 1
        let n = number
        var members = fields.object ?? JSONObject()
        members["do"] = .string(verb)
        members["n"] = .int(n)
        try await send(.object(members))
        return n
    }

    func answer(to n: Int64) async throws -> JSON { try await next { $0["n"]?.int == n } }
}

@Suite(.timeLimit(.minutes(1))) struct Browsers {
    @Test func `people talk with each other, live`() async throws {
        try await TestServer.run { server async throws in
            let ana = try await TestPage(server, name: "ana")
            #expect(try await ana.hear("welcome")["channels"] == [])
            let made = try await ana.order("create", ["name": "Room"])
            let room = try #require(made["channel"])
            let bo = try await TestPage(server, name: "bo")
            let welcome = try await bo.hear("welcome")
            let seen = try #require(welcome["channels"]?[0])
            #expect(seen["name"] == "Room")
            #expect(seen["joined"] == false)
            #expect(seen["mayDelete"] == false)
            #expect(try await bo.order("page", ["channel": room])["on"] == "error")
            #expect(try await bo.order("join", ["channel": room])["on"] == "done")
            let joined = try await ana.next { $0["on"] == "joined" && $0["member"]?["name"] == "bo" }
            #expect(joined["channel"] == room)
            _ = try await ana.order("typing", ["channel": room])
            #expect(try await bo.hear("typing")["name"] == "ana")
            let evil = "<script>alert(1)</script>"
            _ = try await ana.order("say", ["channel": room, "text": .string(evil)])
            let heard = try #require(try await bo.hear("message")["message"])
            // Data, to the letter: it is the page that makes text of it.
            #expect(heard["text"]?.string == evil)
            let sid = try #require(heard["sid"])
            _ = try await bo.order("react", ["channel": room, "message": sid, "reaction": "👍"])
            let liked = try await ana.hear("edited")
            #expect(liked["message"]?["reactions"] == ["👍": ["bo"]])
            #expect(liked["message"]?["edited"] == false)
            _ = try await bo.order("react", ["channel": room, "message": sid, "reaction": "👍"])
            #expect(try await ana.hear("edited")["message"]?["reactions"] == nil)
            #expect(
                try await bo.order("edit", ["channel": room, "message": sid, "text": "x"])["on"] == "error")
            #expect(try await bo.order("delete", ["channel": room, "message": sid])["on"] == "error")
            _ = try await ana.order("edit", ["channel": room, "message": sid, "text": "better"])
            #expect(try await bo.next { $0["message"]?["text"] == "better" }["message"]?["edited"] == true)
            _ = try await bo.order("read", ["channel": room, "index": 0])
            #expect(try await bo.order("look", ["channel": room])["channel"]?["unread"] == 0)
            _ = try await ana.order("delete", ["channel": room, "message": sid])
            #expect(try await bo.hear("deleted")["message"]?["index"] == 0)
            _ = try await bo.order("leave", ["channel": room])
            #expect(try await ana.hear("left")["member"]?["name"] == "bo")
            #expect(try await bo.order("destroy", ["channel": room])["on"] == "error")
            #expect(try await ana.order("destroy", ["channel": room])["on"] == "done")
            #expect(try await bo.hear("gone")["channel"] == room)
        }
    }

    @Test func `half of a character is kept as the sign for it, at every door`() async throws {
        try await TestServer.run { server async throws in
            let room = try await server.server.channel("room", as: "ana")
            for name in ["ana", "bot", "cy"] { try await server.server.join(room, as: name) }
            let ana = try await TestPage(server, name: "ana")
            _ = try await ana.hear("welcome")
            try await ana.send(
                text: #"{"do":"say","n":7,"channel":"\#(room)","text":"one \ud83d end","key":"k"}"#)
            #expect(try await ana.answer(to: 7)["index"] == 0)
            let bot = try await server.client("bot")
            let id = await bot.nextID()
            try await bot.send(
                [
                    "id": .string(id), "method": "message", "active_grant": "ip_messaging",
                    "payload_type": "application/json",
                    "http_request": [
                        "host": "aim.us1.twilio.com", "method": "POST", "params": [:], "headers": [:],
                        "path": .string(
                            "/Client/v2/Services/\(server.server.names.service)/Conversations/\(room)/Messages"
                        ),
                    ],
                ], payload: Array(#"{"body":"two \udc00","attributes":"{}"}"#.utf8))
            #expect(try await bot.reply(to: id).httpStatus == 201)
            let url = server.server.look { $0.channels[room]?.profile.url ?? "" }
            let cy = try await SendbirdTestClient.start(server, "cy")
            try await cy.socket.send(
                .text(
                    Array(
                        (#"MESG{"req_id":"9","channel_url":"\#(url)","message":"\ud800 three"}"# + "\n").utf8)
                ))
            #expect(try await cy.next { $0["req_id"] == "9" }["message"] == "\u{FFFD} three")
            #expect(
                server.server.messages(in: room).map(\.content.body) == [
                    "one \u{FFFD} end", "two \u{FFFD}", "\u{FFFD} three",
                ])
        }
    }

    @Test func `a page that sends what is no JSON is told so, and goes on`() async throws {
        try await TestServer.run { server async throws in
            let ana = try await TestPage(server, name: "ana")
            _ = try await ana.hear("welcome")
            try await ana.send(text: #"{"do":"say","n":1,"#)
            let answer = try await ana.hear("error")
            #expect(answer == ["on": "error", "text": "the server could not read that"])
            #expect(try await ana.order("create", ["name": "Room"])["on"] == "done")
        }
    }

    @Test func `a channel's name is seen, whole and by everybody`() async throws {
        try await TestServer.run { server async throws in
            let ana = try await TestPage(server, name: "ana")
            for name in ["\u{200B}", "\u{202E}x", "sta\u{200B}ff", "a\nb"] {
                let answer = try await ana.order("create", ["name": .string(name)])
                #expect(answer["text"] == "a channel's name has no line breaks and no invisible marks")
            }
            for name in ["👩‍🚒 crew", "Ünïcode", "אבי"] {
                #expect(try await ana.order("create", ["name": .string(name)])["on"] == "done")
            }
        }
    }

    @Test func `earlier messages come in pages`() async throws {
        try await TestServer.run { server async throws in
            let room = try await server.server.channel("room", as: "ana")
            try await server.server.join(room, as: "ana")
            for number in 0..<120 { try await server.server.post("\(number)", in: room, as: "ana") }
            let ana = try await TestPage(server, name: "ana")
            var seen: [String] = []
            var before: JSON = .null
            while true {
                let page = try await ana.order("page", ["channel": .string(room.text), "before": before])
                let messages = try #require(page["messages"]?.array)
                seen = messages.compactMap { $0["text"]?.string } + seen
                before = messages.first?["index"] ?? .null
                if page["more"] == false { break }
            }
            #expect(seen == (0..<120).map(String.init))
        }
    }

    @Test func `private channels are for their members`() async throws {
        try await TestServer.run { server async throws in
            let ana = try await TestPage(server, name: "ana")
            let bo = try await TestPage(server, name: "bo")
            _ = try await bo.hear("welcome")
            let made = try await ana.order("create", ["name": "Secret", "private": true])
            let room = try #require(made["channel"]?.string)
            #expect(try await bo.order("look", ["channel": .string(room)])["on"] == "error")
            #expect(try await bo.order("join", ["channel": .string(room)])["on"] == "error")
            _ = try await ana.order("say", ["channel": .string(room), "text": "psst"])
            _ = try await ana.order("create", ["name": "Open"])
            let heard = try await bo.next { $0["on"] == "channel" }
            #expect(heard["channel"]?["name"] == "Open")
        }
    }

    @Test func `the bot and the page are in one world`() async throws {
        try await TestServer.run { server async throws in
            let room = try await server.server.channel("room", as: "bot")
            for name in ["bot", "ana"] { try await server.server.join(room, as: name) }
            let ana = try await TestPage(server, name: "ana")
            let bot = try await server.client("bot")
            try await bot.hear(room)
            _ = try await ana.order("say", ["channel": .string(room.text), "text": "!ping"])
            #expect(try await bot.event("list_item_added").body["item_data"]?["text"] == "!ping")
            try await bot.request(
                "POST", "/Client/v2/Services/\(server.server.names.service)/Conversations/\(room)/Messages",
                body: ["body": "pong", "attributes": "{\"reactions\":{\"🎉\":[\"bot\"]}}"])
            let pong = try await ana.next { $0["message"]?["author"] == "bot" }
            #expect(pong["message"]?["reactions"] == ["🎉": ["bot"]])
        }
    }

    @Test(arguments: ["", " ana", "ana ", "a\nb", "a\u{202E}b", String(repeating: "x", count: 41)])
    func `names that deceive are refused`(_ name: String) async throws {
        try await TestServer.run { server async throws in
            let page = try await TestPage(server, name: name)
            #expect(try await page.hear("error")["text"]?.string?.hasPrefix("a name has") == true)
        }
    }

    @Test(arguments: ["http://evil.example", "null", "http://127.0.0.1:1", nil])
    func `pages of others may not come in`(_ origin: String?) async throws {
        try await TestServer.run { server async throws in
            await #expect(throws: WebSocketError.self) {
                _ = try await WebSocket.connect(
                    to: "ws://127.0.0.1:\(server.server.port)/browser",
                    headers: origin.map { [("Origin", $0)] } ?? [], on: server.loop)
            }
        }
    }

    @Test func `nonsense on the page's line is refused and the line goes on`() async throws {
        try await TestServer.run { server async throws in
            let page = try await TestPage(server, name: "ana")
            for verb in ["fly", "say", "page", "destroy"] {
                #expect(try await page.order(verb, ["channel": 7, "text": [1]])["on"] == "error")
            }
            #expect(try await page.order("create", ["name": "still here"])["on"] == "done")
        }
    }
}
