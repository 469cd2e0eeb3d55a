internal import Chat

/// What is one and the same to a rule: a burst of messages, or a message that changes.
extension RuleTurn {
    /// The rate of the rule that is reached now.
    func reachedRate(of rule: Rule) -> RateTest? {
        rule.condition?.rates.first { isFound($0.probe) }
    }

    /// Whether the rule has dealt with what the event is part of, and only the message itself is left to be removed;
    /// notes that it is dealt with now.
    func isAgain(
        _ rule: Rule, _ event: ChatEvent, _ situation: Situation, _ decision: inout Decision
    ) -> Bool {
        guard rule.actsOnce else { return false }
        if let test = reachedRate(of: rule) {
            return isSameBurst(rule, test.rate, event, situation, &decision)
        }
        if case .memberUpdated(let member) = event.kind {
            return isSameName(rule, member, situation, &decision)
        }
        // A service tells a reaction to a message, or a receipt of it, as a change of the message.
        guard rule.events.contains(.messageEdited), let key = event.warnedKey(by: rule.id) else {
            return false
        }
        if situation.memory.value(of: key) != nil { return true }
        decision.changes.append(.claim(key, at: situation.now, most: 1, keep: .seconds(7 * 86_400)))
        return false
    }

    /// Whoever was punished for their name is not punished again each time that something else about them changes.
    private func isSameName(
        _ rule: Rule, _ member: Member, _ situation: Situation, _ decision: inout Decision
    ) -> Bool {
        let key = MemoryKey(owner: rule.id, name: "named", subject: .user(member.user))
        if situation.memory.value(of: key) == .text(member.name) { return true }
        decision.changes.append(.set(key, .text(member.name), keep: .seconds(7 * 86_400)))
        return false
    }

    /// A burst goes on as long as what reaches the rate comes within its time after the last that did.
    private func isSameBurst(
        _ rule: Rule, _ rate: BotRate, _ event: ChatEvent, _ situation: Situation, _ decision: inout Decision
    ) -> Bool {
        let subject: MemoryKey.Subject
        if rate.per == .user, let user = event.member?.user {
            subject = .user(user)
        } else if rate.across == .channel || rate.per == .channel, let channel = event.channel?.id {
            subject = .channel(channel)
        } else {
            subject = .all
        }
        let key = MemoryKey(owner: rule.id, name: "burst", subject: subject)
        var last: Int64?
        if case .number(let known)? = situation.memory.value(of: key) { last = known }
        let now = event.sentAt.milliseconds
        decision.changes.append(
            .set(key, .number(max(now, last ?? .min)), keep: rate.time + Self.patience))
        return last.map { now - $0 < rate.time.milliseconds } ?? false
    }

    /// How much later than it was sent a message may be read.
    private static let patience = Duration.seconds(600)

    /// Counts strikes and reports that rules ask for the rate of.
    mutating func countDeeds(
        of rule: Rule, _ event: ChatEvent, _ set: RuleSet, _ decision: Decision,
        from first: (change: Int, action: Int)
    ) {
        for change in decision.changes[first.change...] {
            guard case .set(let key, .text(let text), _) = change, key.owner == "steward",
                key.name.hasPrefix("strikes."), case .user(let user) = key.subject,
                let entry = StrikeLedger(text: text)?.entries.last, entry.points > 0
            else { continue }
            rates.count(.strikes, Int(entry.points), of: user, by: rule, event, set)
        }
        let reports = rule.source.allSteps.filter { $0.verb == .report }.map(\.path)
        let isReported = decision.actions[first.action...].contains {
            $0.by == rule.id && reports.contains($0.path)
        }
        if isReported, let user = event.member?.user {
            rates.count(.reports, 1, of: user, by: rule, event, set)
        }
    }
}
