import Chat
import ChatTesting
@testable import Engine
import Testing

@Suite struct LoopGuards {
    let realm = Identities().realm("test")
    let noon = Timestamp(milliseconds: 1_781_524_800_000)

    private func says(_ text: String, _ seconds: Double, isBot: Bool = false) -> ChatEvent {
        let at = noon + .milliseconds(Int64(seconds * 1000))
        var event = ChatEvent.message(text, from: "ana", id: "\(seconds)", realm: realm, at: at)
        guard var message = event.message else { return event }
        message.author.isBot = isBot
        event.kind = .messageAdded(message)
        return event
    }

    /// Lets `ana` write `count` messages, each `pause` after our answer to the one before; says how many were answered.
    private func exchange(_ count: Int, pause: Double, isBot: Bool = false, sameText: Bool = false) -> Int {
        var guardian = LoopGuard(LoopGuard.Limits())
        var answers = 0
        for number in 0..<count {
            let event = says(
                sameText ? "ping" : "ping \(number)", Double(number) * (pause + 0.1), isBot: isBot)
            _ = guardian.heard(event)
            guard !guardian.isSilent("pong", towards: realm.user("ana"), at: event.sentAt) else { continue }
            _ = guardian.answered(event, by: "pong")
            guardian.heardOurselves(in: realm.channel("lobby"), at: event.sentAt + .milliseconds(100))
            answers += 1
        }
        return answers
    }

    @Test func `two programs that feed each other stop after five exchanges`() {
        #expect(exchange(100, pause: 0.5) == 5)
    }

    @Test func `a program that takes its time is recognised when the service says that it is one`() {
        #expect(exchange(20, pause: 8, isBot: true) == 5)
    }

    @Test func `people who think before they write may go on`() {
        #expect(exchange(100, pause: 3) == 100)
    }

    @Test func `the same text is answered three times in two minutes`() {
        #expect(exchange(10, pause: 10, sameText: true) == 3)
        #expect(exchange(10, pause: 70, sameText: true) == 10)
    }

    @Test func `a backlog of one person is no loop`() {
        var guardian = LoopGuard(LoopGuard.Limits())
        for number in 0..<50 {
            let event = says("\(number)", Double(number))
            #expect(guardian.heard(event) == [])
            #expect(!guardian.isSilent("pong", towards: realm.user("ana"), at: event.sentAt))
            // Our answers come after all of them.
            #expect(guardian.answered(event, by: "pong") == [])
        }
    }

    @Test func `silence is one rule's towards one sender, ends, and is told once`() {
        var guardian = LoopGuard(LoopGuard.Limits())
        var told: [LoopGuard.Silenced] = []
        for number in 0..<4 { told += guardian.answered(says("ping", Double(number)), by: "pong") }
        #expect(told.map(\.rule) == ["pong"])
        let ana = realm.user("ana")
        #expect(guardian.isSilent("pong", towards: ana, at: noon + .seconds(10)))
        #expect(!guardian.isSilent("faq", towards: ana, at: noon + .seconds(10)))
        #expect(!guardian.isSilent("pong", towards: realm.user("ben"), at: noon + .seconds(10)))
        #expect(!guardian.isSilent("pong", towards: ana, at: noon + .seconds(603)))
    }

    @Test func `a silent rule still removes what it must remove`() {
        let handler = Handler("strict") { event, _ in
            guard let place = event.place, let message = event.message else { return .nothing }
            var decision = Decision()
            decision.actions = [
                ChatAction(.deleteMessage(MessageReference(message)), in: place),
                ChatAction(.send(Outgoing("do not")), in: place),
            ]
            return decision
        }
        var turn = Turn(
            handlers: HandlerTable([handler]), directory: Directory(), memory: Memory(isComplete: true))
        let account = Turn.Account(
            name: "test", own: nil, abilities: Abilities(events: [], actions: [], textLimit: .init(1, .bytes))
        )
        let counts = (0..<4).map { number in
            turn.take(says("bad", Double(number)), at: noon, as: account).actions.count
        }
        #expect(counts == [2, 2, 2, 1])
    }

