internal import Chat
internal import Matching

/// A condition ready to be asked; words and expressions were looked for before, so it only reads what was found.
indirect enum Condition: Sendable {
    /// One of the words or expressions of a probe occurs.
    case found(Int32)
    /// The event has one of these texts at all.
    case has([BotText.Field])
    /// A piece of one of its words was found, which the probe tells, so that it is worth a look.
    case near(NearTest, Int32)
    case user(UserTest)
    case count(CountTest)
    case links(LinkTest)
    /// Asks for hosts by name, which the probe tells.
    case hosts(LinkTest, Int32)
    case mentions(MentionTest)
    case caps(CapsTest)
    case time(TimeTest)
    case check(CheckTest)
    case rate(RateTest)
    case plugin(PluginTest)
    case mode(ModeTest)
    case reaction(ReactionTest)
    case by(DoerTest)
    case policy(PolicyTest)
    case all([Condition])
    case any([Condition])
    case not(Condition)

    /// Whether the condition asks if the member is a program.
    var asksForBots: Bool {
        switch self {
        case .user(let test): test.bot != nil
        case .all(let list), .any(let list): list.contains(where: \.asksForBots)
        case .not(let condition): condition.asksForBots
        default: false
        }
    }

    /// The modes in one of which it may hold, and in no other.
    var modes: Set<String> {
        switch self {
        case .mode(let test): test.modes
        case .all(let list), .any(let list): list.reduce(into: []) { $0.formUnion($1.modes) }
        default: []
        }
    }

    /// Whether it looks at what is remembered of the member, or at counters.
    var asksMemory: Bool {
        switch self {
        case .rate, .mode: true
        case .user(let test): test.asksMemory
        case .check(let test):
            test.value.paths.contains { path in
                path.root == "counters"
                    || path.root == "user" && ["member_for", "messages", "away"].contains(path.field)
            }
        case .all(let list), .any(let list): list.contains(where: \.asksMemory)
        case .not(let condition): condition.asksMemory
        default: false
        }
    }

    /// Whether it looks at texts.
    var asksForText: Bool {
        switch self {
        case .found, .near: true
        case .all(let list), .any(let list): list.contains(where: \.asksForText)
        case .not(let condition): condition.asksForText
        default: false
        }
    }

    /// Whether it looks at what a message says, so that an edit may change the answer.
    var asksForContent: Bool {
        switch self {
        case .found, .near, .count, .links, .hosts, .mentions, .caps: true
        case .all(let list), .any(let list): list.contains(where: \.asksForContent)
        case .not(let condition): condition.asksForContent
        default: false
        }
    }

    /// The rates that it asks for.
    var rates: [RateTest] {
        switch self {
        case .rate(let test): [test]
        case .all(let list), .any(let list): list.flatMap(\.rates)
        case .not(let condition): condition.rates
        default: []
        }
    }

    /// What of which one must be so for the condition to hold; nil when it can hold without.
    func triggers(_ sizes: [Int]) -> [Trigger]? {
        func weight(_ triggers: [Trigger]) -> Int { triggers.reduce(0) { $0 + $1.weight(sizes) } }
        switch self {
        case .found(let probe), .hosts(_, let probe), .near(_, let probe): return [.probe(probe)]
        case .has, .time, .check, .plugin, .mode, .reaction, .by, .policy, .not: return nil
        case .rate(let test): return [.probe(test.probe)]
        case .user(let test): return test.triggers.min { $0.weight(sizes) < $1.weight(sizes) }.map { [$0] }
        case .count(let test): return Trigger(test.measure, test.span).map { [$0] }
        case .links(let test):
            // Spelled-out dots are only seen by looking.
            if test.isLoose { return nil }
            return test.hostsNotIn == nil
                ? Trigger(.links, test.span).map { [$0] }
                : test.span.least.flatMap { $0 > 0 ? [.least(.links, $0)] : nil }
        case .mentions(let test):
            if test.everyone { return [.least(.everyone, 1)] }
            return Trigger(.mentions, test.span).map { [$0] }
        case .caps(let test):
            // A text of small letters only may hold too, if little is asked for.
            let fewest = test.fewestCapitals
            return fewest > 0 ? [.least(.capitals, fewest)] : [.least(.letters, 1)]
        case .all(let list): return list.compactMap { $0.triggers(sizes) }.min { weight($0) < weight($1) }
        case .any(let list):
            var triggers: [Trigger] = []
            for condition in list {
                guard let some = condition.triggers(sizes) else { return nil }
                triggers += some
            }
            return list.isEmpty ? nil : triggers
        }
    }
}

/// What a rule's text is looked through for: one set of words or expressions that count as one.
struct Probe: Sendable {
    enum Kind: String, Sendable {
        case any = "has one of"
        case all = "has"
        case none = "has none of"
        case equals = "is"
        case starts = "starts with"
        case ends = "ends with"
        case regex = "matches"
        case near = "is near"
        case hosts = "links to"
        case rate = "happened"
    }

    var kind: Kind
    /// As they were written.
    var words: [Placed<String>]
    var fields: [BotText.Field]
    var lanes: [Int]
    /// Of the kind `regex`; in the order of `words`.
    var regexes: [Regex] = []
    /// Whether its expressions look at the folded text.
    var seesFolded = false
}
