internal import Unicode
internal import YAML

/// An example of a rule that does not hold.
package struct ExampleFailure: Sendable, Equatable, CustomStringConvertible {
    package var rule: String
    package var file: String
    package var line: Int
    package var column: Int
    package var text: String
    package var shouldMatch: Bool

    package var problem: String {
        let wanted = shouldMatch ? "should match, and does not" : "should not match, and does"
        return "example \"\(text.shortened)\" of \"\(rule)\" \(wanted)"
    }

    package var description: String { "\(file):\(line):\(column): error: \(problem)" }
}

extension RuleSet {
    /// How many examples the rules have, or one of them.
    package func exampleCount(of rule: String? = nil) -> Int {
        rules.filter { rule == nil || $0.id == rule }.reduce(0) {
            $0 + $1.source.matching.count + $1.source.notMatching.count
        }
    }

    /// Tries the examples of all rules, or of one: whether their texts match. Nothing else is looked at.
    package func runExamples(of rule: String? = nil) -> [ExampleFailure] {
        var turn = RuleTurn(lanes: lanes.count, probes: probes.count, rules: rules.count)
        var failures: [ExampleFailure] = []
        for candidate in rules where rule == nil || candidate.id == rule {
            let examples =
                candidate.source.matching.map { ($0, true) }
                + candidate.source.notMatching.map { ($0, false) }
            for (example, shouldMatch) in examples
            where turn.textMatches(example.value, candidate, self) != shouldMatch {
                failures.append(
                    ExampleFailure(
                        rule: candidate.id, file: example.spot.file, line: example.spot.place.line,
                        column: example.spot.place.column, text: example.value, shouldMatch: shouldMatch))
            }
        }
        return failures
    }
}

extension RuleTurn {
    /// Whether the conditions of a rule that look at texts hold for a text, whoever wrote it.
    mutating func textMatches(_ text: String, _ rule: Rule, _ set: RuleSet) -> Bool {
        guard let condition = rule.condition else { return false }
        scan(text, set.lanesOfRules[rule.number], set)
        return textHolds(condition) != false
    }

    /// Nil where it depends on more than the text.
    private func textHolds(_ condition: Condition) -> Bool? {
        switch condition {
        case .found(let probe): return isFound(probe)
        case .has: return true
        case .near(let test, let probe):
            return isFound(probe) && test.lanes.contains { test.matches(state(of: $0).words) }
        case .user, .count, .links, .hosts, .mentions, .caps, .time, .check, .rate, .plugin, .mode,
            .reaction, .by, .policy:
            return nil
        case .all(let list):
            let answers = list.map(textHolds)
            return answers.contains(false) ? false : answers.contains(nil) ? nil : true
        case .any(let list):
            let answers = list.map(textHolds)
            return answers.contains(true) ? true : answers.contains(nil) ? nil : false
        case .not(let inner): return textHolds(inner).map { !$0 }
        }
    }
}
