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

    /// Whether an action is one of a burst that is deleted as a whole.
    package func isOfBurst(_ action: ChatAction) -> Bool {
        rule(owner: action.by)?.source.allSteps.contains { step in
            step.deed.isBurst && (action.path == step.path || action.path.hasPrefix(step.path + "."))
        } == true
    }

    /// What a test begins with that rules would remember.
    package func changes(
        _ given: BotTest.Given, at start: Timestamp, user: (String) -> UserID
    ) -> [MemoryChange] {
        var changes: [MemoryChange] = []
        if let mode = given.mode { changes.append(modes.change(to: mode, at: start)) }
        for person in given.people {
            changes.append(People.seen(user(person.user)))
            changes += person.permits.map { .set(.permit($0, of: user(person.user)), .number(1), keep: nil) }
            for (name, points) in person.strikes.sorted(by: { $0.key < $1.key }) {
                let ladders = rules.first?.ladders ?? [:]
                guard let ladder = name.isEmpty ? ladders.values.first : ladders[name] else { continue }
                var ledger = StrikeLedger()
                ledger.add(StrikeLedger.Entry(points: points, at: start, by: "", event: "given"))
                changes.append(
                    .set(
                        StrikeLedger.key(ladder: ladder.name, user: user(person.user)), .text(ledger.text),
                        keep: nil))
            }
        }
        return changes
    }

    /// What a change to memory is in the words of a test; nil when it is no deed of a rule's.
    package func deed(of change: MemoryChange) -> RuleDeed? {
        switch change {
        case .set(let key, .text(let text), _) where key.owner == "steward" && key.name.hasPrefix("strikes."):
            guard case .user(let user) = key.subject, let entry = StrikeLedger(text: text)?.entries.last
            else {
                return nil
            }
            return RuleDeed(
                word: "strike", rule: entry.by, user: user.text, text: entry.reason, points: entry.points)
        case .set(let key, _, let keep) where key.owner == "steward" && key.name.hasPrefix("permit."):
            guard case .user(let user) = key.subject else { return nil }
            return RuleDeed(
                word: "permit", user: user.text, text: String(key.name.dropFirst("permit.".count)), time: keep
            )
        case .set(Mode.key, let value, _):
            return Mode(value).map { RuleDeed(word: "enter_mode", rule: $0.by, text: $0.name) }
        case .forget(Mode.key): return RuleDeed(word: "leave_mode")
        case .forget(let key) where key.owner == "steward" && key.name.hasPrefix("strikes."):
            return nil
        default: return nil
        }
    }
}

/// What a rule did that no chat service sees.
package struct RuleDeed: Sendable {
    package var word: String
    /// Nil when the change does not say.
    package var rule: String?
    package var user: String?
    package var text: String?
    package var time: Duration?
    package var points: Int64?
}

extension RuleSet {
    /// The channel in which a test of the rule plays: the first it looks at; the first of all without a rule, or when
    /// it looks at every channel. `direct` is a conversation with whoever acts.
    package func stage(ofTestIn rule: String?, _ directory: Directory) -> String {
        let joined = directory.accountNames.flatMap { directory.accounts[$0]?.joins ?? [] }
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
            rule.source.places + rule.source.notPlaces
                + rule.source.allSteps.flatMap { $0.message.to + $0.deed.places }
        }
        let names = places.map(\.value).filter {
            !$0.contains("*") && $0 != Scope.direct && !$0.contains(":")
        }
        let abilities = Abilities(
            events: Set(EventName.allCases), actions: ["reply", "send", "dm", "delete", "react", "kick"],
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
    /// Its name before.
    package var was: String?
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
                    name: rule.id, was: rule.source.was?.value, stage: stage, place: rule.place,
                    isBuiltIn: rule.isHelp,
                    run: rule.source.run.rawValue, about: rule.source.about)
            }
        }
    }
}
