import Chat
import HTTP
import JSON
import Testing
import WebSocket

@testable import Services

/// Runs an account against a scripted Sendbird.
func withSendbird(
    join: [String] = ["room"], cursors: [String: Position] = [:], timing: SendbirdTiming = .quick,
    limits: SendbirdLimits? = nil, source: (any TokenSource)? = nil, apiToken: Secret? = nil,
    time: ManualTime? = nil, log: Log = .test,
    prepare: (ScriptedSendbird) throws -> Void = { _ in },
    _ body: (ScriptedSendbird, SendbirdService, TestInbox) async throws -> Void
) async throws {
    let loop = try SocketLoop()
    let peer = ScriptedSendbird(loop: loop)
    peer.addRoom("room")
    try prepare(peer)
    let endpoint = try await peer.start()
    let http = HTTPClient()
    let settings = SendbirdSettings(
        app: "APP-1", user: "bot", apiToken: apiToken, endpoint: endpoint, join: join, bots: ["*-bot"])
    let service = SendbirdService(
        account: "sendbird", settings: settings,
        source: source ?? ScriptedSource(mayImprove: false) { "token\($0)" },
        tools: ServiceTools(
            identities: Identities(), loop: loop, http: http, log: log, clock: time?.clock ?? .system),
        timing: timing, limits: limits)
    let inbox = TestInbox(cursors: cursors)
    try await running(service, inbox) {
        try await body(peer, service, inbox)
    } end: {
        await peer.stop()
        await http.shutdown()
        await loop.shutdown(grace: .zero)
    }
}

extension SendbirdTiming {
    static var quick: SendbirdTiming {
        var timing = SendbirdTiming()
        timing.tick = .milliseconds(10)
        timing.firstPause = .milliseconds(20)
        timing.behind = .milliseconds(20)
        timing.renewal = .milliseconds(10)
        timing.marks = .milliseconds(50)
        timing.reply = .seconds(2)
        return timing
    }
}

func sendbirdAction(_ verb: ChatAction.Verb, in channel: String = "room") -> ChatAction {
    ChatAction(verb, in: Place(account: "sendbird", channel: channel))
}

@Suite(.timeLimit(.minutes(1))) struct SendbirdAccounts {
    @Test func `it logs in, hears what is said and answers`() async throws {
        try await withSendbird(prepare: { peer in
            peer.state.withLock { $0.rooms["room"]?.operators = ["ana"] }
            peer.say("before us", by: "ana", in: "room", silently: true)
        }) { peer, service, inbox in
            try await inbox.waitUntilUp()
            let id = peer.say("hello", by: "ana", in: "room")
            #expect(try await inbox.story(of: 1) == ["room + ana: hello"])
            let receipt = try await service.perform(
                sendbirdAction(.send(Outgoing("hi", mentions: ["ana"]))), key: ActionKey(text: "k1"))
            #expect(
                receipt == Receipt(message: MessageReference(id: "\(id + 1)", index: id + 1), channel: "room")
            )
            let event = try #require(inbox.state.withLock { $0.events.first })
            #expect(event.id == "\(id)")
            #expect(event.realm.name == "app-1")
            #expect(event.channel?.title == "Room room")
            #expect(event.message?.author.roles == ["operator"])
            // What we say ourselves is told, as ours.
            try await inbox.wait { $0.events.last?.message?.text == "hi" }
            #expect(inbox.state.withLock { $0.events.last?.member?.user == $0.own })
            let visit = try #require(peer.state.withLock { $0.visits.first })
            #expect(visit.token == "token1")
            #expect(visit.query["user_id"] == "bot")
            #expect(visit.query["ai"] == "APP-1")
            let sent = try #require(peer.state.withLock { $0.commands.first { $0.letters == "MESG" } })
            #expect(sent.body["req_id"] == "steward-k1")
            #expect(sent.body["mentioned_user_ids"] == ["ana"])
        }
    }

    @Test func `a lost connection comes back with the session's key, and nothing is missing or told twice`()
        async throws
    {
        try await withSendbird(prepare: {
            $0.addRoom("group", open: false, members: ["bot", "ana"])
        }) { peer, _, inbox in
            try await inbox.waitUntilUp()
            let one = peer.say("one", by: "ana", in: "room")
            peer.say("two", by: "ana", in: "group")
            _ = try await inbox.story(of: 2)
            peer.cut()
            peer.say("three", by: "ana", in: "room", silently: true)
            let same = peer.tick()
            peer.say("four", by: "ana", in: "group", at: same, silently: true)
            peer.say("five", by: "ana", in: "group", at: same, silently: true)
            peer.edit(one, in: "room", to: "one!", silently: true)
            try await inbox.waitUntilUp(times: 2)
            peer.say("six", by: "ana", in: "room")
            let story = try await inbox.story(of: 7)
            #expect(
                story.filter { $0.hasPrefix("room") } == [
                    "room + ana: one", "room + ana: three", "room ~ ana: one!", "room + ana: six",
                ])
            #expect(
                story.filter { $0.hasPrefix("group") } == [
                    "group + ana: two", "group + ana: four", "group + ana: five",
                ])
            let visit = try #require(peer.state.withLock { $0.visits.last })
            #expect(visit.key == "key1")
            #expect(visit.token == nil)
            #expect(visit.query["user_id"] == nil)
            // The open channel is entered again; the group channel needs nothing.
            #expect(peer.commands.count { $0 == "ENTR" } == 2)
        }
    }

    @Test func `it reads on where steward stood, also when it was down for long`() async throws {
        let cursors: [String: Position] = [
            "messages room": .number(1_800_000_000_100, index: 50),
            "changes room": .number(1_800_000_000_050, index: nil),
        ]
        try await withSendbird(
            cursors: cursors,
            prepare: { peer in
                peer.say("old", by: "ana", in: "room", at: 1_800_000_000_090, id: 49, silently: true)
                peer.say("decided", by: "ana", in: "room", at: 1_800_000_000_100, id: 50, silently: true)
                peer.say("same moment", by: "ana", in: "room", at: 1_800_000_000_100, id: 51, silently: true)
                for number in 1...250 {
                    peer.say(
                        "\(number)", by: "ana", in: "room", at: 1_800_000_001_000 + Int64(number / 3),
                        id: 100 + Int64(number), silently: true)
                }
                peer.edit(49, in: "room", to: "older", silently: true, at: 1_800_000_002_000)
                peer.state.withLock { $0.now = 1_800_000_003_000 }
            }
        ) { peer, _, inbox in
            try await inbox.waitUntilUp()
            let story = try await inbox.story(of: 252)
            #expect(story.first == "room + ana: same moment")
            #expect(story.dropFirst().prefix(250) == (1...250).map { "room + ana: \($0)" }[...])
            #expect(story.last == "room ~ ana: older")
            #expect(
                inbox.state.withLock { $0.cursors["messages room"] } == .number(1_800_000_001_083, index: 350)
            )
            #expect(
                inbox.state.withLock { $0.cursors["changes room"] } == .number(1_800_000_002_000, index: nil))
        }
    }
}
