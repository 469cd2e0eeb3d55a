internal import Chat

/// The rules that look at one kind of event in channels that are alike to all rules.
final class Slate: Sendable {
    /// For each rule of the set whether it is one of them.
    let hasRule: [Bool]
    /// For each stage those that must be asked whatever the text says, in order.
    let always: [[Int32]]
    /// The lanes that any of them looks at.
    let lanes: [Int]
    /// The measures by which any of them is triggered.
    let measures: [Measure]
    let asksForHosts: Bool
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
        self.lanes = lanes.sorted()
        self.isEmpty = isEmpty
        self.measures = Measure.allCases.filter { measures & $0.bit != 0 }
        self.asksForHosts = asksForHosts
    }
}

/// The slates made so far. A channel's is found by its number; channels that are alike share theirs.
struct Slates {
    private final class Entry {
        /// Kept, so that its number is not given to another.
        let channel: ChannelID
        let uniqueName: String?
        let isDirect: Bool
        let scopes: [Bool]
        var slates: [Slate?]

        init(_ channel: Channel, scopes: [Bool]) {
            self.channel = channel.id
            uniqueName = channel.uniqueName
            isDirect = channel.isDirect
            self.scopes = scopes
            slates = [Slate?](repeating: nil, count: EventName.allCases.count)
        }

        func isFor(_ event: ChatEvent) -> Bool {
            event.channel?.uniqueName == uniqueName && event.channel?.isDirect == isDirect
        }
    }

    private var entries: [UInt64: Entry] = [:]
    private var shared: [[Bool]: [Slate?]] = [:]
    private var accounts: [String] = []

    private static let mostChannels = 20_000

    mutating func slate(_ event: ChatEvent, _ name: EventName, _ set: RuleSet, _ directory: Directory)
        -> Slate
    {
        let index = name.number
        let channelNumber = event.channelNumber
        let key = UInt64(number(of: event.account)) << 32 | UInt64(channelNumber)
        if channelNumber != 0, let entry = entries[key], entry.isFor(event) {
            if let slate = entry.slates[index] { return slate }
            let slate = make(name, index, set, entry.scopes)
            entry.slates[index] = slate
            return slate
        }
        let scopes = set.scopes.map { $0.contains(event.channel, account: event.account, directory) }
        let slate = make(name, index, set, scopes)
        if let channel = event.channel {
            if entries.count >= Self.mostChannels { entries.removeAll() }
            let entry = Entry(channel, scopes: scopes)
            entry.slates[index] = slate
            entries[key] = entry
        }
        return slate
    }

    private mutating func make(_ name: EventName, _ index: Int, _ set: RuleSet, _ scopes: [Bool]) -> Slate {
        if let slate = shared[scopes]?[index] { return slate }
        let slate = Slate(set, event: name, scopes: scopes)
        var slates = shared[scopes] ?? [Slate?](repeating: nil, count: EventName.allCases.count)
        slates[index] = slate
        shared[scopes] = slates
        return slate
    }

    private mutating func number(of account: String) -> Int {
        for index in accounts.indices where accounts[index] == account { return index }
        accounts.append(account)
        return accounts.count - 1
    }
}
