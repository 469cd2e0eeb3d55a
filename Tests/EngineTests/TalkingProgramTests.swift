import Chat
import ChatTesting
@testable import Engine
import Testing

/// Programs that answer whatever is said, us included.
@Suite(.timeLimit(.minutes(1))) struct TalkingPrograms {
    private func rig(_ handler: Handler = .echo, _ lines: Locked<[String]> = Locked([])) -> Rig {
        var rig = Rig([handler])
        rig.settings.limits.loops = LoopGuard.Limits()
        rig.log = Log { line in lines.withLock { $0.append("\(line.level): \(line.text)") } }
        return rig
    }

    private func answers(_ chat: FakeChat) -> [String] {
        chat.allMessages(in: "lobby").filter { $0.key != nil }.map(\.text)
    }

    @Test func `a program that answers each answer is answered five times, and the log says so once`()
        async throws
    {
        let lines = Locked<[String]>([])
        let rig = rig(.echo, lines)
        let chat = rig.chat
        try await rig.runReady { engine in
            var said = 0
            chat.say("0", as: "eve", in: "lobby")
            // It speaks whenever we did, and goes on by itself when we are silent.
            while said < 30 {
                let count = said
                if count < 5 { await chat.wait { answers($0).count > count } }
                said += 1
                chat.say("\(said)", as: "eve", in: "lobby")
            }
            while await engine.metrics.decided < 31 { await Task.yield() }
            // Others are answered all the same.
            chat.say("hello", as: "ana", in: "lobby")
            await chat.wait { answers($0).contains("re: hello") }
        }
        #expect(answers(chat).count == 6)
        #expect(
            lines.withLock { $0.filter { $0.contains("silent") } } == [
                "warning: echo is silent towards eve for a while: 5 exchanges in 60 s"
            ])
    }

    @Test func `a program that says the same again and again is answered three times`() async throws {
        let rig = rig()
        let chat = rig.chat
        try await rig.runReady { engine in
            for _ in 0..<20 { chat.say("unknown command", as: "eve", in: "lobby", isBot: true) }
            while await engine.metrics.taken < 23 { await Task.yield() }
        }
        #expect(answers(chat) == Array(repeating: "re: unknown command", count: 3))
    }

    @Test func `a second account of ours is not answered, on whichever account it is heard`() async throws {
        let chat = FakeChat()
        let services = ["one", "two"].map {
            FakeChatService(chat, name: $0, user: "bot-\($0)", channels: ["lobby"])
        }
        let rig = Rig([.echo], chat: chat, services: services)
        try await rig.runReady { engine in
            chat.say("one says", as: "bot-one", in: "lobby")
            chat.say("two says", as: "bot-two", in: "lobby")
            chat.say("hi", as: "ana", in: "lobby")
            await chat.wait { !answers($0).isEmpty }
            while await engine.metrics.taken < 8 { await Task.yield() }
            #expect(await engine.metrics.dropped[.own] ?? 0 >= 3)
        }
        #expect(answers(chat) == ["re: hi"])
    }

    @Test func `own words that come back under a bridge's name are not answered`() async throws {
        var intake = Intake()
        let realm = Identities().realm("fake")
        intake.identified(as: realm.user("steward"))
        intake.sent("M1", in: realm)
        for account in ["one", "two"] {
            let event = ChatEvent.message("re: hi", from: "bridge", id: "M1", realm: realm, account: account)
            #expect(intake.admit(event) != .new)
        }
    }
}
