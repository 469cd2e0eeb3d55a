internal import Chat
internal import Unicode

/// What rates hold, and which of them are reached now.
struct Rates: Sendable {
    private var logs: [RateLogs] = []
    private var folded = FoldedText()
    /// For each exemption whether the event's member has it: 0 for not asked yet, 1 for no, 2 for yes.
    private var exempt: [UInt8] = []
    /// Until when the arrivals of an account are those of its own return, or of many who were cut off.
    private var returns: [String: Timestamp] = [:]
    /// When people left an account by themselves lately.
    private var departures: [String: [Timestamp]] = [:]
    /// Our own clock when something was counted last.
    private var now = Timestamp(milliseconds: 0)
    /// Of events that come next; it keeps its room.
    private var keys: [UInt64] = []
    /// What was read to have it near.
    private var touched: Int64 = 0
    /// Whether strikes or reports are counted.
    var countsDeeds = false

    /// Who is found in the channels after steward itself was away has not come just now.
    static let pauseAfterReturn = Duration.seconds(60)
    /// So many who leave within so short a time did not all want to.
    static let massLeave = (count: 10, within: Duration.seconds(10))
    /// Who came just now is not counted among them: a raid that turns on its heel must not hide the next one.
    private static let settled = Duration.seconds(600)

    /// Notes that an account was away, or many of its people.
    mutating func note(_ name: EventName, _ event: ChatEvent, _ situation: Situation) {
        switch name {
        case .serviceDown: returns[event.account] = Timestamp(milliseconds: .max)
        case .serviceUp: returns[event.account] = situation.now + Self.pauseAfterReturn
        case .memberLeft where event.by == nil: noteDeparture(event, situation)
        default: break
        }
    }

    private mutating func noteDeparture(_ event: ChatEvent, _ situation: Situation) {
        if let first = situation.facts.firstSeen, event.sentAt - first < Self.settled { return }
        var times = departures[event.account] ?? []
        times.append(event.sentAt)
        times.removeAll { event.sentAt - $0 > Self.massLeave.within }
        departures[event.account] = times.suffix(Self.massLeave.count)
        guard times.count >= Self.massLeave.count else { return }
        let end = situation.now + Self.pauseAfterReturn
        returns[event.account] = max(returns[event.account] ?? end, end)
    }

    /// These are counted next: what there is of them is read, so that the waits for memory far away are one for all.
    mutating func expect(_ next: [Expected], _ set: RuleSet) {
        guard logs.count == set.rateWindows.count else { return }
        for number in set.liveRateWindows where set.rateWindows[number].key.per == .user {
            let isOfChannels = set.rateWindows[number].key.across == .channel
            keys.removeAll(keepingCapacity: true)
            for event in next where event.user != 0 {
                keys.append(UInt64(event.user) << 32 | (isOfChannels ? UInt64(event.channel) : 0))
            }
            touched &+= logs[number].touch(keys)
        }
    }

    /// Counts the event in the windows that are about it, and appends the probe of each rate that it fulfils.
    mutating func count(
        _ event: ChatEvent, _ name: EventName, _ look: EventLook, _ figures: inout EventFigures,
        _ situation: Situation, _ windows: [Int], _ set: RuleSet, reached: inout [Int32]
    ) {
        if logs.count < set.rateWindows.count {
            logs = [RateLogs](repeating: RateLogs(), count: set.rateWindows.count)
        }
        now = situation.now
        if look.isOwn(in: situation) { return }
        if exempt.count == set.exemptions.count {
            for index in exempt.indices { exempt[index] = 0 }
        } else {
            exempt = [UInt8](repeating: 0, count: set.exemptions.count)
        }
        var sketch: TextSketch?
        var similar = false
        for number in windows {
            let window = set.rateWindows[number]
            guard let key = Self.key(window.key, event, look) else { continue }
            if window.key.kind.looksAtText, let text = look.text {
                if sketch == nil || window.key.kind == .similar && !similar {
                    similar = window.key.kind == .similar
                    sketch = TextSketch(text, similarity: similar, using: &folded)
                }
                if sketch == nil { continue }
            }
            let amount = Self.amount(window.key.kind, event, name, look, &figures, situation)
            if amount > 0, counts(event, look, window, situation, set) {
                let isText = window.key.kind.looksAtText
                let isNew = name.number == EventName.messageAdded.number
                let ofMessage = isText || isNew
                // Whom and where the key tells already need not be kept.
                let entry = RateEntry(
                    time: event.sentAt.milliseconds, id: RateID(of: event, ofMessage: ofMessage),
                    index: ofMessage ? event.digest.messageIndex : nil,
                    user: window.key.per == .user ? nil : look.user,
                    channel: window.key.across == .channel ? nil : event.channel?.id, amount: amount,
                    sketch: isText ? sketch : nil)
                let isEdit = name.number == EventName.messageEdited.number
                logs[number].add(
                    entry, isEdit: isEdit && isText, to: key, place: event.channelNumber, window: window.span,
                    at: now)
            }
            for place in window.bounds.indices
            where logs[number].isReached(window.bounds[place], key, at: event.sentAt, like: sketch) {
                reached.append(window.bounds[place].probe)
            }
        }
    }

