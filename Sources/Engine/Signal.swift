internal import Chat

/// Tells whoever waits that something changed. Read `version`, look, then wait past it: nothing is missed between.
package final class Signal: Sendable {
    private struct State {
        var version: UInt64 = 0
        var waiters: [UInt64: CheckedContinuation<Void, Never>] = [:]
        var nextWaiter: UInt64 = 0
    }

    private let state = Locked(State())

    package init() {}

    package var version: UInt64 { state.withLock { $0.version } }

    package func fire() {
        let waiters = state.withLock { state in
            state.version += 1
            let waiters = Array(state.waiters.values)
            state.waiters = [:]
            return waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Returns once the signal was fired after `version` was read, or the task is cancelled.
    package func wait(past version: UInt64) async {
        let id = state.withLock { state in
            state.nextWaiter += 1
            return state.nextWaiter
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    if state.version > version || Task.isCancelled { return true }
                    state.waiters[id] = continuation
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: id) }?.resume()
        }
    }

    /// The same, but no longer than `limit`.
    package func wait(past version: UInt64, noLongerThan limit: Duration, by time: any TimeSource) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.wait(past: version) }
            group.addTask { try? await time.sleep(for: limit) }
            await group.next()
            group.cancelAll()
        }
    }
}
