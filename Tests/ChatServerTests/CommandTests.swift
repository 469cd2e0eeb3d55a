import Chat
import JSON
import Testing

@testable import ChatServer

@Suite(.timeLimit(.minutes(1))) struct Commands {
    /// What a client does in the order of a conversation's life; both generations use the same paths.
    @Test(arguments: ["v1", "v2"])
    func `a conversation lives from its creation to its end`(_ version: String) async throws {
        try await TestServer.run { server in
            let client = try await server.client("bot")
            let links = try #require(try await client.configuration(version)["links"])
            let conversations = try #require(links["conversations"]?.string)
            #expect(conversations.contains("/Client/\(version)/"))
            let created = try await client.request(
                "POST", conversations,
                body: ["friendly_name": "Room", "unique_name": "room", "attributes": "{\"a\":1}"])
            #expect(created.httpStatus == 201)
            #expect(created.payload["participants_count"] == 0)
            #expect(created.payload["state"] == ["current": "active"])
            let url = try #require(created.payload["url"]?.string)
            let sid = try #require(created.payload["sid"]?.string)
            #expect(created.payload["sync_objects"]?["messages"]?.string == "\(sid).messages")

            let joined = try await client.request("POST", url + "/Participants", body: ["identity": "bot"])
            #expect(joined.httpStatus == 201)
            #expect(joined.payload["role_sid"]?.string == Role.channelAdmin.sid.text)
            let twice = try await client.request("POST", url + "/Participants", body: ["identity": "bot"])
            #expect(twice.httpStatus == 409)
            #expect(twice.payload["code"] == 50433)
            let added = try await client.request(
                "POST", url + "/Participants", body: ["identity": "o'carol /ü", "attributes": "{}"])
            #expect(added.payload["role_sid"]?.string == Role.channelUser.sid.text)
            let carol = try #require(added.payload["url"]?.string)
            let marked = try await client.request("POST", carol, body: ["attributes": "{\"vip\":true}"])
            #expect(marked.payload["attributes"] == "{\"vip\":true}")

            let first = try await client.request(
                "POST", url + "/Messages", body: ["body": "hi", "attributes": "{}"])
            #expect(first.payload["index"] == 0)
            #expect(first.payload["media"] == .null)
            let message = try #require(first.payload["url"]?.string)
            let edited = try await client.request("POST", message, body: ["body": "ho"])
            #expect(edited.httpStatus == 200)
            #expect(edited.payload["body"] == "ho")
            let tagged = try await client.request("POST", message, body: ["attributes": "{\"k\":2}"])
            #expect(tagged.payload["body"] == "ho")
            #expect(try await client.request("GET", message).payload["attributes"] == "{\"k\":2}")
            let receipts = try await client.request("GET", message + "/Receipts")
            #expect(receipts.payload["delivery_receipts"] == [])
            #expect(receipts.payload["meta"]?["next_token"] == .null)

            let mine = try #require(links["my_conversations"]?.string)
            let view = try await client.request("GET", "\(mine)/room")
            #expect(view.payload["unread_messages_count"] == .null)
            #expect(view.payload["conversation_sid"]?.string == sid)
            let key = version == "v1" ? "last_consumed_message_index" : "last_read_message_index"
            let read = try await client.request(
                "POST", "\(mine)/\(sid)", body: .object(JSONObject([(key, JSON.int(0))])))
            #expect(read.payload["unread_messages_count"] == 0)
            try await client.request("POST", url + "/Messages", body: ["body": "more", "attributes": "{}"])
            #expect(try await client.request("GET", "\(mine)/\(sid)").payload["unread_messages_count"] == 1)
            let muted = try await client.request(
                "POST", "\(mine)/\(sid)", body: ["notification_level": "muted"])
            #expect(muted.payload["notification_level"] == "muted")

            #expect(try await client.request("DELETE", message, body: [:]).httpStatus == 204)
            #expect(try await client.request("DELETE", message, body: .null).httpStatus == 404)
            let renamed = try await client.request("POST", url, body: ["friendly_name": "Hall"])
            #expect(renamed.payload["friendly_name"] == "Hall")
            let bare = try await client.request("POST", url, body: ["unique_name": ""])
            #expect(bare.payload["unique_name"] == .null)
            let looked = try await client.request("GET", "\(conversations)/\(sid)")
            #expect(looked.payload["participants_count"] == 2)
            #expect(looked.payload["messages_count"] == 1)

            let gone = try await client.request("DELETE", url + "/Participants/o%27carol%20%2F%C3%BC")
            #expect(gone.httpStatus == 204)
            #expect(
                try await client.request("DELETE", url + "/Participants/bot", body: [:]).httpStatus == 204)
            #expect(try await client.request("DELETE", url, body: [:]).httpStatus == 204)
            let missing = try await client.request("GET", url)
            #expect(missing.httpStatus == 404)
            #expect(missing.payload["code"] == 50350)
            #expect(missing.payload["more_info"]?.string != nil)
        }
    }

    @Test func `users are looked up and edit themselves only`() async throws {
        try await TestServer.run { server in
            let client = try await server.client("bot")
            _ = try await server.client("ana")
            let users = try #require(try await client.configuration()["links"]?["users"]?.string)
            let ana = try await client.request("GET", "\(users)/ana")
            #expect(ana.payload["sync_objects"]?["user_info_map"]?.string?.hasSuffix(".info") == true)
            let me = try await client.request("POST", "\(users)/bot", body: ["friendly_name": "Bot"])
            #expect(me.payload["friendly_name"] == "Bot")
            let other = try await client.request("POST", "\(users)/ana", body: ["friendly_name": "Eve"])
            #expect(other.httpStatus == 403)
            #expect(other.payload["code"] == 50107)
        }
    }

    @Test func `typing is told to the other members`() async throws {
        try await TestServer.run { server in
            let room = try await server.server.channel("room", as: "ana")
            for name in ["ana", "bot"] { try await server.server.join(room, as: name) }
            let (ana, bot) = try await (server.client("ana"), server.client("bot"))
            let typing = try #require(try await ana.configuration()["links"]?["typing"]?.string)
            let sent = try await ana.request("POST", typing, form: "ChannelSid=\(room)")
            #expect(sent.payload == ["typing_timeout": 5])
            let heard = try await bot.next { $0.type == "twilio.ipmsg.typing_indicator" }
            #expect(
                heard.payload
                    == ["channel_sid": .string(room.text), "identity": "ana", "typing_timeout": 6])
        }
    }

    @Test func `Programmable Chat lists public channels and invites into private ones`() async throws {
        try await TestServer.run { server in
            for number in 0..<5 { try await server.server.channel("open-\(number)", as: "ana") }
            let (ana, bot) = try await (server.client("ana"), server.client("bot"))
            let links = try #require(try await ana.configuration("v1")["links"])
            let conversations = try #require(links["conversations"]?.string)
            let secret = try await ana.request(
                "POST", conversations,
                body: ["friendly_name": "Secret", "type": "private", "attributes": "{}"])
            #expect(secret.payload["type"] == "private")
            let url = try #require(secret.payload["url"]?.string)
            var names: [String] = []
            var next = conversations + "?PageSize=2"
            while true {
                let page = try await bot.request("GET", next)
                names += (page.payload["conversations"]?.array ?? []).compactMap { $0["unique_name"]?.string }
                guard let token = page.payload["meta"]?["next_token"]?.string else { break }
                next = conversations + "?PageToken=\(token)"
            }
            #expect(names == (0..<5).map { "open-\($0)" })
            #expect(try await bot.request("GET", url).httpStatus == 403)
            try await bot.subscribe([("Maps", "bot.channels")])
            #expect(
                try await ana.request("POST", url + "/Invites", body: ["identity": "bot"]).httpStatus == 201)
            let invited = try await bot.event("map_item_added")
            #expect(invited.body["item_data"]?["status"] == "invited")
            let joined = try await bot.request("POST", url + "/Participants", body: ["identity": "bot"])
            #expect(joined.httpStatus == 201)
            let updated = try await bot.event("map_item_updated")
            #expect(updated.body["item_data"]?["status"] == "joined")
        }
    }

    @Test func `Conversations lists only what one is in`() async throws {
        try await TestServer.run { server in
            try await server.server.channel("open", as: "ana")
            let bot = try await server.client("bot")
            let links = try #require(try await bot.configuration()["links"])
            let list = try await bot.request("GET", try #require(links["conversations"]?.string))
            #expect(list.payload["conversations"] == [])
            #expect(list.payload["meta"]?["key"] == "conversations")
        }
    }

    @Test func `users may not do what admins may, and admins named in the settings may`() async throws {
        try await TestServer.run({ $0.admins = ["mod"] }) { server in
            let room = try await server.server.channel("room", as: "owner")
            for name in ["ana", "bot", "mod"] { try await server.server.join(room, as: name) }
            let message = try await server.server.post("bad", in: room, as: "ana")
            let (bot, mod) = try await (server.client("bot"), server.client("mod"))
            let base = "/Client/v2/Services/\(server.server.names.service)/Conversations/\(room)"
            let asks: [(String, String, JSON?)] = [
                ("POST", "/Messages/\(message.sid)", ["body": "good"]),
                ("POST", "/Messages/\(message.sid)", ["attributes": "{\"x\":1}"]),
                ("DELETE", "/Messages/\(message.sid)", [:]), ("POST", "/Participants", ["identity": "eve"]),
                ("DELETE", "/Participants/ana", [:]), ("POST", "", ["friendly_name": "Mine"]),
                ("POST", "", ["attributes": "{\"x\":1}"]), ("DELETE", "", [:]),
            ]
            for (method, path, body) in asks {
                let refused = try await bot.request(method, base + path, body: body)
                #expect(refused.httpStatus == 403, "\(method) \(path)")
                #expect(refused.payload["code"] == 50107)
            }
            for (method, path, body) in asks {
                let done = try await mod.request(method, base + path, body: body)
                #expect((200...204).contains(done.httpStatus), "\(method) \(path): \(done.payload)")
            }
            let late = try await bot.request("POST", base + "/Messages", body: ["body": "x"])
            #expect(late.httpStatus == 404)
        }
    }

    @Test func `only members write, and only up to the limits`() async throws {
        try await TestServer.run { server in
            let room = try await server.server.channel("room", as: "ana")
            let bot = try await server.client("bot")
            let messages = "/Client/v2/Services/\(server.server.names.service)/Conversations/\(room)/Messages"
            func send(_ body: JSON) async throws -> TestClient.Frame {
                try await bot.request("POST", messages, body: body)
            }
            #expect(try await send(["body": "x"]).payload["code"] == 50430)
            try await server.server.join(room, as: "bot")
            let longest = String(repeating: "x", count: 32 * 1024)
            #expect(try await send(["body": .string(longest)]).httpStatus == 201)
            #expect(try await send(["body": .string(longest + "x")]).httpStatus == 400)
            #expect(try await send(["body": 7]).httpStatus == 400)
            #expect(try await send(["body": "x", "attributes": "{"]).httpStatus == 400)
            let big = "\"" + String(repeating: "x", count: 4096) + "\""
            #expect(try await send(["body": "x", "attributes": .string(big)]).httpStatus == 400)
        }
    }

    @Test func `too many writes a second are answered with 429 and when to come again`() async throws {
        try await TestServer.run({ $0.writesPerSecond = 30 }) { server in
            let room = try await server.server.channel("room", as: "bot")
            let other = try await server.server.channel("other", as: "bot")
            for channel in [room, other] { try await server.server.join(channel, as: "bot") }
            let bot = try await server.client("bot")
            let base = "/Client/v2/Services/\(server.server.names.service)/Conversations/"
            var ids: [String] = []
            for number in 0..<80 {
                ids.append(
                    try await bot.order(
                        "POST", base + "\(room)/Messages", body: ["body": .string("\(number)")]))
            }
            var refused: [TestClient.Frame] = []
            for id in ids {
                let reply = try await bot.reply(to: id)
                if reply.httpStatus == 429 { refused.append(reply) }
            }
            #expect((10...50).contains(refused.count))
            #expect(refused.first?.payload["code"] == 50063)
            #expect(refused.first?.header["http_headers"]?["retry-after"] == "1")
            #expect(
                try await bot.request("POST", base + "\(other)/Messages", body: ["body": "x"]).httpStatus
                    == 201)
        }
    }
}
