internal import Chat

/// Runs one account's service, and runs it again after it ended. What happens to it concerns no other account.
struct ServiceRunner: Sendable {
    let service: any ChatService
    let inbox: AccountInbox
    /// Fired when the service is to be started anew.
    let restart: Signal
    let settings: EngineSettings
    let time: any TimeSource
    let log: Log

    private enum End: Sendable {
        case ended
        case threw(String)
        case restarted
    }

    /// Until cancelled.
    func run() async {
        var backoff = settings.backoff
        while !Task.isCancelled {
            let version = restart.version
            let end = await runOnce(until: version)
            if Task.isCancelled { return }
            let state = inbox.current
            switch end {
            case .restarted: backoff.reset()
            case .ended: reportDown("the service ended")
            case .threw(let why): reportDown(why)
            }
            if case .failed = inbox.current.status {
                // Repeating cannot help; somebody has to act, and then asks for a restart.
                await restart.wait(past: restart.version)
                continue
            }
            if state.status == .up, time.now - state.since > settings.backoff.most { backoff.reset() }
            let wait = backoff.next()
            log.debug("\(inbox.account): next try in \(wait.milliseconds) ms")
            await restart.wait(past: version, noLongerThan: wait, by: time)
        }
    }

    private func reportDown(_ why: String) {
        if case .failed = inbox.current.status { return }
        inbox.report(.down(reason: why))
    }

    private func runOnce(until version: UInt64) async -> End {
        await withTaskGroup(of: End.self) { group in
            group.addTask {
                do {
                    try await service.run(inbox)
                    return .ended
                } catch {
                    return .threw("\(error)")
                }
            }
            group.addTask {
                await restart.wait(past: version)
                return .restarted
            }
            let first = await group.next() ?? .ended
            group.cancelAll()
            return first
        }
    }
}
