package import Chat
package import Engine
package import Rules

/// Events of the past through the present rules, and through others beside them. Nothing is sent.
package struct Replay {
    /// What one rule made of the events.
    package struct Tally: Sendable {
        /// How often the rules that are in use match, and the others.
        package var old = 0
        package var new = 0
        /// Some of what matched; of two sets of rules, what only one of them matched.
        package var samples: [String] = []
        package var onlyOld: [String] = []
        package var onlyNew: [String] = []

        package init() {}
    }

    package private(set) var events = 0
    /// By rule, under its new name where the others have renamed it; rules on dry run count as well.
    package private(set) var tallies: [String: Tally] = [:]
    /// The rules that the others have under a new name: that name by the one in use.
    package let renamed: [String: String]
    private var old: Rehearsal
    private var new: Rehearsal?

    private static let mostSamples = 3

    /// Time begins with the first event.
    package init(
        _ rules: RuleSet, beside others: RuleSet?, limits: Turn.Limits, identities: Identities,
        from start: Timestamp
    ) {
        // Nobody answers back, so the answers of these rules cannot be a loop.
        var limits = limits
        limits.loops = nil
        let rehearsal = { (rules: RuleSet) in
            let directory = rules.directoryForTests
            return Rehearsal(
                rules.freshHandlers, directory: directory, limits: limits,
                chat: RehearsedChat(directory, people: [], identities: identities), now: start
            ) { _, _ in nil }
        }
        old = rehearsal(rules)
        new = others.map(rehearsal)
        renamed = others?.renamed(from: rules) ?? [:]
        for rule in self.rules(rules, others) { tallies[rule] = Tally() }
    }

    /// What there is a tally for, in the order in which it is asked.
    package func rules(_ rules: RuleSet, _ others: RuleSet?) -> [String] {
        let names = rules.ruleNames.map { renamed[$0] ?? $0 }
        return names + (others?.ruleNames ?? []).filter { !names.contains($0) }
    }

    /// One event after another, in the order of their times.
    package mutating func take(_ event: ChatEvent) {
        events += 1
        let before = old.matches(of: event).map { (rule: renamed[$0.rule] ?? $0.rule, text: $0.text) }
        guard new != nil else {
            for (rule, text) in before {
                tallies[rule, default: Tally()].old += 1
                note(text, in: \.samples, of: rule)
            }
            return
        }
        let after = new?.matches(of: event) ?? []
        for (rule, text) in before {
            tallies[rule, default: Tally()].old += 1
            if !after.contains(where: { $0.rule == rule }) { note(text, in: \.onlyOld, of: rule) }
        }
        for (rule, text) in after {
            tallies[rule, default: Tally()].new += 1
            if !before.contains(where: { $0.rule == rule }) { note(text, in: \.onlyNew, of: rule) }
        }
    }

    private mutating func note(_ text: String, in samples: WritableKeyPath<Tally, [String]>, of rule: String)
    {
        guard tallies[rule, default: Tally()][keyPath: samples].count < Self.mostSamples else { return }
        tallies[rule, default: Tally()][keyPath: samples].append(text)
    }
}

extension Rehearsal {
    /// The rules that match an event, or what came due before it, and what each matched in words.
    fileprivate mutating func matches(of event: ChatEvent) -> [(rule: String, text: String)] {
        advance(to: event.sentAt)
        deliver([event])
        return takeDeeds().matches.map { rule, event in
            (rule.hasSuffix(" (dry)") ? String(rule.dropLast(6)) : rule, event.inWords)
        }
    }
}
