internal import FoundationEssentials
internal import Rules

/// `steward test`: the examples and tests in the rules.
enum TestCommand {
    static let command = Command(
        name: "test", summary: "run the examples and tests in the rules",
        details: """
            Checks the rules as "steward check" does and runs their examples and tests. An example must match the text \
            condition of its rule, or must not; a test plays its steps on a clock and a chat that are made up, and \
            shows what was expected beside what was done. Ends with 1 when one does not hold. With --watch it does so \
            again whenever a file of the bots or the configuration changes, until it is interrupted.
            """,
        options: [
            .config,
            .init(name: "rule", value: "ID", summary: "those of one rule alone"),
            .init(name: "junit", value: "FILE", summary: "writes the results as XML, too, for CI systems"),
            .init(name: "watch", value: nil, summary: "runs them again when a file changes"),
        ]
    ) { arguments in
        guard arguments.has("watch") else { return run(arguments) }
        return await watch(arguments)
    }

    private static func run(_ arguments: Arguments) -> ExitCode {
        Bots.look(arguments) { config, rules, _ in
            let rule = arguments["rule"]
            if let rule, !rules.ruleNames.contains(rule) {
                let hint = Suggestion.hint(for: rule, among: rules.ruleNames).map { " - \($0)" } ?? ""
                Terminal.complain("steward test: there is no rule \"\(rule)\"\(hint)\n")
                return .usage
            }
            let tried = TriedRules(rules, of: rule, limits: config.turnLimits)
            Terminal.print(findings: tried.report)
            print(
                "\(tried.summary) (\(tried.took / .milliseconds(1) < 1 ? "under 1" : "\(Int(tried.took / .milliseconds(1)))") ms)"
            )
            if let file = arguments["junit"] {
                do {
                    try Data(tried.junit.utf8).write(to: URL(filePath: file))
                } catch {
                    Terminal.complain("\(file): cannot be written\n")
                    return .findings
                }
            }
            return tried.hold ? .fine : .findings
        }
    }

    private static func watch(_ arguments: Arguments) async -> ExitCode {
        let file = arguments["config"] ?? Config.usualFile
        while true {
            // Looked at before the run, so that what changes meanwhile is not missed.
            let before = WatchedFiles(config: file)
            Terminal.clear()
            _ = run(arguments)
            Terminal.flush()
            repeat {
                guard (try? await Task.sleep(for: .milliseconds(250))) != nil else { return .fine }
            } while WatchedFiles(config: file) == before
        }
    }
}
