internal import Chat

/// Whether the decider moves.
final class Heartbeat: Sendable {
    private let busySince = Locked<Timestamp?>(nil)

    func begin(at now: Timestamp) {
        busySince.withLock { $0 = now }
    }

    func end() {
        busySince.withLock { $0 = nil }
    }

    /// It has been at one batch for that long.
    func isStuck(at now: Timestamp, after limit: Duration) -> Bool {
        busySince.withLock { since in since.map { now - $0 > limit } ?? false }
    }
}

/// Notices connections that are up and hear nothing, and loops that stand still.
struct Pulse: Sendable {
    let settings: EngineSettings
    let inboxes: [AccountInbox]
    let heartbeat: Heartbeat

    /// Restarts what is deaf; called every few seconds.
    func check(at now: Timestamp, restart: (String) -> Void) {
        for inbox in inboxes {
            let state = inbox.current
            guard state.status == .up else { continue }
            if now - state.lastHeard > settings.deafAfter {
                inbox.noteDeaf()
                inbox.report(
                    .down(
                        reason: "connected, but heard nothing for \(settings.deafAfter.components.seconds) s")
                )
                restart(inbox.account)
            } else if now - state.since > settings.deafAfter {
                inbox.noteHearing()
            }
        }
    }

    /// False when only a new process can help: the decider stands still, or an account is deaf again and again while
    /// connecting to its service works. A service that is down is no reason.
    func mayFeedWatchdog(at now: Timestamp) -> Bool {
        if heartbeat.isStuck(at: now, after: settings.stuckAfter) { return false }
        return !inboxes.contains { inbox in
            let state = inbox.current
            return state.deafRestarts >= 3 && state.status == .up
        }
    }
}
