internal import Chat

/// What steward itself tells rules: modes that begin and end, strikes, and the answers that a rule has waited for.
extension RuleTurn {
    /// What a continuation of modes or strikes leads to in one stage; nil when it is none.
    mutating func told(
        _ continuation: Continuation, _ event: ChatEvent, _ situation: Situation, _ stage: Stage,
        _ set: RuleSet
    ) -> Decision? {
        switch continuation.owner {
        case Mode.owner where continuation.step == "clear":
            return stage == .guard ? clear(continuation, situation, set) : .nothing
        case Mode.owner:
            let kind = BotModeEvent.Kind(rawValue: continuation.step)
            let locked = Mode.places(continuation.values["locked"] ?? "")
            return act(event, situation, stage, set, locked: locked) { rule in
                rule.source.modeEvents.contains {
                    $0.kind == kind && $0.mode.value == continuation.values["mode"]
                }
            }
        case Undeleted.owner:
            return stage == .guard ? undeleted(continuation, event, situation, set) : .nothing
        case StrikeEvents.owner:
            guard let user = continuation.values["user"] else { return .nothing }
            var about = event
            if let account = continuation.values["account"] { about.account = account }
            let person = (id: user, name: continuation.values["name"] ?? user)
            about.kind = .memberUpdated(People.member(person, event, situation.memory))
            let total = Int64(continuation.values["total"] ?? "") ?? 0
            let strike = StrikeValues(
                points: Int64(continuation.values["points"] ?? "") ?? 0,
                reason: continuation.values["reason"].map { .theirs($0) } ?? .absent, total: total)
            return act(about, situation, stage, set, strike: strike) { rule in
                rule.source.strikeEvents.contains {
                    $0.ladder?.value == continuation.step && $0.total?.contains(total) != false
                }
            }
        default: return nil
        }
    }

    /// A mode ends by itself, unless it was entered anew meanwhile.
    private func clear(_ continuation: Continuation, _ situation: Situation, _ set: RuleSet) -> Decision {
        guard let mode = Mode(situation.memory.value(of: Mode.key)), mode.name == continuation.values["mode"],
            "\(mode.since.milliseconds)" == continuation.values["since"]
        else { return .nothing }
        var decision = Decision()
        set.modes.leave(
            mode, by: mode.by.isEmpty ? Mode.owner : mode.by, at: situation.now, situation, into: &decision)
        return decision
    }

    private mutating func act(
        _ event: ChatEvent, _ situation: Situation, _ stage: Stage, _ set: RuleSet,
        strike: StrikeValues? = nil, locked: [Place] = [], where fits: (Rule) -> Bool
    ) -> Decision {
        var decision = Decision()
        for rule in set.rules where rule.stage == stage && rule.source.run != .disabled && fits(rule) {
            guard set.scopes[rule.scope].contains(event.channel, account: event.account, situation.directory)
            else { continue }
            lookAt(event, rule, situation, set)
            if let condition = rule.condition, !holds(condition, rule, event, situation, set) { continue }
            if rule.exemptsSome, let member = event.member,
                rule.exempts(member, account: event.account, situation.directory)
            {
                continue
            }
            guard rule.rest(event, situation) == nil else { continue }
            guard rule.source.run == .live else {
                decision.matched.append("\(rule.id) (dry)")
                continue
            }
            decision.matched.append(rule.id)
            decision.changes += rule.claims(event, situation)
            var acting = acting(rule, event, situation, set)
            acting.values.strike = strike
            acting.locked = locked
            if rule.perform(acting, into: &decision) { break }
        }
        forget()
        return decision
    }

    /// What a rule does that has waited for this answer; nil when none has.
    mutating func answered(_ event: ChatEvent, _ situation: Situation, _ set: RuleSet) -> Decision? {
        guard let text = event.message?.text, let answer = Confirmation(text) else { return nil }
        for rule in set.rules where rule.asksBack {
            guard let key = Confirmation.key(rule.id, event),
                let pending = Batch(situation.memory.value(of: key)), pending.due >= situation.now,
                let asked = pending.events(as: event).first, let name = asked.name
            else { continue }
            var decision = Decision()
            decision.changes.append(.forget(key))
            decision.removed = true
            decision.matched.append(rule.id)
            switch answer {
            case .no: decision.actions = rule.answer("Nothing is done.", event, situation)
            case .yes:
                reread(asked, name, situation, set)
                let rest = rule.source.steps.dropFirst(Int(pending.number) + 1)
                _ = rule.perform(rest, acting(rule, asked, situation, set), into: &decision)
                forget()
            }
            return decision
        }
        return nil
    }
}
