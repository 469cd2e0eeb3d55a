internal import Chat
internal import Unicode
internal import Zones

/// What is told of conditions that count.
extension RuleTelling {
    /// Why a condition does not hold.
    func count(_ condition: Condition, _ turn: borrowing RuleTurn) -> String {
        guard event.message != nil else { return "the event has no message" }
        switch condition {
        case .count(let test):
            let value = turn.figure(test.measure, event, situation) ?? 0
            return "\(words(value, of: test.measure)), not \(test.text)"
        case .links(let test), .hosts(let test, _): return missing(test, turn)
        case .mentions(let test):
            if test.everyone { return "nobody calls everyone" }
            let value = turn.mentions(test, event, situation)
            return "\(called(value, test)), not \(test.text)"
        case .caps(let test):
            guard let caps = turn.caps, caps.letters > 0 else {
                return "the text has no letters with capitals"
            }
            if let letters = test.letters, !letters.contains(Int64(caps.letters)) {
                return "the text has \(caps.letters) letters that count, not \(letters.text)"
            }
            return "\(share(caps)), not \(test.share.text)"
        default: return "a condition does not hold"
        }
    }

    /// What made a condition hold.
    func counted(_ condition: Condition, _ turn: borrowing RuleTurn) -> [String] {
        guard turn.holds(condition, rule, event, situation, set) else { return [] }
        switch condition {
        case .count(let test):
            return [words(turn.figure(test.measure, event, situation) ?? 0, of: test.measure)]
        case .links(let test), .hosts(let test, _):
            let links = test.matching(turn.links(spelledOut: test.isLoose))
            return links.isEmpty ? ["no link"] : links.prefix(3).map { "a link to \($0.host.shortened)" }
        case .mentions(let test):
            return test.everyone
                ? ["everyone is called"] : [called(turn.mentions(test, event, situation), test)]
        case .caps: return turn.caps.map { [share($0)] } ?? []
        default: return []
        }
    }

    private func missing(_ test: LinkTest, _ turn: borrowing RuleTurn) -> String {
        let all = turn.links(spelledOut: test.isLoose)
        let links = all.filter(\.isSure)
        if links.isEmpty { return "the text has no link" }
        let count = test.matching(all).count
        let names = links.prefix(3).map(\.host.shortened).joined(separator: ", ")
        if count > 0 || test.hostsIn == nil && test.hostsNotIn == nil {
            return "\(count == 1 ? "1 link" : "\(count) links") of the kind, not \(test.text)"
        }
        return test.hostsIn == nil
            ? "all links lead to hosts of the list: \(names)"
            : "no link leads to a host of the list: \(names)"
    }

    private func words(_ value: Int64, of measure: Measure) -> String {
        func some(_ one: String, _ many: String) -> String { "\(value) \(value == 1 ? one : many)" }
        switch measure {
        case .length: return "the text has \(some("letter", "letters"))"
        case .lines: return "the text has \(some("line", "lines"))"
        case .emoji: return "the text has \(some("emoji", "emoji"))"
        case .marks: return "the text has \(some("combining mark", "combining marks"))"
        case .marksOnOne: return "one letter has \(some("combining mark", "combining marks"))"
        case .attachments: return some("attachment", "attachments")
        default: return "\(value)"
        }
    }

    private func called(_ count: Int64, _ test: MentionTest) -> String {
        let who =
            test.of == .members ? (count == 1 ? "member" : "members") : (count == 1 ? "person" : "people")
        return "\(count) \(who) called"
    }

    private func share(_ caps: Caps) -> String {
        "\(caps.capitals * 100 / caps.letters)% of \(caps.letters) letters are capitals"
    }
}

extension RuleTurn {
    func mentions(_ test: MentionTest, _ event: ChatEvent, _ situation: Situation) -> Int64 {
        test.of == .members ? members(event, situation) : figure(.mentions, event, situation) ?? 0
    }
}

extension RuleTelling {
    /// Why a time does not fit.
    func time(_ test: TimeTest, _ turn: borrowing RuleTurn) -> String {
        for open in test.not where turn.isOpen(open) {
            return "it is \(set.windows[open].words), and must not be"
        }
        let names = (test.any ?? []).map { set.windows[$0].words }
        guard let first = test.any?.first else { return "it is not the time" }
        let local = set.windows[first].window.zone.local(event.sentAt.milliseconds)
        let clock = TimeOfDay(hour: local.hour, minute: local.minute).map { " \($0)" } ?? ""
        return
            "it is \(local.date.weekday.abbreviation)\(clock) there, not \(names.joined(separator: " or "))"
    }
}

extension RuleTelling {
    /// How often it was.
    func counted(_ test: RateTest, _ turn: borrowing RuleTurn) -> String {
        let values = RateValues(turn.entries(of: test, event, set), distinct: test.rate.distinct)
        let names = test.rate.kind.rawValue
        let one = test.rate.kind.looksAtText || names == "emoji" ? names : String(names.dropLast())
        let several = test.rate.distinct.map { " of different \($0.rawValue)s" } ?? ""
        return "\(values.count) \(values.count == 1 ? one : names) in \(test.rate.time.short)\(several)"
    }
}
