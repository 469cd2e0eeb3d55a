internal import Chat

/// At most so many things a second, with bursts of as many or as is said.
struct Pace {
    private let rate: Double
    private let burst: Double
    private var free: Double
    private var checked: Timestamp?

    init(perSecond rate: Int) {
        self.init(perSecond: Double(rate), atOnce: Double(rate))
    }

    init(perSecond rate: Double, atOnce burst: Double) {
        self.rate = rate
        self.burst = burst
        free = burst
    }

    /// How long the next thing has to wait; it counts from now on.
    mutating func next(at now: Timestamp) -> Duration {
        if let checked, now > checked {
            free = min(burst, free + Double((now - checked).milliseconds) / 1000 * rate)
        }
        checked = now
        free -= 1
        return free >= 0 ? .zero : .milliseconds(Int64((-free / rate * 1000).rounded(.up)))
    }
}
