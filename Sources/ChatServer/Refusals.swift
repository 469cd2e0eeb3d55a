internal import Chat

/// Tells the log who was not let in: where from, to what and why, once a minute for each, and how often since.
final class Refusals: Sendable {
    private struct Case: Hashable {
        let host: String
        let path: String
        let why: String
    }

    private struct Count {
        var since: Timestamp
        var untold = 0
    }

    private let log: Log
    private let counts = Locked<[Case: Count]>([:])
    private static let pause = Duration.seconds(60)
    /// More at a time are counted together: whoever tries from many places must not fill our memory.
    private static let bound = 1000

    init(log: Log) {
        self.log = log
    }

    /// `remote` is `address:port`. `why` must hold no secret.
    func note(_ remote: String, _ path: String, _ why: String, at now: Timestamp = .now) {
        let host = remote.lastIndex(of: ":").map { String(remote[..<$0]) } ?? remote
        let news: (host: String, untold: Int)? = counts.withLock { counts in
            if counts.count >= Self.bound { counts = counts.filter { now - $0.value.since < Self.pause } }
            let one = Case(host: counts.count < Self.bound ? host : "many addresses", path: path, why: why)
            if var count = counts[one], now - count.since < Self.pause {
                count.untold += 1
                counts[one] = count
                return nil
            }
            defer { counts[one] = Count(since: now) }
            return (one.host, counts[one]?.untold ?? 0)
        }
        guard let (host, untold) = news else { return }
        let more = untold == 0 ? "" : ", and \(untold) more since it was last said"
        log.warning("chat server: refused \(host) at \(path): \(why)\(more)")
    }
}
