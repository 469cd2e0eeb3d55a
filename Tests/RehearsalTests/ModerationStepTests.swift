import Chat
import Engine
import Rules
import Testing

@testable import Rehearsal

/// Tests in bots' files of rules that keep order.
@Suite(.timeLimit(.minutes(1))) struct ModerationStepTests {
    private func failures(_ tests: String) throws -> [String] {
        let text =
            """
            version: 1
            ladders: {conduct: {forgive: 1 per 7d, steps: {2: [{mute: 10m}], 4: [{ban: 30d}]}}}
            modes: {raid: {clears_after: 30m}}
            defaults: {report_to: staff}
            rules:
              bad: {when: [messageAdded, messageEdited], if: {text: bad}, do: [delete, {strike: {reason: badness}}]}
              flood: {when: messageAdded, if: {rate: 3 messages in 10s per user}, do: [{delete: burst}, {mute: {for: 5m, reason: flooding}}]}
              raid: {when: [messageAdded, messageEdited], if: {text: raid}, do: [{enter_mode: raid}, {lock: 10m}, {slowmode: 30s}]}
              out: {when: [messageAdded, messageEdited], if: {text: out, mode: raid}, do: [kick, {report: out}]}
              give: {when: [messageAdded, messageEdited], if: {text: give, user: {permit: {not: links}}}, do: [{permit: {what: links, for: 5m}}]}
            tests:
              - name: it

            """ + tests.split(separator: "\n").map { "    \($0)\n" }.joined()
        let loaded = RuleSet.load(
            [BotSource(name: "bot.yaml", bytes: Array(text.utf8))], directory: BotTestTests.moderated)
        #expect(loaded.findings.map(\.description) == [])
        return BotTests.run(try #require(loaded.rules)).compactMap { $0.failure?.report }
    }

    @Test(arguments: [
        "steps:\n  - {say: bad, as: ana, expect: [delete, {strike: 1, user: ana}]}",
        "given: {users: {ana: {strikes: 1}}}\nsteps:\n  - {say: bad, as: ana, expect: [delete, {strike: {points: 1, reason: badness}}, {mute: 10m, user: ana}]}",
        // A week later one point is forgiven.
        "given: {users: {ana: {strikes: {conduct: 3}}}}\nsteps:\n  - {at: 7d, say: bad, as: ana, expect: [delete, {strike: 1}]}",
        // Strikes outlive a restart.
        "steps:\n  - {say: bad, as: ana, expect: [delete, strike]}\n  - restart\n  - {at: 1m, say: bad, as: ana, expect: [delete, strike, {mute: 10m}]}\n  - {at: 2m, restart: 1m}\n  - {at: 5m, say: hello, as: ana, expect: [delete]}\n  - {at: 12m, say: hello, as: ana, expect: nothing}",
        "steps:\n  - {repeat: 3, every: 1s, say: \"x{{ n }}\", as: ana, expect: nothing}",
        "steps:\n  - {repeat: 3, every: 1s, say: \"x{{ n }}\", as: ana}\n  - expect: [{delete: burst, count: 3}, {mute: {for: 5m, reason: flood}}]",
        "given: {modes: raid}\nsteps:\n  - {say: out, as: ana, expect: [{kick: ana}, {report: out, to: staff}]}",
        "steps:\n  - {say: raid, as: ana, expect: [{enter_mode: raid}, {lock: 10m}, {slowmode: 30s}]}\n  - {at: 29m, restart: 1m, expect: [leave_mode]}\n  - {at: 31m, say: out, as: ana, expect: nothing}",
        "steps:\n  - {say: give, as: ana, expect: [{permit: links, for: 5m}]}\n  - {at: 4m, say: give, as: ana, expect: nothing}\n  - {at: 5m, say: give, as: ana, expect: [permit]}",
        "given: {users: {ana: {permit: links}}}\nsteps:\n  - {say: give, as: ana, expect: nothing}",
    ])
    func `what keeps order is expected like everything else`(_ steps: String) throws {
        // The fifth is wrong on purpose: a burst is never nothing.
        let isWrong = steps.contains("\"x{{ n }}\", as: ana, expect: nothing")
        #expect(try failures(steps).isEmpty != isWrong)
    }

    @Test func `what was done is told beside what was expected`() throws {
        let told = try failures(
            "given: {users: {ana: {strikes: 1}}}\nsteps:\n  - {say: bad, as: ana, expect: [{delete: bad}, {strike: 2}, {mute: 5m}]}"
        )
        #expect(
            told == [
                """
                bot.yaml:15:9: error: test "it", step 1 after 0s: 2 of 3 expected actions missing, 2 actions not expected
                  expected                             │   done
                ───────────────────────────────────────┼───────────────────────────────────────
                ✓ delete: bad                          │ ✓ delete of ana in lobby: bad
                ✗ strike 2                             │ ✗ strike 1 of ana: badness
                ✗ mute for 5m                          │ ✗ mute for 10m of ana in lobby
                """
            ])
    }
}

extension BotTestTests {
    static let moderated: Directory = {
        var directory = BotTestTests.directory
        let abilities = Abilities(
            events: Set(EventName.allCases), actions: ["reply", "send", "dm", "delete", "kick"],
            textLimit: .init(200, .codePoints))
        directory.accounts["town"] = .init(
            service: "fake", abilities: abilities, joins: ["general", "staff"])
        return directory
    }()
}
