import Chat
import JSON
import Testing

@testable import ChatServer

@Suite(.timeLimit(.minutes(1))) struct Sync {
    private static let cds = "https://cds.us1.twilio.com"

    private func room(_ server: TestServer, members: [String] = ["ana", "bot"]) async throws -> SID {
        let room = try await server.server.channel("room", as: "ana")
        for name in members { try await server.server.join(room, as: name) }
        return room
    }

    @Test func `items come in pages, whose tokens say all`() async throws {
        try await TestServer.run { server in
            let room = try await room(server)
            for number in 0..<25 { try await server.server.post("\(number)", in: room, as: "ana") }
            let messages = server.server.messages(in: room)
            try await server.server.delete(messages[3].sid, in: room, as: "ana")
            let client = try await server.client("bot")
            let list = try await client.request("GET", "\(Self.cds)/v3/Lists/\(room).messages")
            #expect(list.payload["last_event_id"] == 25)
            #expect(list.payload["revision"] == "1a")
            let items = try #require(list.payload["links"]?["items"]?.string)
            func indexes(_ params: JSON) async throws -> ([Int64], JSON) {
                let frame = try await client.request("GET", items, params: params)
                try #require(frame.httpStatus == 200)
                let found = (frame.payload["items"]?.array ?? []).compactMap { $0["index"]?.int }
                return (found, frame.payload["meta"] ?? .null)
            }
            var (seen, meta) = try await indexes(["PageSize": ["10"], "Order": ["asc"]])
            #expect(seen == [0, 1, 2, 4, 5, 6, 7, 8, 9, 10])
            #expect(meta["previous_token"] == .null)
            while let token = meta["next_token"]?.string {
                let (more, next) = try await indexes(["PageToken": .string(token)])
                #expect(next["previous_token"]?.string != nil)
                (seen, meta) = (seen + more, next)
            }
            #expect(seen == Array(0..<3) + Array(4..<25))
            let (newest, before) = try await indexes(["PageSize": "5", "Order": "desc"])
            #expect(newest == [24, 23, 22, 21, 20])
            let (older, _) = try await indexes(["PageToken": before["next_token"] ?? .null])
            #expect(older == [19, 18, 17, 16, 15])
            #expect(try await indexes(["From": "3", "PageSize": "2"]).0 == [4, 5])
            #expect(try await indexes(["From": "4", "PageSize": "2", "Bounds": "exclusive"]).0 == [5, 6])
            #expect(try await indexes(["From": "4", "PageSize": "2", "Order": "desc"]).0 == [4, 2])
            #expect(try await indexes(["Index": "7"]).0 == [7])
            #expect(try await indexes(["Index": "3"]).0 == [])
            let one = try await client.request("GET", items + "/7")
            #expect(one.payload["data"]?["text"] == "7")
            #expect(try await client.request("GET", items + "/3").payload["code"] == 54151)
            #expect(try await client.request("GET", items, params: ["PageToken": "junk"]).httpStatus == 400)
        }
    }

    @Test func `both forms of a path, SIDs and names lead to the same`() async throws {
        try await TestServer.run { server in
            let room = try await room(server)
            let client = try await server.client("bot")
            let named = try await client.request("GET", "\(Self.cds)/v3/Lists/\(room).messages")
            let url = try #require(named.payload["url"]?.string)
            #expect(url.contains("/v3/Services/\(server.server.names.service)/Lists/ES"))
            let sid = try #require(named.payload["sid"]?.string)
            for address in [url, "\(Self.cds)/v3/Lists/\(sid)"] {
                #expect(try await client.request("GET", address).payload == named.payload)
            }
        }
    }

    @Test func `what is not there and what is not allowed have their codes`() async throws {
        try await TestServer.run { server in
            let room = try await room(server, members: ["ana"])
            let client = try await server.client("bot")
            for (path, status, code) in [
                ("Documents/no", 404, 54100), ("Lists/no", 404, 54150), ("Maps/no", 404, 54200),
                ("Streams/no", 404, 54300), ("Lists/\(room).messages", 403, 54007),
                ("Maps/\(room).roster", 403, 54007), ("Maps/ana.channels", 403, 54007),
                ("Lists/\(room).channel", 404, 54150),
            ] {
                let frame = try await client.request("GET", "\(Self.cds)/v3/\(path)")
                #expect(frame.httpStatus == Int64(status), "\(path)")
                #expect(frame.payload["code"]?.int == Int64(code), "\(path)")
            }
            let write = try await client.request(
                "POST", "\(Self.cds)/v3/Maps", body: ["unique_name": "mine"])
            #expect(write.httpStatus == 403)
        }
    }

    @Test(arguments: [3, 4])
    func `events take the form that was asked for`(_ version: Int) async throws {
        try await TestServer.run { server in
            let room = try await room(server)
            let client = try await server.client("bot")
            try await client.subscribe([("Lists", "\(room).messages")], version: version)
            try await server.server.post("hi", in: room, as: "ana")
            let heard = try await client.event("list_item_added")
            #expect(heard.payload["event_protocol_version"]?.int == Int64(version))
            #expect((heard.payload["event"] == nil) == (version == 4))
            #expect((heard.payload["events"] == nil) == (version == 3))
            #expect(heard.body["id"] == 0)
            #expect(heard.body["list_unique_name"]?.string == "\(room).messages")
            #expect(heard.body["item_revision"] == "1")
        }
    }

    @Test func `each change is told where it belongs, with numbers that have no gap`() async throws {
        try await TestServer.run { server in
            let room = try await room(server)
            let client = try await server.client("bot")
            try await client.hear(room)
            try await client.subscribe([("Maps", "bot.channels")])
            try await server.server.join(room, as: "carol")
            let joined = try await client.event("map_item_added")
            #expect(joined.body["item_data"]?["identity"] == "carol")
            #expect(joined.body["item_data"]?["roleSid"]?.string == Role.channelUser.sid.text)
            let message = try await server.server.post("hi", in: room, as: "carol")
            _ = try await client.event("list_item_added")
            try await server.server.change { world throws(WorldError) in
                _ = try world.edit(message.sid, in: room, as: "carol", at: .now) { $0.body = "ho" }
                _ = try world.setRead(0, in: room, as: "bot", at: .now)
                _ = try world.editChannel(room, friendlyName: "New", as: "ana", at: .now)
            }
            let edited = try await client.event("list_item_updated")
            #expect(edited.body["id"] == 1)
            #expect(edited.body["item_data"]?["text"] == "ho")
            let read = try await client.event("map_item_updated") { $0["item_data"]?["status"] != nil }
            #expect(read.body["item_data"]?["lastConsumedMessageIndex"] == 0)
            let roster = try await client.event("map_item_updated") { $0["item_data"]?["identity"] == "bot" }
            #expect(roster.body["item_data"]?["lastConsumedMessageIndex"] == 0)
            let renamed = try await client.event("document_updated") {
                $0["document_data"]?["friendlyName"] == "New"
            }
            #expect(renamed.body["document_sid"]?.string?.hasPrefix("ET") == true)
            try await server.server.delete(message.sid, in: room, as: "ana")
            let removed = try await client.event("list_item_removed")
            #expect(removed.body["id"] == 2)
            #expect(removed.body["item_data"]?["text"] == "ho")
            try await server.server.leave(room, as: "carol")
            let left = try await client.event("map_item_removed")
            #expect(left.body["item_data"]?["identity"] == "carol")
            try await server.server.change { world throws(WorldError) in
                try world.deleteChannel(room, as: "ana", at: .now)
            }
            let mine = try await client.event("map_item_removed") { $0["item_data"]?["status"] != nil }
            #expect(mine.body["item_key"]?.string == room.text)
            let ended = try await client.event("document_removed")
            #expect(ended.body["document_sid"]?.string?.hasPrefix("ET") == true)
        }
    }

    @Test func `after a cut, what was missed is told again and nothing twice`() async throws {
        try await TestServer.run { server in
            let room = try await room(server)
            let first = try await server.client("bot")
            let opened = try await first.subscribe([("Lists", "\(room).messages")])
            try await server.server.post("0", in: room, as: "ana")
            let heard = try await first.event("list_item_added")
            server.server.drop("bot")
            await #expect(throws: (any Error).self) { try await first.next { _ in false } }
            for number in 1...2 { try await server.server.post("\(number)", in: room, as: "ana") }
            let second = try await server.client("bot")
            let id = try await second.order(
                "POST", "\(Self.cds)/v4/Subscriptions",
                body: [
                    "event_protocol_version": 4, "action": "establish", "correlation_id": 1_714_557_700_456,
                    "requests": [
                        [
                            "object_sid": opened[0]["sid"] ?? .null, "object_type": "list",
                            "last_event_id": heard.body["id"] ?? .null,
                        ]
                    ],
                ])
            let reply = try await second.reply(to: id)
            #expect(reply.httpStatus == 202)
            #expect(
                reply.payload == [
                    "estimated_delivery_in_ms": 10000, "max_batch_size": 1000, "ttl_in_s": 86400,
                ])
            let told = await second.notifications()
            #expect(told.map(\.type) == Array(repeating: "twilio.sync.event", count: 3))
            #expect(told.map(\.event) == ["list_item_added", "list_item_added", "subscription_established"])
            #expect(
                told.map { $0.payload["correlation_id"] } == Array(repeating: 1_714_557_700_456, count: 3))
            #expect(told.map { $0.body["id"]?.int } == [1, 2, nil])
            #expect(told.last?.body["replay_status"] == "completed")
            #expect(told.last?.body["last_event_id"] == 2)
            try await server.server.post("3", in: room, as: "ana")
            let live = try await second.event("list_item_added")
            #expect(live.type == "com.twilio.rtd.cds.list")
            #expect(live.body["id"] == 3)
        }
    }

    @Test func `a cancelled subscription is silent, and one of nothing fails`() async throws {
        try await TestServer.run { server in
            let room = try await room(server)
            let client = try await server.client("bot")
            let opened = try await client.subscribe([("Lists", "\(room).messages")])
            func subscribe(_ action: String, _ sid: JSON) async throws {
                let frame = try await client.request(
                    "POST", "\(Self.cds)/v4/Subscriptions",
                    body: [
                        "event_protocol_version": 4, "action": .string(action), "correlation_id": 5,
                        "requests": [["object_sid": sid, "object_type": "list"]],
                    ])
                #expect(frame.httpStatus == 202)
            }
            try await subscribe("cancel", opened[0]["sid"] ?? .null)
            _ = try await client.event("subscription_canceled")
            try await server.server.post("unheard", in: room, as: "ana")
            try await subscribe("establish", "ES00000000000000000000000000000000")
            let failed = try await client.event("subscription_failed")
            #expect(failed.body["error"]?["status"] == 404)
            #expect(await client.notifications().isEmpty)
        }
    }

    @Test func `who is removed hears no more`() async throws {
        try await TestServer.run { server in
            let room = try await room(server)
            let client = try await server.client("bot")
            try await client.hear(room)
            try await client.subscribe([("Maps", "bot.channels")])
            try await server.server.leave(room, as: "bot")
            _ = try await client.event("map_item_removed") { $0["item_data"]?["status"] != nil }
            let cancelled = try await client.event("subscription_canceled")
            #expect(cancelled.payload["correlation_id"] == nil)
            _ = try await client.event("subscription_canceled")
            try await server.server.post("secret", in: room, as: "ana")
            try await client.request("GET", "/Client/v2/Configuration")
            #expect(
                await client.notifications().allSatisfy {
                    $0.type == "com.twilio.rtd.cds.document" || $0.event == "map_item_removed"
                })
        }
    }

    @Test func `a burst arrives whole and in order`() async throws {
        try await TestServer.run { server in
            let room = try await room(server)
            let client = try await server.client("bot")
            await client.setAcknowledges(false)
            try await client.subscribe([("Lists", "\(room).messages")])
            let count = 5000
            server.server.hall.take { world in
                for number in 0..<count {
                    _ = try? world.post(Message.Content(body: "\(number)"), in: room, as: "ana", at: .now)
                }
                return nil
            }
            for number in 0..<count {
                let heard = try await client.event("list_item_added")
                try #require(heard.body["item_index"]?.int == Int64(number))
            }
        }
    }
}
