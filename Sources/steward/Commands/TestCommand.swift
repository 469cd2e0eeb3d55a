internal import Chat
internal import Rules

/// `steward test`: the examples in the rules.
enum TestCommand {
    static let command = Command(
        name: "test", summary: "run the examples in the rules",
        details: """
            Checks the rules as "steward check" does and runs their examples: each "match" must match the rule's text \
            condition, each "no_match" must not.
            """,
        options: [.config]
    ) { arguments in
        Bots.look(arguments) { _, rules, _ in
            let failures = rules.runExamples()
            Terminal.print(findings: failures.map { "\($0)\n" }.joined())
            print("\(rules.exampleCount - failures.count) passed, \(failures.count) failed")
            return failures.isEmpty ? .fine : .findings
        }
    }
}
