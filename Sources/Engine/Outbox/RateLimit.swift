package import Chat

/// At most so many actions in a time, with some at once after a pause.
package struct RateLimit: Sendable {
    private let interval: Duration
    private let burst: Int
    /// When the next action would be due if they came evenly.
    private var next: Timestamp?

    /// `count` actions in `time`; all of them may come at once.
    package init(_ count: Int, per time: Duration) {
        burst = max(1, count)
        interval = time / burst
    }

    /// How long to wait until the next action; zero when it may go, and then it counts as gone.
    package mutating func take(at now: Timestamp) -> Duration {
        let due = max(next ?? now, now)
        let ahead = due - now
        let allowed = interval * (burst - 1)
        if ahead > allowed { return ahead - allowed }
        next = due + interval
        return .zero
    }
}
