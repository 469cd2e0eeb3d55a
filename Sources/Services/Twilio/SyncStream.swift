internal import Chat

/// Puts the numbered events of one Sync object in order: each is let through once, none before the one that precedes
/// it.
///
/// An event that comes early is held for a short wait. When the wait is over, or the connection is new, the object has
/// to be subscribed again from `mark` on; what the server then gives and says to be complete is taken as all there is.
struct SyncStream<Change> {
    enum Phase: Equatable {
        /// Has to be subscribed again, from `mark` on.
        case wanted
        /// A subscription with this correlation id is on its way.
        case establishing(Int64)
        case live
        /// The replay has gaps: the object itself is being read; what comes meanwhile is held.
        case rereading(upTo: Int64)
        /// Steward takes no events now: they are dropped and read again later.
        case behind
        /// The object is no more, or is not ours to read.
        case gone
    }

    enum Verdict: Equatable {
        /// It is next: `advance`, and afterwards ask `next()` for what was waiting for it.
        case next
        /// It has to wait: `hold` it.
        case early
        case unwanted
    }

    /// The highest number up to which everything was let through.
    private(set) var mark: Int64
    private(set) var phase = Phase.wanted
    private var held: [Int64: Change] = [:]
    private var heldSince: Timestamp?

    /// More early events than this are not kept; they are read again.
    private static var mostHeld: Int { 4096 }

    init(mark: Int64) {
        self.mark = mark
    }

    /// What to do with event number `id`.
    func verdict(on id: Int64) -> Verdict {
        guard id > mark, phase != .behind, phase != .gone else { return .unwanted }
        if id == mark + 1, !isRereading { return .next }
        return held[id] == nil ? .early : .unwanted
    }

    /// Lets the next event through.
    mutating func advance() {
        mark += 1
        if !held.isEmpty { release(mark) }
    }

    /// Keeps an early event until its turn comes.
    mutating func hold(_ id: Int64, _ change: Change, at now: Timestamp) {
        guard held.count < Self.mostHeld else {
            if case .live = phase { phase = .wanted }
            return
        }
        if held.isEmpty { heldSince = now }
        held[id] = change
    }

    /// It came again, and earlier than the one that waited.
    private mutating func release(_ id: Int64) {
        held[id] = nil
        if held.isEmpty { heldSince = nil }
    }

    /// The next event that waited and whose turn it is.
    mutating func next() -> (id: Int64, change: Change)? {
        guard !held.isEmpty, !isRereading else { return nil }
        guard let change = held.removeValue(forKey: mark + 1) else { return nil }
        mark += 1
        if held.isEmpty { heldSince = nil }
        return (mark, change)
    }

    /// True when an early event has waited for longer than `wait`: the missing one will not come by itself.
    func isOverdue(at now: Timestamp, after wait: Duration) -> Bool {
        guard phase == .live, let heldSince else { return false }
        return now - heldSince >= wait
    }

    /// To be subscribed again, as after every new connection.
    mutating func want() {
        guard phase != .gone else { return }
        phase = .wanted
    }

    mutating func establish(correlation: Int64) {
        guard phase != .gone else { return }
        phase = .establishing(correlation)
    }

    /// The server has replayed all that it has up to `last`. True when events are missing nevertheless.
    mutating func settle(upTo last: Int64, at now: Timestamp) -> Bool {
        heldSince = held.isEmpty ? nil : now
        guard last > mark else {
            phase = .live
            return false
        }
        phase = .rereading(upTo: last)
        return true
    }

    /// What was missing has been read otherwise, or does not exist: lets through what was held up to there, in order.
    mutating func skip() -> [(id: Int64, change: Change)] {
        guard case .rereading(let last) = phase else { return [] }
        phase = .live
        let ids = held.keys.filter { $0 <= last }.sorted()
        mark = max(mark, last)
        let skipped = ids.compactMap { id in held.removeValue(forKey: id).map { (id: id, change: $0) } }
        if held.isEmpty { heldSince = nil }
        return skipped
    }

    /// Steward did not take what was let through after `taken`: it has to be read again from there.
    mutating func fallBehind(to taken: Int64) {
        guard phase != .gone else { return }
        mark = min(mark, taken)
        held = [:]
        heldSince = nil
        phase = .behind
    }

    mutating func end() {
        held = [:]
        heldSince = nil
        phase = .gone
    }

    private var isRereading: Bool {
        if case .rereading = phase { true } else { false }
    }
}
