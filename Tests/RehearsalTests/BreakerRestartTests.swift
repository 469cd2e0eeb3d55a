import Chat
import Rehearsal
import Rules
import Testing

@testable import Engine

@Suite(.timeLimit(.minutes(1))) struct BreakerRestarts {
    private let bot = """
        version: 1
        rules:
          it:
            when: [messageAdded, messageEdited]
            if: {text: bad}
            do: [delete]
        """

    @Test func `a rule whose breaker has opened stays on dry run through a restart, for a day`() async throws
    {
        let clock = ManualClock()
        let chat = FakeChat(now: { clock.now })
        let service = FakeChatService(chat, name: "fake", channels: ["lobby"])
        let directory = Directory(
            accounts: ["fake": .init(service: "fake", abilities: service.abilities, joins: ["lobby"])])
        let journal = MemoryJournal()
        func says(_ text: String, times: Int) async throws {
            let loaded = RuleSet.load(
                [BotSource(name: "bot.yaml", bytes: Array(bot.utf8))], directory: directory)
            try await Engine.run(
                EngineSettings(), accounts: [EngineAccount(name: "fake", service: service)],
                handlers: try #require(loaded.rules).handlers, directory: directory, journal: journal,
                identities: chat.identities, time: clock, log: .silent
            ) { engine in
                await engine.wait { $0.isReady }
                let decided = await engine.metrics.decided
                for number in 1...times { chat.say("\(text) \(number)", as: "ana", in: "lobby") }
                while await engine.metrics.decided < decided + times { await Task.yield() }
            }
        }
        try await says("bad", times: 8)
        #expect(chat.performed.count == 5)
        try await says("bad", times: 8)
        #expect(chat.performed.count == 5)
        clock.advance(by: .seconds(86_401))
        try await says("bad", times: 8)
        #expect(chat.performed.count == 13)
    }
}
