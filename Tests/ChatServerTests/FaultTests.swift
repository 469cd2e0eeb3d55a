import Chat
import HTTP
import JSON
import Testing

@testable import ChatServer

@Suite(.timeLimit(.minutes(1))) struct Faults {
    private struct Scene {
        let server: TestServer
        let room: SID
        let bot: TestClient

        var messages: String {
            "/Client/v2/Services/\(server.server.names.service)/Conversations/\(room)/Messages"
        }

        func texts() -> [String?] { server.server.messages(in: room).map(\.content.body) }
    }

    private func play(_ body: (Scene) async throws -> Void) async throws {
        try await TestServer.run({ $0.faultsOverHTTP = true }) { server in
            let room = try await server.server.channel("room", as: "ana")
            for name in ["ana", "bot"] { try await server.server.join(room, as: name) }
            let bot = try await server.client("bot")
            try await bot.subscribe([("Lists", "\(room).messages")])
            try await body(Scene(server: server, room: room, bot: bot))
        }
    }

    @Test func `a post can be cut off before it is taken`() async throws {
        try await play { scene in
            scene.server.server.add(Fault(.cutBeforePost, for: "bot"))
            await #expect(throws: (any Error).self) {
                try await scene.bot.request("POST", scene.messages, body: ["body": "x"])
            }
            #expect(scene.texts() == [])
        }
    }

    @Test func `a post can be cut off after it is taken, before its reply and its event`() async throws {
        try await play { scene in
            scene.server.server.add(Fault(.cutAfterPost, for: "bot"))
            await #expect(throws: (any Error).self) {
                try await scene.bot.request("POST", scene.messages, body: ["body": "x"])
            }
            #expect(await scene.bot.notifications().isEmpty)
            #expect(scene.texts() == ["x"])
            let again = try await scene.server.client("bot")
            #expect(try await again.request("POST", scene.messages, body: ["body": "y"]).httpStatus == 201)
        }
    }

    @Test func `requests can be refused, also with a time to wait, and are then not taken`() async throws {
        try await play { scene in
            scene.server.server.add(Fault(.refuse(status: 429, code: 50063, retryAfter: 3), times: 2))
            for _ in 0..<2 {
                let frame = try await scene.bot.request("POST", scene.messages, body: ["body": "x"])
                #expect(frame.status == 200)
                #expect(frame.httpStatus == 429)
                #expect(frame.header["http_headers"]?["retry-after"] == "3")
            }
            scene.server.server.add(Fault(.refuse(status: 503, code: 20503, retryAfter: nil)))
            #expect(
                try await scene.bot.request("POST", scene.messages, body: ["body": "x"]).httpStatus == 503)
            #expect(scene.texts() == [])
            #expect(
                try await scene.bot.request("POST", scene.messages, body: ["body": "x"]).httpStatus == 201)
        }
    }

    @Test func `a change can be answered with 202 and where to look`() async throws {
        try await play { scene in
            scene.server.server.add(Fault(.accepted))
            let frame = try await scene.bot.request("POST", scene.messages, body: ["body": "x"])
            #expect(frame.httpStatus == 202)
            let made = try await scene.bot.request("GET", try #require(frame.payload["resource_url"]?.string))
            #expect(made.httpStatus == 200)
            #expect(made.payload["sid"] == frame.payload["resource_sid"])
            #expect(made.payload["body"] == "x")
        }
    }

    @Test func `replies can be late, and missing`() async throws {
        try await play { scene in
            scene.server.server.add(Fault(.noReply))
            _ = try await scene.bot.order("POST", scene.messages, body: ["body": "x"])
            scene.server.server.add(Fault(.delayReply(.milliseconds(50))))
            let late = try await scene.bot.order("GET", "/Client/v2/Configuration")
            let soon = try await scene.bot.order("GET", "/Client/v2/Configuration")
            let first = try await scene.bot.next { $0.method == "reply" }
            #expect(first.header["id"]?.string == soon)
            #expect(try await scene.bot.reply(to: late).httpStatus == 200)
            #expect(scene.texts() == ["x"])
        }
    }

    @Test func `events can be lost, doubled and mixed up`() async throws {
        try await play { scene in
            let server = scene.server.server
            server.add(Fault(.duplicate, for: "bot"))
            try await server.post("0", in: scene.room, as: "ana")
            server.add(Fault(.misorder, for: "bot"))
            for text in ["1", "2"] { try await server.post(text, in: scene.room, as: "ana") }
            server.add(Fault(.lose, for: "bot"))
            for text in ["3", "4"] { try await server.post(text, in: scene.room, as: "ana") }
            var heard: [Int64?] = []
            while heard.last != 4 {
                heard.append(try await scene.bot.event("list_item_added").body["id"]?.int)
            }
            #expect(heard == [0, 0, 2, 1, 4])
        }
    }

    @Test func `a connection can be closed with a code and a back-off`() async throws {
        try await play { scene in
            scene.server.server.close(308, for: "bot", backoff: .seconds(5))
            let close = try await scene.bot.next { $0.method == "close" }
            #expect(close.status == 308)
            #expect(close.payload["backoff_policy"]?["reconnect_min_ms"] == 5000)
        }
    }

    @Test func `init and update can be refused`() async throws {
        try await play { scene in
            let server = scene.server
            server.server.add(Fault(.refuseInit(status: 429, code: 51202, backoff: .seconds(3)), for: "bot"))
            let second = try await server.stranger()
            let refused = try await second.start(token: server.token("bot"))
            #expect(refused.status == 429)
            #expect(refused.header["status"]?["errorCode"] == 51202)
            #expect(refused.payload["backoff_policy"]?["reconnect_min_ms"] == 3000)
            #expect(try await second.start(token: server.token("bot")).status == 200)
            server.server.add(Fault(.refuseUpdate(status: 401, code: 20104)))
            let id = await scene.bot.nextID()
            try await scene.bot.send([
                "id": .string(id), "method": "update", "token": .string(server.token("bot")),
            ])
            #expect(try await scene.bot.reply(to: id).status == 401)
        }
    }

    @Test func `a subscription can stay without its confirmation`() async throws {
        try await play { scene in
            let sid = scene.server.server.look { $0.channels[scene.room]?.messageFeed.sid.text ?? "" }
            scene.server.server.add(Fault(.notEstablished))
            let body: JSON = [
                "event_protocol_version": 4, "action": "establish", "correlation_id": 7,
                "requests": [["object_sid": .string(sid), "object_type": "list", "last_event_id": -1]],
            ]
            let path = "https://cds.us1.twilio.com/v4/Subscriptions"
            #expect(try await scene.bot.request("POST", path, body: body).httpStatus == 202)
            #expect(await scene.bot.notifications().isEmpty)
            #expect(try await scene.bot.request("POST", path, body: body).httpStatus == 202)
            _ = try await scene.bot.event("subscription_established")
        }
    }

    private func throwSwitch(_ http: HTTPClient, _ url: String, _ order: JSON) async throws -> Int {
        let request = OutgoingRequest(method: "POST", url: url, headers: [], body: order.bytes())
        return try await http.send(request).status
    }

    @Test func `the switches can be thrown over HTTP`() async throws {
        try await play { scene async throws in
            let http = HTTPClient()
            let url = scene.server.server.address + "/faults"
            #expect(
                try await throwSwitch(http, url, ["fault": "refuse", "status": 503, "identity": "bot"]) == 200
            )
            #expect(try await scene.bot.request("GET", "/Client/v2/Configuration").httpStatus == 503)
            #expect(try await throwSwitch(http, url, ["fault": "nonsense"]) == 400)
            #expect(try await throwSwitch(http, url, ["fault": "expire", "identity": "bot"]) == 200)
            #expect(try await scene.bot.next { $0.method == "close" }.status == 410)
            await http.shutdown()
        }
    }
}
