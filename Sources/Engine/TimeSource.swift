package import Chat

/// Where the engine has its time from, so that tests move it by hand.
package protocol TimeSource: Sendable {
    /// The time of day.
    var now: Timestamp { get }

    /// Waits real elapsed time, whatever happens to the time of day; throws when the task is cancelled.
    func sleep(for duration: Duration) async throws
}

/// The system's clocks.
package struct SystemTime: TimeSource {
    package init() {}

    package var now: Timestamp { .now }

    package func sleep(for duration: Duration) async throws {
        try await Task.sleep(for: duration, clock: .continuous)
    }
}
