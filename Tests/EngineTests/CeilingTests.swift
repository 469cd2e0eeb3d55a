import Chat
import ChatTesting
import Testing

@testable import Engine

@Suite(.timeLimit(.minutes(1))) struct CeilingsOfActions {
    let realm = Identities().realm("test")
    let noon = Timestamp(milliseconds: 1_781_524_800_000)

    private var account: Turn.Account {
        Turn.Account(
            name: "test", own: nil,
            abilities: Abilities(
                events: [], actions: ["delete", "kick", "send"], textLimit: .init(4096, .codePoints)))
    }

    private let directory = Directory(
        accounts: [
            "test": Directory.Account(
                service: "fake",
                abilities: Abilities(events: [], actions: [], textLimit: .init(1, .bytes)),
                joins: ["staff"])
        ])

    /// Deletes everything, and does to the writer what the text says.
    private static let harsh = Handler("harsh", .guard) { event, _ in
        guard let place = event.place, let message = event.message else { return .nothing }
        var decision = Decision()
        let user = message.author.user.text
        switch message.text {
        case "ban": decision.actions = [ChatAction(.ban(user: user, until: nil, reason: nil), in: place)]
        case "kick": decision.actions = [ChatAction(.removeMember(user: user), in: place)]
        case "hint":
            let action = ChatAction(
                .deleteMessage(MessageReference(message)), in: place, path: "do[0].delete_after")
            decision.actions = [action]
        default: decision.actions = [ChatAction(.deleteMessage(MessageReference(message)), in: place)]
        }
        return decision
    }

    private func turn(
        _ memory: Memory = Memory(isComplete: true), _ change: (inout Turn.Limits) -> Void = { _ in }
    )
        -> Turn
    {
        var limits = Turn.Limits()
        change(&limits)
        return Turn(
            handlers: HandlerTable([Self.harsh]), directory: directory, memory: memory, limits: limits)
    }

    private func says(_ text: String, _ number: Int, in channel: String = "lobby", at: Timestamp) -> ChatEvent
    {
        .message(text, from: "user\(number)", in: channel, id: "\(channel)\(number)", realm: realm, at: at)
    }

    /// How many of so many actions went out, and what staff were told.
    private func flood(
        _ turn: inout Turn, _ text: String, _ count: Int, in channel: String = "lobby", from: Timestamp,
        every: Duration = .milliseconds(10), first: Int = 0
    ) -> (done: Int, told: [String]) {
        var done = 0
        var told: [String] = []
        for number in 0..<count {
            let now = from + every * number
            let outcome = turn.take(says(text, first + number, in: channel, at: now), at: now, as: account)
            for open in outcome.actions where open.settled == nil {
                if case .send(let outgoing) = open.action.verb {
                    told.append("\(open.action.place): \(outgoing.text)")
                } else {
                    done += 1
                }
            }
        }
        return (done, told)
    }

    @Test func `ten bans an hour, twenty kicks in ten minutes, 200 deletions a minute and channel`() {
        var turn = turn()
        #expect(flood(&turn, "ban", 50, from: noon).done == 10)
        #expect(flood(&turn, "kick", 50, from: noon, first: 100).done == 20)
        #expect(flood(&turn, "x", 500, from: noon, first: 200).done == 200)
        #expect(flood(&turn, "x", 500, in: "other", from: noon, first: 200).done == 200)
        // The time of each is over.
        #expect(flood(&turn, "x", 500, from: noon + .seconds(70), first: 1000).done == 200)
        #expect(flood(&turn, "kick", 50, from: noon + .seconds(650), first: 1000).done == 20)
        #expect(flood(&turn, "ban", 50, from: noon + .seconds(650), first: 1000).done == 0)
        #expect(flood(&turn, "ban", 50, from: noon + .seconds(3900), first: 2000).done == 10)
    }

    @Test func `no stretch of the time has more, wherever it begins`() {
        var turn = turn { $0.ceilings.deletions = Ceiling(20, per: .seconds(60)) }
        var done: [Timestamp] = []
        for number in 0..<1000 {
            let now = noon + .milliseconds(731) * number
            let outcome = turn.take(says("x", number, at: now), at: now, as: account)
            if outcome.actions.contains(where: { $0.settled == nil && $0.action.isModeration }) {
                done.append(now)
            }
        }
        #expect(done.count > 200)
        for (index, start) in done.enumerated() {
            #expect(done[index...].count { $0 - start < .seconds(60) } <= 20)
        }
    }

    @Test func `staff are told once in the time of the ceiling, and the log as well`() {
        var turn = turn()
        let first = flood(&turn, "x", 500, from: noon)
        #expect(
            first.told == [
                "test:staff: ⚠️ the ceiling of 200 deletions in 1m is reached in lobby. What rule \"harsh\" wants beyond "
                    + "it is not done. If it is right, raise limits.deletions in the configuration."
            ])
        #expect(flood(&turn, "x", 500, from: noon + .seconds(30), first: 600).told.isEmpty)
        #expect(flood(&turn, "x", 500, from: noon + .seconds(70), first: 2000).told.count == 1)
        var other = self.turn()
        _ = flood(&other, "kick", 20, from: noon)
        let outcome = other.take(says("kick", 21, at: noon), at: noon, as: account)
        #expect(outcome.withheld == [.kicks: 1])
        #expect(outcome.actions.map(\.settled).first == .failed("over the ceiling of 20 kicks in 10m"))
        #expect(
            outcome.notes == [
                .init(
                    by: "harsh",
                    "the ceiling of 20 kicks in 10m is reached in test:lobby; what is over it is not done",
                    isWarning: true)
            ])
    }

    @Test func `what we said for a while only is taken back whatever the ceilings`() {
        var turn = turn { $0.ceilings.deletions = Ceiling(1, per: .seconds(60)) }
        #expect(flood(&turn, "hint", 10, from: noon).done == 10)
    }

    @Test func `ceilings are configured, and never without end`() {
        var turn = turn { $0.ceilings.deletions = Ceiling(.max, per: .zero) }
        #expect(flood(&turn, "x", 5000, from: noon).done == 5000)
        #expect(Ceiling(.max, per: .zero) == Ceiling(1_000_000, per: .seconds(1)))
    }

    @Test func `a restart does not begin to count again`() async throws {
        let clock = ManualClock()
        let chat = FakeChat(now: { clock.now })
        let journal = MemoryJournal()
        for round in 0..<2 {
            var rig = Rig([Self.harsh], journal: journal, chat: chat, time: clock)
            rig.settings.limits.ceilings.kicks = Ceiling(3, per: .seconds(600))
            try await rig.runReady { engine in
                for number in 0..<5 { chat.say("kick", as: "user\(round)-\(number)", in: "lobby") }
                while await engine.metrics.decided < 6 { await Task.yield() }
                await chat.wait { $0.performed.count >= 3 }
            }
        }
        #expect(chat.performed.count { if case .removeMember = $0.verb { true } else { false } } == 3)
    }

    @Test func `a handler that waits for what is withheld is told why`() async throws {
        let handler = Handler("waiting", .guard) { event, _ in
            guard let place = event.place else { return .nothing }
            switch event.kind {
            case .messageAdded(let message):
                var decision = Decision()
                decision.actions = [
                    ChatAction(
                        .removeMember(user: message.author.user.text), in: place,
                        then: Continuation(owner: "waiting", step: "done"))
                ]
                return decision
            case .resumed(_, .failed(let why)): return .send(why, about: event)
            default: return .nothing
            }
        }
        var rig = Rig([handler])
        rig.settings.limits.ceilings.kicks = Ceiling(1, per: .seconds(600))
        let chat = rig.chat
        try await rig.runReady { engine in
            for number in 0..<2 { chat.say("x", as: "user\(number)", in: "lobby") }
            await chat.wait { $0.performed.count == 2 }
            #expect(await engine.metrics.withheld == [.kicks: 1])
        }
        #expect(chat.messages(in: "lobby").map(\.text) == ["x", "x", "over the ceiling of 1 kicks in 10m"])
    }
}
