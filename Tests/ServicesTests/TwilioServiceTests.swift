import Chat
import Glibc
import HTTP
import JSON
import Testing
import WebSocket

@testable import Services

/// Runs an account against a scripted Twilio.
func withAccount(
    join: [String] = [], product: TwilioSettings.Product? = nil, cursors: [String: Position] = [:],
    timing: TwilioTiming = .quick, source: (any TokenSource)? = nil, log: Log = .test,
    prepare: (ScriptedTwilio) throws -> Void = { _ in },
    _ body: (ScriptedTwilio, TwilioService, TestInbox) async throws -> Void
) async throws {
    let loop = try SocketLoop()
    let peer = ScriptedTwilio(loop: loop)
    try prepare(peer)
    let endpoint = try await peer.start()
    let http = HTTPClient()
    let settings = TwilioSettings(
        identity: "bot", token: .file(SettingsPath("-")), endpoint: endpoint, product: product, join: join)
    let service = TwilioService(
        account: "twilio", settings: settings,
        source: source ?? ScriptedSource { token($0, life: 3600, at: .now) },
        tools: ServiceTools(identities: Identities(), loop: loop, http: http, log: log), timing: timing)
    let inbox = TestInbox(cursors: cursors)
    try await running(service, inbox) {
        try await body(peer, service, inbox)
    } end: {
        await peer.stop()
        await http.shutdown()
        await loop.shutdown(grace: .zero)
    }
}

