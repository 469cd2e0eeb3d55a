internal import Chat

/// Where one task waits until others have found something for it to see to.
final class Bell: Sendable {
    private let state = Locked<(isRung: Bool, waiters: [CheckedContinuation<Void, Never>])>((false, []))

    func ring() {
        let waiters = state.withLock { state in
            state.isRung = true
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Waits until it is rung, or was since the last time; throws when the task is cancelled.
    func wait() async throws {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    if state.isRung || Task.isCancelled { return true }
                    state.waiters.append(continuation)
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            ring()
        }
        try Task.checkCancellation()
        state.withLock { $0.isRung = false }
    }
}
