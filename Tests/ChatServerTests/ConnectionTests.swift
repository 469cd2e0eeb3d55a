import Chat
import JSON
import Testing
import WebSocket

@testable import ChatServer

@Suite(.timeLimit(.minutes(1))) struct Connections {
    @Test func `a bad token is answered with 401 and its code, and another try is allowed`() async throws {
        try await TestServer.run { server in
            let client = try await server.stranger()
            let refused = try await client.start(token: "nonsense")
            #expect(refused.status == 401)
            #expect(refused.header["status"]?["errorCode"] == 20101)
            let old = server.server.issuer.token(for: "bot", life: .seconds(10), at: .now - .seconds(60))
            let expired = try await client.start(token: old)
            #expect(expired.header["status"]?["errorCode"] == 20104)
            let good = try await client.start(token: server.token("bot"))
            #expect(good.status == 200)
        }
    }

    @Test func `nothing is answered before init`() async throws {
        try await TestServer.run { server in
            let client = try await server.stranger()
            #expect(try await client.request("GET", "/Client/v2/Configuration").status == 401)
        }
    }

    @Test func `a continuation token is taken back, and one of somebody else is replaced`() async throws {
        try await TestServer.run { server in
            let first = try await server.stranger()
            let begun = try await first.start(token: server.token("bot"))
            let token = try #require(begun.header["continuation_token"]?.string)
            let second = try await server.stranger()
            let again = try await second.start(token: server.token("bot"), continuation: token)
            #expect(again.header["continuation_token_status"] == ["reissued": false])
            #expect(again.header["continuation_token"]?.string == token)
            let other = try await server.stranger()
            let foreign = try await other.start(token: server.token("ana"), continuation: token)
            #expect(foreign.header["continuation_token_status"]?["reissued"] == true)
        }
    }

    @Test func `update takes a new token of the same identity only`() async throws {
        try await TestServer.run { server in
            let client = try await server.client("bot")
            func update(_ token: String) async throws -> TestClient.Frame {
                let id = await client.nextID()
                try await client.send(["id": .string(id), "method": "update", "token": .string(token)])
                return try await client.reply(to: id)
            }
            #expect(try await update(server.token("bot")).status == 200)
            let foreign = try await update(server.token("ana"))
            #expect(foreign.status == 403)
            #expect(foreign.header["status"]?["errorCode"] == 51215)
            #expect(try await update("nonsense").status == 401)
        }
    }

    @Test func `a token that ends is announced, then ends the connection with 410`() async throws {
        try await TestServer.run { server in
            let client = try await server.stranger()
            try await client.start(token: server.token("bot", life: .seconds(5)))
            let update = try await client.next { $0.method == "client_update" }
            #expect(update.header["client_update_type"] == "token_about_to_expire")
            let close = try await client.next { $0.method == "close" }
            #expect(close.status == 410)
            #expect(close.header["status"]?["errorCode"] == 51207)
        }
    }

    @Test func `who did not ask for updates gets none, and a refreshed token keeps the connection`()
        async throws
    {
        try await TestServer.run { server in
            let client = try await server.stranger()
            try await client.start(token: server.token("bot", life: .seconds(5)), capabilities: [])
            let id = await client.nextID()
            try await client.send([
                "id": .string(id), "method": "update", "token": .string(server.token("bot")),
            ])
            #expect(try await client.reply(to: id).status == 200)
            server.server.warn()
            _ = try await client.next { $0.method == "client_update" }
            #expect(try await client.request("GET", "/Client/v2/Configuration").httpStatus == 200)
        }
    }

    @Test func `clients are pinged`() async throws {
        try await TestServer.run({ $0.pingInterval = .milliseconds(50) }) { server in
            let client = try await server.client("bot")
            for _ in 0..<3 {
                let ping = try await client.next { $0.method == "ping" }
                #expect(ping.header["id"]?.string?.hasPrefix("TM") == true)
            }
        }
    }

    @Test func `telemetry and the older registrations are answered, and registrations decide what is heard`()
        async throws
    {
        try await TestServer.run { server in
            let room = try await server.server.channel("room", as: "bot")
            try await server.server.join(room, as: "bot")
            let client = try await server.stranger()
            try await client.start(token: server.token("bot"), types: ["twilio.sync.event"])
            func say(_ header: JSON, payload: JSON) async throws -> Int64 {
                let id = await client.nextID()
                var members = header.object ?? JSONObject()
                members["id"] = .string(id)
                try await client.send(.object(members), payload: payload.bytes())
                return try await client.reply(to: id).status
            }
            #expect(try await say(["method": "telemetry.v1", "events": []], payload: [:]) == 200)
            try await client.hear(room)
            try await server.server.post("unheard", in: room, as: "bot")
            let context: JSON = ["method": "put_notification_ctx", "notification_ctx_id": "c1"]
            let types: JSON = ["product_id": "ip_messaging", "message_types": ["com.twilio.rtd.cds.list"]]
            #expect(try await say(context, payload: types) == 200)
            try await server.server.post("heard", in: room, as: "bot")
            let heard = try await client.event("list_item_added")
            #expect(heard.body["item_data"]?["text"] == "heard")
            #expect(
                try await say(
                    ["method": "delete_notification_ctx", "notification_ctx_id": "c1"], payload: [:]) == 200)
        }
    }

    @Test(arguments: [
        SocketMessage.text("TWILSOCK"), .binary([1, 2, 3]), .binary(Array("TWILSOCK V3.0 1\r\n{\r\n".utf8)),
        .binary(Array("TWILSOCK V3.0 2\r\n{}\r\n".utf8)),
        .binary(TestClient.encode(["method": "init", "id": "TM1", "extra": "x"]) + [1, 2, 3, 4]),
    ])
    func `a frame that is none ends its own connection and no other`(_ message: SocketMessage) async throws {
        try await TestServer.run { server in
            let good = try await server.client("bot")
            let bad = try await server.stranger()
            try await bad.socket.send(message)
            let close = try await bad.next { $0.method == "close" }
            #expect(close.status == 406)
            #expect(try await good.request("GET", "/Client/v2/Configuration").httpStatus == 200)
        }
    }

    @Test func `an enormous frame ends its own connection and no other`() async throws {
        try await TestServer.run { server in
            let good = try await server.client("bot")
            let bad = try await server.stranger()
            try? await bad.socket.send(.binary([UInt8](repeating: 65, count: 9 << 20)))
            while try await bad.socket.receive() != nil {}
            #expect(try await good.request("GET", "/Client/v2/Configuration").httpStatus == 200)
        }
    }

    @Test func `requests that make no sense are refused one by one`() async throws {
        try await TestServer.run { server in
            let client = try await server.client("bot")
            let service = server.server.names.service
            for (method, path, status) in [
                ("GET", "/nowhere", 404), ("GET", "", 404), ("GET", "/Client/v9/Configuration", 404),
                ("PUT", "/Client/v2/Services/\(service)/Conversations", 405),
                ("GET", "/Client/v2/Services/IS00000000000000000000000000000000/Users", 404),
                ("GET", "/Client/v2/Services/\(service)/Conversations/nothing", 404),
                ("GET", "/Client/v2/Services/\(service)/Users/nobody", 404),
                ("GET", "/v3/Maps/nothing.channels", 404), ("POST", "/v4/Subscriptions", 400),
            ] {
                let frame = try await client.request(method, path)
                #expect(frame.httpStatus == Int64(status), "\(method) \(path)")
                #expect(frame.payload["status"]?.int == Int64(status))
                #expect(frame.payload["code"]?.int != nil)
            }
            let id = await client.nextID()
            try await client.send(
                [
                    "id": .string(id), "method": "message", "active_grant": "ip_messaging",
                    "http_request": [
                        "host": "aim.us1.twilio.com", "method": "POST",
                        "path": .string("/Client/v2/Services/\(service)/Conversations"),
                    ],
                ], payload: Array("{not json".utf8))
            #expect(try await client.reply(to: id).httpStatus == 400)
            let other = await client.nextID()
            try await client.send(["id": .string(other), "method": "message", "active_grant": "video"])
            #expect(try await client.reply(to: other).status == 403)
        }
    }
}
