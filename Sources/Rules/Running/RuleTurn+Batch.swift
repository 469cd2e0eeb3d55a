internal import Chat

extension RuleTurn {
    /// Puts an event to those that the rule has collected. The first of them says when the rule acts on all.
    func collect(
        _ rule: Rule, _ event: ChatEvent, _ situation: Situation, _ set: RuleSet,
        into decision: inout Decision
    ) {
        guard let time = rule.source.batch?.value else { return }
        decision.changes += rule.claims(event, situation, .ofUsers)
        let open = rule.openBatch(event, situation)
        let key = open?.key ?? Batch.key(rule.id, event)
        let batch =
            open?.batch
            ?? Batch(number: situation.now.milliseconds, due: situation.now + time)
        if batch.lines.count + 1 >= Batch.most {
            decision.changes.append(.forget(key))
            act(rule, on: batch.events(as: event) + [event], event, situation, set, into: &decision)
            return
        }
        decision.changes.append(.set(key, .text(batch.text(with: event)), keep: nil))
        guard open == nil else { return }
        decision.later.append(
            Continuation(
                owner: key.owner, step: Batch.step, values: ["batch": String(batch.number)], due: batch.due))
    }

    /// The time of a batch has come.
    func run(
        _ rule: Rule, _ continuation: Continuation, _ event: ChatEvent, _ situation: Situation,
        _ set: RuleSet
    ) -> Decision {
        let key = Batch.key(continuation.owner, event)
        // One that was full has been acted on before its time.
        guard let batch = Batch(situation.memory.value(of: key)),
            String(batch.number) == continuation.values["batch"]
        else { return .nothing }
        var decision = Decision()
        decision.changes.append(.forget(key))
        guard rule.source.batch != nil, rule.source.run == .live else {
            let why =
                rule.source.batch == nil ? "it collects no more" : "it is \(rule.source.run.rawValue) now"
            decision.notes = [
                Decision.Note(
                    by: rule.id, "\(batch.lines.count) collected events are dropped, because \(why)",
                    isWarning: true)
            ]
            return decision
        }
        // Each of the events has counted as a match when it came.
        act(rule, on: batch.events(as: event), event, situation, set, into: &decision)
        return decision
    }

    /// Acts on collected events: what is for one person or one message for each of them, all else once.
    func act(
        _ rule: Rule, on events: [ChatEvent], _ now: ChatEvent, _ situation: Situation, _ set: RuleSet,
        into decision: inout Decision
    ) {
        guard let last = events.last else { return }
        decision.changes += rule.claims(last, situation, .ofOthers)
        let users = events.filter { $0.member != nil }.firstOfEach { $0.member?.user.text ?? "" }
        let messages = events.filter { $0.message != nil }.firstOfEach { $0.message?.id ?? "" }
        let lists = (
            users: users.compactMap { event in
                event.member.map { TemplateValue.user(id: $0.user.text, name: $0.name) }
            },
            messages: messages.compactMap { event in
                event.message.map { TemplateValue.theirs($0.text) }
            }
        )
        func acting(_ event: ChatEvent) -> Acting {
            var acting = self.acting(rule, event, situation, set)
            acting.values.batch = lists
            acting.holds = { self.holds($0, of: $1) }
            acting.foresee(decision.changes)
            return acting
        }
        func perform(_ steps: [BotStep]) -> Bool {
            for step in steps {
                let each: [ChatEvent]
                switch step.verb {
                case .dm: each = users
                case .react, .relay: each = messages
                case .count: each = events
                case .choose:
                    let taken = acting(last)
                    let branch = step.branches.first {
                        rule.branches[$0.path].map { taken.holds($0, taken.values) } ?? true
                    }
                    if perform(branch?.steps ?? []) { return true }
                    continue
                case .stop: return true
                default: each = [last]
                }
                for event in each {
                    var acting = acting(event)
                    rule.perform(step, &acting, into: &decision)
                }
            }
            return false
        }
        _ = perform(rule.source.steps)
    }
}

extension RuleTurn {
    /// Whether a condition of a branch holds when a batch is acted on.
    fileprivate func holds(_ condition: Condition, of values: TemplateValues) -> Bool {
        switch condition {
        case .time(let test): test.holds(isOpen)
        case .check(let test): test.holds(values)
        case .mode(let test): test.holds(values.situation)
        case .all(let list): list.allSatisfy { holds($0, of: values) }
        case .any(let list): list.contains { holds($0, of: values) }
        case .not(let inner): !holds(inner, of: values)
        default: false
        }
    }
}

extension [ChatEvent] {
    /// The first of those that have the same.
    fileprivate func firstOfEach(_ what: (ChatEvent) -> String) -> [ChatEvent] {
        var seen: Set<String> = []
        return filter { seen.insert(what($0)).inserted }
    }
}
