internal import Chat

/// What people asked for by signal, handed to whoever waits; the second wish to stop is acted on
/// at once, too.
final class Wishes: Sendable {
    private struct State {
        var waiting: [Signals.Wish] = []
        var reader: CheckedContinuation<Signals.Wish?, Never>?
        var stops = 0
        var impatience: (@Sendable () -> Void)?
    }

    private let state = Locked(State())

    /// Called at the second wish to stop.
    func whenImpatient(_ action: @escaping @Sendable () -> Void) {
        state.withLock { $0.impatience = action }
    }

    /// Returns true at the second wish to stop.
    func add(_ wish: Signals.Wish) -> Bool {
        let (reader, isImpatient, action) = state.withLock { state in
            if wish == .stop { state.stops += 1 }
            let reader = state.reader
            state.reader = nil
            if reader == nil { state.waiting.append(wish) }
            let isImpatient = wish == .stop && state.stops > 1
            return (reader, isImpatient, isImpatient ? state.impatience : nil)
        }
        reader?.resume(returning: wish)
        action?()
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
