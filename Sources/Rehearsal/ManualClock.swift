public import Chat
internal import Engine

/// A clock that stands until it is moved: tests say how time passes.
public final class ManualClock: Sendable {
    private struct Sleeper {
        let id: UInt64
        let until: Timestamp
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var now: Timestamp
        var nextID: UInt64 = 0
        var sleepers: [Sleeper] = []
    }

    private let state: Locked<State>
    private let changed = Signal()

    /// Starts on 15 June 2026 at 12:00 UTC unless told otherwise.
    public init(_ now: Timestamp = Timestamp(milliseconds: 1_781_524_800_000)) {
        state = Locked(State(now: now))
    }

    /// Stands still until it is moved.
    public var now: Timestamp { state.withLock { $0.now } }

    /// When the first of those that sleep will wake.
    public var nextWake: Timestamp? { state.withLock { $0.sleepers.map(\.until).min() } }

    /// Moves the time on; whoever slept until then wakes, in order.
    public func advance(by duration: Duration) {
        let woken = state.withLock { state in
            state.now = state.now + duration
            let now = state.now
            let woken = state.sleepers.filter { $0.until <= now }.sorted {
                ($0.until, $0.id) < ($1.until, $1.id)
            }
            state.sleepers.removeAll { $0.until <= now }
            return woken
        }
        for sleeper in woken { sleeper.continuation.resume() }
    }

    /// Returns once somebody sleeps until that time or longer, or the task is cancelled.
    public func waitForSleeper(until time: Timestamp) async {
        while !Task.isCancelled {
            let version = changed.version
            if state.withLock({ $0.sleepers.contains { $0.until >= time } }) { return }
            await changed.wait(past: version)
        }
    }
}

extension ManualClock: TimeSource {
    package func sleep(for duration: Duration) async throws {
        guard duration > .zero else { return try Task.checkCancellation() }
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation {
                (continuation: CheckedContinuation<Void, any Error>) in
                let isCancelled = state.withLock { state in
                    if Task.isCancelled { return true }
                    let until = state.now + duration
                    state.sleepers.append(Sleeper(id: id, until: until, continuation: continuation))
                    return false
                }
                if isCancelled { continuation.resume(throwing: CancellationError()) } else { changed.fire() }
            }
        } onCancel: {
            let sleeper = state.withLock { state in
                state.sleepers.firstIndex { $0.id == id }.map { state.sleepers.remove(at: $0) }
            }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }
}
