internal import Chat

/// What is counted of an event, so that conditions can be found by their thresholds instead of being asked in turn.
enum Measure: Int, Sendable, CaseIterable {
    case length, lines, emoji, marks, marksOnOne, attachments
    /// Of the text as it is, with what the conditions on capitals do not count.
    case letters, capitals
    case links, mentions
    /// 1 when everyone is called.
    case everyone
    /// Of the event's member; durations in milliseconds.
    case messages, memberFor, away
    /// 1 when they were never seen before.
    case firstTime

    var bit: UInt32 { 1 << UInt32(rawValue) }

    /// None of these is more than the text has bytes.
    var isBoundBySize: Bool {
        switch self {
        case .length, .lines, .emoji, .marks, .marksOnOne, .letters, .capitals, .links, .mentions: true
        default: false
        }
    }
}

/// A range of whole numbers, both ends in it.
struct Span: Sendable, Hashable {
    var least: Int64?
    var most: Int64?

    init(least: Int64? = nil, most: Int64? = nil) {
        self.least = least
        self.most = most
    }

    init(_ bounds: Bounds<Int64>) {
        least = bounds.isOpen ? bounds.lowest.map { $0 == .max ? $0 : $0 + 1 } : bounds.lowest
        most = bounds.isOpen ? bounds.highest.map { $0 == .min ? $0 : $0 - 1 } : bounds.highest
    }

    init(_ bounds: Bounds<Duration>) {
        least = bounds.lowest.map { bounds.isOpen ? $0.milliseconds + 1 : $0.milliseconds }
        most = bounds.highest.map { bounds.isOpen ? $0.milliseconds - 1 : $0.milliseconds }
    }

    func contains(_ value: Int64) -> Bool {
        if let least, value < least { return false }
        if let most, value > most { return false }
        return true
    }
}

/// What makes a rule worth asking: a rule without any of its triggers cannot match.
enum Trigger: Sendable, Hashable {
    case probe(Int32)
    case least(Measure, Int64)
    case most(Measure, Int64)

    /// Of a span, the end that fewer events reach; nil when it has none.
    init?(_ measure: Measure, _ span: Span) {
        // Nothing is less than nothing, so that end tells nothing.
        if let least = span.least, least > 0 || span.most == nil {
            self = .least(measure, least)
        } else if let most = span.most {
            self = .most(measure, most)
        } else {
            return nil
        }
    }

    /// How often it is likely to fire, beside a word, which counts as one.
    func weight(_ sizes: [Int]) -> Int {
        switch self {
        case .probe(let probe): sizes[Int(probe)]
        case .least(_, let value): value > 0 ? 2_000 : 100_000
        case .most: 50_000
        }
    }
}

/// The rules that one measure triggers, sorted by the value it takes.
struct Thresholds: Sendable {
    /// Rising; each rule is asked from its value on.
    private(set) var least: [(value: Int64, rule: Int32)] = []
    /// Falling; each rule is asked up to its value.
    private(set) var most: [(value: Int64, rule: Int32)] = []

    var isEmpty: Bool { least.isEmpty && most.isEmpty }

    /// The least value that any rule is asked for; nil when small values are asked for too.
    var lowest: Int64? { most.isEmpty ? least.first?.value : nil }

    mutating func add(_ trigger: Trigger, _ rule: Int32) {
        switch trigger {
        case .least(_, let value): least.append((value, rule))
        case .most(_, let value): most.append((value, rule))
        case .probe: break
        }
    }

    mutating func sort() {
        least.sort { $0.value < $1.value }
        most.sort { $0.value > $1.value }
    }
}
