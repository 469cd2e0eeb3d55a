import Chat
import Rehearsal
import Rules
import Testing

@testable import Engine

/// Rules and an engine, through restarts and lost connections.
@Suite(.timeLimit(.minutes(1))) struct FlakyLines {
    /// Runs these rules on one store; each body is one run of steward.
    private func runs(
        _ bot: String, chat: FakeChat, _ bodies: [@Sendable (Engine, FakeChat) async throws -> Void]
    ) async throws {
        let service = FakeChatService(chat, name: "fake", channels: ["lobby"])
        let directory = Directory(
            accounts: [
                "fake": .init(service: "fake", abilities: service.abilities, joins: ["lobby", "staff"])
            ])
        let loaded = RuleSet.load([BotSource(name: "bot.yaml", bytes: Array(bot.utf8))], directory: directory)
        #expect(loaded.errors.map(\.description) == [])
        let rules = try #require(loaded.rules)
        let journal = MemoryJournal()
        var settings = EngineSettings()
        settings.backoff = Backoff(first: .milliseconds(1), most: .milliseconds(50))
        for body in bodies {
            try await Engine.run(
                settings, accounts: [EngineAccount(name: "fake", service: service)],
                handlers: rules.freshHandlers, directory: directory, journal: journal,
                identities: chat.identities, log: .silent
            ) { engine in
                await engine.wait { $0.isReady }
                try await body(engine, chat)
            }
        }
    }

    private func flap(_ engine: Engine, _ chat: FakeChat) async {
        for _ in 0..<5 {
            let decided = await engine.metrics.decided
            chat.leave("ana", "lobby")
            chat.join("ana", "lobby")
            chat.rename("ana", to: "Ana Lund", in: "lobby")
            while await engine.metrics.decided < decided + 3 { await Task.yield() }
        }
    }

    @Test(arguments: ["once: per user", "if: {user: {first_time: true}}"])
    func `who comes and goes is greeted once, over restarts and lost connections`(_ line: String) async throws
    {
        let chat = FakeChat()
        let bot =
            "version: 1\nrules:\n  welcome:\n    when: memberJoined\n    \(line)\n    do: [{send: \"Welcome, {{ user.name }}!\"}]\n"
        let first: @Sendable (Engine, FakeChat) async throws -> Void = { engine, chat in
            chat.join("ana", "lobby")
            await chat.wait { $0.performed.count == 1 }
            await flap(engine, chat)
            chat.setReachable(false)
            await engine.wait { !$0.isReady }
            chat.leave("ana", "lobby")
            chat.join("ana", "lobby")
            chat.setReachable(true)
            await engine.wait { $0.isReady }
            await flap(engine, chat)
        }
        let again: @Sendable (Engine, FakeChat) async throws -> Void = { engine, chat in
            await flap(engine, chat)
        }
        try await runs(bot, chat: chat, [first, again, again])
        #expect(chat.messages(in: "lobby").map(\.text) == ["Welcome, ana!"])
    }

    @Test func `who is in the channel when steward comes is greeted by nobody`() async throws {
        let chat = FakeChat()
        for number in 0..<20 { chat.join("u\(number)", "lobby") }
        let bot = "version: 1\nrules: {welcome: {when: memberJoined, do: [{send: \"Welcome!\"}]}}"
        try await runs(
            bot, chat: chat,
            [
                { engine, chat in
                    for _ in 0..<3 {
                        chat.setReachable(false)
                        await engine.wait { !$0.isReady }
                        chat.setReachable(true)
                        await engine.wait { $0.isReady }
                    }
                    chat.join("new", "lobby")
                    await chat.wait { $0.performed.count == 1 }
                }
            ])
        #expect(chat.messages(in: "lobby").map(\.text) == ["Welcome!"])
    }

    @Test func `a split that heals is no raid, before and after a restart`() async throws {
        let chat = FakeChat()
        let bot = """
            version: 1
            rules:
              raid: {when: memberJoined, if: {rate: 10 joins in 30s per channel}, do: [{send: {to: lobby, text: "raid"}}]}
            """
        for number in 0..<40 { chat.join("u\(number)", "lobby") }
        let split: @Sendable (Engine, FakeChat) async throws -> Void = { engine, chat in
            let decided = await engine.metrics.decided
            for number in 0..<40 { chat.leave("u\(number)", "lobby") }
            for number in 0..<40 { chat.join("u\(number)", "lobby") }
            while await engine.metrics.decided < decided + 80 { await Task.yield() }
        }
        try await runs(bot, chat: chat, [split, split])
        #expect(chat.messages(in: "lobby").map(\.text) == [])
    }
}
