internal import Chat
internal import Glibc

// One handler's decision: asked for, and made steward's own.
extension Turn {
    /// False when something was missing; then nothing was changed.
    mutating func ask(
        _ entry: HandlerTable.Entry, _ progress: inout Progress, _ event: ChatEvent
    ) -> Bool {
        progress.situation.answersLeft = max(0, limits.answersPerEvent - progress.outcome.answers)
        let start = Stopwatch()
        var decision: Decision
        do {
            decision = try entry.handler.decide(event, in: progress.situation)
        } catch {
            if memory.hasMissing { return false }
            // A failed handler ends no stage, uses up no cooldown and counts no answer.
            progress.outcome.failures.append(Failure(handler: entry.name, why: "\(error)"))
            return true
        }
        if memory.hasMissing { return false }
        if start.elapsed > limits.handlerTime {
            let took = "took \(start.elapsed.milliseconds) ms to decide"
            progress.outcome.failures.append(Failure(handler: entry.name, why: took))
        }
        guard !decision.isEmpty else { return true }
        if entry.stage == .answer, !progress.isResumed,
            decision.answers > progress.situation.answersLeft
        {
            return true
        }
        fillIn(&decision, of: entry.name, event)
        dropSilenced(&decision, event)
        if !replies.isEmpty, limits.loops != nil, replies.holdNoHuman(event) {
            replies.drop(from: &decision, event)
        }
        guard accept(&decision, &progress, event) else { return false }
        if decision.removed, entry.stage == .guard, !progress.isResumed { progress.outcome.removed = true }
        return true
    }

    /// What is decided is remembered, and becomes actions. False when something was missing; then nothing was changed.
    mutating func accept(
        _ decision: inout Decision, _ progress: inout Progress, _ event: ChatEvent
    ) -> Bool {
        var ruling = Moderation.Ruling()
        if !decision.actions.isEmpty {
            ruling = moderation.settle(&decision, event, in: progress.situation, memory)
            if memory.hasMissing { return false }
        }
        if !decision.charges.isEmpty {
            decision.changes.append(.add(.casesFiled, Int64(decision.charges.count), keep: nil))
        }
        guard memory.apply(decision.changes) else { return false }
        record(decision, ruling.settled, &progress, event)
        if !ruling.withheld.isEmpty {
            progress.outcome.withheld.merge(ruling.withheld, uniquingKeysWith: +)
        }
        return true
    }

    func fillIn(_ decision: inout Decision, of name: String, _ event: ChatEvent) {
        for index in decision.actions.indices {
            if decision.actions[index].by.isEmpty { decision.actions[index].by = name }
            if decision.actions[index].path.isEmpty { decision.actions[index].path = "\(index)" }
            let place = decision.actions[index].place
            decision.actions[index].then?.fillIn(from: event, elsewhere: place)
        }
        for index in decision.charges.indices where decision.charges[index].by.isEmpty {
            decision.charges[index].by = name
        }
        for index in decision.later.indices { decision.later[index].fillIn(from: event, elsewhere: nil) }
    }

    /// What a rule that is silent towards the sender would have said; what it moderates stays.
    private mutating func dropSilenced(_ decision: inout Decision, _ event: ChatEvent) {
        guard case .messageAdded(let message) = event.kind else { return }
        let sender = message.author.user
        let before = decision.actions.count
        let isSilent = { [loops] (action: ChatAction) in
            action.isTalk && loops.isSilent(action.by, towards: sender, at: event.sentAt)
        }
        let silent = Set(decision.actions.lazy.filter(isSilent).map(\.by))
        guard !silent.isEmpty else { return }
        decision.actions.removeAll(where: isSilent)
        let speaking = Set(decision.actions.map(\.by))
        for rule in silent where !speaking.contains(rule) {
            // It did nothing, so it uses up no cooldown.
            decision.changes.removeAll { $0.key.owner == rule }
            decision.later.removeAll { $0.owner == rule }
        }
        decision.answers = max(0, decision.answers - (before - decision.actions.count))
    }
}

extension Continuation {
    fileprivate mutating func fillIn(from event: ChatEvent, elsewhere: Place?) {
        if self.event.isEmpty { self.event = event.id }
        if realm.isEmpty { realm = event.realm.name }
        if place == nil { place = event.place ?? elsewhere }
    }
}

/// Measures how long something took; the result is only logged, it decides nothing.
private struct Stopwatch {
    private let start = Self.nanoseconds

    var elapsed: Duration { .nanoseconds(Self.nanoseconds - start) }

    // The coarse clock ticks every few milliseconds, which is fine enough, and is read in a few nanoseconds.
    private static var nanoseconds: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC_COARSE, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
