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
        /// Why it has nothing to do with the event, in words that are for several rules; nil when it has.
        package var aside: String?
        /// Whether what steward remembers may change what is said here.
        package var asksMemory = false
    }

    /// What the event is, in words.
    package var event: String
    package var entries: [Entry]
    /// Who is looked at as if steward remembered nothing of them; nil when its memory was looked at.
    var user: String?

    private static let width = 80

    /// What had to be assumed because nobody looked into the memory; nil when no rule asks for it.
    package var assumption: String? {
        let unsure = entries.filter(\.asksMemory).map { "\($0.number)" }
        guard let user, !unsure.isEmpty else { return nil }
        return "as if nothing was remembered (\(user) is new, nothing rests, counts are 0): "
            + TemplateValue.series(unsure)
    }

    /// Text for people, at most 80 columns wide.
    package var description: String { text(entries.flatMap(Self.lines), isDense: false) }

    /// The same in no more than so many lines if that can be: a rule that does not match gets one line, and those that
    /// look at something else share one.
    package func description(in most: Int) -> String {
        let whole = description
        guard whole.split(separator: "\n", omittingEmptySubsequences: false).count > most else {
            return whole
        }
        var lines: [(stage: Stage, text: String)] = []
        var rest = entries[...]
        while let entry = rest.first {
            let alike = rest.prefix {
                $0.aside != nil && $0.aside == entry.aside && $0.stage == entry.stage
            }
            rest = rest.dropFirst(max(1, alike.count))
            if alike.count > 1, let last = alike.last, let aside = entry.aside {
                let names = alike.map(\.rule).joined(separator: ", ")
                lines.append(
                    (entry.stage, Self.cut("  · \(entry.number)-\(last.number). \(aside): \(names)")))
            } else if entry.matches {
                lines += Self.lines(entry)
            } else {
                lines.append(
                    (entry.stage, Self.cut("  · \(entry.number). \(entry.rule)  \(entry.reason)")))
            }
        }
        return text(lines, isDense: true) + "\n--rule ID tells all of one rule, --all of each"
    }

    /// Leaves one rule; nothing when there is none of that name.
    package mutating func narrow(to rule: String) {
        entries = entries.filter { $0.rule == rule }
    }

    private func text(_ told: [(stage: Stage, text: String)], isDense: Bool) -> String {
        let gap = isDense ? [] : [""]
        var lines = Self.wrapped(event, indent: 0)
        for stage in Stage.allCases {
            let own = told.filter { $0.stage == stage }.map(\.text)
            if !own.isEmpty { lines += gap + [["guards", "answers", "observers"][stage.rawValue]] + own }
        }
        if entries.isEmpty { lines += gap + ["there are no rules"] }
        if !entries.isEmpty, !entries.contains(where: \.matches) { lines += gap + ["nothing would be done"] }
        if let assumption { lines += gap + Self.wrapped(assumption, indent: 0) }
        return lines.joined(separator: "\n")
    }

    private static func lines(_ entry: Entry) -> [(stage: Stage, text: String)] {
        let mark = entry.matches ? "✓" : "·"
        var lines = wrapped("\(mark) \(entry.number). \(entry.rule)  (\(entry.place))", indent: 2)
        lines += wrapped(entry.reason, indent: 8)
        for action in entry.actions { lines += wrapped("→ \(action)", indent: 8) }
        return lines.map { (entry.stage, $0) }
    }

    private static func wrapped(_ text: String, indent: Int) -> [String] {
        Columns.wrapped(String(repeating: " ", count: indent) + text, to: width, indent: indent + 2)
    }

    /// One line of it.
    private static func cut(_ text: String) -> String {
        let lines = Columns.wrapped(text, to: width - 2, indent: 2)
        return lines.count > 1 ? "\(lines[0]) …" : lines[0]
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
                let telling = RuleTelling(rule: rule, event: event, situation: situation, set: self)
                var entry = Explanation.Entry(
                    stage: stage, number: explanation.entries.count + 1, rule: rule.id, place: rule.place,
                    matches: isOver == nil && verdict == .matches,
                    reason: isOver.map { "not asked: \"\($0)\" removed the message" }
                        ?? telling.reason(verdict, turn),
                    actions: [], aside: telling.aside(verdict))
                if entry.matches { entry.actions = telling.actions(turn) }
                entry.asksMemory = isOver == nil && telling.asksMemory(verdict)
                explanation.entries.append(entry)
            }
            if decision.removed { removedBy = decision.matched.last { !$0.hasSuffix(" (dry)") } }
        }
        return explanation
    }

    /// What would become of a message; nil when no account has a channel of that name.
    ///
    /// `roles` are names from `config.yaml`; the channel `direct` is one of that person's with steward.
    package func explain(
        say text: String, as user: String, in channel: String, roles: [String] = [], now: Timestamp
    ) -> Explanation? {
        let isDirect = channel == Scope.direct
        let direct =
            isDirect ? directory.accountNames.first.map { Place(account: $0, channel: channel) } : nil
        guard let place = direct ?? directory.places(named: channel).first,
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
            channel: Channel(
                id: realm.channel(place.channel), uniqueName: isDirect ? nil : place.channel, title: title,
                isDirect: isDirect),
            sentAt: now,
            kind: .messageAdded(Message(id: "explained", index: 0, author: author, text: text)))
        let situation = Situation(
            now: now, abilities: account.abilities, memory: NoMemory(), directory: known)
        var explanation = explain(event, in: situation)
        explanation.user = user
        return explanation
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
        if let channel {
            words += " in \(channel.isDirect ? Scope.direct : channel.uniqueName ?? channel.id.text)"
        }
        if let message { words += ": \"\(message.text)\"" }
        return words
    }
}
