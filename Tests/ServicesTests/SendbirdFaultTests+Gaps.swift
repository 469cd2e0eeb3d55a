import Chat
import HTTP
import JSON
import Testing

@testable import Services

/// What was missed, and channels that come up meanwhile.
extension SendbirdFaults {
    @Test func `cut while it reads what it missed, it reads on after that`() async throws {
        try await withSendbird { peer, _, inbox in
            try await inbox.waitUntilUp()
            peer.say("one", by: "ana", in: "room")
            _ = try await inbox.story(of: 1)
            peer.cut()
            for number in 2...5 { peer.say("\(number)", by: "ana", in: "room", silently: true) }
            once(peer, "GET /open_channels/room/messages", .cut)
            try await inbox.waitUntilUp(times: 2)
            peer.say("six", by: "ana", in: "room")
            #expect(
                try await inbox.story(of: 6)
                    == ["one", "2", "3", "4", "5", "six"].map { "room + ana: \($0)" })
        }
    }

    @Test func `a message that was lost on its way is found by the one behind it, or after the next cut`()
        async throws
    {
        try await withSendbird { peer, _, inbox in
            try await inbox.waitUntilUp()
            peer.say("one", by: "ana", in: "room")
            let lost = peer.say("lost", by: "ana", in: "room", silently: true)
            peer.say("three", by: "ana", in: "room", fields: ["previous_message_id": .int(lost)])
            _ = try await inbox.story(of: 3)
            peer.say("lost, too", by: "ana", in: "room", silently: true)
            peer.say("five", by: "ana", in: "room")
            _ = try await inbox.story(of: 4)
            peer.cut()
            #expect(
                try await inbox.story(of: 5)
                    == ["one", "lost", "three", "five", "lost, too"].map { "room + ana: \($0)" })
        }
    }

    @Test func `what comes while the gap is read comes after it`() async throws {
        try await withSendbird { peer, _, inbox in
            try await inbox.waitUntilUp()
            peer.cut()
            peer.say("missed", by: "ana", in: "room", silently: true)
            let isSaid = Locked(false)
            peer.judge { what, _ in
                guard what == "GET /open_channels/room/messages" else { return .normal }
                let isFirst = isSaid.withLock { isSaid in
                    defer { isSaid = true }
                    return !isSaid
                }
                if isFirst {
                    peer.say("live", by: "ana", in: "room")
                    peer.system(10102, in: "room", ["user_id": "eve", "nickname": "eve"])
                }
                return .normal
            }
            #expect(
                try await inbox.story(of: 3) == ["room + ana: missed", "room + ana: live", "room joined eve"])
        }
    }

    @Test func `what was deleted while we were away is told, unless we never heard of it`() async throws {
        try await withSendbird { peer, _, inbox in
            try await inbox.waitUntilUp()
            let heard = peer.say("heard", by: "ana", in: "room")
            _ = try await inbox.story(of: 1)
            peer.cut()
            let unheard = peer.say("unheard", by: "ana", in: "room", silently: true)
            peer.delete(heard, in: "room", silently: true)
            peer.delete(unheard, in: "room", silently: true)
            let edited = peer.say("before", by: "ana", in: "room", silently: true)
            peer.edit(edited, in: "room", to: "after", silently: true)
            try await inbox.waitUntilUp(times: 2)
            peer.say("last", by: "ana", in: "room")
            #expect(
                try await inbox.story(of: 4) == [
                    "room + ana: heard", "room + ana: after", "room - ana: heard", "room + ana: last",
                ])
        }
    }

    @Test func `hundreds of messages of one millisecond are all read`() async throws {
        try await withSendbird { peer, _, inbox in
            try await inbox.waitUntilUp()
            peer.cut()
            let moment = peer.tick()
            for number in 1...60 { peer.say("a\(number)", by: "ana", in: "room", at: moment, silently: true) }
            for number in 1...90 {
                peer.say("b\(number)", by: "ana", in: "room", at: moment + 1, silently: true)
            }
            #expect(try await inbox.story(of: 150).count == 150)
            #expect(Set(inbox.story).count == 150)
        }
    }

    @Test func `who came and went in a group channel while we were away is told`() async throws {
        try await withSendbird(prepare: group) { peer, _, inbox in
            try await inbox.waitUntilUp()
            peer.cut()
            peer.state.withLock { $0.rooms["group"]?.members = ["bot", "ana", "cat"] }
            try await inbox.waitUntilUp(times: 2)
            #expect(try await inbox.story(of: 2) == ["group joined cat", "group left ben"])
        }
    }

    @Test func `a group channel that we were taken out of while away is left`() async throws {
        try await withSendbird(prepare: group) { peer, service, inbox in
            try await inbox.waitUntilUp()
            peer.cut()
            peer.state.withLock { $0.rooms["group"]?.members = ["ana"] }
            peer.judge { what, _ in what == "GET /group_channels/group" ? .error(400108) : .normal }
            try await inbox.waitUntilUp(times: 2)
            #expect(inbox.state.withLock { $0.events.map(\.short) } == ["group left bot"])
            guard case .failure(.rejected) = await perform(service, .send(Outgoing("hi")), in: "group") else {
                return #expect(Bool(false))
            }
        }
    }

    @Test func `an open channel that bans us while we are away costs the others nothing`() async throws {
        try await withSendbird(join: ["room", "other"], prepare: { $0.addRoom("other") }) { peer, _, inbox in
            try await inbox.waitUntilUp()
            peer.cut()
            peer.judge { what, body in
                what == "ENTR" && body["channel_url"] == "other" ? .error(400750) : .normal
            }
            try await inbox.waitUntilUp(times: 2)
            peer.say("hello", by: "ana", in: "room")
            #expect(try await inbox.story(of: 1) == ["room + ana: hello"])
        }
    }

    // MARK: Channels

    @Test func `a channel that is missing is made and entered`() async throws {
        try await withSendbird(join: ["room", "a new/one"]) { peer, service, inbox in
            try await inbox.waitUntilUp()
            peer.say("hello", by: "ana", in: "a new/one")
            #expect(try await inbox.story(of: 1) == ["a new/one + ana: hello"])
            let rights = await service.rights()
            #expect(rights.first { $0.channel.id.text == "a new/one" }?.roles == ["operator"])
            #expect(rights.first { $0.channel.id.text == "room" }?.denied.contains("ban") == true)
        }
    }

    @Test func `whoever invites us finds us there, before the log-in and after it`() async throws {
        try await withSendbird(prepare: { peer in
            peer.addRoom("early", open: false, members: ["ana"]) { $0.invited = ["bot"] }
        }) { peer, _, inbox in
            try await inbox.waitUntilUp()
            peer.addRoom("late", open: false, members: ["ana"]) { $0.invited = ["bot"] }
            peer.system(
                10020, in: "late",
                ["inviter": ["user_id": "ana"], "invitees": [["user_id": "bot", "nickname": "bot"]]])
            await eventually { peer.paths("PUT").contains("/group_channels/late/accept") }
            #expect(peer.paths("PUT").contains("/group_channels/early/accept"))
            try await inbox.wait { $0.events.contains { $0.name == .channelAdded } }
            peer.say("welcome", by: "ana", in: "late")
            try await inbox.wait { $0.events.last?.short == "late + ana: welcome" }
        }
    }

    @Test func `a message of a channel that is not known is told once the channel is, with those behind it`()
        async throws
    {
        try await withSendbird { peer, _, inbox in
            try await inbox.waitUntilUp()
            peer.addRoom("new", open: false, members: ["bot", "ana"])
            peer.say("history", by: "ana", in: "new", silently: true)
            for number in 1...5 { peer.say("\(number)", by: "ana", in: "new") }
            let story = try await inbox.story(of: 6)
            #expect(story == ["new added"] + (1...5).map { "new + ana: \($0)" })
            #expect(peer.paths("GET").count { $0 == "/group_channels/new" } == 1)
        }
    }

    @Test func `when steward is behind nothing is lost and nothing doubled`() async throws {
        try await withSendbird(prepare: group) { peer, _, inbox in
            try await inbox.waitUntilUp()
            peer.say("one", by: "ana", in: "room")
            _ = try await inbox.story(of: 1)
            inbox.change { $0.refuses = 3 }
            let two = peer.say("two", by: "ana", in: "room")
            peer.edit(two, in: "room", to: "zwei")
            peer.system(10102, in: "room", ["user_id": "eve", "nickname": "eve"])
            peer.say("three", by: "ana", in: "room")
            let story = try await inbox.story(of: 4)
            #expect(story.filter { $0.contains("+") }.count == 3)
            #expect(Set(story).count == story.count)
            #expect(story.contains("room joined eve"))
            #expect(story.last { $0.contains("+") } == "room + ana: three")
        }
    }
}
