package import Chat
internal import YAML

/// Which rules looked at an event, in order, and what became of each.
package struct Explanation: Sendable, CustomStringConvertible {
    package struct Entry: Sendable {
        package var stage: Stage
        /// As rules are numbered in this explanation, from 1.
        package var number: Int
        package var rule: String
        /// Where it stands, such as `bots/02-faq.yaml:7`.
        package var place: String
        package var matches: Bool
        /// Why it did or did not match.
        package var reason: String
        /// What it would do, an action a line.
        package var actions: [String]
    }

    /// What the event is, in words.
    package var event: String
    package var entries: [Entry]

    private static let width = 80

    /// Text for people, at most 80 columns wide.
    package var description: String {
        var lines = Self.wrapped(event, indent: 0)
        for stage in Stage.allCases {
            let entries = entries.filter { $0.stage == stage }
            guard !entries.isEmpty else { continue }
            lines += ["", ["guards", "answers", "observers"][stage.rawValue]]
            for entry in entries {
                let mark = entry.matches ? "✓" : "·"
                lines += Self.wrapped("\(mark) \(entry.number). \(entry.rule)  (\(entry.place))", indent: 2)
                lines += Self.wrapped(entry.reason, indent: 8)
                for action in entry.actions { lines += Self.wrapped("→ \(action)", indent: 8) }
            }
        }
        if entries.isEmpty { lines += ["", "there are no rules"] }
        if !entries.isEmpty, !entries.contains(where: \.matches) { lines += ["", "nothing would be done"] }
        return lines.joined(separator: "\n")
    }

    private static func wrapped(_ text: String, indent: Int) -> [String] {
        var lines: [String] = []
        for paragraph in text.split(separator: "\n", omittingEmptySubsequences: false) {
            var line = String(repeating: " ", count: lines.isEmpty ? indent : indent + 2)
            var isFresh = true
            for word in paragraph.split(separator: " ", omittingEmptySubsequences: false) {
                var word = word
                if !isFresh, line.count + 1 + word.count > width {
                    lines.append(line)
                    line = String(repeating: " ", count: indent + 2)
                    isFresh = true
                }
                while line.count + word.count > width {
                    lines.append(line + word.prefix(width - line.count))
                    word = word.dropFirst(width - line.count)
                    line = String(repeating: " ", count: indent + 2)
                }
                line += isFresh ? String(word) : " \(word)"
                isFresh = false
            }
            lines.append(line)
        }
        return lines
    }
}

extension RuleSet {
    /// Takes an event through all rules without doing anything, and tells what became of each.
    package func explain(_ event: ChatEvent, in situation: Situation) -> Explanation {
        var explanation = Explanation(event: event.inWords, entries: [])
        var removedBy: String?
        for stage in Stage.allCases {
            let isOver = stage == .answer ? removedBy : nil
            let decision = retrace(event, in: situation, stage: stage) { [self] rule, verdict, turn in
                let isAsked = isOver == nil
                let telling = RuleTelling(rule: rule, event: event, situation: situation, set: self)
                let entry = Explanation.Entry(
                    stage: stage, number: explanation.entries.count + 1, rule: rule.id,
                    place: "\(rule.file):\(rule.source.id.spot.place.line)",
                    matches: isAsked && verdict == .matches,
                    reason: isOver.map { "not asked: \"\($0)\" removed the message" }
                        ?? telling.reason(verdict, turn),
                    actions: isAsked && verdict == .matches ? telling.actions(turn) : [])
                explanation.entries.append(entry)
            }
            if decision.removed { removedBy = decision.matched.last { !$0.hasSuffix(" (dry)") } }
        }
        return explanation
    }

    /// What would become of a message; nil when no account has a channel of that name.
    ///
    /// `roles` are names from `config.yaml`.
    package func explain(
        say text: String, as user: String, in channel: String, roles: [String] = [], now: Timestamp
    ) -> Explanation? {
        guard let place = directory.places(named: channel).first,
            let account = directory.accounts[place.account]
        else {
            return nil
        }
        let realm = Identities().realm("explained")
        var known = directory
        for role in roles { known.roles[role, default: .init()].users.insert("\(place.account):\(user)") }
        let title = directory.channels.first { $0.value[place.account] == place.channel }?.key ?? channel
        let author = Member(user: realm.user(user))
        let event = ChatEvent(
            id: "explained", account: place.account, realm: realm,
            channel: Channel(id: realm.channel(place.channel), uniqueName: place.channel, title: title),
            sentAt: now,
            kind: .messageAdded(Message(id: "explained", index: 0, author: author, text: text)))
        let situation = Situation(
            now: now, abilities: account.abilities, memory: NoMemory(), directory: known)
        return explain(event, in: situation)
    }
}

/// Remembers nothing.
private struct NoMemory: Recollection {
    func value(of key: MemoryKey) -> MemoryValue? { nil }
}

extension ChatEvent {
    /// What happened, who did it and where, on a line.
    package var inWords: String {
        var words = name?.rawValue ?? "something put off"
        if let member { words += " by \(member.name)" }
        if let channel { words += " in \(channel.uniqueName ?? channel.id.text)" }
        if let message { words += ": \"\(message.text)\"" }
        return words
    }
}
