import Chat
import ChatTesting
@testable import Engine
import Testing

@Suite struct Turns {
    let realm = Identities().realm("test")
    let noon = Timestamp(milliseconds: 1_781_524_800_000)
    let account = Turn.Account(
        name: "test", own: nil,
        abilities: Abilities(events: [], actions: [], textLimit: .init(4096, .codePoints)))

    private func turn(_ handlers: [any EventHandler], limits: Turn.Limits = Turn.Limits()) -> Turn {
        Turn(
            handlers: HandlerTable(handlers), directory: Directory(), memory: Memory(isComplete: true),
            limits: limits)
    }

    private func says(_ text: String, id: String = "M1", as user: String = "ana") -> ChatEvent {
        .message(text, from: user, id: id, realm: realm)
    }

    private func saying(_ text: String, _ stage: Stage = .answer, answers: Int = 1) -> Handler {
        Handler(text, stage) { event, _ in
            var decision = Decision.send(text, about: event)
            decision.answers = answers
            return decision
        }
    }

    private let removing = Handler("removing", .guard) { _, _ in
        var decision = Decision()
        decision.removed = true
        return decision
    }

    @Test func `guards are asked first, then answers, then observers`() {
        var turn = turn([saying("observe", .observe), saying("answer"), saying("guard", .guard, answers: 0)])
        let outcome = turn.take(says("hi"), at: noon, as: account)
        #expect(outcome.actions.map(\.action.by) == ["guard", "answer", "observe"])
    }

    @Test func `a removed message gets no further guard and no answer, and is still observed`() {
        var turn = turn([removing, saying("guard", .guard), saying("answer"), saying("observe", .observe)])
        let outcome = turn.take(says("hi"), at: noon, as: account)
        #expect(outcome.actions.map(\.action.by) == ["observe"])
        #expect(outcome.removed)
    }

    @Test func `a handler that throws ends no stage, and is named`() {
        struct Broken: Error, CustomStringConvertible { let description = "out of luck" }
        var turn = turn([Handler("broken", .guard) { _, _ in throw Broken() }, saying("answer")])
        let outcome = turn.take(says("hi"), at: noon, as: account)
        #expect(outcome.failures == [Turn.Failure(handler: "broken", why: "out of luck")])
        #expect(outcome.actions.map(\.action.by) == ["answer"])
    }

    @Test func `one event gets one answer unless told otherwise`() {
        let handlers = [saying("first"), saying("second"), saying("also", answers: 0)]
        var one = turn(handlers)
        #expect(one.take(says("hi"), at: noon, as: account).actions.map(\.action.by) == ["first", "also"])
        var limits = Turn.Limits()
        limits.answersPerEvent = 2
        var two = turn(handlers, limits: limits)
        #expect(two.take(says("hi"), at: noon, as: account).actions.count == 3)
    }

    @Test func `a second answer that is not given uses up no cooldown`() {
        let key = MemoryKey(owner: "second", name: "cooldown", subject: .all)
        let second = Handler("second") { [noon] event, _ in
            var decision = Decision.send("second", about: event)
            decision.changes = [.claim(key, at: noon, most: 1, keep: nil)]
            return decision
        }
        var turn = turn([saying("first"), second])
        _ = turn.take(says("hi"), at: noon, as: account)
        #expect(turn.memory.value(of: key) == nil)
    }

    @Test func `old messages get no answer, and guards still act`() {
        var turn = turn([saying("guard", .guard, answers: 0), saying("answer")])
        let late = turn.take(says("hi"), at: noon + .seconds(601), as: account)
        #expect(late.isStale)
        #expect(late.actions.map(\.action.by) == ["guard"])
        let inTime = turn.take(says("hi", id: "M2"), at: noon + .seconds(600), as: account)
        #expect(!inTime.isStale)
        #expect(inTime.actions.map(\.action.by) == ["guard", "answer"])
    }

    @Test func `who does not want an event is not asked`() {
        let joins = Handler("joins", needs: Needs(events: [.memberJoined])) { event, _ in
            .send("welcome", about: event)
        }
        var turn = turn([joins])
        #expect(turn.take(says("hi"), at: noon, as: account).actions.isEmpty)
        #expect(turn.take(.join(realm: realm), at: noon, as: account).actions.count == 1)
    }

