internal import Chat

// Asks one rule about the event that was read.
extension RuleTurn {
    func verdict(
        on rule: Rule, _ event: ChatEvent, _ situation: Situation, _ slate: Slate, _ set: RuleSet,
        _ progress: Progress
    ) -> Verdict {
        guard slate.hasRule[rule.number] else {
            if rule.source.run == .disabled { return .disabled }
            return event.name.map(rule.events.contains) == true ? .otherChannel : .otherEvent
        }
        if let command = rule.command, !command.isCalled(by: call) { return .notCalled }
        if look.isOwn(in: situation) { return .ownMessage }
        if !rule.seesBots, look.isBot == true || (rule.stage == .answer && event.message?.isNotice == true) {
            return .bot
        }
        var isWanted: Bool? = true
        if let condition = rule.condition {
            isWanted = answer(condition, rule, event, situation, set)
            if isWanted == false { return .conditionFails }
        }
        if rule.exemptsSome, let member = event.member,
            rule.exempts(member, account: event.account, situation.directory)
        {
            return .exempt
        }
        if isWanted == nil { return .undecided }
        let isWrong = rule.command != nil && !fits(rule, event, situation)
        if isWrong, rule.command?.answersWrongArguments != true { return .wrongArguments }
        if rule.stage == .answer {
            if situation.isStale { return .stale }
            // Of a group that picks all, each may answer where one does.
            var isBeside = false
            if let group = rule.group, let by = progress.groups[group] {
                if set.groups[group] == .first { return .groupAnswered(by: by) }
                isBeside = progress.countedGroups.contains(group)
            }
            if rule.isCounted || isWrong, !isBeside {
                if progress.decision.answers >= situation.answersLeft {
                    return .answered(by: progress.answeredBy ?? "another handler")
                }
                if set.answersEdits, let key = event.answeredKey, situation.memory.value(of: key) != nil {
                    return .answeredBefore
                }
            }
        }
        return rule.rest(event, situation) ?? .matches
    }

    /// Whether the condition holds; not if there was no time to find out.
    func holds(
        _ condition: Condition, _ rule: Rule, _ event: ChatEvent, _ situation: Situation, _ set: RuleSet
    ) -> Bool {
        answer(condition, rule, event, situation, set) == true
    }

    /// Whether the condition holds; nil if that hangs on what there was no time to look for.
    private func answer(
        _ condition: Condition, _ rule: Rule, _ event: ChatEvent, _ situation: Situation, _ set: RuleSet
    ) -> Bool? {
        guard time.deadline != nil else { return isTrue(condition, rule, event, situation, set) }
        switch condition {
        case .found(let probe):
            if isFound(probe) { return true }
            return unread.isDisjoint(with: set.probes[Int(probe)].lanes) ? false : nil
        case .near(let test, let probe):
            // To compare words takes its time too.
            if isFound(probe), time.isOver { return nil }
            if isTrue(condition, rule, event, situation, set) { return true }
            return unread.isDisjoint(with: test.lanes) ? false : nil
        case .all(let list):
            var all: Bool? = true
            for condition in list {
                switch answer(condition, rule, event, situation, set) {
                case true?: continue
                case false?: return false
                case nil: all = nil
                }
            }
            return all
        case .any(let list):
            var any: Bool? = false
            for condition in list {
                switch answer(condition, rule, event, situation, set) {
                case true?: return true
                case false?: continue
                case nil: any = nil
                }
            }
            return any
        case .not(let condition): return answer(condition, rule, event, situation, set).map { !$0 }
        default: return isTrue(condition, rule, event, situation, set)
        }
    }

    /// The same where there is time for all.
    private func isTrue(
        _ condition: Condition, _ rule: Rule, _ event: ChatEvent, _ situation: Situation, _ set: RuleSet
    ) -> Bool {
        switch condition {
        case .found(let probe): return isFound(probe)
        case .has(let fields):
            return fields.contains { field in
                switch field {
                case .body: look.text != nil
                case .userName: look.name != nil
                default: !field.texts(event).isEmpty
                }
            }
        case .near(let test, let probe):
            return isFound(probe) && nearMatch(test, event, set) != nil
        case .user(let test):
            return test.objection(event, look, situation) { path in
                values(of: rule, event, situation, set).value(of: path)
            } == nil
        case .count(let test):
            return figures.value(of: test.measure, event, look, situation).map(test.span.contains) == true
        case .links(let test):
            return look.text != nil && test.holds(figures.links(of: look, spelledOut: test.isLoose))
        case .hosts(let test, let probe):
            return isFound(probe) && test.holds(figures.links(of: look))
        case .mentions(let test):
            if test.everyone { return figures.value(of: .everyone, event, look, situation) == 1 }
            if test.of == .members {
                return look.text != nil && test.span.contains(members(event, situation))
            }
            return figures.value(of: .mentions, event, look, situation).map(test.span.contains) == true
        case .caps(let test): return figures.caps(of: look).map(test.holds) == true
        case .time(let test): return test.holds(isOpen)
        case .rate(let test): return isFound(test.probe)
        case .plugin(let test): return test.holds(event, situation)
        case .mode(let test): return test.holds(situation)
        case .reaction(let test): return test.holds(event)
        case .by(let test): return test.holds(event, situation)
        case .policy(let test): return test.match(event, situation) != nil
        case .check(let test): return test.holds(values(of: rule, event, situation, set))
        case .all(let list):
            for condition in list where !isTrue(condition, rule, event, situation, set) { return false }
            return true
        case .any(let list):
            for condition in list where isTrue(condition, rule, event, situation, set) { return true }
            return false
        case .not(let condition): return !isTrue(condition, rule, event, situation, set)
        }
    }
}
