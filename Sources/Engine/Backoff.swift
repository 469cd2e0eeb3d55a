/// How long to wait before the next try: twice as long each time, up to a limit, never quite the same.
package struct Backoff: Sendable {
    package var first: Duration
    package var most: Duration
    /// The part of a wait that is left to chance, so that many who lost the same server do not come back as one.
    package var jitter: Double
    private var tries = 0

    package init(first: Duration = .seconds(1), most: Duration = .seconds(60), jitter: Double = 0.25) {
        self.first = first
        self.most = most
        self.jitter = jitter
    }

    package mutating func next() -> Duration {
        // Beyond 2^20 any sensible first wait is over the limit, and the shift must not overflow.
        let doubled = first * (1 << min(tries, 20))
        tries += 1
        let wait = min(doubled, most)
        return wait - wait * (jitter * Double.random(in: 0...1))
    }

    package mutating func reset() { tries = 0 }
}
