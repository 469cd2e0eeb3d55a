internal import Engine
internal import Rehearsal
internal import Rules

/// What became of the examples and tests that stand in the rules.
struct TriedRules: Sendable {
    let examples: [ExampleFailure]
    let exampleCount: Int
    let tests: [BotTests.Result]
    let took: Duration
    private let examplesOfRules: [(rule: String, count: Int)]

    /// Tries those of all rules, or of one.
    init(_ rules: RuleSet, of rule: String? = nil, limits: Turn.Limits) {
        let start = ContinuousClock.now
        examples = rules.runExamples(of: rule)
        exampleCount = rules.exampleCount(of: rule)
        examplesOfRules = rules.ruleNames.filter { rule == nil || $0 == rule }.map {
            ($0, rules.exampleCount(of: $0))
        }
        tests = BotTests.run(rules, of: rule, limits: limits)
        took = ContinuousClock.now - start
    }

    var failed: Int { examples.count + failures.count }
    var hold: Bool { failed == 0 }
    var isEmpty: Bool { exampleCount == 0 && tests.isEmpty }
    private var failures: [BotTestFailure] { tests.compactMap(\.failure) }

    /// Each failure with what was expected and what was done; empty when all hold.
    var report: String { Finding.text(findings, as: .text) }

    /// The same for programs.
    var findings: [Finding] { examples.map { Finding($0) } + failures.map { Finding($0) } }

    /// One line, such as `12 examples and 3 tests hold`.
    var summary: String {
        var kinds: [String] = []
        if exampleCount > 0 || tests.isEmpty { kinds.append(counted(exampleCount, "example")) }
        if !tests.isEmpty || exampleCount == 0 { kinds.append(counted(tests.count, "test")) }
        let all = kinds.joined(separator: " and ")
        return hold ? "\(all) hold" : "\(failed) of \(all) \(failed == 1 ? "does" : "do") not hold"
    }

    /// For programs that collect the results of tests.
    var junit: String {
        var report = JUnitReport()
        for (rule, count) in examplesOfRules where count > 0 {
            let failures = examples.filter { $0.rule == rule }
            report.add(
                "examples", of: rule, took: .zero,
                failure: failures.first.map { _ in
                    (
                        "\(failures.count) of \(count) examples do not hold",
                        failures.map(\.description).joined(separator: "\n")
                    )
                })
        }
        for result in tests {
            report.add(
                result.test.name, of: result.test.rule ?? result.test.place.file, took: result.took,
                failure: result.failure.map { ($0.problem, $0.report) })
        }
        return report.text
    }
}

extension Config {
    /// What one event may cause.
    var turnLimits: Turn.Limits {
        var limits = Turn.Limits()
        limits.answersPerEvent = self.limits.answers_per_event ?? limits.answersPerEvent
        limits.staleAfter = self.limits.stale_after ?? limits.staleAfter
        limits.ceilings.bans = self.limits.bans?.ceiling ?? limits.ceilings.bans
        limits.ceilings.kicks = self.limits.kicks?.ceiling ?? limits.ceilings.kicks
        limits.ceilings.deletions = self.limits.deletions?.ceiling ?? limits.ceilings.deletions
        limits.reportTo = reportTo ?? limits.reportTo
        return limits
    }
}
