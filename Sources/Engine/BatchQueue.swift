internal import Chat

/// A queue between two parts: many put, one takes all there is at once.
final class BatchQueue<Element: Sendable>: Sendable {
    private struct State {
        var elements: [Element] = []
        var isFinished = false
        /// What was taken last is still being worked on.
        var isTaken = false
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let state = Locked(State())
    private let onIdle: @Sendable () -> Void

    /// `onIdle` is called each time when all that was taken is done and nothing new is there.
    init(onIdle: @escaping @Sendable () -> Void = {}) {
        self.onIdle = onIdle
    }

    /// Nothing is there, and nothing that was taken is still being worked on.
    var isIdle: Bool { state.withLock { $0.elements.isEmpty && !$0.isTaken } }

    func put(_ element: Element) {
        let waiter = state.withLock { state in
            state.elements.append(element)
            return state.waiter.take()
        }
        waiter?.resume()
    }

    /// Nothing is put any more; what is there can still be taken.
    func finish() {
        let waiter = state.withLock { state in
            state.isFinished = true
            return state.waiter.take()
        }
        waiter?.resume()
    }

    /// All that is there, at least one; nil once the queue is finished and empty, or the task is cancelled.
    ///
    /// Waits on the caller's own executor: a closure that does not say whose it is would wake another thread first.
    func takeAll(isolation: isolated (any Actor)? = #isolation) async -> [Element]? {
        while !Task.isCancelled {
            let (elements, isFinished) = state.withLock { state in
                let elements = state.elements
                state.elements = []
                state.isTaken = !elements.isEmpty
                return (elements, state.isFinished)
            }
            if !elements.isEmpty { return elements }
            onIdle()
            if isFinished { return nil }
            await somethingToTake(isolation)
        }
        return nil
    }

    private func somethingToTake(_ isolation: isolated (any Actor)?) async {
        await withTaskCancellationHandler {
            _ = isolation
            await withCheckedContinuation(isolation: isolation) { continuation in
                let isReady = state.withLock { state in
                    if !state.elements.isEmpty || state.isFinished || Task.isCancelled { return true }
                    state.waiter = continuation
                    return false
                }
                if isReady { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiter.take() }?.resume()
        }
    }
}
