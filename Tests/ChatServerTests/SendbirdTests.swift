import Chat
import JSON
import Testing
import WebSocket

@testable import ChatServer

@Suite(.timeLimit(.minutes(1))) struct SendbirdDoorTests {
    @Test func `people write in a group channel; the writer gets an ack and no event`() async throws {
        try await TestServer.sendbird { server, api async throws in
            let ann = try await server.bird("ann")
            let bob = try await server.bird("bob")
            let mine = await api.user(ann)
            let channel = try await mine.ask(
                "POST", "group_channels", ["user_ids": ["bob"], "is_distinct": true, "name": ""])
            let url = try #require(channel["channel_url"]?.string)
            #expect(channel["member_count"] == 2)
            #expect(channel["channel"]?["channel_url"]?.string == url)
            let joined = try await bob.next {
                $0.category == 10000 && $0["data"]?["users"]?[0]?["user_id"] == "bob"
            }
            #expect(joined["data"]?["users"]?[0]?["inviter"]?["user_id"] == "ann")
            let ack = try await ann.message(
                "hello", in: url, ["data": "x", "custom_type": "c", "req_id": "rq-1"])
            #expect(ack.code == "MESG")
            #expect(ack["request_id"] == "rq-1")
            let heard = try await bob.event("MESG")
            #expect(heard["message"] == "hello")
            #expect(heard["data"] == "x")
            #expect(heard["custom_type"] == "c")
            #expect(heard["req_id"] == "")
            #expect(heard["request_id"] == "")
            #expect(heard["msg_id"] == ack["msg_id"])
            #expect(heard["user"]?["guest_id"] == "ann")
            #expect(heard["channel_type"] == "group")
            try await ann.settle()
            #expect(await ann.rest().filter { $0.code == "MESG" }.isEmpty)
            // The same two again are the same channel.
            let again = try await api.user(bob).ask(
                "POST", "group_channels", ["user_ids": ["ann", "bob"], "is_distinct": true])
            #expect(again["channel_url"]?.string == url)
            #expect(again["is_created"] == false)
        }
    }

    @Test func `a number of a command comes back as it was sent`() async throws {
        try await TestServer.sendbird { server, api async throws in
            let ann = try await server.bird("ann")
            let url = try await api.group(["ann"])
            let ack = try await ann.message("hello", in: url, ["req_id": 1_800_000_000_123])
            #expect(ack["req_id"] == 1_800_000_000_123)
            let error = try await ann.message("", in: url, ["req_id": 7])
            #expect(error.code == "EROR")
            #expect(error["req_id"] == 7)
            #expect(error["error"] == true)
        }
    }

    @Test func `another connection of the writer hears the message, and as whose`() async throws {
        try await TestServer.sendbird { server, api async throws in
            let (one, other) = (try await server.bird("ann"), try await server.bird("ann"))
            let url = try await api.group(["ann"])
            let ack = try await one.message("hello", in: url, ["req_id": "rq-9"])
            let heard = try await other.event("MESG")
            #expect(heard["msg_id"] == ack["msg_id"])
            #expect(heard["req_id"] == "")
            #expect(heard["request_id"] == "rq-9")
        }
    }

    @Test func `open channels are entered, and only who has entered hears`() async throws {
        try await TestServer.sendbird { server, api async throws in
            let (ann, bob) = (try await server.bird("ann"), try await server.bird("bob"))
            try await api.ask("POST", "open_channels", ["channel_url": "room_a", "name": "Room"])
            #expect(try await ann.message("too early", in: "room_a")["code"] == 900020)
            let entered = try await ann.command("ENTR", ["channel_url": "room_a"])
            #expect(entered["participant_count"] == 1)
            #expect(entered["channel_type"] == "open")
            try await ann.message("alone", in: "room_a")
            #expect(try await bob.command("ENTR", ["channel_url": "room_a"])["participant_count"] == 2)
            #expect(try await ann.system(10102)["data"]?["user_id"] == "bob")
            try await ann.message("together", in: "room_a")
            #expect(try await bob.event("MESG")["message"] == "together")
            #expect(try await ann.command("ENTR", ["channel_url": "nowhere"])["code"] == 900500)
            #expect(try await bob.command("EXIT", ["channel_url": "room_a"]).code == "EXIT")
            #expect(try await ann.system(10103)["data"]?["user_id"] == "bob")
            _ = try await bob.command("ENTR", ["channel_url": "room_a"])
            await bob.close()
            #expect(try await ann.system(10103)["data"]?["user_id"] == "bob")
        }
    }

    @Test func `edits and deletions are told`() async throws {
        try await TestServer.sendbird { server, api async throws in
            let (ann, bob) = (try await server.bird("ann"), try await server.bird("bob"))
            let url = try await api.group(["ann", "bob"])
            let number = try #require(try await ann.message("hello", in: url)["msg_id"])
            let place: JSON = ["channel_url": .string(url), "msg_id": number, "message": "hello!"]
            #expect(try await bob.command("MEDI", place)["code"] == 900022)
            let ack = try await ann.command("MEDI", place)
            #expect(ack["message"] == "hello!")
            #expect(ack["updated_at"] != 0)
            let edited = try await bob.event("MEDI")
            #expect(edited["message"] == "hello!")
            #expect(edited["msg_id"] == number)
            #expect(edited["old_values"] != nil)
            for (mode, values, left) in [("add", ["a", "b"], ["a", "b"]), ("remove", ["a"], ["b"])]
                as [(String, JSON, JSON)]
            {
                let change: JSON = [
                    "array": [["key": "k", "value": values]], "mode": .string(mode), "upsert": true,
                ]
                let told = try await ann.command(
                    "MEDI", ["channel_url": .string(url), "msg_id": number, "metaarray": change])
                #expect(told["sorted_metaarray"] == [["key": "k", "value": left]])
                #expect(told["message"] == "hello!")
            }
            let id = number.description
            #expect(
                try await api.user(bob).call("DELETE", "group_channels/\(url)/messages/\(id)").code == 400108)
            try await api.user(ann).ask("DELETE", "group_channels/\(url)/messages/\(id)")
            let deleted = try await bob.event("DELM")
            #expect(deleted["msg_id"] == number)
            #expect(deleted["channel_url"]?.string == url)
            let since = await api.user(ann)
            let log = try await since.ask("GET", "group_channels/\(url)/messages/changelogs?change_ts=0")
            #expect(log["deleted"]?[0]?["message_id"] == number)
            #expect(log["updated"] == [])
        }
    }

    @Test func `names are taken to the letter, whatever is in them`() async throws {
        try await TestServer.sendbird { server, api async throws in
            for (name, path) in [
                ("a/b c", "a%2Fb%20c"), ("Ann", "Ann"), ("ann", "ann"), ("ö?&", "%C3%B6%3F%26"),
            ] {
                try await api.ask("POST", "users", ["user_id": .string(name), "nickname": ""])
                let found = try await api.ask("GET", "users/\(path)")
                #expect(found["user_id"]?.string == name)
                #expect(found["nickname"]?.string == name)
            }
            #expect(try await api.call("POST", "users", ["user_id": "ann"]).code == 400202)
            #expect(try await api.call("GET", "users/nobody").code == 400201)
            #expect(try await api.call("GET", "users/%FF").status == 400)
        }
    }

    @Test func `39 open channels are three pages of 15`() async throws {
        try await TestServer.sendbird { server, api async throws in
            for number in 0..<39 {
                try await api.ask("POST", "open_channels", ["channel_url": .string("room_\(number)")])
            }
            let ann = try await server.bird("ann")
            let mine = await api.user(ann)
            var (token, pages): (String, [[String]]) = ("", [])
            repeat {
                let page = try await mine.ask("GET", "open_channels?limit=15&token=\(token)&show_frozen=true")
                pages.append(page["channels"]?.array?.compactMap { $0["channel_url"]?.string } ?? [])
                token = page["next"]?.string ?? ""
            } while !token.isEmpty
            #expect(pages.map(\.count) == [15, 15, 9])
            #expect(pages.flatMap(\.self) == (0..<39).map { "room_\($0)" })
        }
    }

    @Test func `earlier messages come 50 a page, none lost where several share a moment`() async throws {
        try await TestServer.sendbird { server, api async throws in
            let ann = try await server.bird("ann")
            let url = try await api.group(["ann"])
            let sid = try #require(server.server.look { $0.channelURLs[url] })
            // 120 messages, always ten at one moment, the last of them now.
            let now = Timestamp.now
            try await server.server.change { world throws(WorldError) in
                for number in 0..<120 {
                    let at = now - .milliseconds(Int64(11 - number / 10))
                    _ = try world.post(.init(body: "\(number)"), in: sid, as: "ann", at: at)
                }
            }
            let mine = await api.user(ann)
            var (time, seen): (String, [Int64: String]) = ("9007199254740991", [:])
            while true {
                let page = try await mine.ask(
                    "GET",
                    "group_channels/\(url)/messages?is_sdk=true&message_ts=\(time)&prev_limit=50&next_limit=0&include=true&reverse=true"
                )
                let messages = page["messages"]?.array ?? []
                let before = seen.count
                for message in messages { seen[message["message_id"]?.int ?? 0] = message["message"]?.string }
                guard seen.count > before, let oldest = messages.last?["created_at"]?.int else { break }
                time = String(oldest)
            }
            #expect(seen.sorted { $0.key < $1.key }.map(\.value) == (0..<120).map(String.init))
            let wrong = try await mine.call("GET", "group_channels/\(url)/messages?message_ts=1.7e12")
            #expect(wrong.code == 400101)
        }
    }
}

extension SendbirdTestAPI {
    /// A group channel of these people.
    func group(_ people: [String], _ more: JSON = [:]) async throws -> String {
        var fields = more.object ?? JSONObject()
        fields["user_ids"] = .array(people.map { .string($0) })
        let channel = try await ask("POST", "group_channels", .object(fields))
        return try #require(channel["channel_url"]?.string)
    }
}
