import Chat
import Testing

@testable import Rules

@Suite struct PluginConditionTests {
    /// Offers a condition on the index of a message.
    struct Numbers: Plugin {
        struct Settings: Decodable, Sendable {}

        let name = "numbers"
        let stage = Stage.observe

        init(settings: Settings) {}

        var conditions: [PluginCondition] {
            [
                PluginCondition("every", "Each message whose index is a multiple.") { text in
                    guard let number = Int64(text), number > 0 else { throw NotANumber(text: text) }
                    return { event, _ in event.message?.index.map { $0 % number == 0 } ?? false }
                },
                PluginCondition("odd", "Each other message.") { _ in
                    { event, _ in event.message?.index.map { $0 % 2 == 1 } ?? false }
                },
            ]
        }

        func decide(_ event: ChatEvent, in situation: Situation) -> Decision { .nothing }
    }

    struct NotANumber: Error, CustomStringConvertible {
        var text: String
        var description: String { "\"\(text)\" is not a number" }
    }

    private func load(_ condition: String) -> LoadedRules {
        let text =
            "version: 1\nrules:\n  it: {when: messageAdded, if: {plugin: \(condition)}, do: [{reply: \"yes\"}]}\n"
        return RuleSet.load(
            [BotSource(name: "x.yaml", bytes: Array(text.utf8))], directory: Scene.directory(),
            plugins: [Numbers(settings: .init())])
    }

    @Test(arguments: [
        ("{numbers: {every: 3}}", [3, 6]), ("{numbers: odd}", [1, 3, 5]),
        ("{numbers: {every: 2, odd: \"yes\"}}", []),
    ])
    func `a rule asks what a plugin offers`(_ condition: String, _ expected: [Int64]) throws {
        let rules = try #require(load(condition).rules)
        let scene = try Scene(rule: "    when: messageAdded\n    do: [{reply: \"x\"}]\n")
        let matching = try (1...6).filter { (index: Int64) in
            var message = scene.message("x", by: scene.member("ana"))
            message.index = index
            let event = scene.event(.messageAdded(message), in: scene.channel("general"))
            return try rules.handlers.contains {
                try !$0.decide(event, in: scene.situation(for: event)).isEmpty
            }
        }
        #expect(matching == expected)
    }

    @Test(arguments: [
        ("{nubmers: odd}", "x.yaml:3:42: error: no plugin \"nubmers\" is in use - did you mean \"numbers\"?"),
        (
            "{numbers: even}",
            "x.yaml:3:51: error: plugin \"numbers\" offers no condition \"even\" - it offers every, odd"
        ),
        ("{numbers: {every: x}}", "x.yaml:3:59: error: \"x\" is not a number"),
    ])
    func `a mistake names the way out`(_ condition: String, _ expected: String) {
        #expect(load(condition).errors.map(\.description) == [expected])
    }
}
