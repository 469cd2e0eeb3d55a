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
        /// Of what sort the reason is; nil for one of its own.
        var sort: ReasonSort?
        /// Whether what steward remembers, and nobody has looked at, may change what is said here.
        package var asksMemory = false
        /// Whether it counts what happened before.
        var countsPast = false
    }

    /// What the event is, in words.
    package var event: String
    package var entries: [Entry]
    /// Who is looked at as if steward remembered nothing of them; nil when its memory was looked at.
    var user: String?
    /// Why steward itself removes the message, before any rule is asked; nil: it does not.
    var removal: String?
    /// Where was looked for what steward remembers, in words; nil: nowhere.
    var source: String?
    /// What could not be looked up, and what can be done about it.
    package var unknown: [String] = []

    private static let width = 80

    /// What had to be assumed because nobody looked into the memory; nil when no rule asks for it.
    package var assumption: String? {
        let unsure = Self.runs(entries.filter(\.asksMemory).map(\.number), from: 3)
        guard !unsure.isEmpty else { return nil }
        let what =
            user.map { "as if nothing was remembered (\($0) is new, nothing rests, counts are 0): " }
            ?? "as if nothing had happened lately (the store keeps no events): "
        return what + TemplateValue.series(unsure)
    }

    /// Says where steward's memory was looked at, and whether events of the past were there, too.
    package mutating func isTrue(by source: String, withPast: Bool) {
        self.source = source
        user = nil
        for index in entries.indices where withPast || !entries[index].countsPast {
            entries[index].asksMemory = false
        }
    }

    /// Text for people, at most 80 columns wide.
    package var description: String { text(entries.flatMap { Self.lines($0) }, isDense: false) }

    /// The same in no more than so many lines if that can be: a rule that does not match gets one line, and those with
    /// one reason share it.
    package func description(in most: Int) -> String {
        var told = description
        for density in Density.all {
            guard told.split(separator: "\n", omittingEmptySubsequences: false).count > most else { break }
            told =
                text(Stage.allCases.flatMap { lines($0, density) }, isDense: true)
                + "\n--rule ID tells all of one rule, --all of each"
        }
        return told
    }

    /// What is left out to fit.
    private struct Density {
        /// Which sorts of reasons share a line; with none, neighbours of one reason alone.
        var sorts = 0
        /// Whether of what would be done the beginning is told.
        var cuts = false
        /// Whether one line is for all of a stage of which a condition does not hold.
        var joinsConditions = false

        /// The one that leaves out the least first.
        static let all =
            (0...ReasonSort.Rank.allCases.count).map { Density(sorts: $0) } + [
                Density(sorts: ReasonSort.Rank.allCases.count, cuts: true),
                Density(sorts: ReasonSort.Rank.allCases.count, cuts: true, joinsConditions: true),
            ]
    }

    private func lines(_ stage: Stage, _ density: Density) -> [(stage: Stage, text: String)] {
        var groups: [(reason: String?, entries: [Entry])] = []
        for entry in entries where entry.stage == stage {
            let reason = Self.reason(entry, density)
            let known =
                density.sorts == 0
                ? groups.indices.last.flatMap { groups[$0].reason == reason ? $0 : nil }
                : groups.firstIndex { $0.reason == reason }
            if let known, reason != nil {
                groups[known].entries.append(entry)
            } else {
                groups.append((reason, [entry]))
            }
        }
        return groups.flatMap { reason, entries -> [(stage: Stage, text: String)] in
            guard let reason else { return entries.flatMap { Self.lines($0, areCut: density.cuts) } }
            if entries.count == 1 {
                return [
                    (stage, Self.cut("\(entries[0].number). \(entries[0].rule)  \(entries[0].reason)"))
                ]
            }
            let names = entries.map(\.rule).joined(separator: ", ")
            let numbers = Self.runs(entries.map(\.number), from: 2).joined(separator: ", ")
            return [(stage, Self.cut("\(numbers). \(reason): \(names)"))]
        }
    }

    /// Why the rule does not match, in words that are for several; nil when it does.
    private static func reason(_ entry: Entry, _ density: Density) -> String? {
        if entry.matches { return nil }
        let own = entry.reason.hasPrefix("no: ") ? String(entry.reason.dropFirst(4)) : entry.reason
        if let aside = entry.aside { return aside }
        guard let sort = entry.sort else { return own }
        if density.joinsConditions { return "a condition does not hold" }
        return sort.rank.rawValue < density.sorts ? sort.words : own
    }

    /// The numbers, of so many or more that follow one another only the first and the last.
    private static func runs(_ numbers: [Int], from least: Int) -> [String] {
        var runs: [ClosedRange<Int>] = []
        for number in numbers {
            if let last = runs.last, last.upperBound + 1 == number {
                runs[runs.count - 1] = last.lowerBound...number
            } else {
                runs.append(number...number)
            }
        }
        return runs.flatMap { run in
            run.count < least ? run.map { "\($0)" } : ["\(run.lowerBound)-\(run.upperBound)"]
        }
    }

    /// Leaves one rule; nothing when there is none of that name.
    package mutating func narrow(to rule: String) {
        entries = entries.filter { $0.rule == rule }
    }

    private func text(_ told: [(stage: Stage, text: String)], isDense: Bool) -> String {
        let gap = isDense ? [] : [""]
        var lines = isDense ? Self.cut(event, to: 2, indent: 0) : Self.wrapped(event, indent: 0)
        if let removal {
            lines += gap + Self.wrapped("steward itself removes the message: \(removal)", indent: 0)
        }
        for stage in Stage.allCases {
            let own = told.filter { $0.stage == stage }.map(\.text)
            if !own.isEmpty { lines += gap + [["guards", "answers", "observers"][stage.rawValue]] + own }
        }
        if entries.isEmpty { lines += gap + ["there are no rules"] }
        if !entries.isEmpty, removal == nil, !entries.contains(where: \.matches) {
            lines += gap + ["nothing would be done"]
        }
        let last = ([assumption, source].compactMap(\.self) + unknown).flatMap { Self.wrapped($0, indent: 0) }
        if !last.isEmpty { lines += gap + last }
        return lines.joined(separator: "\n")
    }

    private static func lines(_ entry: Entry, areCut: Bool = false) -> [(stage: Stage, text: String)] {
        let mark = entry.matches ? "✓" : "·"
        var lines = wrapped("\(mark) \(entry.number). \(entry.rule)  (\(entry.place))", indent: 2)
        lines += areCut ? cut(entry.reason, to: 1, indent: 8) : wrapped(entry.reason, indent: 8)
        for action in entry.actions {
            let told = "→ \(action)"
            lines += areCut ? cut(told, to: 1, indent: 8) : wrapped(told, indent: 8)
        }
        return lines.map { (entry.stage, $0) }
    }

    private static func wrapped(_ text: String, indent: Int) -> [String] {
        Columns.wrapped(String(repeating: " ", count: indent) + text, to: width, indent: indent + 2)
    }

    /// No more than so many lines of it.
    private static func cut(_ text: String, to most: Int, indent: Int) -> [String] {
        let indented = String(repeating: " ", count: indent) + text
        let lines = Columns.wrapped(indented, to: width - 2, indent: indent + 2)
        return lines.count > most ? lines.prefix(most - 1) + ["\(lines[most - 1]) …"] : lines
    }

    /// A line for rules that do not match.
    private static func cut(_ text: String) -> String { cut("· \(text)", to: 1, indent: 2)[0] }
}

