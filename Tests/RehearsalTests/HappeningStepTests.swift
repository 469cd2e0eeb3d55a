import Chat
import Engine
import Rules
import Testing

@testable import Rehearsal

/// Steps of tests that are no messages: reactions, and entries of ban lists.
@Suite(.timeLimit(.minutes(1))) struct HappeningStepTests {
    private static let bot = """
        version: 1
        rules:
          liked:
            when: reactionAdded
            if: {reaction: "👍"}
            do: [{reply: "{{ user.name }} likes {{ reaction.message }}"}]
          bin:
            when: reactionAdded
            if: {reaction: "🗑️", user: {role: moderator}}
            exempt: none
            do: [delete]
          unliked:
            when: reactionRemoved
            do: [{send: "{{ user.name }} took {{ reaction.key }} away"}]
          banned:
            when: memberJoined
            if: {policy: coc}
            do: [{kick: "{{ policy.entity }}: {{ policy.reason }}"}]
          listed:
            when: [policyAdded, policyRemoved]
            do: [{send: {to: staff, text: "{{ by.id }}: {{ policy.subject }} {{ policy.entity }} in {{ policy.list }}"}}]
        tests:
          - name: it

        """

    private static let directory: Directory = {
        var directory = BotTestTests.moderated
        directory.policyLists = ["coc"]
        // What a service has read meanwhile is not what a test sees.
        directory.policies.set([Policy(list: "coc", subject: .user, entity: "ana")], of: "coc")
        return directory
    }()

    private func loaded(_ tests: String) -> LoadedRules {
        let text = Self.bot + tests.split(separator: "\n").map { "    \($0)\n" }.joined()
        return RuleSet.load([BotSource(name: "bot.yaml", bytes: Array(text.utf8))], directory: Self.directory)
    }

    @Test(arguments: [
        "steps:\n  - {say: hi, as: ana}\n  - {react: \"👍\", as: ben, expect: [{reply: ben likes general-0}]}",
        // Colours of skin make no difference; another emoji does.
        "steps:\n  - {say: hi, as: ana}\n  - {react: \"👍🏽\", as: ben, expect: [reply]}\n  - {react: \"👎\", expect: nothing}",
        "steps:\n  - {say: hi, as: ana}\n  - {say: ho, as: ben}\n  - {react: {emoji: \"👍\", of: ana, by: cho}, expect: [{reply: cho likes general-0}]}\n  - {react: {emoji: \"👍\", of: steward, by: cho}, expect: [{reply: cho likes general-2}]}",
        "given: {users: {mo: {role: moderator}}}\nsteps:\n  - {say: hi, as: ana}\n  - {react: \"🗑\", as: ben, expect: nothing}\n  - {react: \"🗑\", as: mo, expect: [{delete: hi, user: ana}]}",
        "steps:\n  - {say: hi, as: ana}\n  - {unreact: \"👍\", as: ben, expect: [{send: ben took 👍 away, to: lobby}]}",
        "steps:\n  - {join: ana, expect: nothing}\n  - {policy: {list: coc, add: \"ana\", reason: spam}, expect: [{send: \"server ana\", to: staff}]}",
        """
        steps:
          - {policy: {list: coc, add: "@e*:evil.example", reason: raids}, as: mo, expect: [{send: "mo: user @e*:evil.example in coc", to: staff}]}
          - {join: "@eve:evil.example", expect: [{kick: "@eve:evil.example"}]}
          - {join: "@ana:evil.example", expect: nothing}
          - {restart: 1m}
          - {policy: {list: coc, remove: "@e*:evil.example"}, expect: [send]}
          - {join: "@ed:evil.example", expect: nothing}
        """,
    ])
    func `reactions and entries of ban lists happen in tests`(_ steps: String) throws {
        let loaded = loaded(steps)
        #expect(loaded.findings.map(\.description) == [])
        #expect(BotTests.run(try #require(loaded.rules)).compactMap { $0.failure?.report } == [])
    }

    @Test func `there must be a message to react to`() throws {
        let rules = try #require(loaded("steps:\n  - {react: \"👍\", expect: nothing}").rules)
        #expect(BotTests.run(rules).compactMap { $0.failure?.problem } == ["there is no message to react to"])
    }

    @Test(arguments: [
        ("{react: {of: ana}, expect: nothing}", "this does not say which emoji - add emoji: \"👍\""),
        ("{reaction: \"👍\", expect: nothing}", "unknown step \"reaction\" - did you mean \"react\"?"),
        (
            "{policy: {add: \"*.evil\"}, expect: nothing}",
            "this does not say which list - add list: and its name in config.yaml"
        ),
        (
            "{policy: {list: coc}, expect: nothing}",
            "an entry is added or removed - write add: \"*.evil.example\", or remove: in its place"
        ),
        (
            "{policy: {list: cc, add: x}, expect: nothing}",
            "unknown ban list \"cc\" - did you mean \"coc\"?"
        ),
        (
            "{react: \"👍\", say: hi, expect: nothing}",
            "one thing happens in a step - put \"- \" before what happens next"
        ),
    ])
    func `what cannot happen is a mistake with the way out`(_ step: String, _ told: String) {
        let errors = loaded("steps:\n  - \(step)").errors
        #expect(errors.map { $0.problem + ($0.hint.map { " - \($0)" } ?? "") } == [told])
    }
}
