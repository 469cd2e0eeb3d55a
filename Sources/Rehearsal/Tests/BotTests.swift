package import Engine
package import Rules

/// Runs the tests of bots' files: by the engine's own turn, a clock that is moved by hand, and a chat that is made up.
package enum BotTests {
    package struct Result: Sendable {
        package var test: BotTest
        /// Nil when it holds.
        package var failure: BotTestFailure?
        package var took: Duration
    }

    /// All tests, or those of one rule, in the order of the files.
    package static func run(_ rules: RuleSet, of rule: String? = nil, limits: Turn.Limits = .init())
        -> [Result]
    {
        var results: [Result] = []
        for test in rules.tests where rule == nil || test.rule == rule {
            let start = ContinuousClock.now
            var run = BotTestRun(test, rules, limits: limits)
            let failure = run.run()
            results.append(Result(test: test, failure: failure, took: ContinuousClock.now - start))
        }
        return results
    }
}
