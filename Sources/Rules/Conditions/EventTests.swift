internal import Chat

/// Which reactions are meant, as it is written.
struct BotReactions: Sendable {
    var spot: Spot
    var keys: [Placed<String>]
}

/// Who did it, as it is written.
struct BotDoer: Sendable {
    enum Who: String, Sendable, CaseIterable { case member, steward, another }

    var spot: Spot
    var who: Set<Who>
}

/// Which ban lists are asked, as it is written.
struct BotPolicies: Sendable {
    var spot: Spot
    var lists: [Placed<String>]
}

/// Whether a reaction is one of those that are meant.
struct ReactionTest: Sendable {
    /// As they were written.
    let written: [Placed<String>]
    private let keys: Set<String>

    init(_ keys: [Placed<String>]) {
        written = keys
        self.keys = Set(keys.map { Self.plain($0.value) })
    }

    func holds(_ event: ChatEvent) -> Bool {
        event.reaction.map { keys.contains(Self.plain($0.key)) } ?? false
    }

    /// Without what only changes how an emoji looks: its colour of skin, and whether it is drawn or written.
    private static func plain(_ key: String) -> String {
        let scalars = key.unicodeScalars.filter { scalar in
            scalar.value != 0xFE0F && !(0x1F3FB...0x1F3FF).contains(scalar.value)
        }
        let text = String(String.UnicodeScalarView(scalars)).lowercased()
        return text.count > 2 && text.hasPrefix(":") && text.hasSuffix(":")
            ? String(text.dropFirst().dropLast()) : text
    }
}

/// Who did what happened: the member whom it is about, we, or somebody else.
struct DoerTest: Sendable {
    let who: Set<BotDoer.Who>

    static func doer(of event: ChatEvent, _ situation: Situation) -> BotDoer.Who {
        guard let by = event.by else { return .member }
        return by == situation.own ? .steward : .another
    }

    func holds(_ event: ChatEvent, _ situation: Situation) -> Bool {
        who.contains(Self.doer(of: event, situation))
    }

    var words: String { who.map(\.rawValue).sorted().joined(separator: " or ") }
}

/// Whether the member is in a ban list; for an event that is about a list, whether it is one of these.
struct PolicyTest: Sendable {
    let lists: [String]

    func match(_ event: ChatEvent, _ situation: Situation) -> Policy? {
        if let policy = event.policy { return lists.contains(policy.list) ? policy : nil }
        guard let user = event.member?.user.text else { return nil }
        return situation.directory.policies.match(user: user, in: lists)
    }

    var words: String { lists.joined(separator: " or ") }
}

extension Policy {
    /// As it is told: `@spam*:example.org in coc (advertising)`.
    var words: String { "\(entity.shortened) in \(list)" + (reason.map { " (\($0.shortened))" } ?? "") }
}

extension RuleCompiler {
    func compile(_ reactions: BotReactions, of rule: BotRule) -> Condition {
        let events = rule.when.map(\.value)
        if !events.isEmpty, !events.contains(where: \.hasReaction) {
            findings.error("\(rule.eventNames) has no reaction", at: reactions.spot)
        }
        let keys = resolved(reactions.keys)
        check(keys, in: rule.places)
        return .reaction(ReactionTest(keys))
    }

    func compile(_ policies: BotPolicies, of rule: BotRule) -> Condition {
        let events = rule.when.map(\.value)
        if !events.isEmpty, !rule.hasMember, !events.contains(where: \.hasPolicy) {
            findings.error("\(rule.eventNames) has no user", at: policies.spot)
        }
        for list in policies.lists { check(policyList: list) }
        return .policy(PolicyTest(lists: policies.lists.map(\.value)))
    }

    func check(policyList name: Placed<String>) {
        // Checked by itself, a file may name anything.
        guard !directory.accounts.isEmpty, !directory.policyLists.contains(name.value) else { return }
        findings.error(
            "unknown ban list \"\(name.value.shortened)\"", at: name.spot,
            hint: Suggestion.hint(for: name.value, among: directory.policyLists.sorted())
                ?? "name it in config.yaml: policies: {\(name.value.shortened): \"#room:server\"}",
            code: .unknownName)
    }
}

extension Condition {
    /// The ban lists that it asks.
    var policies: [PolicyTest] {
        switch self {
        case .policy(let test): [test]
        case .all(let list), .any(let list): list.flatMap(\.policies)
        case .not(let condition): condition.policies
        default: []
        }
    }
}

extension BotCondition {
    /// Whether it asks for a ban list.
    var asksForPolicy: Bool {
        switch self {
        case .policy: true
        case .all(let list), .any(let list): list.contains(where: \.asksForPolicy)
        case .not(let condition): condition.asksForPolicy
        default: false
        }
    }
}
