internal import Chat

extension SendbirdService {
    /// Hands what was read to steward, in order: one delivery at a time, however many ask for it.
    func handOver() async {
        guard !isDelivering, let inbox else { return }
        isDelivering = true
        defer { isDelivering = false }
        while let batch = book?.take() {
            guard !isClosed else { continue }
            switch await inbox.deliver(batch.events) {
            case .taken: book?.commit(batch)
            case .behind:
                // Read on, or answers and pings would be stuck, too; the events come again from where steward stands.
                let count = book?.fallBehind(batch).count ?? 0
                let now = clock.now()
                behindUntil = now + timing.behind
                let what = count == 1 ? "1 channel is" : "\(count) channels are"
                behindComplaint.sayBehind("\(what) read again in a moment", at: now, log)
            case .closed: isClosed = true
            }
        }
    }
}
