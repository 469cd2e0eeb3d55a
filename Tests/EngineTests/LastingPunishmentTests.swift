import Chat
import ChatTesting
import Testing

@testable import Engine

/// Punishments in an engine that runs: through restarts, on services that refuse them, in channels that go by a name.
@Suite(.timeLimit(.minutes(1))) struct LastingPunishments {
    /// Muted for ten minutes; leaves, joins again, and steward is started anew in between.
    @Test func `a mute of ten minutes outlives leaving, rejoining and a restart, to the minute`() async throws
    {
        let clock = ManualClock()
        let file = TemporaryFile()
        let chat = FakeChat(now: { clock.now })
        func run(_ body: @escaping @Sendable (Engine) async throws -> Void) async throws {
            let journal = try await SQLiteJournal.open(file.path)
            try await Rig([Punishments.moderator], journal: journal, chat: chat, time: clock).runReady(body)
            await journal.close()
        }
        try await run { engine in
            chat.say("mute eve 600", as: "mod", in: "lobby")
            while await engine.metrics.continuations != 1 { await Task.yield() }
            chat.say("one", as: "eve", in: "lobby")
            await chat.wait { $0.performed.count == 1 }
            chat.leave("eve", "lobby")
        }
        clock.advance(by: .seconds(300))
        try await run { _ in
            chat.join("eve", "lobby")
            await chat.wait { $0.performed.count == 2 }
            chat.say("two", as: "eve", in: "lobby")
            await chat.wait { $0.performed.count == 3 }
        }
        clock.advance(by: .seconds(299))
        chat.say("three", as: "eve", in: "lobby")
        clock.advance(by: .seconds(1))
        chat.say("four", as: "eve", in: "lobby")
        let log = LinesOfLog()
        let journal = try await SQLiteJournal.open(file.path)
        var rig = Rig([Punishments.moderator], journal: journal, chat: chat, time: clock)
        rig.log = log.log
        try await rig.runReady { engine in
            await chat.wait { $0.performed.count == 5 }
            while await engine.metrics.held != [.mute: 1] { await Task.yield() }
            #expect(await engine.metrics.continuations == 0)
        }
        await journal.close()
        #expect(log.lines.contains("moderator: the mute of eve in fake:lobby is over"))
        let texts = chat.messages(in: "lobby").map(\.text)
        #expect(texts == ["mute eve 600", "welcome eve", "four", "answer"])
    }

    @Test func `a mute that is refused is steward's own from then on, and staff are told`() async throws {
        let clock = ManualClock()
        let chat = FakeChat(now: { clock.now })
        for denials in [[], ["delete"]] as [Set<String>] {
            let service = MutingService(fake: FakeChatService(chat, channels: ["lobby"]), denials: denials)
            let teller = Teller()
            var settings = EngineSettings()
            settings.limits.loops = nil
            let before = chat.performed.count
            try await Engine.run(
                settings, accounts: [EngineAccount(name: "fake", service: service)],
                handlers: [Punishments.moderator, teller], directory: Directory(), journal: MemoryJournal(),
                identities: chat.identities, time: clock, log: .silent
            ) { engine in
                await engine.wait { $0.isReady }
                chat.script([.fails(.rejected("they have power 100"))])
                let silence = teller.changed.version
                chat.say("mute eve 600", as: "mod", in: "lobby")
                await teller.changed.wait(past: silence)
                chat.say("one", as: "eve", in: "lobby")
                await chat.wait { $0.performed.count == before + 1 }
            }
            var told = ["rule": "moderator", "why": "they have power 100", "author": "eve", "to": "staff"]
            if denials.isEmpty { told["deletes"] = "" }
            #expect(teller.heard.withLock { $0 } == [told])
            let isDeletion = if case .deleteMessage? = chat.performed.last?.verb { true } else { false }
            #expect(isDeletion == denials.isEmpty)
        }
    }

    @Test func `a mute that cannot be lifted at its end is the failure of its rule`() async throws {
        let clock = ManualClock()
        let chat = FakeChat(now: { clock.now })
        let service = MutingService(fake: FakeChatService(chat, channels: ["lobby"]))
        let journal = MemoryJournal()
        var settings = EngineSettings()
        settings.limits.loops = nil
        try await Engine.run(
            settings, accounts: [EngineAccount(name: "fake", service: service)],
            handlers: [Punishments.moderator],
            directory: Directory(), journal: journal, identities: chat.identities, time: clock, log: .silent
        ) { engine in
            await engine.wait { $0.isReady }
            chat.say("mute eve 600", as: "mod", in: "lobby")
            await chat.wait { $0.performed.count == 1 }
            chat.script([.fails(.rejected("we are no moderator any more"))])
            clock.advance(by: .seconds(600))
            while await engine.metrics.actions[.failed] != 1 {
                clock.advance(by: .seconds(1))
                await Task.yield()
            }
        }
        var ledger = RuleLedger()
        ledger.load(try await journal.rows(of: .rule))
        #expect(ledger.records["moderator"]?.lastFailure?.why == "we are no moderator any more")
    }

    @Test func `a second account knows the channels of the first by their names, too`() async throws {
        let clock = ManualClock()
        let chat = FakeChat(now: { clock.now })
        let far = Handler("far", .guard) { event, _ in
            guard event.message?.text == "go" else { return .nothing }
            var decision = Decision()
            decision.actions = ["one", "two"].map { account in
                ChatAction(
                    .mute(user: account, until: nil, reason: nil),
                    in: Place(account: account, channel: "general"))
            }
            return decision
        }
        var settings = EngineSettings()
        settings.limits.loops = nil
        let accounts = ["one", "two"].map { name in
            EngineAccount(
                name: name,
                service: NamingService(
                    fake: FakeChatService(chat, name: name, user: "bot", channels: ["lobby"])))
        }
        try await Engine.run(
            settings, accounts: accounts, handlers: [far], directory: Directory(), journal: MemoryJournal(),
            identities: chat.identities, time: clock, log: .silent
        ) { engine in
            await engine.wait { $0.isReady }
            chat.say("hello", as: "ana", in: "lobby")
            while await engine.metrics.dropped[.duplicate] != 1 { await Task.yield() }
            chat.say("go", as: "ana", in: "lobby")
            for user in ["one", "two"] { chat.say("x", as: user, in: "lobby") }
            await chat.wait { $0.performed.count == 2 }
        }
        #expect(chat.messages(in: "lobby").map(\.text) == ["hello", "go"])
    }

    @Test func `a ban outlives a restart, and costs one ban however often somebody comes back`() async throws
    {
        let clock = ManualClock()
        let chat = FakeChat(now: { clock.now })
        let journal = MemoryJournal()
        try await Rig([Punishments.moderator], journal: journal, chat: chat, time: clock).runReady { _ in
            chat.join("eve", "lobby")
            await chat.wait { $0.performed.count == 1 }
            chat.say("ban eve", as: "mod", in: "lobby")
            await chat.wait { $0.performed.count == 2 }
        }
        try await Rig([Punishments.moderator], journal: journal, chat: chat, time: clock).runReady { engine in
            for count in 1...30 {
                chat.join("eve", "lobby")
                await chat.wait { $0.performed.count == 2 + count }
            }
            while await engine.metrics.held != [.ban: 30] { await Task.yield() }
            #expect(await engine.metrics.withheld == [:])
        }
        #expect(
            chat.performed.dropFirst().map(\.verb)
                == [ChatAction.Verb](repeating: .removeMember(user: "eve"), count: 31))
    }
}

