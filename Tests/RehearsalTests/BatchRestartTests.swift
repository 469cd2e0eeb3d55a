import Chat
import Rehearsal
import Rules
import Testing

@testable import Engine

@Suite(.timeLimit(.minutes(1))) struct BatchRestarts {
    private let bot = """
        version: 1
        rules:
          welcome:
            when: memberJoined
            in: lobby
            once: per user
            batch: 20s
            do:
              - send: {text: "Welcome, {{ users | join }}!"}
              - dm: "Hi {{ user.name }}"
        """

    @Test func `who came before a restart is greeted after it, and once`() async throws {
        let clock = ManualClock()
        let chat = FakeChat(now: { clock.now })
        let service = FakeChatService(chat, name: "fake", channels: ["lobby"])
        let directory = Directory(
            accounts: ["fake": .init(service: "fake", abilities: service.abilities, joins: ["lobby"])])
        let loaded = RuleSet.load([BotSource(name: "bot.yaml", bytes: Array(bot.utf8))], directory: directory)
        let handlers = try #require(loaded.rules).handlers
        let journal = MemoryJournal()
        func run(_ body: @escaping @Sendable (Engine) async throws -> Void) async throws {
            try await Engine.run(
                EngineSettings(), accounts: [EngineAccount(name: "fake", service: service)],
                handlers: handlers, directory: directory, journal: journal, identities: chat.identities,
                time: clock, log: .silent
            ) { engine in
                await engine.wait { $0.isReady }
                try await body(engine)
            }
        }
        try await run { engine in
            let decided = await engine.metrics.decided
            chat.join("ana", "lobby")
            chat.join("ben", "lobby")
            while await engine.metrics.decided < decided + 2 { await Task.yield() }
            #expect(await engine.metrics.continuations == 1)
        }
        #expect(chat.messages(in: "lobby").isEmpty)
        clock.advance(by: .seconds(60))
        try await run { _ in
            await chat.wait { chat in chat.performed.count >= 3 }
        }
        let said = chat.performed.map { "\($0)" }
        #expect(said.count == 3)
        #expect(chat.messages(in: "lobby").map(\.text).contains("Welcome, ana and ben!"))
        clock.advance(by: .seconds(60))
        try await run { engine in
            let decided = await engine.metrics.decided
            chat.leave("ana", "lobby")
            chat.join("ana", "lobby")
            while await engine.metrics.decided < decided + 2 { await Task.yield() }
            #expect(await engine.metrics.continuations == 0)
        }
        #expect(chat.performed.count == 3)
    }
}
