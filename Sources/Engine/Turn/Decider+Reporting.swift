internal import Chat

// What came of an event: into the next commit, into the counts and into the log.
extension Decider {
    func add(_ outcome: Turn.Outcome, of event: ChatEvent) {
        pending.metrics.decided += 1
        if outcome.isStale { pending.metrics.stale += 1 }
        if outcome.removed { pending.metrics.removed += 1 }
        pending.metrics.answers += outcome.answers
        if outcome.isEmpty {
            if parts.settings.keepEvents != nil { pending.events.append(event) }
            if outcome.isStale || outcome.isOrphan || !late.isEmpty { report(outcome, of: event) }
            return
        }
        for name in outcome.matched { pending.metrics.matched[name, default: 0] += 1 }
        if parts.settings.keepEvents != nil { pending.events.append(event) }
        for (kind, count) in outcome.withheld { pending.metrics.withheld[kind, default: 0] += count }
        if let held = outcome.held { pending.metrics.held[held, default: 0] += 1 }
        enqueue(outcome)
        report(outcome, of: event)
    }

    /// Its actions and what is put off go into the next commit.
    func enqueue(_ outcome: Turn.Outcome) {
        for var open in outcome.actions {
            if open.action.isModeration { noteAsked(open, outcome) }
            guard open.settled == nil else { continue }
            order += 1
            open.order = order
            pending.actions.append(open)
            pending.changes.append(RowChange(RowKey(.action, open.key.text), open.body))
        }
        for later in outcome.later {
            continuations[later.key] = later.continuation
            pending.later.append(later)
            pending.changes.append(
                RowChange(RowKey(.continuation, later.key), JSONRow.body(of: later.continuation)))
        }
    }

    private func report(_ outcome: Turn.Outcome, of event: ChatEvent) {
        if outcome.isStale {
            if late.insert(event.account).inserted {
                parts.log.info(
                    "events of \(event.account) are too old for answers: it catches up, or its clock is not ours",
                    [("event", event.id)])
            }
        } else if !late.isEmpty, event.isFromOutside {
            late.remove(event.account)
        }
        for name in outcome.matched where name.hasSuffix(" (dry)") {
            parts.log.info("\(name) matched, and nothing is done", [("event", event.id)])
        }
        for note in outcome.notes {
            let line = "\(note.by): \(note.text)"
            if note.isWarning {
                parts.log.warning(line, [("event", event.id)])
            } else {
                parts.log.info(line, [("event", event.id)])
            }
        }
        for failure in outcome.failures {
            pending.metrics.failures[failure.handler, default: 0] += 1
            parts.log.error("\(failure.handler): \(failure.why)", [("event", event.id)])
        }
        for silenced in outcome.silenced {
            pending.metrics.silenced += 1
            parts.log.warning(
                "\(silenced.rule) is silent towards \(silenced.sender) for a while: \(silenced.why)",
                [("event", event.id)])
        }
        if outcome.isOrphan, case .resumed(let continuation, _) = event.kind {
            pending.metrics.orphan += 1
            parts.log.warning(
                "\(continuation.owner) is gone, so its step \(continuation.step) is dropped",
                [("event", continuation.event)])
        }
    }
}
