package import Chat

/// What the engine has done since it started, and what waits now.
package struct EngineMetrics: Sendable {
    package enum Drop: String, Sendable, CaseIterable {
        case own, duplicate, orphan
    }

    package enum Result: String, Sendable, CaseIterable {
        case done, failed, rateLimited, unreachable, unauthorized, unknownOutcome, found
    }

    /// Events that services handed over.
    package var taken = 0
    package var dropped: [Drop: Int] = [:]
    /// Events whose handlers were asked.
    package var decided = 0
    /// Events that came too late for an answer.
    package var stale = 0
    package var removed = 0
    package var answers = 0
    package var matched: [String: Int] = [:]
    package var handlerFailures: [String: Int] = [:]
    /// Rules that became silent towards a sender.
    package var silenced = 0
    /// Actions that were over a ceiling and not done.
    package var withheld: [Ceilings.Kind: Int] = [:]
    /// What punished people did and steward undid: messages deleted, joins ended.
    package var held: [Punishment.Kind: Int] = [:]
    /// Tries of actions, by how they ended.
    package var actions: [Result: Int] = [:]
    package var commits = 0
    package var storeErrors = 0
    /// From a delivery until its decision was durable.
    package var latency = Histogram()
    /// Waiting now.
    package var inboxes: [String: Int] = [:]
    package var outboxes: [String: Int] = [:]
    package var continuations = 0
    package var rowsInMemory = 0

    package init() {}
}

/// How often something took how long, within 10 %.
package struct Histogram: Sendable {
    /// Each bucket ends 10 % later than the one before; the first at one microsecond.
    private var buckets = [Int](repeating: 0, count: 256)
    package private(set) var count = 0

    package init() {}

    package mutating func add(_ duration: Duration, times: Int = 1) {
        let (seconds, attoseconds) = duration.components
        let microseconds = Double(seconds) * 1e6 + Double(attoseconds) / 1e12
        var bucket = 0
        var end = 1.0
        while bucket < buckets.count - 1, end < microseconds {
            end *= 1.1
            bucket += 1
        }
        buckets[bucket] += times
        count += times
    }

    /// The time that the given part of all stayed under; nil while there are none.
    package func quantile(_ part: Double) -> Duration? {
        guard count > 0 else { return nil }
        var left = Int((Double(count) * part).rounded(.up))
        var end = 1.0
        for bucket in buckets {
            left -= bucket
            if left <= 0 { break }
            end *= 1.1
        }
        return .nanoseconds(Int64(end * 1000))
    }
}