extension RuleSet {
    /// Takes an event through all rules without doing anything, and tells what became of each.
    ///
    /// `removal` says why steward itself removes the message first, if it does.
    package func explain(
        _ event: ChatEvent, in situation: Situation, removal: String? = nil
    ) -> Explanation {
        var explanation = Explanation(event: event.inWords, entries: [])
        explanation.removal = removal
        var removedBy = removal.map { _ in "steward itself" }
        for stage in Stage.allCases {
            let isOver = stage == .answer ? removedBy : nil
            let decision = retrace(event, in: situation, stage: stage) { [self] rule, verdict, turn in
                let telling = RuleTelling(rule: rule, event: event, situation: situation, set: self)
                var entry = Explanation.Entry(
                    stage: stage, number: explanation.entries.count + 1, rule: rule.id, place: rule.place,
                    matches: isOver == nil && verdict == .matches,
                    reason: isOver.map { "not asked: \($0) removed the message" }
                        ?? telling.reason(verdict, turn),
                    actions: [], aside: isOver == nil ? telling.aside(verdict) : nil)
                if isOver == nil { entry.sort = telling.sort(verdict, turn) }
                if entry.matches { entry.actions = telling.actions(turn) }
                entry.asksMemory = isOver == nil && telling.asksMemory(verdict)
                entry.countsPast = rule.source.condition?.value.asksForRate == true
                explanation.entries.append(entry)
            }
            if decision.removed {
                removedBy = decision.matched.last { !$0.hasSuffix(" (dry)") }.map { "\"\($0)\"" } ?? removedBy
            }
        }
        return explanation
    }

    /// What would become of a message if nothing was remembered; nil when no account has a channel of that name.
    ///
    /// `roles` are names from `config.yaml`; the channel `direct` is one of that person's with steward.
    package func explain(
        say text: String, as user: String, in channel: String, roles: [String] = [], now: Timestamp
    ) -> Explanation? {
        place(ofExplained: channel).map { explain(say: text, as: user, in: $0, roles: roles, now: now) }
    }

    /// The same in a channel that there is.
    package func explain(
        say text: String, as user: String, in place: Place, roles: [String] = [], now: Timestamp
    ) -> Explanation {
        let (event, situation) = suppose(
            say: text, as: user, in: place, of: Identities().realm("explained"), roles: roles, at: now)
        var explanation = explain(event, in: situation)
        explanation.user = user
        return explanation
    }

    /// Where a channel is that is called so; nil when no account has it.
    package func place(ofExplained channel: String) -> Place? {
        if channel == Scope.direct {
            return directory.accountNames.first.map { Place(account: $0, channel: channel) }
        }
        return directory.places(named: channel).first { directory.accounts[$0.account] != nil }
    }

    /// A message that nobody has written, and what is known beside it: nothing that has to be remembered. `id` is the
    /// channel's if it is another than its name; `author` is the user as they were met.
    package func suppose(
        say text: String, as user: String, in place: Place, id: String? = nil, of realm: Realm,
        author: Member? = nil, roles: [String], at now: Timestamp
    ) -> (event: ChatEvent, situation: Situation) {
        let isDirect = place.channel == Scope.direct
        var known = directory
        for role in roles { known.roles[role, default: .init()].users.insert("\(place.account):\(user)") }
        let title = directory.channels.first { $0.value[place.account] == place.channel }?.key
        let author = author ?? Member(user: realm.user(user))
        let event = ChatEvent(
            id: "explained", account: place.account, realm: realm,
            channel: Channel(
                id: realm.channel(id ?? place.channel), uniqueName: isDirect ? nil : place.channel,
                title: title ?? place.channel, isDirect: isDirect),
            sentAt: now,
            kind: .messageAdded(Message(id: "explained", index: 0, author: author, text: text)))
        let abilities =
            directory.accounts[place.account]?.abilities
            ?? Abilities(events: [], actions: [], textLimit: .init(0, .bytes))
        let situation = Situation(now: now, abilities: abilities, memory: NoMemory(), directory: known)
        return (event, situation)
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
