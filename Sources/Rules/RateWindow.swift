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

/// A window as rules define it; what it holds is with the turn. In a class, so that to hand it on costs one reference.
final class RateWindow: Sendable {
    let key: RateWindowKey
    let only: UserTest?
    /// The longest time that a rate looks back.
    let time: Duration
    let tests: [RateTest]

    init(key: RateWindowKey, only: UserTest? = nil, time: Duration, tests: [RateTest] = []) {
        self.key = key
        self.only = only
        self.time = time
        self.tests = tests
    }

    /// The same with one more test.
    func adding(_ test: RateTest) -> RateWindow {
        RateWindow(key: key, only: only, time: time, tests: tests + [test])
    }

    /// The same that looks back at least so long.
    func lasting(_ time: Duration) -> RateWindow {
        RateWindow(key: key, only: only, time: max(self.time, time), tests: tests)
    }
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
    /// With so many, what is over is let go of.
    private var enough = 4096
    private static let most = 50_000

    /// How many users, channels or whatever is counted by itself it knows.
    var count: Int { logs.count }

    subscript(key: UInt64) -> RateLog? { logs[key] }

    /// Adds an entry and looks at the log with it in it.
    mutating func add<Result>(
        _ entry: RateEntry, isEdit: Bool, to key: UInt64, time: Duration,
        _ look: (borrowing RateLog) -> Result
    ) -> Result {
        let start = entry.time - time.milliseconds
        if logs.count >= enough { letGo(before: start) }
        return Self.add(entry, isEdit, since: start, &logs[key, default: RateLog()], look)
    }

    mutating func add(_ entry: RateEntry, isEdit: Bool, to key: UInt64, time: Duration) {
        add(entry, isEdit: isEdit, to: key, time: time) { _ in }
    }

    private static func add<Result>(
        _ entry: RateEntry, _ isEdit: Bool, since start: Int64, _ log: inout RateLog,
        _ look: (borrowing RateLog) -> Result
    ) -> Result {
        log.add(entry, isEdit: isEdit, since: start)
        return look(log)
    }

    /// If what is over is not enough, the older half goes. The next time is when there are twice as many as are left,
    /// so that it costs nothing most of the time.
    private mutating func letGo(before start: Int64) {
        logs = logs.filter { $0.value.latest > start }
        if logs.count > Self.most {
            let times = logs.values.map(\.latest).sorted()
            let middle = times[times.count / 2]
            logs = logs.filter { $0.value.latest > middle }
        }
        enough = max(4096, 2 * logs.count)
    }
}
