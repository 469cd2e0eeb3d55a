internal import Chat

/// What is done about an event once a rule matches it.
extension RuleTurn {
    mutating func act(
        _ rule: Rule, _ event: ChatEvent, _ situation: Situation, _ set: RuleSet, _ progress: inout Progress
    ) {
        if rule.source.run == .dry || isBroken(rule, event, situation, set, &progress.decision) {
            progress.decision.matched.append("\(rule.id) (dry)")
            return
        }
        progress.decision.matched.append(rule.id)
        let isUsage = rule.command != nil && !fits(rule, event, situation)
        let (before, changes) = (progress.decision.actions.count, progress.decision.changes.count)
        let stops = perform(rule, event, situation, set, into: &progress.decision)
        if rule.usesBurst || set.deletesBursts, rule.removes {
            deletions.note(progress.decision.actions[before...], for: event.id)
        }
        if rates.countsDeeds { countDeeds(of: rule, event, set, progress.decision, from: (changes, before)) }
        if rule.warnsOnce { warnOnce(rule, event, situation, from: before, &progress.decision) }
        let done = progress.decision.actions[before...]
        if rule.stage == .guard, stops || rule.removes && done.contains(where: \.deletes) {
            progress.decision.removed = true
        }
        let isAnswer = rule.isCounted && (rule.branches.isEmpty || done.contains(where: \.talks))
        if isAnswer || isUsage && rule.stage == .answer { count(rule, event, situation, set, &progress) }
        if let group = rule.group { progress.groups[group] = rule.id }
        let endsGuards = rule.stage == .guard && rule.source.continues?.value != true
        if stops || endsGuards { progress.ending = .notAsked(after: rule.id) }
    }

    /// A service tells a reaction to a message, or a receipt of it, as a change of the message: what was said about it
    /// where it stands is not said again.
    private func warnOnce(
        _ rule: Rule, _ event: ChatEvent, _ situation: Situation, from first: Int, _ decision: inout Decision
    ) {
        let isWarning = { (action: ChatAction) in action.talks && action.place == event.place }
        guard decision.actions[first...].contains(where: isWarning), let key = event.warnedKey(by: rule.id)
        else { return }
        if situation.memory.value(of: key) == nil {
            decision.changes.append(.claim(key, at: situation.now, most: 1, keep: .seconds(7 * 86_400)))
        } else {
            let others = decision.actions[first...].filter { !isWarning($0) }
            decision.actions.replaceSubrange(first..., with: others)
        }
    }

    private func count(
        _ rule: Rule, _ event: ChatEvent, _ situation: Situation, _ set: RuleSet, _ progress: inout Progress
    ) {
        if let group = rule.group {
            guard !progress.countedGroups.contains(group) else { return }
            if set.groups[group] == .all { progress.countedGroups.insert(group) }
        }
        progress.answeredBy = rule.id
        progress.decision.answers += 1
        if set.answersEdits, let key = event.answeredKey {
            progress.decision.changes.append(
                .claim(key, at: situation.now, most: 1, keep: .seconds(7 * 86_400)))
        }
    }

    /// What the rule wants done about an event that matches it; says whether it came to `stop`.
    @discardableResult
    func perform(
        _ rule: Rule, _ event: ChatEvent, _ situation: Situation, _ set: RuleSet,
        into decision: inout Decision
    ) -> Bool {
        if rule.isHelp {
            decision.actions += rule.answer(help(rule, event, situation, set), event, situation)
        } else if let command = rule.command, !fits(rule, event, situation) {
            decision.actions += rule.answer(command.usage, event, situation)
        } else if rule.source.batch != nil {
            collect(rule, event, situation, set, into: &decision)
        } else {
            decision.changes += rule.claims(event, situation)
            var acting = acting(rule, event, situation, set)
            acting.isAgain = isAgain(rule, event, situation, &decision)
            return rule.perform(acting, into: &decision)
        }
        return false
    }

    func acting(_ rule: Rule, _ event: ChatEvent, _ situation: Situation, _ set: RuleSet) -> Acting {
        let holds: (Condition, TemplateValues) -> Bool =
            rule.branches.isEmpty
            ? { _, _ in false } : { self.holds($0, rule, event, $1.situation, set) }
        var acting = Acting(
            event: event, situation: situation, values: values(of: rule, event, situation, set),
            holds: holds)
        guard rule.looksCloser else { return acting }
        let turn = self
        acting.fragment = {
            RuleTelling(rule: rule, event: event, situation: situation, set: set).firstFragment(turn)
        }
        acting.isGone = { turn.deletions.isGone($0, before: event.id) }
        if let channel = event.channel?.id { acting.recent = { turn.recent.latest(in: channel) } }
        if rule.usesBurst, let test = reachedRate(of: rule) { acting.burst = entries(of: test, event, set) }
        return acting
    }
}

extension ChatAction {
    fileprivate var deletes: Bool {
        if case .deleteMessage = verb { true } else { false }
    }

    fileprivate var talks: Bool {
        switch verb {
        case .send, .reply, .direct: true
        default: false
        }
    }
}
