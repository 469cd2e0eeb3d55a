internal import Chat

/// What is counted together: rates that agree in all of this share one window.
struct RateWindowKey: Sendable, Hashable {
    var kind: BotRate.Kind
    var per: BotRate.Per?
    var across: BotRate.Across
    var scope: Int
    var exemption: Int
    var seesBots: Bool
    /// The rule's words about whose count; empty for everyone.
    var only: String

    /// Whether it tells a crowd of strangers from people who come back.
    var countsArrivals: Bool { kind == .joins && per != .user }
}

/// Whom a rate does not count.
struct Exemption: Sendable, Hashable {
    var roles: [String]
    var users: Set<String>
}

/// A window as rules define it; what it holds is with the turn.
struct RateWindow: Sendable {
    var key: RateWindowKey
    var only: UserTest?
    /// The longest time that a rate looks back.
    var time: Duration
    var tests: [RateTest] = []
}

/// Asks whether something happened so often.
struct RateTest: Sendable {
    var rate: BotRate
    var window: Int
    /// Found while it is so.
    var probe: Int32
}

/// Something that counted.
struct RateEntry: Sendable {
    /// By the clock of its service.
    var time: Int64
    /// Of the message, or of the event that is none.
    var id: String
    /// Of the message, where messages have numbers.
    var index: Int64?
    var user: UserID?
    var channel: ChannelID?
    var amount: Int
    var sketch: TextSketch?
}

/// The latest that counted in a window for one user, channel or whatever is counted by itself, by time.
struct RateLog: Sendable {
    private(set) var entries: [RateEntry] = []
    private var first = 0

    static let most = 10_000

    var latest: Int64 { entries.last?.time ?? .min }
    var recent: ArraySlice<RateEntry> { entries[first...] }

    /// Each counts once, however often it is told; a text that was edited counts as what it says now.
    mutating func add(_ entry: RateEntry, isEdit: Bool, since start: Int64) {
        while first < entries.count, entries[first].time <= start { first += 1 }
        if first > 32, first * 2 > entries.count {
            entries.removeFirst(first)
            first = 0
        }
        var place = entries.count
        while place > first, entries[place - 1].time > entry.time { place -= 1 }
        var known = place
        // One that was counted has the same time, unless it was edited.
        while known > first, entries[known - 1].time == entry.time || isEdit {
            known -= 1
            if entries[known].id == entry.id {
                entries[known].sketch = entry.sketch
                return
            }
        }
        entries.insert(entry, at: place)
        if entries.count - first > Self.most { first += 1 }
    }
}

/// All that one window holds.
struct RateLogs: Sendable {
    private var logs: [UInt64: RateLog] = [:]
    private var added = 0
    private static let most = 50_000

    /// How many users, channels or whatever is counted by itself it knows.
    var count: Int { logs.count }

    subscript(key: UInt64) -> RateLog? { logs[key] }

    mutating func add(_ entry: RateEntry, isEdit: Bool, to key: UInt64, time: Duration) {
        logs[key, default: RateLog()].add(entry, isEdit: isEdit, since: entry.time - time.milliseconds)
        added += 1
        // Now and then, what is over is let go of; if that is not enough, the older half.
        if added >= 4096 {
            added = 0
            let start = entry.time - time.milliseconds
            logs = logs.filter { $0.value.latest > start }
            if logs.count > Self.most {
                let times = logs.values.map(\.latest).sorted()
                let middle = times[times.count / 2]
                logs = logs.filter { $0.value.latest > middle }
            }
        }
    }
}
