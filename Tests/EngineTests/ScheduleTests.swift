import Chat
import ChatTesting
import Testing

@testable import Engine

@Suite(.timeLimit(.minutes(1))) struct Schedules {
    /// Answers "in N" N seconds later.
    private let later = Handler("later") { event, situation in
        switch event.kind {
        case .messageAdded(let message):
            guard let seconds = Int64(message.text.dropFirst(3)) else { return .nothing }
            var decision = Decision()
            decision.later = [
                Continuation(
                    owner: "later", step: "do[1]", values: ["text": "\(seconds) s are over"],
                    due: situation.now + .seconds(seconds))
            ]
            return decision
        case .resumed(let continuation, .due): return .send(continuation.values["text"] ?? "", about: event)
        default: return .nothing
        }
    }

    private func answers(_ chat: FakeChat) -> [String] {
        chat.allMessages(in: "lobby").filter { $0.key != nil }.map(\.text)
    }

    private func waitUntilPutOff(_ count: Int, _ engine: Engine) async {
        while await engine.metrics.continuations != count { await Task.yield() }
    }

    /// A wait that was reckoned before the clock was moved, and begins afterwards, ends that much later.
    private func advance(_ clock: ManualClock, until count: Int, of chat: FakeChat) async {
        while chat.performed.count != count {
            clock.advance(by: .milliseconds(1))
            await Task.yield()
        }
    }

    @Test func `what was put off comes back at its time, in the order of the times`() async throws {
        let clock = ManualClock()
        let rig = Rig([later], time: clock)
        try await rig.runReady { engine in
            for seconds in [30, 10, 20] { rig.chat.say("in \(seconds)", as: "ana", in: "lobby") }
            await waitUntilPutOff(3, engine)
            await clock.waitForSleeper(until: clock.now + .seconds(10))
            clock.advance(by: .seconds(9))
            #expect(answers(rig.chat) == [])
            clock.advance(by: .seconds(1))
            await advance(clock, until: 1, of: rig.chat)
            clock.advance(by: .seconds(60))
            await advance(clock, until: 3, of: rig.chat)
        }
        #expect(answers(rig.chat) == ["10 s are over", "20 s are over", "30 s are over"])
    }

    @Test func `what became due while steward was away is done at its start, once`() async throws {
        let clock = ManualClock()
        let file = TemporaryFile()
        let chat = FakeChat(now: { clock.now })
        for round in 0..<3 {
            let journal = try await SQLiteJournal.open(file.path)
            let rig = Rig([later], journal: journal, chat: chat, time: clock)
            try await rig.runReady { engine in
                if round == 0 {
                    chat.say("in 3600", as: "ana", in: "lobby")
                    await waitUntilPutOff(1, engine)
                } else {
                    await chat.wait { $0.performed.count == 1 }
                }
            }
            await journal.close()
            clock.advance(by: .seconds(7200))
        }
        #expect(answers(chat) == ["3600 s are over"])
    }

    @Test func `what is due waits until it is known who we are`() async throws {
        let clock = ManualClock()
        let journal = MemoryJournal()
        let rig = Rig([later], journal: journal, time: clock)
        try await rig.runReady { engine in
            rig.chat.say("in 5", as: "ana", in: "lobby")
            await waitUntilPutOff(1, engine)
        }
        clock.advance(by: .seconds(10))
        rig.services[0].setFaults { $0.hidesIdentity = true }
        try await rig.run { engine in
            await engine.wait { $0.phase == .running }
            while await engine.metrics.decided == 0 { await Task.yield() }
        }
        #expect(answers(rig.chat) == [])
        rig.services[0].setFaults { $0.hidesIdentity = false }
        try await rig.runReady { _ in await rig.chat.wait { $0.performed.count == 1 } }
        #expect(answers(rig.chat) == ["5 s are over"])
    }

    @Test func `a rule that is gone loses what it had put off, and the log says so`() async throws {
        let clock = ManualClock()
        let lines = Locked<[String]>([])
        var rig = Rig([later], time: clock)
        rig.log = Log { line in lines.withLock { $0.append(line.text) } }
        try await rig.runReady { [rig] engine in
            rig.chat.say("in 5", as: "ana", in: "lobby")
            await waitUntilPutOff(1, engine)
            engine.replace(handlers: [], directory: Directory())
            await clock.waitForSleeper(until: clock.now + .seconds(5))
            clock.advance(by: .seconds(5))
            while await engine.metrics.dropped[.orphan] != 1 { await Task.yield() }
        }
        #expect(lines.withLock { $0 }.contains("later is gone, so its step do[1] is dropped"))
    }
}
