internal import FoundationEssentials
internal import Rehearsal
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
        guard arguments.has("watch") else { return runAndReport(arguments) }
        return await watch(arguments)
    }

    /// With the results in a file where one is named: also what kept the tests from being run, so that no older
    /// results are taken for these.
    private static func runAndReport(_ arguments: Arguments) -> ExitCode {
        var junit = JUnitReport()
        junit.add(
            "the rules can be read", of: "steward", took: .zero,
            failure: ("they cannot", "steward check shows the mistakes"))
        var text = junit.text
        let end = run(arguments, &text)
        guard end != .usage, let file = arguments["junit"] else { return end }
        do {
            try Data(text.utf8).write(to: URL(filePath: file))
        } catch {
            Terminal.complain("steward test: \(file): cannot be written\n")
            return end == .fine ? .findings : end
        }
        return end
    }

    private static func run(_ arguments: Arguments, _ junit: inout String) -> ExitCode {
        Bots.look(arguments) { config, rules, _ in
            let rule = arguments["rule"]
            if let rule, !rules.ruleNames.contains(rule) {
                let hint = Suggestion.hint(for: rule, among: rules.ruleNames).map { " - \($0)" } ?? ""
                Terminal.complain("steward test: there is no rule \"\(rule)\"\(hint)\n")
                return .usage
            }
            let tried = TriedRules(rules, of: rule, limits: config.turnLimits)
            Terminal.print(findings: tried.report)
            let took = Int(tried.took / .milliseconds(1))
            print("\(tried.summary) (\(took < 1 ? "under 1" : "\(took)") ms)")
            if let rule, tried.isEmpty {
                print("\"\(rule)\" has none of its own; those that stand beside the rules run without --rule")
            }
            junit = tried.junit
            return tried.hold ? .fine : .findings
        }
    }

    private static func watch(_ arguments: Arguments) async -> ExitCode {
        let file = arguments["config"] ?? Config.usualFile
        while true {
            // Looked at before the run, so that what changes meanwhile is not missed.
            let before = WatchedFiles(config: file)
            Terminal.clear()
            _ = runAndReport(arguments)
            Terminal.flush()
            repeat {
                guard (try? await Task.sleep(for: .milliseconds(250))) != nil else { return .fine }
            } while WatchedFiles(config: file) == before
        }
    }
}
