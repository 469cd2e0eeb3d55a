internal import Chat

/// Turns times into work: tells the decider which continuations are due.
final class Schedule: Sendable {
    private struct Entry {
        var due: Timestamp
        var key: String
    }

    /// A heap, earliest first.
    private let entries = Locked<[Entry]>([])
    private let changed = Signal()
    private let queue: BatchQueue<Work>
    private let time: any TimeSource

    init(queue: BatchQueue<Work>, time: any TimeSource) {
        self.queue = queue
        self.time = time
    }

    func add(_ key: String, due: Timestamp) {
        let isFirst = entries.withLock { entries in
            entries.append(Entry(due: due, key: key))
            return Self.rise(&entries) == 0
        }
        if isFirst { changed.fire() }
    }

    /// Until cancelled. What is overdue at the start comes at once.
    func run() async {
        while !Task.isCancelled {
            let version = changed.version
            let now = time.now
            let (due, next) = entries.withLock { Self.takeDue(&$0, at: now) }
            if !due.isEmpty { queue.put(.due(due)) }
            guard let next else {
                await changed.wait(past: version)
                continue
            }
            // The time of day may be set meanwhile, so it is looked at again every minute.
            await changed.wait(past: version, noLongerThan: min(next - now, .seconds(60)), by: time)
        }
    }

    private static func takeDue(_ entries: inout [Entry], at now: Timestamp) -> ([String], Timestamp?) {
        var due: [String] = []
        while let first = entries.first, first.due <= now {
            due.append(first.key)
            removeFirst(&entries)
        }
        return (due, entries.first?.due)
    }

    /// Moves the last entry to its place; says where that is.
    private static func rise(_ entries: inout [Entry]) -> Int {
        var child = entries.count - 1
        while child > 0, entries[child].due < entries[(child - 1) / 2].due {
            entries.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
        return child
    }

    private static func removeFirst(_ entries: inout [Entry]) {
        entries.swapAt(0, entries.count - 1)
        entries.removeLast()
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < entries.count {
                if entries[child].due < entries[least].due { least = child }
            }
            if least == parent { return }
            entries.swapAt(parent, least)
            parent = least
        }
    }
}
