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
                let channels = book?.fallBehind(batch) ?? []
                let now = clock.now()
                behindUntil = now + timing.behind
                // It may last as long as a disk is full.
                guard let times = behindComplaint.raise(at: now) else { continue }
                let often = times > 1 ? " (\(times) times since this was last said)" : ""
                let what = channels.count == 1 ? "1 channel is" : "\(channels.count) channels are"
                log.warning(
                    "steward takes no events now, of a flood or because its store cannot be written; \(what) read again in a moment\(often)"
                )
            case .closed: isClosed = true
            }
        }
    }

    /// Wakes the task that sees to news and gaps.
    func wake() {
        hasWork = true
        let wakers = wakers
        self.wakers = []
        for waker in wakers { waker.resume() }
    }

    /// Waits until there is something to see to.
    func work() async throws {
        if !hasWork {
            await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    if Task.isCancelled { return continuation.resume() }
                    wakers.append(continuation)
                }
            } onCancel: {
                Task { await self.wake() }
            }
        }
        try Task.checkCancellation()
        hasWork = false
    }
}
