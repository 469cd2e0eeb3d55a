internal import Chat

// What is read from the journal and written into it.
extension Decider {
    func load() async throws {
        let subjects = turn.memory.takeMissing()
        guard !subjects.isEmpty else { return }
        let keys = subjects.map(\.rowKey).sorted()
        let rows = try await untilItWorks { (_: isolated Decider, journal) throws(JournalError) in
            try await journal.rows(of: .memory, keys: keys)
        }
        turn.memory.insert(rows, for: subjects)
    }

    func commit() async throws {
        var changes = pending.changes
        changes += intake.takeChanges()
        changes += turn.memory.takeChanges()
        changes += cases.takeChanges()
        changes += rowsForLookingBack()
        let done = pending
        pending = Pending()
        if !changes.isEmpty {
            let lease = lease
            try await untilItWorks { [changes] (_: isolated Decider, journal) throws(JournalError) in
                try await journal.append(changes, under: lease)
            }
        }
        if !done.began.isEmpty {
            for flag in done.began { flag.set() }
            parts.gate.changed.fire()
        }
        for later in done.later {
            if let due = later.continuation.due { schedule.add(later.key, due: due) }
        }
        cases.letGo()
        turn.memory.evict(over: parts.settings.rowsInMemory)
        // Whoever sees an action done finds it counted.
        count(done, didCommit: !changes.isEmpty)
        if !done.actions.isEmpty { outbox.add(done.actions) }
    }

    /// How rules did in this batch, and the batch itself if events are kept.
    private func rowsForLookingBack() -> [RowChange] {
        let now = parts.time.now
        for (name, count) in pending.metrics.matched { ledger.match(name, count, at: now) }
        var changes = ledger.takeChanges()
        guard let keep = parts.settings.keepEvents, let last = pending.events.map(\.sentAt).max() else {
            return changes
        }
        changes.append(
            RowChange(RowKey(.event, "\(last.milliseconds)"), EventCoding.body(of: pending.events)))
        if now - forgotten > .seconds(3600) {
            forgotten = now
            changes.append(RowChange(RowKey(.event, "\((now - keep).milliseconds)"), nil))
        }
        return changes
    }

    /// Does it again while the store cannot be written or read; nothing new is decided meanwhile. (A closure that does not
    /// say whose it is leaves the journal's thread before and after the call.)
    func untilItWorks<Answer: Sendable>(
        _ body: (isolated Decider, any Journal) async throws(JournalError) -> Answer
    ) async throws -> Answer {
        var backoff = parts.settings.storeBackoff
        let since = parts.time.now
        while true {
            do throws(JournalError) {
                let answer = try await body(self, parts.journal)
                if parts.gate.isStoreInTrouble {
                    parts.gate.setTrouble(nil)
                    parts.log.info("the store can be written again")
                }
                return answer
            } catch .unwritable(let why) {
                parts.counters.change { $0.storeErrors += 1 }
                if !parts.gate.isStoreInTrouble {
                    parts.log.error("\(why); events wait until it can be written")
                    parts.gate.setTrouble(why)
                }
                guard parts.time.now - since < parts.settings.storeLimit else {
                    throw JournalError.unwritable(why)
                }
                parts.heartbeat.end()
                try await parts.time.sleep(for: backoff.next())
                parts.heartbeat.begin(at: parts.time.now)
            } catch {
                throw error
            }
        }
    }

    private func count(_ done: Pending, didCommit: Bool) {
        let now = ContinuousClock.now
        for (delivery, count) in done.decided { delivery.inbox.finished(count) }
        let counts = done.metrics
        let (waiting, rows) = (continuations.count, turn.memory.count)
        parts.counters.change { metrics in
            for (delivery, count) in done.decided {
                metrics.taken += count
                metrics.latency.add(now - delivery.at, times: count)
            }
            metrics.dropped[.own, default: 0] += counts.own
            metrics.dropped[.duplicate, default: 0] += counts.duplicate
            metrics.dropped[.orphan, default: 0] += counts.orphan
            metrics.decided += counts.decided
            metrics.stale += counts.stale
            metrics.removed += counts.removed
            metrics.answers += counts.answers
            metrics.silenced += counts.silenced
            metrics.withheld.merge(counts.withheld, uniquingKeysWith: +)
            metrics.held.merge(counts.held, uniquingKeysWith: +)
            metrics.matched.merge(counts.matched, uniquingKeysWith: +)
            metrics.handlerFailures.merge(counts.failures, uniquingKeysWith: +)
            if didCommit { metrics.commits += 1 }
            metrics.continuations = waiting
            metrics.rowsInMemory = rows
        }
    }
}
