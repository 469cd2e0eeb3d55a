import Chat
import ChatTesting
import Testing

@testable import Engine

@Suite(.timeLimit(.minutes(1))) struct Outboxes {
    private func rig(_ handlers: [any EventHandler] = [Handler.echo], _ time: any TimeSource = SystemTime())
        -> Rig
    {
        Rig(handlers, time: time)
    }

    private func texts(_ rig: Rig, _ channel: String = "lobby") -> [String] {
        rig.chat.allMessages(in: channel).filter { $0.key != nil }.map(\.text)
    }

    @Test func `answers of a channel come in the order of its messages`() async throws {
        let rig = rig()
        try await rig.runReady { _ in
            for number in 0..<200 {
                rig.chat.say("\(number)", as: "user\(number)", in: number % 2 == 0 ? "lobby" : "staff")
            }
        }
        // Nobody waited: leaving the engine sends what was taken, and what was not is read in the next run.
        try await rig.runReady { _ in await rig.chat.wait { $0.performed.count == 200 } }
        #expect(texts(rig) == (0..<100).map { "re: \($0 * 2)" })
        #expect(texts(rig, "staff") == (0..<100).map { "re: \($0 * 2 + 1)" })
    }

    @Test func `a pause that the service asks for is kept, and then everything goes out in order`()
        async throws
    {
        let clock = ManualClock()
        let rig = rig([Handler.echo], clock)
        rig.chat.script([.fails(.rateLimited(after: .seconds(300), "too many"))])
        try await rig.runReady { engine in
            let start = clock.now
            for number in 0..<3 { rig.chat.say("\(number)", as: "ana", in: "lobby") }
            // Nobody else sleeps as long.
            await clock.waitForSleeper(until: start + .seconds(300))
            #expect(rig.chat.performed.isEmpty)
            clock.advance(by: .seconds(299))
            #expect(rig.chat.performed.isEmpty)
            // Chance adds up to a tenth.
            clock.advance(by: .seconds(40))
            await rig.chat.wait { $0.performed.count == 3 }
            #expect(await engine.metrics.actions[.rateLimited] == 1)
        }
        #expect(texts(rig) == ["re: 0", "re: 1", "re: 2"])
    }

    @Test func `what was rejected is not tried again, and whoever waits for it is told`() async throws {
        let handler = Handler("rule") { event, _ in
            guard let place = event.place ?? Optional(Place(account: "fake", channel: "staff")) else {
                return .nothing
            }
            switch event.kind {
            case .messageAdded:
                var decision = Decision()
                decision.actions = [
                    ChatAction(
                        .send(Outgoing("first")), in: place, then: Continuation(owner: "rule", step: "report")
                    )
                ]
                return decision
            case .resumed(let continuation, .failed(let why)):
                var decision = Decision()
                decision.actions = [
                    ChatAction(
                        .send(Outgoing("\(continuation.step): \(why)")),
                        in: Place(account: "fake", channel: "staff"))
                ]
                return decision
            default: return .nothing
            }
        }
        let rig = rig([handler])
        rig.chat.script([.fails(.rejected("not allowed"))])
        try await rig.runReady { _ in
            rig.chat.say("hi", as: "ana", in: "lobby")
            await rig.chat.wait { !$0.messages(in: "staff").isEmpty }
        }
        #expect(texts(rig) == [])
        #expect(texts(rig, "staff") == ["report: not allowed"])
    }

    @Test func `an action with unknown outcome is looked for before it is repeated`() async throws {
        let rig = rig()
        rig.chat.script([
            .failsAfterwards(.unknownOutcome("connection lost")), .fails(.unknownOutcome("connection lost")),
        ])
        try await rig.runReady { engine in
            rig.chat.say("done", as: "ana", in: "lobby")
            await rig.chat.wait { $0.lookUps == 1 }
            rig.chat.say("not done", as: "ana", in: "lobby")
            await rig.chat.wait { $0.allMessages(in: "lobby").count == 4 }
            #expect(await engine.metrics.actions[.unknownOutcome] == 2)
        }
        #expect(texts(rig) == ["re: done", "re: not done"])
        #expect(rig.chat.lookUps == 2)
    }

    @Test func `an unknown outcome is looked up as soon as a new connection is complete`() async throws {
        let clock = ManualClock()
        var rig = rig([Handler.echo], clock)
        rig.settings.lookUpAfter = .seconds(3600)
        try await rig.runReady { [chat = rig.chat] engine in
            chat.script([.failsAfterwards(.unknownOutcome("connection lost"))])
            chat.say("hi", as: "ana", in: "lobby")
            while await engine.metrics.actions[.unknownOutcome] != 1 { await Task.yield() }
            chat.setReachable(false)
            await engine.wait { !$0.isReady }
            chat.setReachable(true)
            await chat.wait { $0.lookUps == 1 }
        }
        #expect(texts(rig) == ["re: hi"])
    }

    @Test func `what cannot be reached waits for the next connection, without trying meanwhile`() async throws
    {
        let rig = rig()
        try await rig.runReady { engine in
            rig.chat.script([.fails(.unreachable("gone"))])
            rig.chat.say("hi", as: "ana", in: "lobby")
            await engine.wait { _ in true }
            await rig.chat.wait { $0.performed.count == 1 }
        }
        #expect(texts(rig) == ["re: hi"])
        let down = self.rig()
        try await down.runReady { engine in
            down.chat.say("hi", as: "ana", in: "lobby")
            down.chat.setReachable(false)
            await engine.wait { $0.accounts["fake"]?.status != .up }
            down.chat.setReachable(true)
            await down.chat.wait { $0.performed.count == 1 }
        }
        #expect(texts(down) == ["re: hi"])
    }

    @Test func `moderation goes before talk`() async throws {
        let clock = ManualClock()
        let handler = Handler("rule", .guard) { event, _ in
            guard case .messageAdded(let message) = event.kind, let place = event.place else {
                return .nothing
            }
            var decision = Decision()
            decision.actions =
                message.text == "bad"
                ? [ChatAction(.deleteMessage(MessageReference(message)), in: place)]
                : [ChatAction(.send(Outgoing(message.text)), in: place)]
            return decision
        }
        let rig = rig([handler], clock)
        rig.chat.script([.fails(.rateLimited(after: .seconds(300), "too many"))])
        try await rig.runReady { engine in
            let start = clock.now
            rig.chat.say("talk 1", as: "ana", in: "lobby")
            rig.chat.say("talk 2", as: "ana", in: "lobby")
            // Nobody else sleeps as long.
            await clock.waitForSleeper(until: start + .seconds(300))
            rig.chat.say("bad", as: "ben", in: "lobby")
            while await engine.metrics.outboxes["fake"] != 3 { await Task.yield() }
            clock.advance(by: .seconds(331))
            await rig.chat.wait { $0.performed.count == 3 }
        }
        #expect(rig.chat.performed.map(\.isModeration) == [true, false, false])
    }

    @Test func `endless trouble ends in a failure, not in endless tries`() async throws {
        let rig = rig()
        rig.chat.script([FakeChat.Fault](repeating: .fails(.rateLimited(after: .zero, "quota")), count: 20))
        try await rig.runReady { engine in
            rig.chat.say("hi", as: "ana", in: "lobby")
            while await engine.metrics.actions[.failed] != 1 { await Task.yield() }
            rig.chat.say("again", as: "ana", in: "lobby")
            await rig.chat.wait { $0.performed.count == 1 }
        }
        #expect(texts(rig) == ["re: again"])
    }

    @Test func `actions that call a channel by its name and by its id are one queue`() async throws {
        let service = SlowService()
        let (gate, time) = (EngineGate(), SystemTime())
        let queue = BatchQueue<Work>()
        let inbox = AccountInbox(
            account: "slow", limit: 10, queue: queue, gate: gate, time: time, log: .silent,
            cursors: { _ in [:] })
        let outbox = Outbox(
            [(EngineAccount(name: "slow", service: service), inbox)], settings: EngineSettings(),
            queue: queue, gate: gate, counters: Counters(), time: time, log: .silent)
        inbox.report(.up)
        func send(_ numbers: Range<Int>) {
            for number in numbers {
                let place = Place(account: "slow", channel: number % 2 == 0 ? "lobby" : "CH1")
                outbox.add([
                    OpenAction(
                        key: ActionKey(text: "\(number)"),
                        action: ChatAction(.send(Outgoing("\(number)")), in: place), event: "", realm: "",
                        since: time.now, order: Int64(number))
                ])
            }
        }
        // The name is learned while the first one is under way.
        send(0..<1)
        async let running: Void = outbox.run()
        await service.begun.wait(past: 0)
        outbox.learn("lobby", of: "CH1", account: "slow")
        send(1..<50)
        service.goOn.fire()
        await outbox.finish()
        try await running
        #expect(service.order.withLock { $0 } == (0..<50).map { "\($0)" })
    }

    private func outbox(_ service: SlowService, rate: RateLimit? = nil, channelsAtOnce: Int = 8) -> Outbox {
        let (gate, time) = (EngineGate(), SystemTime())
        let queue = BatchQueue<Work>()
        let inbox = AccountInbox(
            account: "slow", limit: 10, queue: queue, gate: gate, time: time, log: .silent,
            cursors: { _ in [:] })
        var settings = EngineSettings()
        settings.channelsAtOnce = channelsAtOnce
        inbox.report(.up)
        return Outbox(
            [(EngineAccount(name: "slow", service: service, rate: rate), inbox)], settings: settings,
            queue: queue, gate: gate, counters: Counters(), time: time, log: .silent)
    }

    private func open(_ verb: ChatAction.Verb, _ name: String, in channel: String = "lobby") -> OpenAction {
        OpenAction(
            key: ActionKey(text: name),
            action: ChatAction(verb, in: Place(account: "slow", channel: channel)), event: "", realm: "",
            since: Timestamp(milliseconds: 0), order: 0)
    }

    private func deletion(_ index: Int64) -> OpenAction {
        open(.deleteMessage(MessageReference(id: "M\(index)", index: index)), "delete \(index)")
    }

    @Test func `who disturbs is stopped first, then the newest messages go, then talk`() async throws {
        let service = SlowService()
        let outbox = outbox(service)
        outbox.add([open(.send(Outgoing("first")), "first")])
        async let running: Void = outbox.run()
        await service.begun.wait(past: 0)
        outbox.add(
            [open(.send(Outgoing("talk")), "talk")] + [1, 2, 4, 3].map { deletion($0) } + [
                open(.removeMember(user: "eve"), "kick eve"), open(.removeMember(user: "max"), "kick max"),
                deletion(5),
            ])
        service.goOn.fire()
        await outbox.finish()
        try await running
        #expect(
            service.order.withLock { $0 } == [
                "first", "kick eve", "kick max", "delete 5", "delete 4", "delete 3", "delete 2", "delete 1",
                "talk",
            ])
    }

    @Test
    func `moderation of one channel goes before talk of others where they share what an account may do`()
        async throws
    {
        let service = SlowService()
        let outbox = outbox(service, rate: RateLimit(1, per: .milliseconds(20)))
        outbox.add([open(.send(Outgoing("first")), "first", in: "a")])
        async let running: Void = outbox.run()
        await service.begun.wait(past: 0)
        outbox.add(
            (0..<4).map { open(.send(Outgoing("x")), "talk", in: "b\($0)") }
                + (0..<4).map { open(.removeMember(user: "u\($0)"), "kick", in: "c\($0)") })
        service.goOn.fire()
        await outbox.finish()
        try await running
        let order = service.order.withLock { $0 }
        #expect(
            order == ["first"] + [String](repeating: "kick", count: 4) + [String](repeating: "talk", count: 4)
        )
    }

    @Test func `a channel with moderation gets the place of one that only talks`() async throws {
        let service = SlowService()
        let outbox = outbox(service, channelsAtOnce: 1)
        outbox.add((0..<100).map { open(.send(Outgoing("x")), "talk", in: $0 % 2 == 0 ? "a" : "b") })
        async let running: Void = outbox.run()
        await service.begun.wait(past: 0)
        outbox.add([open(.removeMember(user: "eve"), "kick", in: "c")])
        outbox.add([open(.removeMember(user: "max"), "kick", in: "b")])
        service.goOn.fire()
        await outbox.finish()
        try await running
        let order = service.order.withLock { $0 }
        #expect(order.count == 102)
        #expect(order.prefix(60).count { $0 == "kick" } == 2)
    }

    @Test func `an action that takes too long is looked for, and then done`() async throws {
        let clock = ManualClock()
        let rig = rig([Handler.echo], clock)
        rig.chat.script([.hangs])
        try await rig.runReady { [chat = rig.chat] engine in
            let start = clock.now
            chat.say("hi", as: "ana", in: "lobby")
            await chat.wait { $0.hanging == 1 }
            await clock.waitForSleeper(until: start + .seconds(60))
            clock.advance(by: .seconds(59))
            #expect(await engine.metrics.actions[.unknownOutcome] == nil)
            clock.advance(by: .seconds(2))
            // Others sleep, too, so nobody knows when it does.
            while await engine.metrics.actions[.unknownOutcome] != 1 {
                clock.advance(by: .milliseconds(1))
                await Task.yield()
            }
            while chat.performed.count != 1 {
                clock.advance(by: .milliseconds(1))
                await Task.yield()
            }
        }
        #expect(texts(rig) == ["re: hi"])
        #expect(rig.chat.lookUps == 1)
    }

    @Test func `an account's own rate limit spreads its actions`() {
        let noon = Timestamp(milliseconds: 1_781_524_800_000)
        var limit = RateLimit(5, per: .seconds(10))
        #expect((0..<5).allSatisfy { _ in limit.take(at: noon) == .zero })
        #expect(limit.take(at: noon) == .seconds(2))
        #expect(limit.take(at: noon + .seconds(2)) == .zero)
        #expect(limit.take(at: noon + .seconds(2)) == .seconds(2))
        #expect(limit.take(at: noon + .seconds(60)) == .zero)
    }

    @Test func `waits grow to a limit, and two are seldom the same`() {
        var backoff = Backoff(first: .seconds(1), most: .seconds(60), jitter: 0.25)
        let waits = (0..<200).map { _ in backoff.next() }
        #expect(waits.allSatisfy { $0 <= .seconds(60) })
        #expect(waits[0] >= .milliseconds(750))
        #expect(waits.dropFirst(10).allSatisfy { $0 >= .seconds(45) })
        #expect(Set(waits.dropFirst(10)).count > 100)
    }
}

/// Lets others run while it does something.
private final class SlowService: ChatService {
    let abilities = Abilities(events: [], actions: ["send"], textLimit: .init(4096, .codePoints))
    let order = Locked<[String]>([])
    let begun = Signal()
    /// The first one takes until this is fired.
    let goOn = Signal()

    func run(_ inbox: any Inbox) async throws {}

    func perform(_ action: ChatAction, key: ActionKey) async throws(ChatServiceError) -> Receipt {
        order.withLock { $0.append(key.text) }
        begun.fire()
        await goOn.wait(past: 0)
        for _ in 0..<20 { await Task.yield() }
        return Receipt()
    }

    func find(
        _ action: ChatAction, key: ActionKey, since: Timestamp
    ) async throws(ChatServiceError) -> Receipt? { nil }
}
