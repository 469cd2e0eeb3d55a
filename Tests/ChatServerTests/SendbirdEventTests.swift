import Chat
import HTTP
import JSON
import Testing
import WebSocket

@testable import ChatServer

@Suite(.timeLimit(.minutes(1))) struct SendbirdHappenings {
    @Test func `mutes, bans and freezes are told to all in the channel, with their end`() async throws {
        try await TestServer.sendbird { server, api async throws in
            let (ann, bob) = (try await server.bird("ann"), try await server.bird("bob"))
            let url = try await api.group(["ann", "bob"])
            let mine = await api.user(ann)
            #expect(
                try await mine.call("POST", "group_channels/\(url)/mute", ["user_id": "bob"]).code == 400108)
            try await api.ask("POST", "group_channels/\(url)/operators", ["operator_ids": ["ann"]])
            #expect(try await bob.system(10002)["data"]?["operators"]?[0]?["user_id"] == "ann")
            try await mine.ask(
                "POST", "group_channels/\(url)/mute",
                ["user_id": "bob", "seconds": 600, "description": "spam"])
            let muted = try await bob.system(10201)
            #expect(muted["data"]?["user_id"] == "bob")
            #expect(muted["data"]?["description"] == "spam")
            #expect((590_000...600_000).contains(muted["data"]?["remaining_duration"]?.int ?? 0))
            #expect(try await bob.message("hm", in: url)["code"] == 900041)
            let state = try await api.user(bob).ask("GET", "group_channels/\(url)/mute/bob")
            #expect(state["is_muted"] == true)
            try await mine.ask("DELETE", "group_channels/\(url)/mute/bob")
            _ = try await bob.system(10200)
            #expect(try await bob.message("thanks", in: url).code == "MESG")
            try await mine.ask("PUT", "group_channels/\(url)/freeze", ["freeze": true])
            #expect(try await bob.system(10701)["data"]?["freeze"] == true)
            #expect(try await bob.message("hm", in: url)["code"] == 900050)
            try await mine.ask("PUT", "group_channels/\(url)/freeze", ["freeze": false])
            _ = try await bob.system(10700)
            let ban = try await mine.ask(
                "POST", "group_channels/\(url)/ban", ["user_id": "bob", "seconds": -1])
            #expect(ban["end_at"] == -1)
            #expect(ban["user"]?["user_id"] == "bob")
            #expect(try await bob.system(10601)["data"]?["end_at"] == -1)
            #expect(try await ann.system(10601)["joined_member_count"] == 2)
            #expect(try await bob.message("hm", in: url)["code"] == 900500)
            let list = try await mine.ask("GET", "group_channels/\(url)/ban")
            #expect(list["banned_list"]?[0]?["user"]?["user_id"] == "bob")
            try await mine.ask("DELETE", "group_channels/\(url)/ban/bob")
            _ = try await bob.system(10600)
        }
    }

    @Test func `a mute with an end is over by itself, and nobody says so`() async throws {
        try await TestServer.sendbird { server, api async throws in
            let bob = try await server.bird("bob")
            let url = try await api.group(["bob"])
            try await api.ask("POST", "group_channels/\(url)/mute", ["user_id": "bob", "seconds": 1])
            while try await bob.message("hm", in: url)["code"] == 900041 {}
            #expect(await bob.rest().filter { $0.category == 10200 }.isEmpty)
        }
    }

    @Test func `whoever is banned from an open channel cannot enter it`() async throws {
        try await TestServer.sendbird { server, api async throws in
            let (ann, bob) = (try await server.bird("ann"), try await server.bird("bob"))
            try await api.ask("POST", "open_channels", ["channel_url": "room"])
            for client in [ann, bob] { try await client.command("ENTR", ["channel_url": "room"]) }
            try await api.ask("POST", "open_channels/room/ban", ["user_id": "bob", "seconds": 60])
            _ = try await bob.system(10601)
            _ = try await ann.system(10103)
            #expect(try await bob.command("ENTR", ["channel_url": "room"])["code"] == 900100)
            #expect(try await bob.message("hm", in: "room")["code"] == 900020)
        }
    }

    @Test func `a user is taken out by the Platform API, and others are asked in`() async throws {
        try await TestServer.sendbird { server, api async throws in
            let (ann, bob) = (try await server.bird("ann"), try await server.bird("bob"))
            let url = try await api.group(["ann", "bob"])
            try await api.ask(
                "PUT", "group_channels/\(url)/leave", ["user_ids": ["bob"], "should_leave_all": false])
            #expect(try await ann.system(10001)["data"]?["user_id"] == "bob")
            #expect(try await bob.system(10001)["data"]?["user_id"] == "bob")
            let mine = await api.user(ann)
            try await mine.ask(
                "POST", "group_channels/\(url)/invite", ["user_ids": ["bob"], "auto_accept": false])
            let invited = try await bob.system(10020)
            #expect(invited["data"]?["inviter"]?["user_id"] == "ann")
            #expect(invited["data"]?["invitees"]?[0]?["user_id"] == "bob")
            #expect(invited["member_count"] == 2)
            #expect(invited["joined_member_count"] == 1)
            let theirs = await api.user(bob)
            let list = try await theirs.ask(
                "GET", "users/bob/my_group_channels?member_state_filter=invited_only")
            #expect(list["channels"]?[0]?["member_state"] == "invited")
            try await theirs.ask("PUT", "group_channels/\(url)/decline", ["user_id": "bob"])
            #expect(try await ann.system(10022)["data"]?["invitee"]?["user_id"] == "bob")
            try await mine.ask(
                "POST", "group_channels/\(url)/invite", ["user_ids": ["bob"], "auto_accept": false])
            try await theirs.ask("PUT", "group_channels/\(url)/accept", ["user_id": "bob"])
            let joined = try await ann.next {
                $0.category == 10000 && $0["data"]?["users"]?[0]?["inviter"] != nil
            }
            #expect(joined["data"]?["users"]?[0]?["user_id"] == "bob")
            #expect(joined["data"]?["users"]?[0]?["inviter"]?["user_id"] == "ann")
        }
    }

    @Test func `counts of unread messages fall as others read`() async throws {
        try await TestServer.sendbird { server, api async throws in
            let (ann, bob) = (try await server.bird("ann"), try await server.bird("bob"))
            let url = try await api.group(["ann", "bob"])
            for text in ["one", "two", "three"] {
                try await ann.message(text, in: url, text == "two" ? ["mentioned_user_ids": ["bob"]] : [:])
            }
            let theirs = await api.user(bob)
            var list = try await theirs.ask("GET", "users/bob/my_group_channels?limit=15")
            #expect(list["channels"]?[0]?["unread_message_count"] == 3)
            #expect(list["channels"]?[0]?["unread_mention_count"] == 1)
            #expect(list["channels"]?[0]?["last_message"]?["message"] == "three")
            #expect(try await theirs.ask("GET", "users/bob/unread_message_count")["unread_count"] == 3)
            let sent = list["channels"]?[0]?["last_message"]?["created_at"]?.int ?? 0
            let ack = try await bob.command("READ", ["channel_url": .string(url)])
            #expect(ack["user"]?["guest_id"] == "bob")
            #expect(ack["unread_cnt"]?["all"] == 0)
            let receipt = try await ann.event("READ")
            #expect((receipt["ts"]?.int ?? 0) >= sent)
            #expect(receipt["req_id"] == "")
            list = try await theirs.ask("GET", "users/bob/my_group_channels?limit=15")
            #expect(list["channels"]?[0]?["unread_message_count"] == 0)
            let seen = try await api.user(ann).ask("GET", "group_channels/\(url)")
            #expect((seen["read_receipt"]?["bob"]?.int ?? 0) >= sent)
            let message = try await bob.message("four", in: url)
            try await ann.say("MACK", ["channel_url": .string(url), "msg_id": message["msg_id"] ?? 0])
            #expect(try await bob.event("DLVR")["updated"]?["ann"] != nil)
        }
    }

    @Test func `who is typing is told to the others until they stop`() async throws {
        try await TestServer.sendbird { server, api async throws in
            let (ann, bob) = (try await server.bird("ann"), try await server.bird("bob"))
            let url = try await api.group(["ann", "bob"])
            try await ann.say("TPST", ["channel_url": .string(url), "time": 1])
            #expect(try await bob.system(10900)["data"]?["user_id"] == "ann")
            try await ann.say("TPEN", ["channel_url": .string(url), "time": 2])
            #expect(try await bob.system(10901)["data"]?["user_id"] == "ann")
            try await ann.settle()
            #expect(await ann.rest().filter { [10900, 10901].contains($0.category) }.isEmpty)
        }
    }

    @Test func `a channel out of sight comes back with the next message`() async throws {
        try await TestServer.sendbird { server, api async throws in
            let (ann, bob) = (try await server.bird("ann"), try await server.bird("bob"))
            let url = try await api.group(["ann", "bob"])
            let mine = await api.user(ann)
            let path = "users/ann/my_group_channels"
            try await mine.ask(
                "PUT", "group_channels/\(url)/hide", ["user_id": "ann", "allow_auto_unhide": true])
            _ = try await ann.system(13000)
            #expect(try await mine.ask("GET", path)["channels"] == [])
            #expect(
                try await mine.ask("GET", path + "?hidden_mode=all")["channels"]?[0]?["is_hidden"] == true)
            try await bob.message("hello", in: url)
            _ = try await ann.system(13001)
            #expect(try await mine.ask("GET", path)["channels"]?[0]?["channel_url"]?.string == url)
        }
    }

    @Test func `who clears their history sees nothing older, and others do`() async throws {
        try await TestServer.sendbird { server, api async throws in
            let (ann, bob) = (try await server.bird("ann"), try await server.bird("bob"))
            let url = try await api.group(["ann", "bob"])
            try await bob.message("old", in: url)
            let mine = await api.user(ann)
            // What is older is so by a millisecond at least.
            while try await mine.ask("GET", "group_channels/\(url)")["last_message"]?["created_at"]?.int
                == Timestamp.now.milliseconds
            {}
            let answer = try await mine.ask(
                "PUT", "group_channels/\(url)/reset_user_history", ["user_id": "ann"])
            try await bob.message("new", in: url)
            let path = "group_channels/\(url)/messages?message_ts=9007199254740991&prev_limit=10"
            #expect(try await mine.ask("GET", path)["messages"]?.array?.map { $0["message"] } == ["new"])
            #expect(try await api.user(bob).ask("GET", path)["messages"]?.array?.count == 2)
            let channel = try await mine.ask("GET", "group_channels/\(url)")
            #expect(channel["ts_message_offset"] == answer["ts_message_offset"])
            #expect(channel["unread_message_count"] == 1)
        }
    }

    @Test func `files are uploaded or lie elsewhere, and everybody sees that`() async throws {
        try await TestServer.sendbird { server, api async throws in
            let (ann, bob) = (try await server.bird("ann"), try await server.bird("bob"))
            let url = try await api.group(["ann", "bob"])
            let form = [
                "--b", "Content-Disposition: form-data; name=\"channel_url\"", "", url, "--b",
                "Content-Disposition: form-data; name=\"file\"; filename=\"x.txt\"",
                "Content-Type: text/plain", "",
                "hello", "--b--", "",
            ].joined(separator: "\r\n")
            let answer = try await api.http.send(
                OutgoingRequest(
                    method: "POST", url: "http://127.0.0.1:\(server.server.port)/v3/storage/file",
                    headers: [
                        ("Session-Key", await ann.key), ("Content-Type", "multipart/form-data; boundary=b"),
                    ],
                    body: Array(form.utf8)))
            let file = try JSON(parsing: answer.body)
            #expect(file["file_size"] == 5)
            let address = try #require(file["url"])
            try await ann.command(
                "FILE",
                [
                    "channel_url": .string(url), "url": address, "name": "x.txt", "type": "text/plain",
                    "size": 5,
                ])
            let heard = try await bob.event("FILE")
            #expect(heard["name"] == "x.txt")
            #expect(heard["size"] == 5)
            let content = try await api.http.send(OutgoingRequest(url: heard["url"]?.string ?? ""))
            #expect(content.body == Array("hello".utf8))
            let ack = try await bob.command(
                "FILE",
                [
                    "channel_url": .string(url), "url": "https://files.example/y.png", "name": "y.png",
                    "type": "image/png", "size": 3, "custom": "c",
                ])
            #expect(ack["url"] == "https://files.example/y.png")
            #expect(ack["custom"] == "c")
            let history = try await api.user(ann).ask(
                "GET", "group_channels/\(url)/messages?message_ts=9007199254740991&prev_limit=10")
            #expect(history["messages"]?.array?.map { $0["type"] } == ["FILE", "FILE"])
            #expect(history["messages"]?[0]?["file"]?["name"] == "x.txt")
        }
    }

    @Test func `the service speaks, and a program that repeats itself is heard once`() async throws {
        try await TestServer.sendbird { server, api async throws in
            let ann = try await server.bird("ann")
            let url = try await api.group(["ann"])
            try await api.ask(
                "POST", "group_channels/\(url)/messages",
                ["message_type": "ADMM", "message": "read the rules"])
            let told = try await ann.event("ADMM")
            #expect(told["message"] == "read the rules")
            #expect(told["user"] == nil)
            let body: JSON = ["message_type": "MESG", "user_id": "ann", "message": "hi", "dedup_id": "d1"]
            let first = try await api.ask("POST", "group_channels/\(url)/messages", body)
            let second = try await api.ask("POST", "group_channels/\(url)/messages", body)
            #expect(first["message_id"] == second["message_id"])
            #expect(try await ann.event("MESG")["msg_id"] == first["message_id"])
            try await ann.settle()
            #expect(await ann.rest().filter { $0.code == "MESG" }.isEmpty)
            #expect(
                try await api.call("POST", "group_channels/\(url)/messages", body, headers: []).status == 200)
        }
    }

    @Test func `what changed of one's channels is asked for by time`() async throws {
        try await TestServer.sendbird { server, api async throws in
            let ann = try await server.bird("ann")
            let (one, two) = (try await api.group(["ann"]), try await api.group(["ann"]))
            let mine = await api.user(ann)
            let path = "users/ann/my_group_channels/changelogs"
            let first = try await mine.ask("GET", path + "?change_ts=0")
            #expect(
                Set(first["updated"]?.array?.compactMap { $0["channel_url"]?.string } ?? []) == [one, two])
            let next = try #require(first["next"]?.string)
            try await mine.ask("PUT", "group_channels/\(one)/leave", ["user_id": "ann"])
            try await api.ask("PUT", "group_channels/\(two)", ["name": "New"])
            #expect(try await ann.system(11000)["channel_url"]?.string == two)
            let second = try await mine.ask("GET", "\(path)?token=\(next)")
            #expect(second["deleted"] == [.string(one)])
            #expect(second["updated"]?.array?.last?["name"] == "New")
            try await api.ask("DELETE", "group_channels/\(two)")
            #expect(try await ann.system(12000)["channel_url"]?.string == two)
        }
    }

    @Test func `in a crowd it is told how many are there and not who comes`() async throws {
        try await TestServer.sendbird({ $0.sendbird.crowd = 2 }) { server, api async throws in
            try await api.ask("POST", "open_channels", ["channel_url": "room"])
            let ann = try await server.bird("ann")
            try await ann.command("ENTR", ["channel_url": "room"])
            // Held, since whoever lets go of a socket hangs up.
            let others = [try await server.bird("bob"), try await server.bird("cat")]
            for client in others {
                let name = client.identity
                try await client.command("ENTR", ["channel_url": "room"])
                if name == "bob" {
                    #expect(try await ann.system(10102)["data"]?["user_id"] == "bob")
                } else {
                    #expect(try await ann.event("MCNT")["open_channels"]?[0]?["participant_count"] == 3)
                }
            }
        }
    }

    @Test func `who blocks somebody hears nothing of them between the two`() async throws {
        try await TestServer.sendbird { server, api async throws in
            let (ann, bob) = (try await server.bird("ann"), try await server.bird("bob"))
            let url = try await api.group(["ann", "bob"])
            let mine = await api.user(ann)
            try await mine.ask("POST", "users/ann/block", ["target_id": "bob"])
            #expect(try await bob.event("USEV")["cat"] == 20001)
            #expect(try await bob.message("hey", in: url)["code"] == 900080)
            try await mine.ask("DELETE", "users/ann/block/bob")
            #expect(try await bob.message("hey", in: url).code == "MESG")
        }
    }
}
