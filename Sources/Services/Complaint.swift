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
}