/// A service that mutes, and leaves it to others to end that.
private struct MutingService: ChatService {
    let fake: FakeChatService
    var denials: Set<String> = []

    func denied(in channel: ChannelID) -> Set<String> { denials }

    var abilities: Abilities {
        var abilities = fake.abilities
        abilities.actions.formUnion(["mute", "unmute"])
        return abilities
    }

    func run(_ inbox: any Inbox) async throws { try await fake.run(inbox) }

    func perform(_ action: ChatAction, key: ActionKey) async throws(ChatServiceError) -> Receipt {
        try await fake.perform(action, key: key)
    }

    func find(
        _ action: ChatAction, key: ActionKey, since: Timestamp
    ) async throws(ChatServiceError) -> Receipt? { try await fake.find(action, key: key, since: since) }
}

/// A service whose channel has a unique name.
private struct NamingService: ChatService {
    let fake: FakeChatService

    var abilities: Abilities { fake.abilities }

    func run(_ inbox: any Inbox) async throws { try await fake.run(Naming(inbox: inbox)) }

    func perform(_ action: ChatAction, key: ActionKey) async throws(ChatServiceError) -> Receipt {
        try await fake.perform(action, key: key)
    }

    func find(
        _ action: ChatAction, key: ActionKey, since: Timestamp
    ) async throws(ChatServiceError) -> Receipt? { try await fake.find(action, key: key, since: since) }

    private struct Naming: Inbox {
        let inbox: any Inbox

        func identified(as user: UserID, in realm: Realm) async {
            await inbox.identified(as: user, in: realm)
        }
        func cursors(of realm: Realm) async -> [String: Position] { await inbox.cursors(of: realm) }
        func begin(_ streams: [Cursor]) async { await inbox.begin(streams) }
        func heard() { inbox.heard() }
        func report(_ status: ServiceStatus) { inbox.report(status) }

        func deliver(_ events: [ChatEvent]) async -> Taken {
            await inbox.deliver(
                events.map { event in
                    var event = event
                    event.channel?.uniqueName = "general"
                    return event
                })
        }
    }
}

/// Hears what staff are to be told of what could not be done.
private final class Teller: EventHandler {
    let name = "teller"
    let stage = Stage.guard
    let needs = Needs()
    let changed = Signal()
    let heard = Locked<[[String: String]]>([])

    func resumes(owner: String) -> Bool { owner == Undeleted.owner }

    func decide(_ event: ChatEvent, in situation: Situation) -> Decision {
        guard case .resumed(let continuation, _) = event.kind else { return .nothing }
        heard.withLock { $0.append(continuation.values) }
        changed.fire()
        return .nothing
    }
}

/// What the log said.
final class LinesOfLog: Sendable {
    private let said = Locked<[String]>([])

    var lines: [String] { said.withLock { $0 } }

    var log: Log { Log { line in self.said.withLock { $0.append(line.text) } } }
}
