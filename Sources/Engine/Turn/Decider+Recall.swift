internal import Chat

extension Decider {
    /// Tells handlers of what happened lately, as far as it was kept, and fills the history of channels.
    func recall(fillsHistory: Bool) async throws {
        let handlers = turn.handlers.recalling
        let fillsHistory = fillsHistory && turn.handlers.looksBack
        guard parts.settings.keepEvents != nil, !handlers.isEmpty || fillsHistory else { return }
        let now = parts.time.now
        var span = handlers.map(\.recalls).max() ?? .zero
        if fillsHistory { span = max(span, Self.historyRecalled) }
        guard span > .zero else { return }
        let since = now - span
        let bodies = try await untilItWorks { (_: isolated Decider, journal) throws(JournalError) in
            try await journal.keptEvents(since: since, most: Self.bytesRecalled)
        }
        for body in bodies {
            let events = EventCoding.events(in: body, realms: parts.identities).filter { $0.sentAt >= since }
            turn.memory.want(events)
            try await load()
            for event in events {
                let account = account(named: event.account)
                while !turn.recall(
                    event, by: handlers, fillsHistory: fillsHistory, at: now, as: account)
                { try await load() }
            }
            turn.memory.evict(over: parts.settings.rowsInMemory)
        }
    }

    private static let historyRecalled = Duration.seconds(86_400)
    private static let bytesRecalled = 64 << 20
}
