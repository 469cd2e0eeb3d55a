import Chat
import JSON
import Testing

@testable import ChatServer

@Suite(.timeLimit(.minutes(1))) struct StartUp {
    @Test func `a client starts as the real one does and hears what is written`() async throws {
        try await TestServer.run { server in
            let room = try await server.server.channel("room", friendlyName: "Room", as: "alice")
            try await server.server.join(room, as: "alice")
            try await server.server.join(room, as: "bot")
            let client = try await server.stranger()
            let begun = try await client.start(token: server.token("bot"))
            #expect(begun.status == 200)
            #expect(begun.header["continuation_token"]?.string?.isEmpty == false)
            #expect(
                begun.header["continuation_token_status"] == [
                    "reissued": true, "reissue_reason": "MISSING",
                    "reissue_message": "Continuation token is not provided",
                ])
            #expect(begun.header["capabilities"] == ["client_update", "offline_storage"])
            #expect(begun.header["offline_storage"]?["ip_messaging"]?["storage_id"]?.string != nil)
            #expect(begun.header["init_registrations"]?[0]?["product"] == "ip_messaging")

            let configuration = try await client.configuration()
            #expect(configuration["identity"] == "bot")
            let mine = try #require(configuration["sync_objects"]?["my_conversations"]?.string)
            let info = try #require(configuration["sync_objects"]?["my_user_info"]?.string)
            let map = try await client.request("GET", "https://cds.us1.twilio.com/v3/Maps/\(mine)")
            #expect(map.httpStatus == 200)
            let person = try await client.request(
                "GET", "https://cds.us1.twilio.com/v3/Maps/\(info)", params: ["Include": ["items"]])
            #expect(person.payload["items"]?[2]?["data"] == ["online": true, "notifiable": false])

            let list = try await client.request(
                "GET", try #require(configuration["links"]?["my_conversations"]?.string))
            #expect(list.payload["meta"]?["next_token"] == .null)
            let row = try #require(list.payload["conversations"]?[0])
            #expect(row["conversation_sid"]?.string == room.text)
            #expect(row["status"] == "joined")
            let names = try #require(row["sync_objects"])
            let opened = try await client.subscribe([
                ("Documents", names["conversation"]?.string ?? ""),
                ("Lists", names["messages"]?.string ?? ""),
                ("Maps", names["participants"]?.string ?? ""), ("Maps", mine), ("Maps", info),
            ])
            #expect(opened[0]["data"]?["friendlyName"] == "Room")
            let roster = try await client.request(
                "GET", try #require(opened[2]["links"]?["items"]?.string),
                params: ["PageSize": "50", "Order": "asc"])
            #expect(roster.payload["items"]?.array?.count == 2)
            #expect(roster.payload["meta"]?["key"] == "items")

            try await server.server.post("Grüße 👋", in: room, as: "alice")
            let added = try await client.event("list_item_added")
            #expect(added.type == "com.twilio.rtd.cds.list")
            #expect(added.payload["correlation_id"] == nil)
            #expect(added.body["item_index"] == 0)
            #expect(added.body["item_data"]?["text"] == "Grüße 👋")
            let document = try await client.event("document_updated")
            #expect(document.body["document_data"]?["lastMessage"]?["index"] == 0)

            let sent = try await client.request(
                "POST", "/Client/v2/Services/\(server.server.names.service)/Conversations/\(room)/Messages",
                body: ["body": "pong", "attributes": "{}"],
                headers: [
                    ("X-Twilio-Mutation-Id", "6f9d3b1e-2a4c-4e8b-9d70-51c2f3a4b5c6"),
                    ("Twilio-Request-Id", "RQ0123"),
                ])
            #expect(sent.httpStatus == 201)
            #expect(sent.header["http_headers"]?["twilio-request-id"] == "RQ0123")
            #expect(sent.payload["index"] == 1)
            #expect(sent.payload["author"] == "bot")
            let own = try await client.event("list_item_added")
            #expect(own.body["item_data"]?["sid"] == sent.payload["sid"])
            #expect(own.body["id"]?.int == (added.body["id"]?.int ?? 0) + 1)
        }
    }
}
