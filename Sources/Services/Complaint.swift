package import Chat

/// Keeps the log readable while something goes wrong again and again: it is said at once, then now and then with a count.
package struct Complaint: Sendable {
    private let interval: Duration
    private var saidAt: Timestamp?
    private var unsaid = 0

    package init(every interval: Duration) {
        self.interval = interval
    }

    /// How often it went wrong since it was last said, this time included; nil when it is not to be said now.
    package mutating func raise(at now: Timestamp) -> Int? {
        unsaid += 1
        if let saidAt, now - saidAt < interval, now >= saidAt { return nil }
        defer { unsaid = 0 }
        saidAt = now
        return unsaid
    }

    /// Says that steward takes no events, and what becomes of them; it may last as long as a disk is full.
    mutating func sayBehind(_ what: String, at now: Timestamp, _ log: Log) {
        guard let times = raise(at: now) else { return }
        let often = times > 1 ? " (\(times) times since this was last said)" : ""
        log.warning(
            "steward takes no events now, of a flood or because its store cannot be written; \(what)\(often)")
    }
}
