internal import Chat

/// The rules that look at one kind of event in channels that are alike to all rules.
final class Slate: Sendable {
    /// For each rule of the set whether it is one of them.
    let hasRule: [Bool]
    /// For each stage those that must be asked whatever the text says, in order.
    let always: [[Int32]]
    /// The lanes that any of them looks at.
    let lanes: [Int]
    /// The measures by which any of them is triggered, and the least value that any rule of the set is asked for; nil
    /// when small values are asked for too.
    let measures: [(measure: Measure, lowest: Int64?)]
    /// Whether a stage behind this one has rules that must be asked whatever the text says.
    let goesOn: [Bool]
    let asksForHosts: Bool
    /// The windows that count the event, or that any of them asks for.
    let rateWindows: [Int]
    let isEmpty: Bool

    init(_ set: RuleSet, event: EventName, scopes: [Bool]) {
        var hasRule = [Bool](repeating: false, count: set.rules.count)
        var always = [[Int32]](repeating: [], count: Stage.allCases.count)
        var lanes: Set<Int> = []
        var isEmpty = true
        var measures: UInt32 = 0
        var asksForHosts = false
        for rule in set.rules
        where scopes[rule.scope] && rule.source.run != .disabled && rule.events.contains(event) {
            isEmpty = false
            hasRule[rule.number] = true
            if !set.isTriggered[rule.number] { always[rule.stage.rawValue].append(Int32(rule.number)) }
            lanes.formUnion(set.lanesOfRules[rule.number])
            measures |= set.measuresOfRules[rule.number]
            if set.asksForHosts[rule.number] { asksForHosts = true }
        }
        self.hasRule = hasRule
        self.always = always
        goesOn = always.indices.map { stage in always[(stage + 1)...].contains { !$0.isEmpty } }
        self.lanes = lanes.sorted()
        let asked = Set(set.rules.indices.lazy.filter { hasRule[$0] }.flatMap { set.rateWindowsOfRules[$0] })
        rateWindows = set.liveRateWindows.filter { number in
            let key = set.rateWindows[number].key
            return scopes[key.scope] && (asked.contains(number) || key.kind.events.contains(event))
        }
        self.isEmpty = isEmpty && rateWindows.isEmpty
        self.measures = Measure.allCases.filter { measures & $0.bit != 0 }.map {
            ($0, set.thresholds[$0.rawValue].lowest)
        }
        self.asksForHosts = asksForHosts
    }
}

/// The slates made so far. A channel's is found by its number; channels that are alike share theirs.
struct Slates {
    private final class Entry {
        // Reached through the slates alone, one at a time: no check at each access that it is so.
        /// Kept, so that its number is not given to another.
        @exclusivity(unchecked) private var channel: Channel
        let account: String
        let scopes: [Bool]
        @exclusivity(unchecked) var slates: [Slate?]

        init(_ channel: Channel, account: String, scopes: [Bool]) {
            self.channel = channel
            self.account = account
            self.scopes = scopes
            slates = [Slate?](repeating: nil, count: EventName.allCases.count)
        }

        func isFor(_ event: ChatEvent) -> Bool {
            if event.isIn(channel) { return true }
            guard let channel = event.channel else { return false }
            guard channel.uniqueName == self.channel.uniqueName, channel.isDirect == self.channel.isDirect
            else { return false }
            self.channel = channel
            return true
        }
    }

    /// What was asked for lately. Nothing is looked at for it but who the channel is, which counts no references.
    private final class Latest {
        /// Kept, so that its object is no other's.
        private let channel: Channel
        private let object: ObjectIdentifier
        private let account: String
        private let event: Int
        let slate: Slate

        init(_ channel: Channel, account: String, event: Int, slate: Slate) {
            self.channel = channel
            object = channel.object
            self.account = account
            self.event = event
            self.slate = slate
        }

        func isFor(_ other: ChatEvent, _ number: Int) -> Bool {
            event == number && object == other.channelObject && other.isRead(by: account)
        }
    }

    /// One for each account that reads the channel, by the channel's number.
    private var entries: [UInt32: [Entry]] = [:]
    /// Those used last, by the ends of the channel's number and the event's.
    private var latest = [Latest?](repeating: nil, count: 1024)
    private var shared: [[Bool]: [Slate?]] = [:]

    private static let mostChannels = 20_000

    mutating func slate(_ event: ChatEvent, _ name: EventName, _ set: RuleSet, _ situation: Situation)
        -> Slate
    {
        let index = name.number
        let number = event.digest.channel
        let slot = (Int(number) &* 4 &+ index) & 1023
        if let known = latest[slot], known.isFor(event, index) { return known.slate }
        guard let channel = event.channel else {
            return make(name, index, set, scopes(event, set, situation))
        }
        let entry: Entry
        if let known = entries[number]?.first(where: { event.isRead(by: $0.account) }), known.isFor(event) {
            entry = known
        } else {
            entry = Entry(channel, account: event.account, scopes: scopes(event, set, situation))
            if entries.count >= Self.mostChannels { entries.removeAll() }
            entries[number] = (entries[number] ?? []).filter { $0.account != event.account } + [entry]
        }
        let slate = entry.slates[index] ?? make(name, index, set, entry.scopes)
        entry.slates[index] = slate
        latest[slot] = Latest(channel, account: event.account, event: index, slate: slate)
        return slate
    }

    private func scopes(_ event: ChatEvent, _ set: RuleSet, _ situation: Situation) -> [Bool] {
        let directory = situation.directory
        return set.scopes.map { $0.contains(event.channel, account: event.account, directory) }
    }

    private mutating func make(_ name: EventName, _ index: Int, _ set: RuleSet, _ scopes: [Bool]) -> Slate {
        if let slate = shared[scopes]?[index] { return slate }
        let slate = Slate(set, event: name, scopes: scopes)
        var slates = shared[scopes] ?? [Slate?](repeating: nil, count: EventName.allCases.count)
        slates[index] = slate
        shared[scopes] = slates
        return slate
    }
}
