internal import Chat

/// What people asked for by signal, handed to whoever waits; the second wish to stop is for `whenImpatient`.
final class Wishes: Sendable {
    private struct State {
        var waiting: [Signals.Wish] = []
        var reader: CheckedContinuation<Signals.Wish?, Never>?
        var stops = 0
    }

    private let state = Locked(State())

    /// Returns true at the second wish to stop.
    func add(_ wish: Signals.Wish) -> Bool {
        let (reader, isImpatient) = state.withLock { state in
            if wish == .stop { state.stops += 1 }
            let reader = state.reader
            state.reader = nil
            if reader == nil { state.waiting.append(wish) }
            return (reader, state.stops > 1)
        }
        reader?.resume(returning: wish)
        return isImpatient
    }

    /// The next wish; nil when the task is cancelled.
    func next() async -> Signals.Wish? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let ready: Signals.Wish?? = state.withLock { state in
                    if Task.isCancelled { return .some(nil) }
                    if !state.waiting.isEmpty { return state.waiting.removeFirst() }
                    state.reader = continuation
                    return nil
                }
                if let ready { continuation.resume(returning: ready) }
            }
        } onCancel: {
            let reader = state.withLock { state in
                defer { state.reader = nil }
                return state.reader
            }
            reader?.resume(returning: nil)
        }
    }
}
