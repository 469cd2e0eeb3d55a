internal import Chat

/// At most so many in a time, for what must not get out of hand: a wrong rule does no more harm than that.
package struct Ceiling: Sendable, Equatable {
    package var count: Int
    package var time: Duration

    /// There is always an end: more than `most` in a time is no ceiling.
    package static let most = 1_000_000

    package init(_ count: Int, per time: Duration) {
        self.count = min(max(0, count), Self.most)
        self.time = max(time, .seconds(1))
    }
}

/// The ceilings of one account, and where staff are told when one is reached.
package struct Ceilings: Sendable, Equatable {
    package enum Kind: String, Sendable, CaseIterable { case bans, kicks, deletions }

    package var bans = Ceiling(10, per: .seconds(3600))
    package var kicks = Ceiling(20, per: .seconds(600))
    /// In one channel.
    package var deletions = Ceiling(200, per: .seconds(60))

    package init() {}

    subscript(kind: Kind) -> Ceiling {
        switch kind {
        case .bans: bans
        case .kicks: kicks
        case .deletions: deletions
        }
    }
}

/// How many there were lately, for a ceiling. A row in memory, so that a restart does not begin again.
struct CeilingCount: Equatable {
    /// Counts by slots, each a twentieth of the ceiling's time; the oldest first.
    private var slots: [(number: Int64, count: Int)] = []
    /// When staff were told last.
    private var told: Timestamp?
    private let slot: Int64
    private let ceiling: Ceiling

    init(_ ceiling: Ceiling, _ value: MemoryValue?) {
        self.ceiling = ceiling
        slot = max(1, ceiling.time.milliseconds / 20)
        guard case .text(let text)? = value else { return }
        let parts = text.split(separator: " ", omittingEmptySubsequences: false)
        told = parts.first.flatMap { Int64($0) }.map { Timestamp(milliseconds: $0) }
        // Written under another ceiling, the slots are of another length: their times are kept all the same.
        for part in parts.dropFirst() {
            let pair = part.split(separator: ":")
            guard pair.count == 2, let start = Int64(pair[0]), let count = Int(pair[1]) else { continue }
            slots.append((start / slot, count))
        }
    }

    static func == (left: CeilingCount, right: CeilingCount) -> Bool { left.value == right.value }

    /// True when one more is allowed; then it counts.
    mutating func take(at now: Timestamp) -> Bool {
        let number = now.milliseconds / slot
        // What is left spans the ceiling's time and a little more, so that no stretch of that time has too many.
        slots.removeAll { $0.number < number - 20 }
        guard slots.reduce(0, { $0 + $1.count }) < ceiling.count else { return false }
        if let last = slots.indices.last, slots[last].number >= number {
            slots[last].count += 1
        } else {
            slots.append((number, 1))
        }
        return true
    }

    /// True when staff have not been told within the ceiling's time; then they are.
    mutating func tell(at now: Timestamp) -> Bool {
        if let told, now - told < ceiling.time { return false }
        told = now
        return true
    }

    var value: MemoryValue {
        let told = told.map { "\($0.milliseconds)" } ?? ""
        return .text(([told] + slots.map { "\($0.number * slot):\($0.count)" }).joined(separator: " "))
    }
}