    @Test func `of three messages that answer each other one is a person's, or there is no fourth`() {
        let rule = Handler("pong") { event, _ in
            guard let place = event.place, let message = event.message else { return .nothing }
            var decision = Decision()
            decision.actions = [
                ChatAction(.reply(Outgoing("pong"), to: MessageReference(message)), in: place),
                ChatAction(.send(Outgoing("seen")), in: Place(account: "test", channel: "staff")),
            ]
            decision.answers = 1
            return decision
        }
        let abilities = Abilities(events: [], actions: [], textLimit: .init(1, .bytes))
        let account = Turn.Account(name: "test", own: nil, abilities: abilities)
        /// How many answers there are to messages by a person or a program (`true`) that answer what we said before.
        func answers(_ authors: [Bool]) -> [Int] {
            var turn = Turn(
                handlers: HandlerTable([rule]), directory: Directory(), memory: Memory(isComplete: true))
            return authors.enumerated().map { number, isBot in
                var event = says("text \(number)", Double(number) * 60, isBot: isBot)
                guard var message = event.message else { return -1 }
                if number > 0 { message.replyTo = "own \(number - 1)" }
                event.kind = .messageAdded(message)
                let outcome = turn.take(event, at: event.sentAt, as: account)
                var own = says("pong", Double(number) * 60 + 5)
                own.kind = .messageAdded(
                    Message(
                        id: "own \(number)", author: Member(user: realm.user("steward")), text: "pong",
                        replyTo: message.id))
                if outcome.actions.count == 2 { turn.heardOurselves(own) }
                #expect(outcome.answers == outcome.actions.count - 1)
                #expect(
                    outcome.notes.map(\.text)
                        == (outcome.actions.count == 2
                            ? []
                            : [
                                "no answer: the last three who answered each other are programs"
                            ]))
                return outcome.actions.count - 1
            }
        }
        #expect(answers([true, true]) == [1, 0])
        #expect(answers([false, true, true]) == [1, 1, 0])
        #expect(answers([true, false, true, true]) == [1, 1, 1, 0])
        #expect(answers([false, false, false]) == [1, 1, 1])
    }

    @Test func `staff are told once of a rule that became silent, whoever it is silent towards`() {
        let rule = Handler("pong") { event, _ in
            guard let place = event.place else { return .nothing }
            var decision = Decision()
            decision.actions = [ChatAction(.send(Outgoing("pong")), in: place)]
            return decision
        }
        let abilities = Abilities(events: [], actions: [], textLimit: .init(1, .bytes))
        let directory = Directory(
            accounts: ["other": .init(service: "test", abilities: abilities, joins: ["staff"])])
        var turn = Turn(
            handlers: HandlerTable([rule]), directory: directory, memory: Memory(isComplete: true))
        let account = Turn.Account(name: "test", own: nil, abilities: abilities)
        func notes(from sender: String, _ seconds: Int) -> [String] {
            (0..<4).flatMap { number in
                let at = noon + .seconds(seconds + number)
                let event = ChatEvent.message(
                    "ping", from: sender, id: "\(sender)\(seconds + number)", realm: realm, at: at)
                let actions = turn.take(event, at: at, as: account).actions.map(\.action)
                #expect(actions.filter { $0.by == "pong" }.count == (number < 3 ? 1 : 0))
                return actions.compactMap { action -> String? in
                    guard case .send(let outgoing) = action.verb, action.by == "steward" else { return nil }
                    return "\(action.place): \(outgoing.text)"
                }
            }
        }
        let why = "the same text 3 times in 120 s. It looked like two programs that answer each other."
        #expect(notes(from: "ana", 0) == ["other:staff: ⚠️ \"pong\" is silent towards ana for 10m: \(why)"])
        #expect(notes(from: "ben", 300) == [])
        #expect(notes(from: "cho", 900) == ["other:staff: ⚠️ \"pong\" is silent towards cho for 10m: \(why)"])
    }

    /// How many actions come of each of so many events, when a rule answers each with so many messages.
    private func answers(of parts: Int, to events: [ChatEvent]) -> [Int] {
        let handler = Handler("rules") { event, _ in
            guard let place = event.place else { return .nothing }
            var decision = Decision()
            decision.actions = (1...parts).map { ChatAction(.send(Outgoing("part \($0)")), in: place) }
            decision.answers = 1
            return decision
        }
        var turn = Turn(
            handlers: HandlerTable([handler]), directory: Directory(), memory: Memory(isComplete: true))
        let account = Turn.Account(
            name: "test", own: nil, abilities: Abilities(events: [], actions: [], textLimit: .init(1, .bytes))
        )
        return events.map { turn.take($0, at: noon, as: account).actions.count }
    }

    @Test(arguments: [3, 5])
    func `an answer of several messages is one answer`(_ parts: Int) {
        #expect(
            answers(of: parts, to: [says("what are the rules", 0), says("rules please", 10)]) == [
                parts, parts,
            ])
        // It is a loop all the same when it goes on.
        let same = (0..<5).map { says("rules", Double($0) * 10) }
        #expect(answers(of: parts, to: same) == [parts, parts, parts, 0, 0])
    }
}
