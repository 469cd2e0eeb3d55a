internal import Chat

/// Ends what takes too long. All of it has one waiter, so that what is quick costs no timer.
final class Deadlines: Sendable {
    private struct Entry {
        let id: UInt64
        let due: Timestamp
        let end: @Sendable () -> Void
    }

    private let entries = Locked<(list: [Entry], last: UInt64)>((list: [], last: 0))
    private let changed = Signal()
    private let time: any TimeSource

    init(time: any TimeSource) {
        self.time = time
    }

    /// `end` is called when the time is over and it was not removed before.
    func add(after limit: Duration, _ end: @escaping @Sendable () -> Void) -> UInt64 {
        let due = time.now + limit
        let (id, isFirst) = entries.withLock { entries in
            entries.last += 1
            entries.list.append(Entry(id: entries.last, due: due, end: end))
            return (entries.last, entries.list.count == 1)
        }
        if isFirst { changed.fire() }
        return id
    }

    /// False when its time was over already.
    func remove(_ id: UInt64) -> Bool {
        entries.withLock { entries in
            guard let index = entries.list.firstIndex(where: { $0.id == id }) else { return false }
            entries.list.remove(at: index)
            return true
        }
    }

    /// Until cancelled.
    func run() async {
        while !Task.isCancelled {
            let version = changed.version
            guard let next = entries.withLock({ $0.list.map(\.due).min() }) else {
                await changed.wait(past: version)
                continue
            }
            // What this waits for may be over long before: then the next is looked for.
            try? await time.sleep(for: max(next - time.now, .milliseconds(1)))
            for entry in takeOverdue(at: time.now) { entry.end() }
        }
    }

    private func takeOverdue(at now: Timestamp) -> [Entry] {
        entries.withLock { entries in
            let overdue = entries.list.filter { $0.due <= now }
            entries.list.removeAll { $0.due <= now }
            return overdue
        }
    }
}
