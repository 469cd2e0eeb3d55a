internal import Chat

/// How often rules have matched lately, beside how much there was to look at. It begins anew with each start.
struct Breakers: Sendable {
    /// Whether rules are on dry run that say nothing of a breaker themselves: not in rehearsals, where little happens.
    var isUsual = true
    private var seen: Int64 = 0
    /// How many events had been seen by when, a mark each minute at most.
    private var marks: [(time: Int64, seen: Int64)] = []
    private var matches: [Int: [Int64]] = [:]
    /// What each rule matched last: it is asked again about an event when its memory had to be read first.
    private var last: [Int: (event: String, channel: ChannelID?)] = [:]

    private static let mostMarks = 2_000

    mutating func note(at now: Timestamp) {
        if marks.last.map({ now.milliseconds - $0.time >= 60_000 }) ?? true {
            marks.append((now.milliseconds, seen))
            if marks.count >= 2 * Self.mostMarks { marks.removeFirst(Self.mostMarks) }
        }
        seen += 1
    }

    /// Notes a match; how often there was one lately and how much was seen, once that is too often.
    mutating func match(
        _ rule: Int, _ breaker: BotBreaker, _ event: ChatEvent, at now: Timestamp
    ) -> (matches: Int, of: Int64)? {
        let start = now.milliseconds - breaker.time.milliseconds
        var times = matches[rule, default: []].filter { $0 > start }
        let isAgain = last[rule].map { $0.event == event.id && $0.channel == event.channel?.id } ?? false
        if !isAgain { times.append(now.milliseconds) }
        last[rule] = (event.id, event.channel?.id)
        if times.count > 10_000 { times.removeFirst(5_000) }
        matches[rule] = times
        let before = marks.last { $0.time <= start }?.seen ?? 0
        let total = max(seen - before, Int64(times.count))
        guard times.count > breaker.matches, Int64(times.count) * 100 > total * Int64(breaker.share) else {
            return nil
        }
        return (times.count, total)
    }
}

extension RuleTurn {
    /// Whether the rule has matched too often, and so does nothing; the first time it does, staff are told.
    mutating func isBroken(
        _ rule: Rule, _ event: ChatEvent, _ situation: Situation, _ set: RuleSet, _ decision: inout Decision
    ) -> Bool {
        guard rule.mayBreak, rule.source.breaker.isWritten || breakers.isUsual else { return false }
        if rule.isBroken(situation) { return true }
        let born = MemoryKey(owner: rule.id, name: "first match", subject: .all)
        if !rule.source.breaker.isWritten {
            if case .number(let time)? = situation.memory.value(of: born) {
                let age = situation.now - Timestamp(milliseconds: time)
                if age > Rule.breakerTime { return false }
            } else {
                decision.changes.append(.set(born, .number(situation.now.milliseconds), keep: nil))
            }
        }
        guard !isPartOfBurst(rule, event, situation),
            let often = breakers.match(rule.number, rule.source.breaker, event, at: situation.now)
        else { return false }
        decision.changes.append(
            .set(rule.brokenKey, .number(situation.now.milliseconds), keep: Rule.breakerTime))
        let text =
            "Rule \"\(rule.id)\" matched \(often.matches) of \(often.of) events in \(rule.source.breaker.time.words) and is on dry run for a day. To go on at once, write breaker: none in the rule."
        decision.notes.append(Decision.Note(by: rule.id, text, isWarning: true))
        let places = rule.reportTo.flatMap(situation.directory.places).unique
        for (number, place) in places.enumerated() {
            decision.actions.append(
                ChatAction(.send(Outgoing(text)), in: place, by: rule.id, path: "breaker[\(number)]"))
        }
        return true
    }

    /// What goes on with a burst is no further match.
    private func isPartOfBurst(_ rule: Rule, _ event: ChatEvent, _ situation: Situation) -> Bool {
        var ignored = Decision()
        return rule.actsOnce && reachedRate(of: rule) != nil && isAgain(rule, event, situation, &ignored)
    }
}

extension Rule {
    /// How long a rule stays on dry run, and how long it is new.
    static let breakerTime = Duration.seconds(86_400)

    var brokenKey: MemoryKey { MemoryKey(owner: id, name: "breaker", subject: .all) }

    func isBroken(_ situation: Situation) -> Bool { mayBreak && situation.memory.value(of: brokenKey) != nil }

    /// What people call by a command is meant; and floods and raids are many matches by nature.
    var mayBreak: Bool {
        guard stage == .guard, !source.breaker.isOff, source.run == .live else { return false }
        if source.breaker.isWritten { return true }
        return source.command == nil && source.modeEvents.isEmpty && condition?.expectsMany != true
    }
}

extension Condition {
    fileprivate var expectsMany: Bool {
        switch self {
        case .rate, .mode: true
        case .all(let list), .any(let list): list.contains(where: \.expectsMany)
        case .not(let inner): inner.expectsMany
        default: false
        }
    }
}
