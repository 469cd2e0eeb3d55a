import Chat

@testable import Services

/// A clock that stands still until a test moves it.
final class ManualTime: Sendable {
    private struct State {
        var now = Timestamp(milliseconds: 1_700_000_000_000)
        var sleepers: [Int: Sleeper] = [:]
        var next = 0
    }

    private struct Sleeper {
        var due: Timestamp
        var continuation: CheckedContinuation<Void, any Error>
    }

    private let state = Locked(State())

    var now: Timestamp { state.withLock { $0.now } }

    var clock: ServiceClock {
        ServiceClock(now: { self.now }, sleep: { try await self.sleep($0) }, random: { 0.5 })
    }

    /// The next time at which somebody wakes up, waited for if nobody sleeps yet.
    func nextWake(within limit: Duration = .seconds(80_000)) async -> Timestamp {
        while true {
            let due = state.withLock { state in
                state.sleepers.values.map(\.due).filter { $0 <= state.now + limit }.min()
            }
            if let due { return due }
            if Task.isCancelled { return now }
            await Task.yield()
        }
    }

    func advance(to moment: Timestamp) {
        let awake = state.withLock { state in
            state.now = max(state.now, moment)
            let due = state.sleepers.filter { $0.value.due <= state.now }
            for id in due.keys { state.sleepers[id] = nil }
            return due.values.sorted { $0.due < $1.due }.map(\.continuation)
        }
        for continuation in awake { continuation.resume() }
    }

    func advance(by duration: Duration) {
        advance(to: now + duration)
    }

    private func sleep(_ duration: Duration) async throws {
        let id = state.withLock { state in
            state.next += 1
            return state.next
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation {
                (continuation: CheckedContinuation<Void, any Error>) in
                let isOver = state.withLock { state in
                    if Task.isCancelled || duration <= .zero { return true }
                    state.sleepers[id] = Sleeper(due: state.now + duration, continuation: continuation)
                    return false
                }
                guard isOver else { return }
                if Task.isCancelled {
                    continuation.resume(throwing: CancellationError())
                } else {
                    continuation.resume()
                }
            }
        } onCancel: {
            state.withLock { $0.sleepers.removeValue(forKey: id) }?.continuation
                .resume(throwing: CancellationError())
        }
    }
}

/// Waits for something that other tasks bring about.
func eventually(_ condition: () async -> Bool) async {
    // The time limit of a suite cancels its tests.
    while !Task.isCancelled, !(await condition()) { await Task.yield() }
}
