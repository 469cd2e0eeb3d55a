internal import Chat
internal import Rules

/// `steward check`: every mistake of the configuration and the bots, with its place.
enum CheckCommand {
    static let command = Command(
        name: "check", summary: "read the configuration and all rules; show every mistake",
        details: """
            Reads the configuration and the bots' files and shows every mistake with its file, line, column and what was \
            probably meant, and the examples and tests that do not hold. Ends with 1 when there are mistakes in rules, with 78 \
            when the configuration itself is wrong.
            """,
        options: [.config]
    ) { arguments in
        Bots.look(arguments) { config, rules, warnings in
            let tried = TriedRules(rules, limits: config.turnLimits)
            Terminal.print(findings: tried.report)
            guard tried.hold else { return .findings }
            Terminal.print(findings: warnings.map { $0.report + "\n" }.joined())
            let ending = warnings.isEmpty ? "" : ", \(counted(warnings.count, "warning"))"
            print("\(counted(rules.ruleNames.count, "rule")), no mistakes\(ending)")
            return .fine
        }
    }
}
