package import Chat
internal import YAML

extension RuleSet {
    /// What the rule that asks calls the action, such as `warn`; what the service is asked to do otherwise.
    package func word(for action: ChatAction) -> String {
        if action.path.hasSuffix(".delete_after") { return "delete" }
        let step = rule(owner: action.by)?.source.allSteps.last { step in
            action.path == step.path || action.path.hasPrefix(step.path + ".")
        }
        return step?.verb.rawValue ?? action.plainWord
    }
}

extension RuleSet {
    /// The channel in which a test of the rule plays: the first it looks at; the first of all without a rule, or when
    /// it looks at every channel. `direct` is a conversation with whoever acts.
    package func stage(ofTestIn rule: String?, _ directory: Directory) -> String {
        let joined = directory.accounts.sorted { $0.key < $1.key }.flatMap(\.value.joins)
        let names = joined + directory.channels.keys.sorted()
        let source = rule.flatMap(self.rule(owner:))?.source
        for place in source?.places ?? [] {
            guard place.value.contains("*") else { return place.value }
            if let name = names.first(where: { Scope.matches(glob: Array(place.value), Array($0)) }) {
                return name
            }
        }
        let left = Set((source?.notPlaces ?? []).map(\.value))
        return names.first { !left.contains($0) } ?? "lobby"
    }

    /// The directory, or one that has all channels that rules name when nothing is known.
    package var directoryForTests: Directory {
        guard directory.accounts.isEmpty else { return directory }
        let places = rules.flatMap { rule in
            rule.source.places + rule.source.notPlaces + rule.source.allSteps.flatMap(\.message.to)
        }
        let names = places.map(\.value).filter {
            !$0.contains("*") && $0 != Scope.direct && !$0.contains(":")
        }
        let abilities = Abilities(
            events: Set(EventName.allCases), actions: ["reply", "send", "dm", "delete", "react"],
            textLimit: .init(32_768, .utf16))
        var known = directory
        known.accounts["chat"] = .init(
            service: "chat", abilities: abilities, joins: Array(Set(names + ["lobby"])).sorted())
        return known
    }
}

extension RuleSet {
    /// What sets a counter; `user` and `channel` tell who or what a name means.
    package func change(
        _ count: BotTest.Given.Count, user: (String) -> UserID, channel: (String) -> ChannelID
    ) -> MemoryChange? {
        guard let counter = rules.first?.counters[count.counter] else { return nil }
        let subject: MemoryKey.Subject
        switch (counter.per, count.subject) {
        case (.user, let name?): subject = .user(user(name))
        case (.channel, let name?): subject = .channel(channel(name))
        default: subject = .all
        }
        let key = MemoryKey(owner: Counter.owner, name: counter.name, subject: subject)
        return .set(key, .number(count.value), keep: counter.keep)
    }
}

/// A rule as lists show it.
package struct RuleOutline: Sendable {
    package var name: String
    package var stage: Stage
    /// Such as `bots/02-faq.yaml:7`.
    package var place: String
    /// Whether steward brings it, so that no file has it.
    package var isBuiltIn: Bool
    /// `live`, `dry` or `disabled`.
    package var run: String
    package var about: String?
}

extension RuleSet {
    /// All rules in the order in which they are asked: guards, answers, observers.
    package var outline: [RuleOutline] {
        Stage.allCases.flatMap { stage in
            rules.filter { $0.stage == stage }.map { rule in
                RuleOutline(
                    name: rule.id, stage: stage, place: rule.place, isBuiltIn: rule.isHelp,
                    run: rule.source.run.rawValue, about: rule.source.about)
            }
        }
    }
}
