import Chat
import JSON
import Testing
import WebSocket

@testable import ChatServer

@Suite(.timeLimit(.minutes(1))) struct SendbirdSessions {
    private func token(_ api: SendbirdTestAPI, _ name: String) async throws -> String {
        let user = try await api.ask("POST", "users", ["user_id": .string(name), "issue_access_token": true])
        return try #require(user["access_token"]?.string)
    }

    @Test func `a token comes in a header, in the query or where a subprotocol goes`() async throws {
        try await TestServer.sendbird { server, api async throws in
            let token = try await token(api, "ann")
            let offer = "%7B%22token%22%3A%22\(token)%22%7D"
            let clients = [
                try await SendbirdTestClient(server, "ann", headers: [("SENDBIRD-WS-TOKEN", token)]),
                try await SendbirdTestClient(server, "ann", query: [("access_token", token)]),
                try await SendbirdTestClient(server, "ann", subprotocols: [offer]),
            ]
            #expect(clients[2].socket.subprotocol == offer)
            for client in clients {
                let login = try await client.enter()
                #expect(login["user_id"] == "ann")
                for field in ["login_ts", "reconnect", "pong_timeout", "emoji_hash", "use_reaction", "ekey"] {
                    #expect(login[field] != nil, "\(field)")
                }
                // The key of the session is what comes back with, in as many ways.
                let key = try #require(login["key"]?.string)
                let again = try await SendbirdTestClient(
                    server, "ann", headers: [("SENDBIRD-WS-AUTH", key)], named: false)
                #expect(try await again.enter()["user_id"] == "ann")
            }
        }
    }

    @Test func `whoever has no good token is told so and sent away`() async throws {
        try await TestServer.sendbird({ $0.admins = ["mia"] }) { server, api async throws in
            _ = try await token(api, "ann")
            try await api.ask("POST", "users", ["user_id": "off"])
            try await api.ask("PUT", "users/off", ["is_active": false])
            let cases: [(String, [(String, String)], Int64)] = [
                ("ann", [], 400302), ("ann", [("access_token", "wrong")], 400302), ("mia", [], 400302),
                ("off", [], 400300), ("bob", [("key", "wrong")], 400303),
            ]
            for (name, query, code) in cases {
                let client = try await SendbirdTestClient(server, name, query: query)
                let login = try await client.enter()
                #expect(login["error"] == true)
                #expect(login["code"]?.int == code, "\(name)")
                await client.end()
            }
            let stranger = try await WebSocket.connect(
                to: "ws://127.0.0.1:\(server.server.port)/?ai=other&user_id=bob", on: server.loop)
            let answer = try await stranger.receive()
            let text = String(decoding: answer?.first?.bytes ?? [], as: UTF8.self)
            #expect(text.contains("400304"))
        }
    }

    @Test func `on other machines' behalf, and on pages of others, a name is not enough`() async throws {
        try await TestServer.sendbird({ $0.secret = "s" }) { server, _ async throws in
            #expect(try await SendbirdTestClient(server, "bob").enter()["code"] == 400302)
        }
        try await TestServer.sendbird { server, api async throws in
            let page = try await SendbirdTestClient(
                server, "bob", headers: [("Origin", "http://evil.example")])
            #expect(try await page.enter()["code"] == 400302)
            let token = server.token("bob")
            let eve = try await server.bird("eve")
            let evil = [("Origin", "http://evil.example")]
            #expect(try await api.call("POST", "users/eve/session_key", [:], headers: evil).code == 400302)
            #expect(try await api.call("POST", "users/eve/session_key", [:])["key"] != nil)
            await eve.close()
            let good = try await SendbirdTestClient(
                server, "bob", query: [("access_token", token)], headers: [("Origin", "http://evil.example")])
            #expect(try await good.enter()["user_id"] == "bob")
        }
    }

    @Test func `a session that ends is renewed on the socket and over HTTP`() async throws {
        try await TestServer.sendbird { server, api async throws in
            let token = try await token(api, "ann")
            let ann = try await SendbirdTestClient.start(
                server, "ann", query: [("access_token", token), ("expiring_session", "1")])
            let old = await ann.key
            server.server.endSessions(of: "ann")
            #expect(try await ann.event("EXPR")["reason"] == 400309)
            let refused = try await api.with(key: old).call("GET", "open_channels")
            #expect(refused.status == 400)
            #expect(refused.code == 400309)
            #expect(
                try await SendbirdTestClient(server, "ann", query: [("key", old)], named: false).enter()[
                    "code"]
                    == 400309)
            let wrong = try await ann.command("LOGI", ["token": "wrong"])
            #expect(wrong["code"] == 400302)
            let renewed = try await ann.command("LOGI", ["token": .string(token), "expiring_session": 1])
            let key = try #require(renewed["new_key"]?.string)
            try await api.with(key: key).ask("GET", "open_channels")
            server.server.endSessions(of: "ann")
            let over = try await api.call(
                "POST", "users/ann/session_key", ["expiring_session": true],
                headers: [("App-Id", server.server.application), ("Access-Token", token)])
            try await api.with(key: try #require(over["key"]?.string)).ask("GET", "open_channels")
            #expect(
                try await api.call("POST", "users/ann/session_key", [:], headers: [("Access-Token", "no")])
                    .code
                    == 400302)
        }
    }

    @Test func `a session token ends in its time, and its end is said before`() async throws {
        try await TestServer.sendbird({ $0.sendbird.pingInterval = 3600 }) {
            server, api async throws in
            try await api.ask("POST", "users", ["user_id": "ann"])
            let end = Timestamp.now + .seconds(600)
            let made = try await api.ask("POST", "users/ann/token", ["expires_at": .int(end.milliseconds)])
            #expect(made["expires_at"]?.int == end.milliseconds)
            let token = try #require(made["token"]?.string)
            let ann = try await SendbirdTestClient.start(
                server, "ann", query: [("access_token", token), ("expiring_session", "1")])
            #expect(await ann.login["expires_at"]?.int == end.milliseconds / 1000)
            let connections = server.server.sendbird.connections.of("ann")
            for connection in connections { _ = connection.tick(at: end - .seconds(30)) }
            #expect(try await ann.event("EXPR")["reason"] == 400302)
            for connection in connections { _ = connection.tick(at: end) }
            await ann.end()
            let person = try #require(server.server.look { try? $0.person("ann") })
            let old = server.server.sendbird.keys.sessionToken(of: person, until: .now - .seconds(1))
            #expect(
                try await SendbirdTestClient(server, "ann", query: [("access_token", old)]).enter()["code"]
                    == 400302)
        }
    }

    @Test(arguments: [30, 200, 7200])
    func `a session is warned of once, in its last quarter or its last minute`(_ life: Int64) async throws {
        try await TestServer.sendbird({ $0.sendbird.pingInterval = 7200 }) {
            server, api async throws in
            try await api.ask("POST", "users", ["user_id": "ann"])
            let end = Timestamp.now + .seconds(life)
            let made = try await api.ask("POST", "users/ann/token", ["expires_at": .int(end.milliseconds)])
            let token = try #require(made["token"]?.string)
            let ann = try await SendbirdTestClient.start(
                server, "ann", query: [("access_token", token), ("expiring_session", "1")])
            let connection = try #require(server.server.sendbird.connections.of("ann").first)
            let seconds = min(life, 3600)
            let next = connection.tick(at: .now)
            let ends = try #require(connection.state.withLock { $0.session?.ends })
            let warned = (ends - next).milliseconds
            let expected = min(60_000, seconds * 250)
            #expect((expected - 1000...expected).contains(warned))
            #expect(!connection.state.withLock { $0.isWarned })
            _ = connection.tick(at: next)
            #expect(try await ann.event("EXPR")["reason"] == (life > 3600 ? 400309 : 400302))
            // Renewed, it has time again.
            let renewed = try await ann.command("LOGI", ["token": .string(token), "expiring_session": 1])
            #expect(renewed["new_key"] != nil)
            #expect(connection.tick(at: .now) > .now)
            #expect(!connection.state.withLock { $0.isWarned })
        }
    }

    @Test func `what is taken back is over for good`() async throws {
        try await TestServer.sendbird { server, api async throws in
            try await api.ask("POST", "users", ["user_id": "ann"])
            let token = try await api.ask("POST", "users/ann/token", [:])["token"]?.string ?? ""
            let ann = try await SendbirdTestClient.start(server, "ann", query: [("access_token", token)])
            try await api.ask("DELETE", "users/ann/token")
            let told = try await ann.event("EXPR")
            #expect(told["reason"] == 400310)
            #expect((told["expires_in"]?.int ?? 0) < 0)
            let mine = await api.user(ann)
            #expect(try await mine.call("GET", "open_channels").code == 400310)
            try await api.ask("PUT", "users/ann", ["is_active": false])
            #expect(try await ann.event("EXPR")["reason"] == 400300)
            #expect(try await mine.call("GET", "open_channels").code == 400300)
            try await api.ask("DELETE", "users/ann")
            #expect(try await ann.event("EXPR")["reason"] == 400301)
            #expect(try await mine.call("GET", "open_channels").code == 400301)
        }
    }

    @Test func `a busy server says when to come back`() async throws {
        try await TestServer.sendbird { server, _ async throws in
            server.server.add(Fault(.busy(retryAfter: 20), for: "ann"))
            let ann = try await SendbirdTestClient(server, "ann")
            let busy = try await ann.event("BUSY")
            #expect(busy["retry_after"] == 20)
            await ann.end()
            #expect(try await SendbirdTestClient(server, "ann").enter()["user_id"] == "ann")
        }
    }

    @Test func `pings are answered, and a silent client is given up`() async throws {
        try await TestServer.sendbird { server, _ async throws in
            let ann = try await server.bird("ann")
            #expect(await ann.login["ping_interval"] == 15)
            #expect(await ann.login["pong_timeout"] == 5)
            try await ann.settle()
            server.server.add(Fault(.noPong, for: "ann"))
            try await ann.say("PING", ["id": 1])
            try await ann.settle()
            #expect(await ann.rest().isEmpty)
            let connections = server.server.sendbird.connections.of("ann")
            for connection in connections { _ = connection.tick(at: .now + .seconds(30)) }
            try await ann.settle()
            for connection in connections { _ = connection.tick(at: .now + .seconds(50)) }
            await ann.end()
        }
    }
}
