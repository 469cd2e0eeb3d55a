package import Chat

/// What services know of time, so that tests can move it.
package struct ServiceClock: Sendable {
    package var now: @Sendable () -> Timestamp
    /// Ends early, by throwing, when its task is cancelled.
    package var sleep: @Sendable (Duration) async throws -> Void
    /// Between 0 and 1, for jitter.
    package var random: @Sendable () -> Double

    package init(
        now: @escaping @Sendable () -> Timestamp, sleep: @escaping @Sendable (Duration) async throws -> Void,
        random: @escaping @Sendable () -> Double = { Double.random(in: 0..<1) }
    ) {
        self.now = now
        self.sleep = sleep
        self.random = random
    }

    /// The system's.
    package static let system = ServiceClock(
        now: { .now }, sleep: { try await Task.sleep(for: $0, clock: .continuous) })
}
