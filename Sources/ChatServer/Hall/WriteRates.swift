internal import Chat

/// How many writes a second each channel takes: a bucket that holds a second's worth and fills steadily.
final class WriteRates: Sendable {
    private struct Bucket {
        var level: Double
        var at: Timestamp
    }

    private let perSecond: Double?
    private let buckets = Locked<[SID: Bucket]>([:])

    init(perSecond: Int?) {
        self.perSecond = perSecond.map(Double.init)
    }

    /// Nil when one more write is taken; else how long to wait.
    func take(_ place: SID, at now: Timestamp) -> Duration? {
        guard let perSecond else { return nil }
        return buckets.withLock { buckets in
            if buckets.count > 10_000 { buckets.removeAll() }
            var bucket = buckets[place] ?? Bucket(level: perSecond, at: now)
            let passed = Double(max(0, (now - bucket.at).milliseconds)) / 1000
            bucket.level = min(perSecond, bucket.level + passed * perSecond)
            bucket.at = now
            defer { buckets[place] = bucket }
            guard bucket.level >= 1 else { return .seconds((1 - bucket.level) / perSecond) }
            bucket.level -= 1
            return nil
        }
    }
}
