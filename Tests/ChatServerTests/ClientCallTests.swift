import Chat
import JSON
import Testing

@testable import ChatServer

/// Calls of Twilio's own clients, old and new, in JavaScript's form and in the native one.
@Suite(.timeLimit(.minutes(1))) struct ClientCalls {
    private static let cds = "https://cds.us1.twilio.com"

    @Test func `the native client finds Sync's addresses and says who it is`() async throws {
        try await TestServer.run { server in
            let client = try await server.stranger()
            let begun = try await client.start(
                token: server.token("bot"), capabilities: ["client_update", "account_descriptor"])
            #expect(begun.header["capabilities"] == ["client_update", "account_descriptor"])
            let names = server.server.names
            #expect(
                begun.header["account_descriptor"] == [
                    "account_sid": .string(names.account.text),
                    "instance_sids": ["ip_messaging": .string(names.service.text)], "identity": "bot",
                ])
            let links = try await client.request("GET", "\(Self.cds)/v3/Configuration").payload["links"]
            let base = "\(Self.cds)/v3/Services/\(names.service)"
            #expect(links?["subscriptions"]?.string == "\(Self.cds)/v4/Subscriptions")
            #expect(links?["maps"]?.string == "\(base)/Maps")
            #expect(links?["list_items"]?.string == "\(base)/Lists/{listId}/Items")
            #expect(links?["map_item"]?.string == "\(base)/Maps/{mapId}/Items/{itemId}")
        }
    }

    @Test func `lists as values of parameters and fields are read, as the native client sends them`()
        async throws
    {
        try await TestServer.run { server in
            let room = try await server.server.channel("room", as: "ana")
            for name in ["ana", "bot"] { try await server.server.join(room, as: name) }
            for number in 0..<3 { try await server.server.post("\(number)", in: room, as: "ana") }
            let client = try await server.client("bot")
            let id = await client.nextID()
            try await client.send([
                "id": .string(id), "method": "message", "active_grant": "ip_messaging",
                "http_request": [
                    "host": "cds.us1.twilio.com", "path": .string("/v3/Lists/\(room).messages/Items"),
                    "method": "GET", "params": ["Order": ["desc"], "PageSize": ["2"]],
                    "headers": ["Twilio-Request-Id": ["RQ7"], "Content-Type": ["application/json"]],
                ],
            ])
            let page = try await client.reply(to: id)
            #expect(page.payload["items"]?.array?.compactMap { $0["index"]?.int } == [2, 1])
            #expect(page.header["http_headers"]?["twilio-request-id"] == "RQ7")
            #expect(page.payload["meta"]?["next_token"]?.string != nil)
        }
    }

    @Test func `links name the region that was asked`() async throws {
        try await TestServer.run { server in
            let client = try await server.client("bot")
            let configuration = try await client.request(
                "GET", "https://aim.ie1.twilio.com/Client/v2/Configuration")
            let links = try #require(configuration.payload["links"])
            #expect(
                links["conversations"]?.string?.hasPrefix("https://aim.ie1.twilio.com/Client/v2/") == true)
            let me = try await client.request("GET", try #require(links["current_user"]?.string))
            #expect(me.payload["identity"] == "bot")
            #expect(me.payload["url"] == links["current_user"])
            let list = try await client.request("GET", try #require(links["users"]?.string))
            #expect(list.payload["users"]?[0]?["identity"] == "bot")
            #expect(list.payload["meta"]?["key"] == "users")
            #expect(links["messages_receipts"]?.string?.hasSuffix("/%s/Messages/%s/Receipts") == true)
        }
    }

    @Test func `a subscription that is renewed goes on, and nothing is told twice`() async throws {
        try await TestServer.run { server in
            let room = try await server.server.channel("room", as: "ana")
            for name in ["ana", "bot"] { try await server.server.join(room, as: name) }
            let client = try await server.client("bot")
            let opened = try await client.subscribe([("Lists", "\(room).messages")])
            try await server.server.post("one", in: room, as: "ana")
            let first = try await client.event("list_item_added")
            let renewed = try await client.request(
                "POST", "\(Self.cds)/v4/Subscriptions",
                body: [
                    "event_protocol_version": 4, "action": "establish", "correlation_id": 9,
                    "retried_requests": 1, "reason": "ttl", "ttl_in_s": -1,
                    "requests": [
                        [
                            "object_sid": opened[0]["sid"] ?? .null, "object_type": "list",
                            "last_event_id": first.body["id"] ?? .null,
                        ]
                    ],
                ])
            #expect(renewed.payload["ttl_in_s"] == 86400)
            let established = try await client.event("subscription_established")
            #expect(established.body["replay_status"] == "completed")
            #expect(established.body["last_event_id"] == first.body["id"])
            try await server.server.post("two", in: room, as: "ana")
            let second = try await client.event("list_item_added")
            #expect(second.body["item_data"]?["text"] == "two")
            #expect(await client.notifications().isEmpty)
        }
    }

    @Test(arguments: ["stream", "live_query", "map", "document"])
    func `a subscription to what this server does not have fails for good`(_ type: String) async throws {
        try await TestServer.run { server in
            let client = try await server.client("bot")
            let answer = try await client.request(
                "POST", "\(Self.cds)/v4/Subscriptions",
                body: [
                    "event_protocol_version": 4, "action": "establish", "correlation_id": 5,
                    "requests": [
                        [
                            "object_sid": "TO00000000000000000000000000000000", "object_type": .string(type),
                            "last_event_id": 0,
                        ]
                    ],
                ])
            #expect(answer.httpStatus == 202)
            let failed = try await client.event("subscription_failed")
            #expect(failed.body["object_type"]?.string == type)
            #expect(failed.body["error"]?["status"] == 404)
        }
    }

    @Test func `conditional writes to Sync are refused, as chat makes them itself`() async throws {
        try await TestServer.run { server in
            let room = try await server.server.channel("room", as: "bot")
            try await server.server.join(room, as: "bot")
            try await server.server.post("x", in: room, as: "bot")
            let client = try await server.client("bot")
            let items = "\(Self.cds)/v3/Lists/\(room).messages/Items"
            for (method, address) in [("POST", items), ("POST", items + "/0"), ("DELETE", items + "/0")] {
                let frame = try await client.request(
                    method, address, body: ["data": [:]], headers: [("If-Match", "1")])
                #expect(frame.httpStatus == 403, "\(method) \(address)")
                #expect(frame.payload["code"] == 54007)
            }
        }
    }

    @Test func `the read horizon may be forgotten again, and then nothing is counted`() async throws {
        try await TestServer.run { server in
            let room = try await server.server.channel("room", as: "bot")
            try await server.server.join(room, as: "bot")
            for number in 0..<3 { try await server.server.post("\(number)", in: room, as: "bot") }
            let client = try await server.client("bot")
            for (version, key) in [
                ("v1", "last_consumed_message_index"), ("v2", "last_read_message_index"),
            ] {
                let links = try #require(try await client.configuration(version)["links"])
                let mine = try #require(links["my_conversations"]?.string) + "/\(room)"
                func set(_ value: JSON) async throws -> JSON {
                    try await client.request("POST", mine, body: .object(JSONObject([(key, value)]))).payload
                }
                #expect(try await set(0)["unread_messages_count"] == 2)
                #expect(try await set(.null)["unread_messages_count"] == .null)
                #expect(try await set(7)["status"] == 400)
            }
        }
    }

    @Test func `all that a message may carry is kept`() async throws {
        try await TestServer.run { server in
            let client = try await server.client("bot")
            let links = try #require(try await client.configuration()["links"])
            let made = try await client.request(
                "POST", try #require(links["conversations"]?.string),
                body: ["friendly_name": "Room", "attributes": "{}", "access": "private"])
            #expect(made.payload["type"] == "private")
            let room = try #require(made.payload["url"]?.string)
            try await client.request("POST", room + "/Participants", body: ["identity": "bot"])
            let sent = try await client.request(
                "POST", room + "/Messages",
                body: [
                    "body": "b", "subject": "s", "attributes": "{\"a\":1}",
                    "content_sid": "HX00000000000000000000000000000000", "content_variables": "{\"1\":\"x\"}",
                ])
            #expect(sent.httpStatus == 201)
            #expect(sent.payload["subject"] == "s")
            #expect(sent.payload["content_sid"] == "HX00000000000000000000000000000000")
            let sid = made.payload["sid"]?.string ?? ""
            let item = try await client.request("GET", "\(Self.cds)/v3/Lists/\(sid).messages/Items/0")
            #expect(item.payload["data"]?["subject"] == "s")
            #expect(item.payload["data"]?["contentSid"] == "HX00000000000000000000000000000000")
            #expect(item.payload["data"]?["attributes"] == "{\"a\":1}")
            let phone = try await client.request(
                "POST", room + "/Participants",
                body: ["messaging_binding": ["address": "+15550100", "proxy_address": "+15550101"]])
            #expect(phone.httpStatus == 400)
        }
    }

    @Test func `a client that says goodbye is let go, and its name is free of it`() async throws {
        try await TestServer.run { server in
            let watcher = try await server.client("ana")
            let client = try await server.client("bot")
            let bot = try await watcher.request(
                "GET", "/Client/v2/Services/\(server.server.names.service)/Users/bot")
            let info = try #require(bot.payload["sync_objects"]?["user_info_map"]?.string)
            try await watcher.subscribe([("Maps", info)])
            try await client.send(["id": "TM1", "method": "close"])
            await #expect(throws: TestClient.Lost.self) { _ = try await client.next { _ in false } }
            let gone = try await watcher.event("map_item_updated")
            #expect(gone.body["item_key"] == "reachability")
            #expect(gone.body["item_data"] == ["online": false, "notifiable": false])
        }
    }
}
