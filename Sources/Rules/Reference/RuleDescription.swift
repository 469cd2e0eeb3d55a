internal import Chat

/// What a rule is for, for people who did not write it.
package struct RuleDescription: Sendable {
    package var name: String
    package var file: String
    package var about: String?
    package var events: [String]
    /// Empty: every channel.
    package var places: [String]
    /// `guard`, `answer` or `observe`.
    package var stage: String
    package var matching: [String]
    package var notMatching: [String]
}

extension RuleSet {
    /// All rules, in order.
    package var descriptions: [RuleDescription] {
        rules.map { rule in
            RuleDescription(
                name: rule.id, file: rule.file, about: rule.source.about,
                events: rule.source.when.map(\.value.rawValue), places: rule.source.places.map(\.value),
                stage: "\(rule.stage)", matching: rule.source.matching.map(\.value),
                notMatching: rule.source.notMatching.map(\.value))
        }
    }
}
