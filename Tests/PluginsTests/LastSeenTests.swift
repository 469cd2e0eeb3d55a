import Chat
import ChatTesting
import Testing

@testable import Plugins

@Suite struct LastSeenPlugin {
    let realm = Identities().realm("test")
    let now = Timestamp(milliseconds: 1_781_524_800_000)

    private func plugin(keep: Duration? = nil, command: String? = nil) throws -> LastSeen {
        try LastSeen(settings: .init(keep: keep, command: command))
    }

    /// What it says to a message after those events.
    private func answer(to text: String, after events: [ChatEvent] = []) throws -> [ChatAction.Verb] {
        let plugin = try plugin()
        var memory = Remembered()
        for event in events {
            memory.apply(try plugin.decide(event, in: .test(now: event.sentAt, memory: memory)).changes)
        }
        let question = ChatEvent.message(text, from: "ben", id: "Q", realm: realm, at: now)
        return try plugin.decide(question, in: .test(now: now, memory: memory)).actions.map(\.verb)
    }

    private func reply(_ text: String) -> [ChatAction.Verb] {
        [.reply(Outgoing(text), to: MessageReference(id: "Q"))]
    }

    @Test(arguments: [
        (Duration.seconds(-5), "just now"), (.seconds(0), "just now"), (.seconds(59), "just now"),
        (.seconds(60), "1 minute ago"), (.seconds(3599), "59 minutes ago"), (.seconds(7200), "2 hours ago"),
        (.seconds(86_400 * 3), "3 days ago"),
    ])
    func `how long ago is said in the largest unit that fits`(_ duration: Duration, _ words: String) {
        #expect(LastSeen.words(for: duration) == words)
    }

    static let mistakes: [(keep: Duration?, command: String?, problem: String)] = [
        (.seconds(59), nil, "keep must be at least 1m"), (nil, "two words", "command must be one word"),
        (nil, "", "command must be one word"),
    ]

    @Test(arguments: mistakes)
    func `a setting that makes no sense is named`(_ keep: Duration?, _ command: String?, _ problem: String) {
        let error = #expect(throws: SettingsError.self) { try plugin(keep: keep, command: command) }
        #expect(error?.description == problem)
    }

    @Test func `who wrote is found by name, with an @ or without`() throws {
        let hour = ChatEvent.message("hi", from: "ana", realm: realm, at: now + .seconds(-3600))
        #expect(try answer(to: "!seen ana", after: [hour]) == reply("ana was last seen 1 hour ago."))
        #expect(try answer(to: " !seen  @ana ", after: [hour]) == reply("ana was last seen 1 hour ago."))
    }

    @Test func `joining counts, and the last time is what is told`() throws {
        let events = [
            ChatEvent.message("hi", from: "ana", realm: realm, at: now + .seconds(-7200)),
            ChatEvent.join("ana", realm: realm, at: now + .seconds(-120)),
        ]
        #expect(try answer(to: "!seen ana", after: events) == reply("ana was last seen 2 minutes ago."))
    }

    @Test func `who was never seen is not invented`() throws {
        #expect(try answer(to: "!seen carl") == reply("I have not seen carl yet."))
    }

    @Test(arguments: ["!seen", "!seen ana now", "seen ana", "have you !seen ana"])
    func `other words are no question`(_ text: String) throws {
        #expect(try answer(to: text) == [])
    }

    @Test func `its word can be another`() throws {
        let asked = ChatEvent.message("?where ana", from: "ben", id: "Q", realm: realm)
        let decision = try plugin(command: "?where").decide(asked, in: .test())
        #expect(decision.actions.map(\.verb) == reply("I have not seen ana yet."))
        #expect(decision.answers == 1)
    }

    @Test func `an old question gets no answer and is remembered all the same`() throws {
        var situation = Situation.test(now: now)
        situation.isStale = true
        let decision = try plugin().decide(.message("!seen ana", from: "ben", realm: realm), in: situation)
        #expect(decision.actions == [])
        #expect(decision.changes.count == 1)
    }

    @Test func `a sighting is kept as long as the settings say`() throws {
        let event = ChatEvent.message("hi", from: "ana", realm: realm, at: now)
        let changes = try plugin(keep: .seconds(3600)).decide(event, in: .test()).changes
        guard case .set(let key, let value, let keep)? = changes.first, changes.count == 1 else {
            Issue.record("it should set one value: \(changes)")
            return
        }
        #expect(key == MemoryKey(owner: "last-seen", name: "seen", subject: .user(realm.user("ana"))))
        #expect(value == .number(now.milliseconds))
        #expect(keep == .seconds(3600))
    }

    /// For which of these events the condition holds, asked before each is noted or, as by observers, after it.
    private func seen(
        within span: String, _ events: [ChatEvent], asked isAfter: Bool = false
    ) throws -> [Bool] {
        let plugin = try plugin()
        let holds = try #require(plugin.conditions.first { $0.name == "seen_within" }).read(span)
        var memory = Remembered()
        return try events.map { event in
            let before = holds(event, .test(now: event.sentAt, memory: memory))
            memory.apply(
                try plugin.decide(event, in: .test(now: event.sentAt, memory: memory)).changes)
            return isAfter ? holds(event, .test(now: event.sentAt, memory: memory)) : before
        }
    }

    @Test(arguments: [false, true])
    func `rules are told who was seen lately, whatever their stage`(_ isAfter: Bool) throws {
        let events = [
            ChatEvent.message("hi", from: "ana", realm: realm, at: now),
            ChatEvent.message("hi", from: "ben", realm: realm, at: now + .seconds(60)),
            ChatEvent.join("ana", realm: realm, at: now + .seconds(3600)),
            ChatEvent.message("hi", from: "ana", realm: realm, at: now + .seconds(3 * 3600)),
        ]
        #expect(try seen(within: "1h", events, asked: isAfter) == [false, false, true, false])
        #expect(try seen(within: "2h", events, asked: isAfter) == [false, false, true, true])
    }

    @Test(arguments: [
        ("soon", "\"soon\" is not a duration - try \"1h\", with s, m, h, d or w"),
        ("0h", "\"0h\" is not a duration - try \"1h\", with s, m, h, d or w"),
        ("91d", "\"91d\" is longer than last-seen remembers - raise its \"keep\""),
    ])
    func `a time that cannot be is named`(_ text: String, _ problem: String) {
        let error = #expect(throws: SettingsError.self) { try seen(within: text, []) }
        #expect(error?.description == problem)
    }
}
