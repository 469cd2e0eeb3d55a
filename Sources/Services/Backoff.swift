/// How long to wait before the next attempt: longer each time, with jitter, so that many clients do not come back at
/// the same moment.
package struct Backoff: Sendable {
    private let first: Duration
    private let most: Duration
    /// Attempts that failed since the last success.
    package private(set) var failures = 0

    package init(first: Duration, most: Duration) {
        self.first = first
        self.most = most
    }

    /// The wait after one more failure, a fifth more or less than it would be; `random` is between 0 and 1.
    package mutating func next(random: Double) -> Duration {
        // 40 doublings are beyond any `most`.
        let doubled = first * (1 << min(failures, 40))
        failures += 1
        return min(doubled, most) * (0.8 + 0.4 * random)
    }

    package mutating func reset() {
        failures = 0
    }
}
