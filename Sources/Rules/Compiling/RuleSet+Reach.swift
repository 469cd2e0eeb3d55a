package import Chat

/// What a rule may have to do to others, and where.
package struct RuleReach: Sendable {
    package var rule: String
    /// Its actions by their names.
    package var actions: Set<String>
    let scope: Scope
    let directory: Directory

    /// Whether something that happens in the channel may set it off.
    package func contains(_ channel: Channel, account: String) -> Bool {
        scope.contains(channel, account: account, directory)
    }
}

extension RuleSet {
    /// The reach of each rule that is live.
    package var reaches: [RuleReach] {
        rules.filter { $0.source.run == .live && !$0.isHelp }.map { rule in
            let verbs = rule.source.allSteps.map(\.verb.rawValue)
            return RuleReach(
                rule: rule.id, actions: Set(verbs), scope: scopes[rule.scope], directory: directory)
        }
    }
}
