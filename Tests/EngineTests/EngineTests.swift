import Chat
import ChatTesting
import Testing

@testable import Engine

@Suite(.timeLimit(.minutes(1))) struct Engines {
    private func answers(_ chat: FakeChat, _ channel: String = "lobby") -> [String] {
        chat.allMessages(in: channel).filter { $0.key != nil }.map(\.text)
    }

    @Test func `a message is answered, and our own answer is not`() async throws {
        let rig = Rig([.echo])
        try await rig.runReady { _ in
            rig.chat.say("hello", as: "ana", in: "lobby")
            await rig.chat.wait { $0.messages(in: "lobby").count == 2 }
            rig.chat.say("more", as: "ana", in: "lobby")
            await rig.chat.wait { $0.messages(in: "lobby").count == 4 }
        }
        #expect(rig.chat.messages(in: "lobby").map(\.text) == ["hello", "re: hello", "more", "re: more"])
    }

    @Test func `what was said before the first log-in is history`() async throws {
        let rig = Rig([.echo])
        rig.chat.say("old", as: "ana", in: "lobby")
        try await rig.runReady { _ in
            rig.chat.say("new", as: "ana", in: "lobby")
            await rig.chat.wait { $0.performed.count == 1 }
        }
        #expect(answers(rig.chat) == ["re: new"])
    }

    @Test func `what was said while steward was away is answered once it is back`() async throws {
        let rig = Rig([.echo])
        try await rig.runReady { _ in }
        rig.chat.say("meanwhile", as: "ana", in: "lobby")
        try await rig.runReady { _ in await rig.chat.wait { $0.performed.count == 1 } }
        #expect(answers(rig.chat) == ["re: meanwhile"])
    }

    @Test func `nothing is decided before it is known who we are`() async throws {
        let asked = Locked(0)
        let watch = Handler("watch", .observe) { event, _ in
            if event.message != nil { asked.withLock { $0 += 1 } }
            return .nothing
        }
        let rig = Rig([watch])
        rig.services[0].setFaults { $0.hidesIdentity = true }
        let offered = Locked(0)
        try await rig.run { engine in
            let inbox = try await engine.inbox("fake")
            let event = ChatEvent.message("hi", realm: rig.chat.realm, account: "fake")
            if await inbox.deliver([event]) == .behind { offered.withLock { $0 += 1 } }
            #expect(await engine.metrics.taken == 0)
        }
        #expect(offered.withLock { $0 } == 1)
        #expect(asked.withLock { $0 } == 0)
    }

    @Test func `an event that comes twice is answered once`() async throws {
        let rig = Rig([.echo])
        rig.services[0].setFaults { $0.copies = 3 }
        try await rig.runReady { engine in
            for number in 0..<10 { rig.chat.say("\(number)", as: "ana", in: "lobby") }
            await rig.chat.wait { $0.performed.count == 10 }
            // All copies are read, ours included.
            while await engine.metrics.taken != 60 { await Task.yield() }
            #expect(await engine.metrics.dropped[.own] == 10)
            #expect(await engine.metrics.dropped[.duplicate] == 40)
        }
        #expect(answers(rig.chat) == (0..<10).map { "re: \($0)" })
    }

    @Test func `two accounts in one room give one answer`() async throws {
        let chat = FakeChat()
        let services = ["one", "two"].map {
            FakeChatService(chat, name: $0, user: "bot-\($0)", channels: ["lobby"])
        }
        let rig = Rig([.echo], chat: chat, services: services)
        try await rig.runReady { engine in
            for number in 0..<50 { chat.say("\(number)", as: "ana", in: "lobby") }
            await chat.wait { $0.performed.count == 50 }
            while await engine.metrics.taken != 200 { await Task.yield() }
        }
        #expect(answers(chat) == (0..<50).map { "re: \($0)" })
    }

    @Test func `an account that fails leaves the others alone, and says why`() async throws {
        let chat = FakeChat()
        let services = ["good", "wrong", "flaky"].map {
            FakeChatService(chat, name: $0, user: "bot-\($0)", channels: [$0])
        }
        services[1].setFaults { $0.loginFailsForGood = "the token is of another service" }
        services[2].setFaults { $0.loginFails = "no route" }
        let rig = Rig([.echo], chat: chat, services: services)
        try await rig.run { engine in
            await engine.wait { $0.accounts["good"]?.status == .up }
            chat.say("hi", as: "ana", in: "good")
            await chat.wait { $0.performed.count == 1 }
            await engine.wait {
                $0.accounts["wrong"]?.status == .failed(reason: "the token is of another service")
                    && $0.accounts["flaky"]?.status == .down(reason: "no route")
            }
            #expect(!engine.state.isReady)
            // The flaky one is tried again by itself, the wrong one when somebody says so.
            services[2].setFaults { $0.loginFails = nil }
            await engine.wait { $0.accounts["flaky"]?.status == .up }
            services[1].setFaults { $0.loginFailsForGood = nil }
            engine.restart(account: "wrong")
            await engine.wait { $0.isReady }
        }
    }

    @Test func `when too much waits, events are read again later and none is lost`() async throws {
        var rig = Rig([.echo])
        rig.settings.inboxLimit = 5
        rig.settings.batchLimit = 2
        let chat = rig.chat
        try await rig.runReady { _ in
            for number in 0..<300 { chat.say("\(number)", as: "user\(number % 7)", in: "lobby") }
            await chat.wait { $0.performed.count == 300 }
        }
        #expect(answers(chat) == (0..<300).map { "re: \($0)" })
    }

    @Test func `a full outbox stops the decider, never a reader`() async throws {
        var rig = Rig([.echo])
        rig.settings.outboxLimit = 3
        rig.settings.batchLimit = 1
        let chat = rig.chat
        try await rig.runReady { _ in
            for number in 0..<100 { chat.say("\(number)", as: "ana", in: "lobby") }
            await chat.wait { $0.performed.count == 100 }
        }
        #expect(answers(chat) == (0..<100).map { "re: \($0)" })
    }

    @Test func `stopping takes nothing new and finishes what was taken`() async throws {
        let rig = Rig([.echo])
        let chat = rig.chat
        try await rig.runReady { engine in
            for number in 0..<50 { chat.say("\(number)", as: "ana", in: "lobby") }
            while await engine.metrics.taken == 0 { await Task.yield() }
            engine.close()
            let inbox = try await engine.inbox("fake")
            let taken = await inbox.deliver([.message("late", realm: chat.realm)])
            #expect(taken == .closed)
        }
        let taken = chat.performed.count
        #expect(taken > 0)
        #expect(answers(chat) == (0..<taken).map { "re: \($0)" })
    }

    @Test func `stopping has an end, and what is left is done in the next run`() async throws {
        let clock = ManualClock()
        let rig = Rig([.echo], time: clock)
        let chat = rig.chat
        chat.script([.hangs])
        let isSaid = Flag()
        let stopped = Task {
            try await rig.runReady { _ in
                chat.say("hi", as: "ana", in: "lobby")
                await chat.wait { $0.hanging == 1 }
                isSaid.set()
            }
        }
        await clock.waitForSleeper(until: clock.now + .seconds(20))
        await chat.wait { $0.hanging == 1 }
        while !isSaid.isSet { await Task.yield() }
        // The deadline is one of those who sleep now.
        while !stopped.isCancelled, chat.hanging == 1 {
            clock.advance(by: .seconds(5))
            await Task.yield()
        }
        _ = await stopped.result
        #expect(answers(chat) == [])
        try await rig.runReady { _ in await chat.wait { $0.performed.count == 1 } }
        #expect(answers(chat) == ["re: hi"])
    }

    @Test func `new rules count from the next event on`() async throws {
        let rig = Rig([.echo])
        try await rig.runReady { engine in
            rig.chat.say("one", as: "ana", in: "lobby")
            await rig.chat.wait { $0.performed.count == 1 }
            engine.replace(
                handlers: [
                    Handler("echo") { event, _ in event.message == nil ? .nothing : .reply("new", to: event) }
                ],
                directory: Directory())
            rig.chat.say("two", as: "ana", in: "lobby")
            await rig.chat.wait { $0.performed.count == 2 }
        }
        #expect(answers(rig.chat) == ["re: one", "new"])
    }

    @Test func `steward tells when it starts and when an account comes and goes`() async throws {
        let told = Locked<[String]>([])
        let watch = Handler("watch", .observe, needs: Needs(events: [.started, .serviceUp, .serviceDown])) {
            event, _ in
            told.withLock { $0.append(event.name?.rawValue ?? "") }
            return .nothing
        }
        let rig = Rig([watch])
        try await rig.runReady { engine in
            rig.chat.setReachable(false)
            await engine.wait { !$0.isReady }
            rig.chat.setReachable(true)
            await engine.wait { $0.isReady }
        }
        #expect(told.withLock { $0 } == ["started", "serviceUp", "serviceDown", "serviceUp"])
    }

    @Test func `a service that is tried again and again goes down once, and the log says so once`()
        async throws
    {
        let told = Locked<[String]>([])
        let lines = Locked<[String]>([])
        let watch = Handler("watch", .observe, needs: Needs(events: [.serviceUp, .serviceDown])) { event, _ in
            told.withLock { $0.append(event.name?.rawValue ?? "") }
            return .nothing
        }
        var rig = Rig([watch])
        rig.log = Log { line in lines.withLock { $0.append(line.text) } }
        let service = rig.services[0]
        try await rig.runReady { [chat = rig.chat] engine in
            service.setFaults { $0.loginFails = "no route" }
            chat.setReachable(false)
            await engine.wait { !$0.isReady }
            chat.setReachable(true)
            for _ in 0..<5 {
                await engine.wait { $0.accounts["fake"]?.status == .connecting }
                await engine.wait { $0.accounts["fake"]?.status == .down(reason: "no route") }
            }
            service.setFaults { $0.loginFails = nil }
            await engine.wait { $0.isReady }
        }
        #expect(told.withLock { $0 } == ["serviceUp", "serviceDown", "serviceUp"])
        #expect(lines.withLock { $0 }.count { $0 == "not connected: no route" } == 1)
    }

    @Test func `a cut line loses nothing and doubles nothing`() async throws {
        let rig = Rig([.echo])
        let chat = rig.chat
        try await rig.runReady { _ in
            for round in 0..<20 {
                for number in 0..<10 { chat.say("\(round * 10 + number)", as: "ana", in: "lobby") }
                chat.setReachable(false)
                for number in 0..<10 { chat.say("\(round * 10 + number)", as: "ben", in: "staff") }
                chat.setReachable(true)
            }
            await chat.wait { $0.performed.count == 400 }
        }
        #expect(answers(chat) == (0..<200).map { "re: \($0)" })
        #expect(answers(chat, "staff") == (0..<200).map { "re: \($0)" })
    }

    @Test
    func `who was greeted once is not greeted again, after a restart either, though few fit into memory`()
        async throws
    {
        let greet = Handler("greet", needs: Needs(events: [.memberJoined])) { event, situation in
            guard let member = event.member else { return .nothing }
            let key = MemoryKey(owner: "greet", name: "once", subject: .user(member.user))
            if situation.memory.value(of: key) != nil { return .nothing }
            #expect(situation.facts.firstSeen == nil)
            var decision = Decision.send("Welcome, \(member.name)!", about: event)
            decision.changes = [.claim(key, at: situation.now, most: 1, keep: nil)]
            return decision
        }
        let file = TemporaryFile()
        let chat = FakeChat()
        let people = (0..<40).map { "user\($0)" }
        for _ in 0..<3 {
            let journal = try await SQLiteJournal.open(file.path)
            var rig = Rig([greet], journal: journal, chat: chat)
            rig.settings.rowsInMemory = 5
            rig.settings.batchLimit = 7
            try await rig.runReady { engine in
                for _ in 0..<2 {
                    for name in people { chat.join(name, "lobby") }
                    for name in people { chat.leave(name, "lobby") }
                }
                while await engine.metrics.decided < 160 { await Task.yield() }
                #expect(await engine.metrics.rowsInMemory < 20)
            }
            await journal.close()
        }
        #expect(answers(chat) == people.map { "Welcome, \($0)!" })
    }

    @Test func `events are counted, and how long they took`() async throws {
        let rig = Rig([.echo])
        try await rig.runReady { engine in
            for number in 0..<20 { rig.chat.say("\(number)", as: "ana", in: "lobby") }
            while await engine.metrics.taken != 40 { await Task.yield() }
            while await engine.metrics.actions[.done] != 20 { await Task.yield() }
            let metrics = await engine.metrics
            #expect(metrics.answers == 20)
            #expect(metrics.actions == [.done: 20])
            #expect(metrics.dropped[.own] == 20)
            #expect(metrics.latency.count == 40)
            let half = try #require(metrics.latency.quantile(0.5))
            let most = try #require(metrics.latency.quantile(0.99))
            #expect(half > .zero && half <= most && most < .seconds(60))
        }
    }
}

extension EventHandler where Self == Handler {
    static var echo: Handler { Handler.echo }
}

extension Engine {
    /// The account's inbox, once the engine runs.
    func inbox(_ account: String) async throws -> AccountInbox {
        await wait { $0.phase != .starting }
        return try #require(inboxes.first { $0.account == account })
    }
}