@Suite(.timeLimit(.minutes(1))) struct TwilioAccounts {
    private let general = "CH00000000000000000000000000000001"

    @Test func `it logs in, hears what is said and answers`() async throws {
        try await withAccount(prepare: { peer in
            _ = peer.addChannel(1, name: "general", members: ["ana"])
            peer.say("before us", by: "ana", in: general)
        }) { peer, service, inbox in
            try await inbox.waitUntilUp()
            peer.say("hello", by: "ana", in: general)
            #expect(try await inbox.story(of: 1) == ["general + ana: hello"])
            let receipt = try await service.perform(
                ChatAction(.send(Outgoing("hi")), in: Place(account: "twilio", channel: "general")),
                key: ActionKey(text: "k1"))
            #expect(receipt == Receipt(message: MessageReference(id: "IM0012", index: 2), channel: general))
            let event = try #require(inbox.state.withLock { $0.events.first })
            #expect(event.message?.author.roles == ["channel user"])
            #expect(event.channel?.title == "Channel general")
            #expect(event.channel?.memberCount == 2)
            #expect(event.id == "IM0011")
            try await inbox.wait { $0.cursors["ES" + general.dropFirst(2)] == .number(3, index: 2) }
            await eventually { peer.state.withLock { $0.sent.isSubset(of: $0.acknowledged) } }
        }
    }

    private func oneChannel(_ peer: ScriptedTwilio) {
        _ = peer.addChannel(1, name: "general", members: ["ana", "ben"])
    }

    private func act(_ verb: ChatAction.Verb, in channel: String = "general") -> ChatAction {
        ChatAction(verb, in: Place(account: "twilio", channel: channel))
    }

    @Test func `a channel that is missing is created and joined, one that is there is joined`() async throws {
        try await withAccount(
            join: ["general", "new"],
            prepare: { peer in
                _ = peer.addChannel(1, name: "general", members: ["ana"], joined: false)
            }
        ) { peer, service, inbox in
            try await inbox.waitUntilUp()
            let posts = peer.state.withLock {
                $0.requests.filter { $0.method == "POST" }.map {
                    $0.path.split(separator: "/").suffix(2).joined(separator: "/")
                }
            }
            #expect(
                posts.filter { $0.hasSuffix("Conversations") || $0.hasSuffix("Participants") } == [
                    "\(general)/Participants", "\(peer.service)/Conversations",
                    "CH00000000000000000000000000000002/Participants",
                ])
            peer.say("hello", by: "ana", in: general)
            // Both are told as added: it is the first time that we see them.
            #expect(
                try await inbox.story(of: 3).sorted() == [
                    "general + ana: hello", "general added", "new added",
                ])
            let list = try await service.channelList()
            #expect(list.map(\.title) == ["Channel general", "new"])
        }
    }

    @Test func `every kind of event is told apart`() async throws {
        try await withAccount(prepare: oneChannel) { peer, service, inbox in
            try await inbox.waitUntilUp()
            peer.say("one", by: "ana", in: general)
            peer.edit(0, in: general, to: "two")
            peer.delete(0, in: general)
            peer.addMember("eve", to: general)
            peer.updateMember("eve", in: general, JSONObject([(key: "attributes", value: "{\"vip\":true}")]))
            peer.updateMember("eve", in: general, JSONObject([(key: "lastConsumedMessageIndex", value: 0)]))
            peer.updateMember("eve", in: general, JSONObject([(key: "dateUpdated", value: "2024")]))
            peer.removeMember("eve", from: general)
            peer.rename(general, to: "Lobby")
            peer.typing("ben", in: general)
            peer.typing("ben", in: general)
            peer.say("three", by: "ben", in: general)
            #expect(
                try await inbox.story(of: 11) == [
                    "general + ana: one", "general ~ ana: two", "general - ana: two", "general joined eve",
                    "general updated eve", "general read eve 0", "general left eve", "general is Lobby",
                    "general typing ben", "general typed ben", "general + ben: three",
                ])
        }
    }

    @Test func `a new channel and the end of one are told`() async throws {
        try await withAccount(prepare: oneChannel) { peer, service, inbox in
            try await inbox.waitUntilUp()
            let other = peer.addChannel(2, name: "other", members: ["ana"])
            #expect(try await inbox.story(of: 1) == ["other added"])
            peer.say("hello", by: "ana", in: other)
            #expect(try await inbox.story(of: 2).last == "other + ana: hello")
            peer.removeMember("bot", from: other)
            peer.say("unheard", by: "ana", in: other)
            let lost = peer.addChannel(3, name: "lost", members: ["ana"])
            #expect(try await inbox.story(of: 3).last == "lost added")
            peer.destroy(lost)
            #expect(try await inbox.story(of: 4).last == "lost deleted")
        }
    }

    @Test func `members that are there when we come are state, and history is no event`() async throws {
        try await withAccount(prepare: { peer in
            oneChannel(peer)
            for number in 0..<10 { peer.say("old \(number)", by: "ana", in: general) }
        }) { peer, service, inbox in
            try await inbox.waitUntilUp()
            peer.say("new", by: "ana", in: general)
            #expect(try await inbox.story(of: 1) == ["general + ana: new"])
            let messages = try await service.messages(in: "general", count: 7)
            #expect(messages.map(\.text) == ["old 4", "old 5", "old 6", "old 7", "old 8", "old 9", "new"])
            let before = try await service.messages(in: "general", count: 3, before: messages[0].index)
            #expect(before.map(\.text) == ["old 1", "old 2", "old 3"])
            #expect(try await service.messages(in: "general", before: 1).map(\.text) == ["old 0"])
        }
    }

    @Test func `after a restart, what happened meanwhile is told once`() async throws {
        let list = "ES" + general.dropFirst(2)
        let roster = "MP" + general.dropFirst(2)
        let cursors: [String: Position] = [
            list: .number(2, index: 1), roster: .number(3, index: nil),
            "ET" + general.dropFirst(2): .number(0, index: nil),
        ]
        try await withAccount(
            cursors: cursors,
            prepare: { peer in
                oneChannel(peer)
                for number in 0..<4 { peer.say("message \(number)", by: "ana", in: general) }
                peer.edit(2, in: general, to: "changed")
                peer.addMember("eve", to: general)
                peer.updateMember("eve", in: general, JSONObject([(key: "attributes", value: "{\"a\":1}")]))
                peer.removeMember("ben", from: general)
                peer.rename(general, to: "Lobby")
            }
        ) { peer, service, inbox in
            try await inbox.waitUntilUp()
            peer.say("now", by: "ana", in: general)
            #expect(
                Set(try await inbox.story(of: 8)) == [
                    "general + ana: message 2", "general + ana: message 3", "general ~ ana: changed",
                    "general joined eve", "general updated eve", "general left ben", "general is Lobby",
                    "general + ana: now",
                ])
            #expect(inbox.story.count == 8)
        }
    }

    @Test func `what a replay does not give any more is read from the list and the roster`() async throws {
        let list = "ES" + general.dropFirst(2)
        let cursors: [String: Position] = [list: .number(1, index: 0)]
        try await withAccount(
            cursors: cursors,
            prepare: { peer in
                oneChannel(peer)
                for number in 0..<9 { peer.say("message \(number)", by: "ana", in: general) }
                peer.delete(3, in: general)
                peer.state.withLock { $0.forgotten[list] = 8 }
            }
        ) { peer, service, inbox in
            try await inbox.waitUntilUp()
            peer.say("now", by: "ana", in: general)
            let expected = [1, 2, 4, 5, 6, 7, 8].map { "general + ana: message \($0)" }
            #expect(
                try await inbox.story(of: 9) == expected + ["general - ana: message 3", "general + ana: now"])
            // A roster whose replay has a gap while we run: what differs is told.
            let roster = "MP" + general.dropFirst(2)
            peer.hold()
            peer.addMember("eve", to: general)
            peer.removeMember("ben", from: general)
            peer.release { _ in [] }
            peer.state.withLock { $0.forgotten[roster] = 4 }
            peer.cut()
            try await inbox.waitUntilUp(times: 2)
            #expect(
                Set(try await inbox.story(of: 11).suffix(2)) == ["general joined eve", "general left ben"])
        }
    }

    @Test func `a socket that is cut loses and doubles nothing`() async throws {
        try await withAccount(prepare: oneChannel) { peer, service, inbox in
            try await inbox.waitUntilUp()
            for number in 0..<300 {
                peer.say("\(number)", by: number % 2 == 0 ? "ana" : "ben", in: general)
                if number % 30 == 7 {
                    peer.cut()
                    peer.say("in the dark after \(number)", by: "ana", in: general)
                }
                if number % 50 == 0 { await Task.yield() }
            }
            var expected: [String] = []
            for number in 0..<300 {
                expected.append("general + \(number % 2 == 0 ? "ana" : "ben"): \(number)")
                if number % 30 == 7 { expected.append("general + ana: in the dark after \(number)") }
            }
            #expect(try await inbox.story(of: expected.count) == expected)
            #expect(peer.state.withLock { $0.inits.last?["continuation_token"] } == "continue-me")
        }
    }

    @Test func `events out of order are told in order, duplicates once`() async throws {
        try await withAccount(prepare: oneChannel) { peer, service, inbox in
            try await inbox.waitUntilUp()
            peer.hold()
            for number in 0..<6 { peer.say("\(number)", by: "ana", in: general) }
            peer.release { [$0[2], $0[0], $0[0], $0[1], $0[5], $0[4], $0[2], $0[3]] }
            #expect(try await inbox.story(of: 6) == (0..<6).map { "general + ana: \($0)" })
            let subscriptions = peer.state.withLock { $0.requests.count { $0.path == "/v4/Subscriptions" } }
            #expect(subscriptions == 1)
            // One that never comes is asked for.
            peer.hold()
            for number in 6..<9 { peer.say("\(number)", by: "ana", in: general) }
            peer.release { [$0[0], $0[2]] }
            #expect(try await inbox.story(of: 9) == (0..<9).map { "general + ana: \($0)" })
            #expect(inbox.story.count == 9)
        }
    }

    @Test func `a subscription that is not confirmed is asked for again`() async throws {
        try await withAccount(prepare: { peer in
            oneChannel(peer)
            peer.state.withLock { $0.withholdsConfirmations = 1 }
        }) { peer, service, inbox in
            try await inbox.waitUntilUp()
            #expect(peer.state.withLock { $0.requests.count { $0.path == "/v4/Subscriptions" } } == 2)
        }
    }

    @Test func `when steward is behind, events are read again and replies still come`() async throws {
        try await withAccount(prepare: oneChannel) { peer, service, inbox in
            try await inbox.waitUntilUp()
            peer.say("0", by: "ana", in: general)
            _ = try await inbox.story(of: 1)
            inbox.state.withLock { $0.refuses = 3 }
            for number in 1..<50 { peer.say("\(number)", by: "ana", in: general) }
            let receipt = try await service.perform(act(.typing), key: ActionKey(text: "t"))
            #expect(receipt.channel == general)
            #expect(try await inbox.story(of: 50) == (0..<50).map { "general + ana: \($0)" })
        }
    }

    @Test func `what goes wrong all the time is said once, then once a minute with a count`() {
        let noon = Timestamp(milliseconds: 1_781_524_800_000)
        var complaint = Complaint(every: .seconds(60))
        let said = (0..<400).compactMap { tick in
            complaint.raise(at: noon + .milliseconds(300 * tick)).map { "\(tick): \($0)" }
        }
        #expect(said == ["0: 1", "200: 200"])
        #expect(complaint.raise(at: noon + .seconds(120)) == 200)
        #expect(complaint.raise(at: noon + .seconds(3600)) == 1)
    }

    @Test func `steward that is behind for long says so once, not at each try`() async throws {
        let lines = Locked<[String]>([])
        let log = Log(level: .info) { line in lines.withLock { $0.append(line.text) } }
        try await withAccount(log: log, prepare: oneChannel) { peer, _, inbox in
            try await inbox.waitUntilUp()
            inbox.state.withLock { $0.refuses = 20 }
            peer.say("0", by: "ana", in: general)
            #expect(try await inbox.story(of: 1) == ["general + ana: 0"])
        }
        #expect(lines.withLock { $0 }.count { $0.hasPrefix("steward takes no events now") } == 1)
    }
}

extension Log {
    /// Silent, unless a test is looked into.
    static var test: Log {
        guard let level = getenv("STEWARD_TEST_LOG") else { return .silent }
        return Log(level: String(cString: level) == "debug" ? .debug : .info) { line in
            let bytes = Array("\(Timestamp.now.milliseconds % 100_000) \(line.level) \(line.text)\n".utf8)
            write(2, bytes, bytes.count)
        }
    }
}

extension TwilioTiming {
    static var quick: TwilioTiming {
        var timing = TwilioTiming()
        timing.tick = .milliseconds(10)
        timing.reorder = .milliseconds(50)
        timing.firstPause = .milliseconds(20)
        timing.behind = .milliseconds(20)
        timing.reply = .seconds(2)
        // A busy machine must not make people nameless.
        timing.name = .seconds(20)
        return timing
    }
}
