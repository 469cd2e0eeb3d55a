internal import Chat

extension SocketAccount {
    /// Hands what was read to steward, in order: one delivery at a time, however many ask for it.
    func handOver() async {
        guard !standing.isDelivering, let inbox else { return }
        standing.isDelivering = true
        defer { standing.isDelivering = false }
        while let batch = book?.take() {
            guard !standing.isClosed else { continue }
            switch await inbox.deliver(batch.events) {
            case .taken: book?.commit(batch)
            case .behind:
                // Read on, or answers and pings would be stuck, too; the events come again from where steward stands.
                let count = book?.fallBehind(batch).count ?? 0
                let now = clock.now()
                standing.behindUntil = now + pauseBehind
                let what = count == 1 ? "1 \(Book.stream) is" : "\(count) \(Book.stream)s are"
                standing.behindComplaint.sayBehind("\(what) read again in a moment", at: now, log)
            case .closed: standing.isClosed = true
            }
        }
    }
}

/// What was read and is not handed over yet.
protocol EventBook {
    associatedtype Batch: EventBatch
    associatedtype Stream: Hashable

    /// What people call one of its streams.
    static var stream: String { get }

    /// The events since the last time, in order; nil when there are none.
    mutating func take() -> Batch?
    /// Steward took these.
    mutating func commit(_ batch: Batch)
    /// Steward took none of these, nor what came after; they are read again from where it stands. Gives the streams.
    mutating func fallBehind(_ batch: Batch) -> Set<Stream>
}

/// Events that are handed over together.
protocol EventBatch {
    var events: [ChatEvent] { get }
}
