internal import Chat

// What steward itself decides, without a handler.
extension Turn {
    /// The guard before all others, asked only while somebody is punished. False when something was missing.
    mutating func hold(_ progress: inout Progress, _ event: ChatEvent) -> Bool {
        guard memory.isHeld(event.member?.user, in: event.channel?.id) else { return true }
        let held = Punishments(memory: memory, event: event, situation: progress.situation).hold()
        if memory.hasMissing { return false }
        guard let held else { return true }
        guard carryOut(held.decision, &progress, event) else { return false }
        if held.decision.removed { progress.outcome.removed = true }
        if !held.decision.actions.isEmpty { progress.outcome.held = held.kind }
        return true
    }

    /// A punishment comes to its end. False when something was missing.
    mutating func end(
        _ continuation: Continuation, _ progress: inout Progress, _ event: ChatEvent
    ) -> Bool {
        let decision = Punishments(memory: memory, event: event, situation: progress.situation)
            .end(continuation)
        if memory.hasMissing { return false }
        return carryOut(decision, &progress, event)
    }

    /// Does what steward itself decides.
    private mutating func carryOut(
        _ decision: Decision, _ progress: inout Progress, _ event: ChatEvent
    ) -> Bool {
        guard !decision.isEmpty else { return true }
        var decision = decision
        fillIn(&decision, of: Punishment.owner, event)
        return accept(&decision, &progress, event)
    }

    /// What steward itself decides, such as to undo a case; nil when the journal has to be asked for
    /// `memory.takeMissing()` first. `event` is what it comes of.
    mutating func carryOut(
        _ decision: Decision, about event: ChatEvent, at now: Timestamp, as account: Account
    ) -> Outcome? {
        var progress = begin(event, at: now, as: account)
        var decision = decision
        memory.setTime(now)
        fillIn(&decision, of: MemoryKey.casesFiled.owner, event)
        return accept(&decision, &progress, event) ? progress.outcome : nil
    }
}