    @Test func `actions get their rule, their path and a key that is the same after a restart`() {
        var turn = turn([saying("answer")])
        let outcome = turn.take(says("hi"), at: noon, as: account)
        let open = outcome.actions.first
        #expect(open?.action.by == "answer")
        #expect(open?.action.path == "0")
        #expect(open?.since == noon)
        // Changing this breaks the look-up of actions across an upgrade.
        #expect(open?.key.text == "14a9803808c41d6564967c5fecc139ee")
    }

    @Test func `two actions of one path have two keys`() {
        let twice = Handler("twice") { event, _ in
            guard let place = event.place else { return .nothing }
            var decision = Decision()
            decision.actions = [1, 2].map {
                ChatAction(.send(Outgoing("copy \($0)")), in: place, by: "relay", path: "do[0]")
            }
            return decision
        }
        var turn = turn([twice])
        let keys = turn.take(says("hi"), at: noon, as: account).actions.map(\.key)
        #expect(Set(keys).count == 2)
    }

    @Test func `what one decision remembers, the next one knows`() {
        let once = Handler("once") { event, situation in
            guard let user = event.member?.user else { return .nothing }
            let key = MemoryKey(owner: "once", name: "once", subject: .user(user))
            if situation.memory.value(of: key) != nil { return .nothing }
            var decision = Decision.send("welcome", about: event)
            decision.changes = [.claim(key, at: situation.now, most: 1, keep: nil)]
            return decision
        }
        var turn = turn([once])
        let counts = ["ana", "ben", "ana"].enumerated().map { number, user in
            turn.take(says("hi", id: "M\(number)", as: user), at: noon, as: account).actions.count
        }
        #expect(counts == [1, 1, 0])
    }

    @Test func `facts are those from before the event`() {
        let seen = Locked<[MemberFacts]>([])
        let watch = Handler("watch", .observe) { _, situation in
            seen.withLock { $0.append(situation.facts) }
            return .nothing
        }
        var turn = turn([watch])
        _ = turn.take(.join(realm: realm, at: noon), at: noon, as: account)
        let later = noon + .seconds(5)
        _ = turn.take(.message("a", id: "M1", realm: realm, at: later), at: later, as: account)
        _ = turn.take(.message("b", id: "M2", realm: realm, at: later), at: later, as: account)
        #expect(
            seen.withLock { $0 } == [
                MemberFacts(), MemberFacts(firstSeen: noon, lastSeen: noon, joined: noon, messages: 0),
                MemberFacts(firstSeen: noon, lastSeen: later, joined: noon, messages: 1),
            ])
    }

    @Test func `what was put off comes back to its owner only, and to nobody when that is gone`() {
        var turn = turn([saying("other"), saying("owner", .observe)])
        let event = { (owner: String) in
            ChatEvent(
                id: "R", account: "test", realm: realm, channel: Channel(id: realm.channel("lobby")),
                sentAt: noon,
                kind: .resumed(Continuation(owner: owner, step: "do[1]"), .due))
        }
        #expect(turn.take(event("owner"), at: noon, as: account).actions.map(\.action.by) == ["owner"])
        let orphan = turn.take(event("gone"), at: noon, as: account)
        #expect(orphan.isOrphan)
        #expect(orphan.actions.isEmpty)
    }

    @Test func `a handler that asks for what is not in memory is asked again once it is`() {
        let asked = Locked(0)
        let other = realm.user("ben")
        let key = MemoryKey(owner: "seen", name: "seen", subject: .user(other))
        let handler = Handler("seen") { event, situation in
            asked.withLock { $0 += 1 }
            guard case .number(let number)? = situation.memory.value(of: key) else { return .nothing }
            return .send("\(number)", about: event)
        }
        let source = Memory(isComplete: true)
        #expect(source.apply([.set(key, .number(7), keep: nil)]))
        let rows = source.takeChanges().compactMap { change in
            change.body.map { StoredRow(key: change.key, body: $0) }
        }

        let memory = Memory(isComplete: false)
        var turn = Turn(handlers: HandlerTable([handler]), directory: Directory(), memory: memory)
        let event = says("when?")
        var progress = turn.begin(event, at: noon, as: account)
        var isDone = turn.advance(&progress, event)
        #expect(!isDone)
        memory.insert([], for: memory.takeMissing())
        isDone = turn.advance(&progress, event)
        #expect(!isDone)
        #expect(memory.takeMissing() == [.user(other)])
        memory.insert(rows, for: [.user(other)])
        isDone = turn.advance(&progress, event)
        #expect(isDone)
        #expect(asked.withLock { $0 } == 2)
        #expect(progress.outcome.actions.map(\.action.verb) == [.send(Outgoing("7"))])
    }
}
