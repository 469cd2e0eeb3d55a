import Chat
import JSON
import Synapse
import Testing

@testable import Services

/// The client against a real homeserver.
@Suite(.synapse, .timeLimit(.minutes(3))) struct MatrixOnSynapse {
    private func key(_ text: String) -> ActionKey { ActionKey(text: text) }

    @Test(arguments: [11, 12]) func `the whole way there and back`(version: Int) async throws {
        try await withMatrix(version: version) { stage in
            let (ana, room) = (stage.ana, stage.room)
            try await ana.say("before", in: room)
            let inbox = TestInbox()
            let service = try await stage.login(inbox)
            try await ana.setPower(50, of: stage.bot.id, in: room)
            let hello = try await ana.say("hello", in: room)
            _ = try await inbox.story(of: 2)
            let receipt = try await service.perform(
                ChatAction(.reply(Outgoing("hi"), to: MessageReference(id: hello)), in: stage.place),
                key: key("k1"))
            let answer = try await ana.event(in: room) { $0["content"]?["body"] == "hi" }
            #expect(answer["event_id"]?.string == receipt.message?.id)
            #expect(answer["content"]?["msgtype"] == "m.notice")
            #expect(answer["content"]?["m.mentions"] == [:])
            #expect(answer["content"]?["m.relates_to"]?["m.in_reply_to"]?["event_id"]?.string == hello)
            // The same key again: the same message.
            let again = try await service.perform(
                ChatAction(.reply(Outgoing("hi"), to: MessageReference(id: hello)), in: stage.place),
                key: key("k1"))
            #expect(again == receipt)
            try await ana.edit(hello, to: "hello all", in: room)
            try await ana.react("👍", to: hello, in: room)
            _ = try await service.perform(
                ChatAction(.deleteMessage(MessageReference(id: hello)), in: stage.place), key: key("k2"))
            try await inbox.wait { $0.events.contains { $0.name == .messageDeleted } }
            let story = inbox.story.filter { !$0.hasSuffix("added") }
            let name = ana.name
            #expect(
                story.filter { !$0.hasPrefix("$") } == [
                    "\(room) + \(name): hello", "\(room) ~ \(name): hello all", "\(room) - \(name): ",
                ])
            let deleted = inbox.state.withLock { $0.events.last { $0.name == .messageDeleted } }
            #expect(deleted?.message?.id == hello)
            #expect(deleted?.by?.text == stage.bot.id)
            let edited = inbox.state.withLock { $0.events.last { $0.name == .messageEdited } }
            #expect(edited?.message?.id == hello)
        }
    }

    // MARK: Reading on

    @Test func `what happened while away, across a gap, is read in order and once`() async throws {
        try await withMatrix { stage in
            let (ana, room) = (stage.ana, stage.room)
            let first = TestInbox()
            _ = try await stage.login(first)
            try await ana.say("there", in: room)
            _ = try await first.story(of: 2)
            await stage.logout()
            let eve = try await stage.synapse.person("eve")
            try await eve.join(room)
            for number in 1...120 {
                try await ana.say("ana \(number)", in: room)
                try await eve.say("eve \(number)", in: room)
            }
            try await eve.leave(room)
            try await ana.setState("m.room.name", ["name": "Lounge"], in: room)
            let second = TestInbox(cursors: first.state.withLock { $0.cursors })
            _ = try await stage.login(second)
            try await second.wait { $0.events.contains { $0.name == .channelUpdated } }
            let texts = second.state.withLock { $0.events.compactMap { $0.message?.text } }
            #expect(texts == (1...120).flatMap { ["ana \($0)", "eve \($0)"] })
            let names = second.state.withLock { $0.events.compactMap(\.name) }
            #expect(names.first == .memberJoined)
            #expect(names.suffix(2) == [.memberLeft, .channelUpdated])
            // What each person is called is known, though none of them is in the state that is read at first.
            #expect(second.state.withLock { $0.events[2].member?.name } == eve.name)
        }
    }

    @Test func `content as deep as the server takes it makes nothing else unreadable`() async throws {
        try await withMatrix { stage in
            let inbox = TestInbox()
            _ = try await stage.login(inbox)
            for depth in [60, 100, 400] {
                var deep: JSON = []
                for _ in 0..<depth { deep = [deep] }
                let content: JSON = ["msgtype": "m.text", "body": .string("depth \(depth)"), "x": deep]
                // Where it says no there is nothing to be read.
                _ = try? await stage.ana.send(content, in: stage.room)
            }
            try await stage.ana.say("end", in: stage.room)
            try await inbox.wait { $0.events.contains { $0.message?.text == "end" } }
            #expect(inbox.state.withLock { !$0.statuses.contains { $0 != .up && $0 != .connecting } })
            #expect(inbox.state.withLock { $0.events.contains { $0.message?.text == "depth 100" } })
        }
    }

    @Test func `a homeserver that stands still for a while costs nothing`() async throws {
        try await withMatrix { stage in
            let inbox = TestInbox()
            let service = try await stage.login(inbox)
            try await stage.ana.say("one", in: stage.room)
            try await inbox.wait { $0.events.contains { $0.message != nil } }
            await stage.synapse.pause()
            let action = ChatAction(.send(Outgoing("an answer")), in: stage.place)
            let began = Timestamp.now
            let error = await #expect(throws: ChatServiceError.self) {
                try await service.perform(action, key: key("paused"))
            }
            if case .unknownOutcome? = error {} else { Issue.record("\(String(describing: error))") }
            try await inbox.wait { state in
                if case .down? = state.statuses.last { true } else { false }
            }
            await #expect(throws: ChatServiceError.self) {
                try await service.find(action, key: key("paused"), since: began)
            }
            await stage.synapse.resume()
            try await inbox.waitUntilUp(times: 2)
            // As the outbox does: it is looked for, and done again if it is not there.
            if try await service.find(action, key: key("paused"), since: began) == nil {
                _ = try await service.perform(action, key: key("paused"))
            }
            try await stage.ana.say("two", in: stage.room)
            try await inbox.wait { $0.events.contains { $0.message?.text == "two" } }
            let texts = inbox.state.withLock { $0.events.compactMap { $0.message?.text } }
            #expect(texts == ["one", "an answer", "two"])
        }
    }

    // MARK: Logging in

    @Test func `a log-in that runs out is renewed, and one that is ended stops the account`() async throws {
        try await withMatrix { stage in
            let inbox = TestInbox()
            _ = try await stage.login(inbox)
            try await stage.expireToken()
            try await stage.ana.say("still there?", in: stage.room)
            try await inbox.wait { $0.events.contains { $0.message != nil } }
            try await stage.synapse.logOut(stage.bot.id, device: "steward-matrix")
            try await inbox.wait { $0.failure != nil }
            #expect(inbox.state.withLock { $0.failure }?.hasPrefix("logged out by the server (") == true)
            await stage.logout()
            let again = TestInbox()
            _ = try await stage.login(again)
            try await again.waitUntilUp()
        }
    }

    @Test func `a token of one's own, and one of an application service`() async throws {
        try await withMatrix { stage in
            let token = stage.bot.token
            let other = try await MatrixStage(on: stage.synapse) { $0.login = .init(token: Secret(token)) }
            let inbox = TestInbox()
            _ = try await other.login(inbox)
            #expect(inbox.state.withLock { $0.own?.text } == stage.bot.id)
            await other.end()
            let (secret, name) = (stage.synapse.serviceToken, "service-\(UInt32.random(in: 0 ... .max))")
            let served = try await MatrixStage(on: stage.synapse) {
                $0.login = .init(user: name, applicationService: Secret(secret))
            }
            let own = TestInbox()
            _ = try await served.login(own)
            #expect(own.state.withLock { $0.own?.text } == "@\(name):\(stage.synapse.serverName)")
            try await served.ana.say("hello", in: served.room)
            try await own.wait { $0.events.contains { $0.message?.text == "hello" } }
            await served.end()
        }
    }

    // MARK: Moderating

    @Test(arguments: [11, 12]) func `mute, kick and ban, and all of it back`(version: Int) async throws {
        try await withMatrix(version: version) { stage in
            let (ana, room, place) = (stage.ana, stage.room, stage.place)
            let eve = try await stage.synapse.person("eve")
            try await eve.join(room)
            let inbox = TestInbox()
            let service = try await stage.login(inbox)
            @discardableResult func act(_ verb: ChatAction.Verb) async throws -> Receipt {
                try await service.perform(
                    ChatAction(verb, in: place), key: key("\(UInt64.random(in: 0 ... .max))"))
            }
            let refused = await #expect(throws: ChatServiceError.self) {
                try await act(.removeMember(user: eve.id))
            }
            if case .rejected(let why)? = refused {
                #expect(why.contains("M_FORBIDDEN"))
            } else {
                Issue.record()
            }
            #expect(await service.rights().first?.denied.isSuperset(of: ["kick", "mute", "delete"]) == true)
            try await ana.setPower(100, of: stage.bot.id, in: room)
            try await ana.setPower(25, of: eve.id, in: room)
            try await inbox.wait { $0.events.contains { $0.member?.roles == ["power 25"] } }
            #expect(
                await service.rights().first?.allowed.isSuperset(of: ["kick", "mute", "delete", "ban"])
                    == true)
            try await act(.mute(user: eve.id, until: nil, reason: nil))
            try await act(.mute(user: eve.id, until: nil, reason: nil))
            await #expect(throws: SynapseError.self) { try await eve.say("mute", in: room) }
            try await inbox.wait { $0.events.contains { $0.name == .memberMuted } }
            try await act(.unmute(user: eve.id))
            try await eve.say("heard", in: room)
            #expect(try await ana.state("m.room.power_levels", in: room)["users"]?[eve.id] == 25)
            #expect(try await act(.removeMember(user: eve.id)).tookOut == true)
            #expect(try await act(.removeMember(user: eve.id)).tookOut == false)
            try await act(.ban(user: eve.id, until: nil, reason: "spam"))
            await #expect(throws: SynapseError.self) { try await eve.join(room) }
            try await act(.unban(user: eve.id))
            try await act(.unban(user: eve.id))
            try await act(.addMember(user: eve.id))
            try await eve.join(room)
            try await act(.denyServers(["evil.example", stage.synapse.serverName]))
            #expect(try await ana.state("m.room.server_acl", in: room)["deny"] == ["evil.example"])
            try await inbox.wait { $0.events.count { $0.name == .memberJoined } >= 1 }
            let names = inbox.state.withLock { state in
                state.events.filter { $0.member?.user.text == eve.id }.compactMap(\.name)
            }
            #expect(
                names == [
                    .memberUpdated, .memberMuted, .memberUpdated, .messageAdded, .memberLeft, .memberBanned,
                    .memberInvited, .memberJoined,
                ])
            let left = inbox.state.withLock { $0.events.first { $0.name == .memberLeft } }
            #expect(left?.by?.text == stage.bot.id)
        }
    }

    // MARK: Rooms

    @Test func `a direct room is made once and found again, and a file goes along`() async throws {
        try await withMatrix { stage in
            let inbox = TestInbox()
            let service = try await stage.login(inbox)
            var hello = Outgoing("psst")
            hello.attachments = [.init(name: "a.txt", contentType: "text/plain", bytes: Array("abc".utf8))]
            let first = try await service.perform(
                ChatAction(.direct(hello, user: stage.ana.id), in: stage.place), key: key("d1"))
            let room = try #require(first.channel)
            try await stage.ana.join(room)
            let second = try await service.perform(
                ChatAction(.direct(Outgoing("again"), user: stage.ana.id), in: stage.place), key: key("d2"))
            #expect(second.channel == room)
            try await inbox.wait { $0.events.contains { $0.message?.text == "again" } }
            await stage.logout()
            let later = TestInbox()
            let other = try await stage.login(later)
            let third = try await other.perform(
                ChatAction(.direct(Outgoing("and again"), user: stage.ana.id), in: stage.place),
                key: key("d3"))
            #expect(third.channel == room)
            #expect(
                try await stage.ana.texts(in: room).map { $0.drop { $0 != ":" } } == [
                    ": psst", ": a.txt", ": again", ": and again",
                ])
            let file = try await stage.ana.event(in: room) { $0["content"]?["msgtype"] == "m.file" }
            #expect(file["content"]?["url"]?.string?.hasPrefix("mxc://steward.test/") == true)
            let found = try await other.find(
                ChatAction(.direct(Outgoing("again"), user: stage.ana.id), in: stage.place), key: key("d2"),
                since: .now - .seconds(60))
            #expect(found?.message == second.message)
        }
    }

    @Test func `an invitation is accepted, and what was said before is history`() async throws {
        try await withMatrix({ $0.invites = ["@ana-*"] }) { stage in
            let inbox = TestInbox()
            _ = try await stage.login(inbox)
            let room = try await stage.ana.createRoom("private", preset: "private_chat")
            try await stage.ana.say("before", in: room)
            try await stage.ana.invite(stage.bot.id, to: room)
            try await inbox.wait { state in
                state.events.contains { $0.name == .channelAdded && $0.channel?.id.text == room }
            }
            try await stage.ana.say("after", in: room)
            try await inbox.wait { $0.events.contains { $0.message?.text == "after" } }
            #expect(inbox.state.withLock { !$0.events.contains { $0.message?.text == "before" } })
            let eve = try await stage.synapse.person("eve")
            let other = try await eve.createRoom("trap", preset: "private_chat")
            try await eve.invite(stage.bot.id, to: other)
            await eventually { stage.said("\(eve.id) invites us to \"trap\"") }
        }
    }

    @Test func `a room is made and named, found by its alias, upgraded, and followed`() async throws {
        let name = "club-\(UInt32.random(in: 0 ... .max))"
        try await withMatrix({ $0.join = [name] }) { stage in
            let inbox = TestInbox()
            let service = try await stage.login(inbox)
            let alias = "#\(name):\(stage.synapse.serverName)"
            try await stage.ana.join(alias)
            let place = Place(account: "matrix", channel: name)
            try await inbox.wait { $0.events.contains { $0.channel?.uniqueName == name } }
            let sent = try await service.perform(
                ChatAction(.send(Outgoing("one")), in: place), key: key("u1"))
            let old = try #require(sent.channel)
            _ = try await service.perform(ChatAction(.setChannelTitle("The club"), in: place), key: key("u2"))
            _ = try await service.perform(ChatAction(.setChannelTopic("talk"), in: place), key: key("u3"))
            try await inbox.wait { state in
                state.events.contains {
                    $0.channel?.title == "The club" && $0.channel?.attributes == #"{"topic":"talk"}"#
                }
            }
            _ = try await service.perform(
                ChatAction(.mute(user: "@nobody:steward.test", until: nil, reason: nil), in: place),
                key: key("u4"))
            // Whoever made the room may do everything; ana upgrades it with the power that she is given.
            var levels = try await stage.ana.state("m.room.power_levels", in: old).object ?? [:]
            var users = levels["users"]?.object ?? [:]
            users[stage.ana.id] = 100
            levels["users"] = .object(users)
            var events = levels["events"]?.object ?? [:]
            events["m.room.tombstone"] = 100
            levels["events"] = .object(events)
            _ = try await service.succeed(
                .put("rooms", old, "state", "m.room.power_levels", "", body: .object(levels)))
            let answer = try await stage.ana.call(
                "POST", "/rooms/\(MatrixPerson.escape(old))/upgrade", ["new_version": "12"])
            let new = try #require(answer["replacement_room"]?.string)
            try await inbox.wait { state in
                state.events.contains { $0.channel?.id.text == new && $0.name == .channelAdded }
            }
            try await stage.ana.say("here now", in: new)
            try await inbox.wait { $0.events.contains { $0.message?.text == "here now" } }
            let later = try await service.perform(
                ChatAction(.send(Outgoing("two")), in: place), key: key("u5"))
            #expect(later.channel == new)
        }
    }

    @Test func `nothing is written into an encrypted room`() async throws {
        try await withMatrix { stage in
            try await stage.ana.setState(
                "m.room.encryption", ["algorithm": "m.megolm.v1.aes-sha2"], in: stage.room)
            let inbox = TestInbox()
            let service = try await stage.login(inbox)
            await eventually { stage.said("is encrypted: steward can read nothing there") }
            await #expect(throws: ChatServiceError.self) {
                try await service.perform(ChatAction(.send(Outgoing("x")), in: stage.place), key: key("e"))
            }
        }
    }
}
