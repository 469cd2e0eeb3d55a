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
    /// The same in milliseconds.
    let span: Int64
    /// What is asked of each event, test by test.
    let bounds: [RateBound]

    init(key: RateWindowKey, only: UserTest? = nil, time: Duration, tests: [RateTest] = []) {
        self.key = key
        self.only = only
        self.time = time
        self.tests = tests
        span = time.milliseconds
        bounds = tests.map { RateBound($0.rate, probe: $0.probe) }
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

/// When a rate is reached: plain numbers, as it is asked at each event.
struct RateBound: Sendable {
    let kind: BotRate.Kind
    let distinct: BotRate.Distinct?
    let count: Int
    /// In milliseconds.
    let span: Int64
    let probe: Int32

    init(_ rate: BotRate, probe: Int32) {
        kind = rate.kind
        distinct = rate.distinct
        count = rate.count
        span = rate.time.milliseconds
        self.probe = probe
    }
}

/// Something that counted.
struct RateEntry: Sendable {
    /// By the clock of its service.
    var time: Int64
    /// Of the message, or of the event that is none.
    var id: RateID
    /// Of the message, where messages have numbers.
    var index: Int64?
    var user: UserID?
    var channel: ChannelID?
    var amount: Int
    var sketch: TextSketch?
}
