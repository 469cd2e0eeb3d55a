import Chat
import Crypto
import HTTP
import HTTPServer
import JSON
import Testing
import WebSocket

@testable import ChatServer

@Suite(.timeLimit(.minutes(1))) struct SendbirdDoorFaults {
    @Test func `frames go out compressed to clients that take that`() async throws {
        try await TestServer.sendbird { server, api async throws in
            let ann = try await SendbirdTestClient.start(server, "ann", query: [("pmce", "1")])
            let bob = try await server.bird("bob")
            let url = try await api.group(["ann", "bob"])
            let long = String(repeating: "long ", count: 2000)
            try await bob.message(long, in: url)
            let heard = try await ann.event("MESG")
            #expect(heard.isBinary)
            #expect(heard["message"]?.string == long)
            try await bob.message("short", in: url)
            #expect(try await !ann.event("MESG").isBinary)
            server.server.add(Fault(.gzip, for: "ann"))
            try await bob.message("small", in: url)
            #expect(try await ann.event("MESG").isBinary)
        }
    }

    @Test func `events are lost, doubled, mixed up, aged and glued as asked`() async throws {
        try await TestServer.sendbird { server, api async throws in
            let (ann, bob) = (try await server.bird("ann"), try await server.bird("bob"))
            let url = try await api.group(["ann", "bob"])
            server.server.add(Fault(.lose, for: "bob"))
            try await ann.message("lost", in: url)
            server.server.add(Fault(.duplicate, for: "bob"))
            try await ann.message("twice", in: url)
            server.server.add(Fault(.misorder, for: "bob"))
            for text in ["second", "first"] { try await ann.message(text, in: url) }
            try await bob.settle()
            let heard = await bob.rest().filter { $0.code == "MESG" }
            #expect(heard.map { $0["message"] } == ["twice", "twice", "first", "second"])
            server.server.add(Fault(.oldTime, for: "bob"))
            let ack = try await ann.message("old", in: url)
            #expect(try await bob.event("MESG")["ts"]?.int == (ack["ts"]?.int ?? 0) - 60_000)
            server.server.add(Fault(.glued, for: "bob"))
            server.server.add(Fault(.unended, for: "bob"))
            try await ann.message("glued", in: url)
            _ = try await bob.event("MESG")
            _ = try await bob.event("NOOP")
        }
    }

    @Test func `a message without an answer was taken, and one cut off before was not`() async throws {
        try await TestServer.sendbird { server, api async throws in
            let bob = try await server.bird("bob")
            let first = try await server.bird("ann")
            let url = try await api.group(["ann", "bob"])
            server.server.add(Fault(.noReply, for: "ann"))
            try await first.say(
                "MESG", ["channel_url": .string(url), "message": "unanswered", "req_id": "rq-1"])
            #expect(try await bob.event("MESG")["message"] == "unanswered")
            try await first.settle()
            #expect(await first.rest().filter { $0.code == "MESG" }.isEmpty)
            server.server.add(Fault(.cutAfterPost, for: "ann"))
            try await first.say("MESG", ["channel_url": .string(url), "message": "cut", "req_id": "rq-2"])
            await first.end()
            #expect(try await bob.event("MESG")["message"] == "cut")
            let ann = try await server.bird("ann")
            server.server.add(Fault(.cutBeforePost, for: "ann"))
            try await ann.say("MESG", ["channel_url": .string(url), "message": "never", "req_id": "rq-3"])
            await ann.end()
            let again = try await server.bird("ann")
            let history = try await api.user(again).ask(
                "GET", "group_channels/\(url)/messages?message_ts=9007199254740991&prev_limit=10")
            #expect(history["messages"]?.array?.map { $0["request_id"] } == ["rq-1", "rq-2"])
        }
    }

    @Test func `refusals come as errors on the socket and as statuses over HTTP`() async throws {
        try await TestServer.sendbird({ $0.writesPerSecond = 2 }) { server, api async throws in
            let ann = try await server.bird("ann")
            let mine = await api.user(ann)
            server.server.add(Fault(.refuse(status: 429, code: 500910, retryAfter: 7), for: "ann"))
            let refused = try await mine.call("GET", "open_channels")
            #expect(refused.status == 429)
            #expect(refused.code == 500910)
            #expect(refused.headers.first { $0.name.lowercased() == "x-ratelimit-retryafter" }?.value == "7")
            let url = try await api.group(["ann"])
            // Far more at once than a slow machine takes for two seconds' worth.
            for _ in 0..<40 { try await ann.say("MESG", ["channel_url": .string(url), "message": "fast"]) }
            #expect(try await ann.event("EROR")["code"] == 900200)
            // What was said so fast is through before another refusal is ordered, or it would go to one of them.
            _ = try await ann.command("READ", ["channel_url": .string(url)])
            server.server.add(Fault(.refuse(status: 400, code: 400302, retryAfter: nil), for: "ann"))
            #expect(try await ann.command("READ", ["channel_url": .string(url)])["code"] == 400302)
            #expect(try await ann.command("HUGS", [:])["code"] == 400930)
            #expect(try await mine.call("GET", "applications/settings/webhook").code == 400108)
            #expect(try await mine.call("POST", "nothing").status == 404)
            #expect(
                try await SendbirdTestAPI(server: server, http: api.http, headers: [("Api-Token", "no")])
                    .call("GET", "users").code == 400401)
        }
    }

    @Test func `nonsense on the line is refused and the line goes on`() async throws {
        try await TestServer.sendbird { server, _ async throws in
            let ann = try await server.bird("ann")
            for text in ["MES", "mesg{}", "MESG{", "MESG[]", "{}"] {
                try await ann.socket.send(.text(Array((text + "\n").utf8)))
                #expect(try await ann.event("EROR")["code"] == 400403)
            }
            try await ann.socket.send(.binary([1, 2, 3]))
            #expect(try await ann.event("EROR")["code"] == 400403)
            try await ann.socket.send(.text(Array("\n\nPING{}\nPING{}".utf8)))
            for _ in 0..<2 { _ = try await ann.event("PONG") }
        }
    }

    // MARK: Webhooks

    /// What a webhook was told, and how it answers.
    private final class Hook: Sendable {
        private let (told, teller) = AsyncStream.makeStream(of: HTTPRequest.self)
        /// Those that came before the one that was waited for.
        private let passed = Locked<[HTTPRequest]>([])
        /// Statuses of the first answers.
        private let statuses: Locked<[Int]>

        init(_ statuses: [Int] = []) { self.statuses = Locked(statuses) }

        func answer(_ request: HTTPRequest) -> HTTPReply {
            teller.yield(request)
            let status = statuses.withLock { $0.isEmpty ? 200 : $0.removeFirst() }
            return .text(status, "")
        }

        /// The first request of that category, as soon as it comes.
        func next(_ category: String) async throws -> HTTPRequest {
            func isWanted(_ request: HTTPRequest) -> Bool {
                (try? JSON(parsing: request.body))?["category"]?.string == category
            }
            let found = passed.withLock { passed in
                passed.firstIndex(where: isWanted).map { passed.remove(at: $0) }
            }
            if let found { return found }
            for await request in told {
                if isWanted(request) { return request }
                passed.withLock { $0.append(request) }
            }
            throw CancellationError()
        }
    }

    @Test func `webhooks tell what happens, signed, and again until they are heard`() async throws {
        try await TestServer.sendbird({ $0.sendbird.hookPause = .milliseconds(1) }) {
            server, api async throws in
            let hook = Hook([500, 503])
            let listener = try await HTTPServer.start(host: "127.0.0.1", port: 0, loop: server.loop) {
                hook.answer($0)
            }
            let set = try await api.ask(
                "PUT", "applications/settings/webhook",
                [
                    "enabled": true, "url": .string("http://127.0.0.1:\(listener.port)/hook"),
                    "enabled_events": ["*"], "include_members": true,
                ])
            #expect(set["webhook"]?["enabled"] == true)
            let (ann, bob) = (try await server.bird("ann"), try await server.bird("bob"))
            let url = try await api.group(["ann", "bob"])
            // The first was not heard at once: two tries more.
            let created = try await hook.next("group_channel:create")
            _ = try await hook.next("group_channel:create")
            _ = try await hook.next("group_channel:create")
            #expect(created.header("user-agent") == "SendBird")
            let key = Array(SendbirdTestAPI.token.utf8)
            #expect(
                created.header("x-sendbird-signature")
                    == Hex.encode(HMAC.sha256(key: key, data: created.body)))
            let joined = try JSON(parsing: try await hook.next("group_channel:join").body)
            #expect(joined["users"]?[0]?["user_id"] == "ann")
            try await ann.message("see https://example.org", in: url)
            let sent = try await hook.next("group_channel:message_send")
            #expect(String(decoding: sent.body, as: UTF8.self).contains(#"https:\/\/example.org"#))
            let body = try JSON(parsing: sent.body)
            #expect(body["sender"]?["user_id"] == "ann")
            #expect(body["payload"]?["message"] == "see https://example.org")
            #expect(body["members"]?.array?.count == 2)
            #expect(body["app_id"]?.string == server.server.application)
            try await bob.command("READ", ["channel_url": .string(url)])
            let read = try JSON(parsing: try await hook.next("group_channel:message_read").body)
            #expect(read["read_updates"]?[0]?["user_id"] == "bob")
            try await api.ask("PUT", "group_channels/\(url)/leave", ["user_ids": ["bob"]])
            let left = try JSON(parsing: try await hook.next("group_channel:leave").body)
            #expect(left["users"]?[0]?["user_id"] == "bob")
            await listener.shutdown(grace: .seconds(1))
        }
    }
}