    /// Counts what a rule did about somebody.
    mutating func count(
        _ kind: BotRate.Kind, _ amount: Int, of user: UserID, by rule: Rule, _ event: ChatEvent,
        _ set: RuleSet
    ) {
        if logs.count < set.rateWindows.count {
            logs = [RateLogs](repeating: RateLogs(), count: set.rateWindows.count)
        }
        let look = EventLook(of: user)
        for number in set.liveRateWindows where set.rateWindows[number].key.kind == kind {
            let window = set.rateWindows[number]
            guard let key = Self.key(window.key, event, look) else { continue }
            let entry = RateEntry(
                time: event.sentAt.milliseconds, id: RateID("\(rule.id) \(event.id)"),
                user: window.key.per == .user ? nil : user,
                channel: window.key.across == .channel ? nil : event.channel?.id, amount: amount)
            logs[number].add(
                entry, isEdit: false, to: key, place: event.channelNumber, window: window.span,
                at: max(now, event.sentAt))
        }
    }

    /// Those that a rate counts now, the latest last.
    func entries(
        of test: RateTest, _ event: ChatEvent, _ look: EventLook, _ set: RuleSet
    ) -> [RateEntry] {
        guard logs.indices.contains(test.window),
            let key = Self.key(set.rateWindows[test.window].key, event, look)
        else { return [] }
        var folded = FoldedText()
        let sketch = look.text.flatMap {
            TextSketch($0, similarity: test.rate.kind == .similar, using: &folded)
        }
        let end = event.sentAt.milliseconds
        let start = end - test.rate.time.milliseconds
        let log = logs[test.window]
        let window = set.rateWindows[test.window].key
        var entries: [RateEntry] = []
        log.look(key) { time, _, number in
            if time <= start { return false }
            if time <= end, log.fits(number, test.rate.kind, sketch) {
                var entry = log.entry(number)
                if window.per == .user { entry.user = look.user }
                if window.across == .channel { entry.channel = event.channel?.id }
                entries.append(entry)
            }
            return true
        }
        return entries.reversed()
    }

    private mutating func counts(
        _ event: ChatEvent, _ look: EventLook, _ window: RateWindow, _ situation: Situation, _ set: RuleSet
    ) -> Bool {
        if !window.key.seesBots, look.isBot == true { return false }
        if window.key.countsArrivals {
            if let end = returns[event.account], situation.now < end { return false }
            // When a split heals, known people come back.
            if window.only?.firstTime == nil, situation.facts.firstSeen != nil { return false }
        }
        let number = window.key.exemption
        if exempt[number] == 0 {
            exempt[number] = set.exemptions[number].covers(event, situation) ? 2 : 1
        }
        if exempt[number] == 2 { return false }
        return window.only.map { $0.objection(event, look, situation) { _ in .absent } == nil } ?? true
    }

    /// What the event adds to a window of that kind.
    private static func amount(
        _ kind: BotRate.Kind, _ event: ChatEvent, _ name: EventName, _ look: EventLook,
        _ figures: inout EventFigures, _ situation: Situation
    ) -> Int {
        guard kind.counts(name) else { return 0 }
        let measure: Measure
        switch kind {
        case .links: measure = .links
        case .mentions: measure = .mentions
        case .attachments: measure = .attachments
        case .emoji: measure = .emoji
        case .messages, .joins, .leaves, .edits, .identical, .similar: return 1
        // Counted when they are given.
        case .strikes, .reports: return 0
        }
        return Int(figures.value(of: measure, event, look, situation) ?? 0)
    }

    /// Users, channels and realms have numbers of their own; nil where the event lacks what is counted by itself.
    private static func key(_ key: RateWindowKey, _ event: ChatEvent, _ look: EventLook) -> UInt64? {
        var number: UInt64 = 0
        if key.per == .user {
            guard look.userNumber != 0 else { return nil }
            number = UInt64(look.userNumber) << 32
        }
        switch key.across {
        case .channel:
            guard event.channelNumber != 0 else { return nil }
            return number | UInt64(event.channelNumber)
        // A user belongs to one service already.
        case .service where key.per != .user:
            return UInt64(UInt(bitPattern: ObjectIdentifier(event.realm).hashValue))
        case .service, .all: return number
        }
    }
}

extension Exemption {
    func covers(_ event: ChatEvent, _ situation: Situation) -> Bool {
        if users.isEmpty, roles.isEmpty || !situation.knowsRoles { return false }
        guard let member = event.member else { return false }
        if !users.isEmpty,
            users.contains(member.user.text) || users.contains("\(event.account):\(member.user.text)")
        {
            return true
        }
        return situation.hasRole(in: roles, member, account: event.account)
    }
}

/// What a rule's templates print of its rate.
struct RateValues: Sendable {
    var count: Int
    var span: Duration
    var users: [UserID]

    init(_ entries: [RateEntry], distinct: BotRate.Distinct?) {
        var seen: Set<UserID> = []
        users = entries.compactMap(\.user).filter { seen.insert($0).inserted }
        count =
            switch distinct {
            case nil: entries.reduce(0) { $0 + $1.amount }
            case .user: users.count
            case .channel: Set(entries.map(\.channel)).count
            }
        span = .milliseconds((entries.last?.time ?? 0) - (entries.first?.time ?? 0))
    }
}

extension ChatEvent {
    /// The number of its channel; 0 when it has none.
    fileprivate var channelNumber: UInt32 { digest.channel }
}
