import Chat
import JSON
import SQLite
import Testing
import WebSocket

@testable import ChatServer

/// Who comes by Sendbird's protocol is in the same world as everybody else.
@Suite(.timeLimit(.minutes(1))) struct SendbirdWorld {
    @Test
    func `a channel made by its URL is that channel by every door, and private where the settings say so`()
        async throws
    {
        try await TestServer.sendbird({ $0.privateChannels = ["staff"] }) { server, api async throws in
            let ann = try await server.bird("ann")
            let mine = await api.user(ann)
            for name in ["lobby", "staff"] {
                try await mine.ask(
                    "POST", "open_channels",
                    ["name": .string(name), "channel_url": .string(name), "operator_ids": ["ann"]])
                #expect(try await ann.command("ENTR", ["channel_url": .string(name)])["error"] == nil)
                let sid = try #require(server.server.look { $0.channelURLs[name] })
                #expect(try await server.server.channel(name, as: "ann") == sid)
            }
            #expect(server.server.look { $0.channels.count } == 2)
            let bob = try await server.bird("bob")
            #expect(try await bob.command("ENTR", ["channel_url": "lobby"])["error"] == nil)
            #expect(try await bob.command("ENTR", ["channel_url": "staff"])["code"] == 900500)
            // A name that somebody has is theirs.
            let other = try await server.server.channel("odd/name", as: "mia")
            let made = try await mine.ask("POST", "open_channels", ["channel_url": "odd/name"])
            #expect(made["channel_url"] == "odd/name")
            #expect(try await server.server.channel("odd/name") == other)
        }
    }

    @Test func `a person on the page, one at Twilio's door and one at Sendbird's sit together`() async throws
    {
        try await TestServer.sendbird { server, api async throws in
            let room = try await server.server.channel("lobby", friendlyName: "Lobby", as: "mia")
            for name in ["mia", "ana", "bot"] { try await server.server.join(room, as: name) }
            let page = try await TestPage(server, name: "ana")
            let twilio = try await server.client("bot")
            try await twilio.hear(room)
            let ann = try await server.bird("ann")
            let mine = await api.user(ann)
            let found = try await mine.ask("GET", "group_channels/lobby")
            #expect(found["name"] == "Lobby")
            #expect(found["is_public"] == true)
            _ = try await mine.ask("PUT", "group_channels/lobby/join", ["user_id": "ann"])
            #expect(try await page.hear("joined")["member"]?["name"] == "ann")
            #expect(try await ann.system(10000)["data"]?["users"]?[0]?["user_id"] == "ann")

            // What one says, all hear.
            _ = try await page.order("say", ["channel": .string(room.text), "text": "from the page"])
            let first = try await ann.event("MESG")
            #expect(first["message"] == "from the page")
            #expect(first["channel_url"] == "lobby")
            #expect(first["user"]?["guest_id"] == "ana")
            let ack = try await ann.message("from Sendbird", in: "lobby", ["data": "{\"k\":1}"])
            #expect(
                try await page.next { $0["message"]?["text"] == "from Sendbird" }["message"]?["author"]
                    == "ann")
            let heard = try await twilio.event("list_item_added") {
                $0["item_data"]?["text"] == "from Sendbird"
            }
            #expect(heard.body["item_data"]?["attributes"] == "{\"k\":1}")
            let conversations =
                "/Client/v2/Services/\(server.server.names.service)/Conversations/\(room)/Messages"
            try await twilio.request(
                "POST", conversations, body: ["body": "from Twilio", "attributes": "{\"a\":[1]}"])
            let third = try await ann.event("MESG")
            #expect(third["message"] == "from Twilio")
            #expect(third["data"] == "{\"a\":[1]}")

            // Edits, reactions and deletions.
            let number = try #require(ack["msg_id"])
            try await ann.command(
                "MEDI", ["channel_url": "lobby", "msg_id": number, "message": "from Sendbird!"])
            #expect(
                try await page.next { $0["message"]?["text"] == "from Sendbird!" }["message"]?["edited"]
                    == true)
            let sid = try #require(heard.body["item_data"]?["sid"])
            _ = try await page.order(
                "react", ["channel": .string(room.text), "message": sid, "reaction": "👍"])
            let reaction = try await ann.event("MRCT")
            #expect(reaction["reaction"] == "👍")
            #expect(reaction["user_id"] == "ana")
            #expect(reaction["operation"] == "ADD")
            _ = try await mine.ask(
                "POST", "group_channels/lobby/messages/\(number)/reactions", ["reaction": "🎉"])
            #expect(
                try await page.next { $0["message"]?["reactions"]?["🎉"] != nil }["message"]?["reactions"]
                    == ["👍": ["ana"], "🎉": ["ann"]])
            try await mine.ask("DELETE", "group_channels/lobby/messages/\(number)")
            #expect(try await page.hear("deleted")["message"]?["sid"] == sid)
            _ = try await twilio.event("list_item_removed")
            let twilioSID = try #require(
                server.server.messages(in: room).last { $0.content.body == "from Twilio" }?.sid)
            try await twilio.request("DELETE", "\(conversations)/\(twilioSID)")
            #expect(try await ann.event("DELM") { $0["msg_id"] == third["msg_id"] }["channel_url"] == "lobby")

            // Typing, both ways.
            try await ann.say("TPST", ["channel_url": "lobby", "time": 1])
            #expect(try await page.hear("typing")["name"] == "ann")
            _ = try await page.order("typing", ["channel": .string(room.text)])
            #expect(try await ann.system(10900)["data"]?["user_id"] == "ana")

            // Reading: the page reads, and Sendbird's clients see the receipt.
            _ = try await page.order("read", ["channel": .string(room.text), "index": 2])
            #expect(try await ann.event("READ")["user"]?["guest_id"] == "ana")

            _ = try await page.order("leave", ["channel": .string(room.text)])
            #expect(try await ann.system(10001)["data"]?["user_id"] == "ana")
        }
    }

    @Test func `who is muted, banned or in a frozen channel is so by every door`() async throws {
        try await TestServer.sendbird { server, api async throws in
            let url = try await api.groupOf(server, ["ann", "bob", "mia"], public: true)
            try await api.ask("POST", "group_channels/\(url)/operators", ["operator_ids": ["ann"]])
            let ann = try await server.bird("ann")
            let page = try await TestPage(server, name: "bob")
            let welcome = try await page.hear("welcome")
            let room = try #require(welcome["channels"]?[0]?["sid"])
            let mine = await api.user(ann)
            try await mine.ask("POST", "group_channels/\(url)/mute", ["user_id": "bob", "seconds": 60])
            #expect(try await page.hear("notice")["text"] == "bob was muted.")
            let refused = try await page.order("say", ["channel": room, "text": "hm"])
            #expect(refused["text"] == "you are muted in this channel")
            try await mine.ask("DELETE", "group_channels/\(url)/mute/bob")
            #expect(try await page.order("say", ["channel": room, "text": "hm"])["on"] == "done")
            try await mine.ask("PUT", "group_channels/\(url)/freeze", ["freeze": true])
            #expect(try await page.order("say", ["channel": room, "text": "hm"])["on"] == "error")
            #expect(try await ann.message("as operator", in: url).code == "MESG")
            try await mine.ask("POST", "group_channels/\(url)/ban", ["user_id": "bob", "seconds": -1])
            #expect(try await page.next { $0["on"] == "mine" && $0["joined"] == false }["channel"] == room)
            #expect(
                try await page.order("join", ["channel": room])["text"] == "you are banned from this channel")
        }
    }

    @Test func `a world in a file is found again as Sendbird's clients know it`() async throws {
        let state = TemporaryState()
        var before: [JSON] = []
        var (key, number): (String, JSON) = ("", 0)
        let paths = [
            "group_channels/talk", "group_channels/talk/ban", "group_channels/talk/mute",
            "open_channels/room",
            "users/bob", "group_channels/talk/messages?message_ts=9007199254740991&prev_limit=100",
            "group_channels/talk/messages/changelogs?change_ts=0", "applications/settings/webhook",
        ]
        try await TestServer.sendbird({ $0.state = state.path }) { server, api async throws in
            try await api.ask("POST", "users", ["user_id": "bob", "nickname": "Bob", "metadata": ["k": "v"]])
            for name in ["ann", "eve", "sly"] {
                try await api.ask("POST", "users", ["user_id": .string(name)])
            }
            _ = try await api.group(
                ["ann", "bob", "eve", "sly"],
                [
                    "channel_url": "talk", "name": "Talk", "data": "{\"a\": 1}", "custom_type": "c",
                    "cover_url": "u",
                ])
            try await api.ask("POST", "open_channels", ["channel_url": "room", "operator_ids": ["ann"]])
            try await api.ask("POST", "group_channels/talk/metadata", ["metadata": ["m": "1"]])
            try await api.ask(
                "PUT", "applications/settings/webhook", ["enabled": false, "url": "http://127.0.0.1:9"])
            let ann = try await server.bird("ann")
            key = await ann.key
            try await ann.command("ENTR", ["channel_url": "room"])
            let ack = try await ann.message(
                "hello", in: "talk",
                [
                    "data": "raw", "mentioned_user_ids": ["bob"],
                    "metaarray": [["key": "k", "value": ["v"]]],
                ])
            try await ann.message("gone", in: "talk")
            let last = try await ann.message("edited", in: "talk")
            number = try #require(last["msg_id"])
            try await ann.command(
                "MEDI", ["channel_url": "talk", "msg_id": try #require(ack["msg_id"]), "message": "hello!"])
            let mine = await api.user(ann)
            let second = try #require(last["msg_id"]?.int) - 1
            try await mine.ask("DELETE", "group_channels/talk/messages/\(second)")
            try await ann.command("READ", ["channel_url": "talk"])
            try await api.ask("POST", "group_channels/talk/mute", ["user_id": "eve", "seconds": 600])
            try await api.ask("POST", "group_channels/talk/ban", ["user_id": "sly", "description": "spam"])
            try await ann.command("EXIT", ["channel_url": "room"])
            before = try await api.still(paths)
            try await ann.command("ENTR", ["channel_url": "room"])
        }
        try await TestServer.sendbird({ $0.state = state.path }) { server, api async throws in
            // Who was in an open channel by a connection is not there any more.
            #expect(try await api.still(paths) == before)
            // The key of a session outlives the server, and numbers go on.
            let ann = try await SendbirdTestClient(server, "ann", query: [("key", key)], named: false)
            #expect(try await ann.enter()["user_id"] == "ann")
            let next = try await ann.message("again", in: "talk")
            #expect(next["msg_id"]?.int == (number.int ?? 0) + 1)
        }
    }

    @Test func `messages of a file from before are numbered in their order`() async throws {
        let state = TemporaryState()
        var room: SID?
        try await TestServer.run({ $0.state = state.path }) { server async throws in
            let one = try await server.server.channel("one", as: "ana")
            let two = try await server.server.channel("two", as: "ana")
            for channel in [one, two] { try await server.server.join(channel, as: "ana") }
            for number in 0..<6 {
                try await server.server.change { world throws(WorldError) in
                    _ = try world.post(
                        .init(body: "\(number)"), in: number % 2 == 0 ? one : two, as: "ana",
                        at: .now + .milliseconds(Int64(number)))
                }
            }
            room = two
        }
        // As it was written before there were numbers.
        let database = try await Database.open(state.path)
        try await database.run { connection in
            try connection.run(
                "UPDATE messages SET record = CAST(json_remove(CAST(record AS TEXT), '$.number') AS BLOB)")
            try connection.run(
                "UPDATE channels SET record = CAST(json_remove(CAST(record AS TEXT), '$.url', '$.lastNumber') AS BLOB)"
            )
            try connection.run("PRAGMA user_version = 1")
        }
        await database.close()
        try await TestServer.run({ $0.state = state.path }) { server async throws in
            let two = try #require(room)
            #expect(server.server.messages(in: two).map(\.number) == [2, 4, 6])
            #expect(server.server.messages(in: two).map(\.content.body) == ["1", "3", "5"])
            #expect(server.server.look { $0.channels[two]?.profile.url } == "two")
            #expect(try await server.server.post("next", in: two, as: "ana").number == 7)
        }
    }
}

extension SendbirdTestAPI {
    /// A group channel of people who need not be known yet.
    func groupOf(_ server: TestServer, _ people: [String], public isPublic: Bool = false) async throws
        -> String
    {
        try await server.server.change { world throws(WorldError) in
            for name in people { try world.user(name, at: .now) }
        }
        return try await group(people, ["is_public": .bool(isPublic), "name": "Group"])
    }

    /// What these paths show, but for what time alone changes.
    func still(_ paths: [String]) async throws -> [JSON] {
        func still(_ json: JSON) -> JSON {
            switch json {
            case .object(let members):
                let passing: Set = [
                    "remaining_duration", "is_online", "last_seen_at", "ts", "has_ever_logged_in",
                ]
                return .object(
                    JSONObject(members.filter { !passing.contains($0.key) }.map { ($0.key, still($0.value)) })
                )
            case .array(let values): return .array(values.map(still))
            default: return json
            }
        }
        var seen: [JSON] = []
        for path in paths { seen.append(still(try await ask("GET", path))) }
        return seen
    }
}
