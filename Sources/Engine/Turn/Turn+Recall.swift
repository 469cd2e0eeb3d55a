internal import Chat

extension Turn {
    /// Tells handlers of an event of the past, and notes what was written; false when the journal has to be asked
    /// first.
    mutating func recall(
        _ event: ChatEvent, by handlers: [any RecallingHandler], fillsHistory: Bool, at now: Timestamp,
        as account: Account
    ) -> Bool {
        guard var facts = memory.facts(about: event, at: now) else { return false }
        // As they were before it.
        if let first = facts.firstSeen, first >= event.sentAt { facts.firstSeen = nil }
        var situation = situation(of: account)
        situation.now = event.sentAt
        situation.facts = facts
        for handler in handlers where now - event.sentAt <= handler.recalls {
            handler.recall(event, in: situation)
        }
        if fillsHistory { memory.recall(event) }
        return true
    }
}
