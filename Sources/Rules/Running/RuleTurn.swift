internal import Chat
internal import Matching
internal import Unicode

/// What becomes of a rule when it is asked about an event.
enum Verdict: Equatable {
    case matches
    case disabled, otherEvent, otherChannel
    case ownMessage, bot, exempt, stale
    /// It is called by a word, and not by this message.
    case notCalled
    /// It was called, and what stands behind the word does not fit; nothing is said to it.
    case wrongArguments
    case conditionFails
    /// There was no time to look through all of the text.
    case undecided
    case coolsDown(until: Timestamp), onceBefore
    /// The event has its answer.
    case answered(by: String)
    /// The message was answered before it was edited.
    case answeredBefore
    case groupAnswered(by: String)
    /// An earlier rule ended the stage.
    case notAsked(after: String)
}

/// Takes one event at a time through the rules. It keeps the room it works in, so an event that matches nothing costs
/// no allocation.
struct RuleTurn {
    private var lanes: [LaneState]
    /// For each probe the number of the scan that found it last.
    private var found: [UInt32]
    /// For each rule the number of the scan that made it a candidate last.
    private var asked: [UInt32]
    private var candidates: [Int32] = []
    private var scanNumber: UInt32 = 0
    private var slates = Slates()
    // What was scanned last: the stages ask one after another about the same event.
    private var lastSlate: Slate?
    private var lastStage = Stage.observe
    private(set) var look = EventLook()
    /// The command that the message calls.
    var call: CommandCall?
    private var figures = EventFigures()
    private var windows: [WindowState] = []
    private var people = NamedPeople()
    var rates = Rates()
    var recent = RecentMessages()
    var breakers = Breakers()
    var deletions = RecentDeletions()
    private var reached: [Int32] = []
    /// How long this thread may compute for what the conditions of one event look for in its text.
    var budget = Duration.milliseconds(50)
    /// What is left of that for the next stage.
    private var left = Duration.zero
    /// The thread's time from which on nothing more is looked for; nil for a short text, which cannot take that long.
    private var deadline: Duration?
    /// The lanes in which not all was looked for.
    private var unread: Set<Int> = []

    init(lanes: Int, probes: Int, rules: Int) {
        self.lanes = Array(repeating: LaneState(), count: lanes)
        found = Array(repeating: 0, count: probes)
        asked = Array(repeating: 0, count: rules)
    }

    typealias Witness = (Rule, Verdict, borrowing RuleTurn) -> Void

    mutating func decide(
        _ event: ChatEvent, _ name: EventName, _ situation: Situation, _ stage: Stage, _ set: RuleSet,
        witness: Witness?
    ) -> Decision {
        let slate = slates.slate(event, name, set, situation)
        if slate.isEmpty, witness == nil {
            return set.namesTargets && stage == .guard ? named(event, situation, set) : .nothing
        }
        let isNew = scan(event, name, situation, slate, stage, set)
        defer { if let deadline { left = max(.zero, deadline - ThreadTime.now) } }
        if candidates.isEmpty, slate.always[stage.rawValue].isEmpty, !set.namesPeople, witness == nil,
            unread.isEmpty
        {
            return .nothing
        }
        var progress = Progress()
        if set.namesPeople, isNew, let member = event.member, !look.isOwn(in: situation) {
            progress.decision.changes += people.changes(
                member, event, situation.memory, withRoles: set.namesTargets)
        }
        if witness != nil || !unread.isEmpty {
            for rule in set.rules where rule.stage == stage {
                let verdict = progress.ending ?? verdict(on: rule, event, situation, slate, set, progress)
                if verdict == .matches { act(rule, event, situation, set, &progress) }
                if verdict == .undecided { progress.undecided.append(rule) }
                witness?(rule, verdict, self)
            }
            tellOfUndecided(progress.undecided, event, situation, &progress.decision)
            return progress.decision
        }
        let always = slate.always[stage.rawValue]
        if always.isEmpty, candidates.isEmpty { return progress.decision }
        // Both lists are in the order of the rules; so is what comes of them.
        var (next, candidate) = (0, 0)
        while next < always.count || candidate < candidates.count {
            let number: Int32
            if candidate >= candidates.count || next < always.count && always[next] < candidates[candidate] {
                number = always[next]
                next += 1
            } else {
                number = candidates[candidate]
                candidate += 1
                guard slate.hasRule[Int(number)], set.rules[Int(number)].stage == stage else { continue }
            }
            let rule = set.rules[Int(number)]
            let verdict = verdict(on: rule, event, situation, slate, set, progress)
            if verdict == .undecided { progress.undecided.append(rule) }
            guard verdict == .matches else { continue }
            act(rule, event, situation, set, &progress)
            if progress.ending != nil { break }
        }
        tellOfUndecided(progress.undecided, event, situation, &progress.decision)
        return progress.decision
    }

    /// Who joins may be punished by name before they said a word.
    private mutating func named(_ event: ChatEvent, _ situation: Situation, _ set: RuleSet) -> Decision {
        var decision = Decision()
        if let member = event.member, member.user != situation.own {
            decision.changes = people.changes(member, event, situation.memory, withRoles: true)
        }
        return decision
    }

    /// Whether the event's time is used up.
    private var isOver: Bool { deadline.map { ThreadTime.now >= $0 } ?? false }

    /// From so many bytes on a text is timed.
    private static let longText = 2_000

    /// What the rules asked so far have come to.
    struct Progress {
        var decision = Decision.nothing
        var answeredBy: String?
        /// The groups of which a member acts, and which.
        var groups: [String: String] = [:]
        /// Those of which a member has answered, and was counted.
        var countedGroups: Set<String> = []
        /// Those for which there was no time.
        var undecided: [Rule] = []
        /// Set when no further rule of the stage is asked.
        var ending: Verdict?
    }

    // MARK: Reading the event

    /// Counts an event of the past, about which nothing is done any more.
    mutating func recall(_ event: ChatEvent, _ name: EventName, _ situation: Situation, _ set: RuleSet) {
        rates.note(name, event, situation)
        if set.keepsRecent { recent.note(event) }
        let slate = slates.slate(event, name, set, situation)
        guard !slate.rateWindows.isEmpty else { return }
        forget()
        look = EventLook(event)
        figures.begin()
        reached.removeAll(keepingCapacity: true)
        rates.count(event, name, look, figures, situation, slate.rateWindows, set, reached: &reached)
    }

    /// Reads an event of before anew, for what is left to do about it.
    mutating func reread(_ event: ChatEvent, _ name: EventName, _ situation: Situation, _ set: RuleSet) {
        let slate = slates.slate(event, name, set, situation)
        forget()
        _ = scan(event, name, situation, slate, .guard, set)
    }

    /// The next stage reads its event itself.
    mutating func forget() {
        lastSlate = nil
    }

    /// Looks at what is no service's event: nothing is found in it but the rates that a rule asks for.
    mutating func lookAt(_ event: ChatEvent, _ rule: Rule, _ situation: Situation, _ set: RuleSet) {
        forget()
        look = EventLook(event)
        beginScan()
        if !set.windows.isEmpty { lookAtWindows(situation.now, set) }
        let windows = set.rateWindowsOfRules[rule.number]
        guard !windows.isEmpty else { return }
        reached.removeAll(keepingCapacity: true)
        rates.count(event, .started, look, figures, situation, windows, set, reached: &reached)
        for probe in reached where found[Int(probe)] != scanNumber { note(probe, set) }
    }

    private mutating func scan(
        _ event: ChatEvent, _ name: EventName, _ situation: Situation, _ slate: Slate, _ stage: Stage,
        _ set: RuleSet
    ) -> Bool {
        let isSame =
            stage.rawValue > lastStage.rawValue && lastSlate === slate && look.isOf(event)
        lastStage = stage
        if isSame {
            if deadline != nil { deadline = ThreadTime.now + left }
            return false
        }
        if lastSlate !== slate { lastSlate = slate }
        let look = EventLook(event)
        let text = look.text
        self.look = look
        beginScan()
        if let text, text.utf8.count > Self.longText { deadline = ThreadTime.now + budget }
        for place in slate.lanes.indices {
            let number = slate.lanes[place]
            if isOver {
                unread.insert(number)
                continue
            }
            lanes[number].deadline = deadline
            let field = set.lanes[number].name.field
            switch field {
            case .body: if let text { read(text, number, set) }
            case .userName: if let name = look.name { read(name, number, set) }
            default: for text in field.texts(event) { read(text, number, set) }
            }
        }
        if !set.windows.isEmpty { lookAtWindows(event.sentAt, set) }
        for place in slate.measures.indices {
            compare(slate.measures[place], text, event, look, situation, set)
        }
        if slate.asksForHosts {
            for link in figures.links(of: look) {
                for domain in link.domains {
                    for probe in set.hosts[String(domain)] ?? [] where found[Int(probe)] != scanNumber {
                        note(probe, set)
                    }
                }
            }
        }
        if !set.commands.isEmpty, let text, name.number == EventName.messageAdded.number {
            call = set.commands.call(in: text)
            if let call { candidates += set.commands.rules(for: call) }
        }
        if !slate.rateWindows.isEmpty {
            reached.removeAll(keepingCapacity: true)
            rates.count(
                event, name, look, figures, situation, slate.rateWindows, set, reached: &reached)
            for probe in reached where found[Int(probe)] != scanNumber { note(probe, set) }
        }
        if candidates.count > 1 { candidates.sort() }
        return true
    }

    /// Reads one text as if each of the lanes' fields had it.
    mutating func scan(_ text: String, _ lanes: [Int], _ set: RuleSet) {
        lastSlate = nil
        look = EventLook()
        beginScan()
        for number in lanes { read(text, number, set) }
    }

    mutating func lookAtWindows(_ moment: Timestamp, _ set: RuleSet) {
        if windows.count < set.windows.count {
            windows = [WindowState](repeating: WindowState(), count: set.windows.count)
        }
        for index in set.windows.indices { windows[index].look(set.windows[index].window, at: moment) }
    }

    /// Whether the window is open at the event's time.
    func isOpen(_ window: Int) -> Bool { windows.indices.contains(window) && windows[window].isOpen }

    /// Makes candidates of the rules whose threshold the event reaches.
    private mutating func compare(
        _ measure: Measure, _ text: String?, _ event: ChatEvent, _ look: EventLook, _ situation: Situation,
        _ set: RuleSet
    ) {
        let lowest = set.thresholds[measure.rawValue].lowest
        guard
            let value = figures.take(measure, text, event, look, situation, lowest: lowest)
        else { return }
        let thresholds = set.thresholds[measure.rawValue]
        for threshold in thresholds.least {
            if threshold.value > value { break }
            addCandidate(threshold.rule)
        }
        for threshold in thresholds.most {
            if threshold.value < value { break }
            addCandidate(threshold.rule)
        }
    }

    private mutating func addCandidate(_ rule: Int32) {
        guard asked[Int(rule)] != scanNumber else { return }
        asked[Int(rule)] = scanNumber
        candidates.append(rule)
    }

    private mutating func beginScan() {
        figures.begin()
        if !candidates.isEmpty { candidates.removeAll(keepingCapacity: true) }
        if call != nil { call = nil }
        if deadline != nil {
            deadline = nil
            unread = []
        }
        if scanNumber == .max {
            found = Array(repeating: 0, count: found.count)
            asked = Array(repeating: 0, count: asked.count)
            scanNumber = 0
        }
        scanNumber += 1
    }

    private mutating func read(_ text: String, _ number: Int, _ set: RuleSet) {
        let lane = set.lanes[number]
        lanes[number].read(text, lane)
        if !lanes[number].isComplete { unread.insert(number) }
        if lanes[number].scan.hits.isEmpty, lanes[number].scan.regexes.isEmpty { return }
        for hit in lanes[number].scan.hits {
            for index in Int(lane.firstTarget[hit.phrase])..<Int(lane.firstTarget[hit.phrase + 1]) {
                let target = lane.targets[index]
                guard found[Int(target.probe)] != scanNumber else { continue }
                if target.anchor == .none || lanes[number].stands(hit.range, target.anchor) {
                    note(target.probe, set)
                    if set.probes[Int(target.probe)].kind == .near { lanes[number].takeWords() }
                }
            }
        }
        for regex in lanes[number].scan.regexes {
            for probe in lane.regexProbes[regex] where found[Int(probe)] != scanNumber { note(probe, set) }
        }
    }

    private mutating func note(_ probe: Int32, _ set: RuleSet) {
        found[Int(probe)] = scanNumber
        for index in Int(set.firstTriggered[Int(probe)])..<Int(set.firstTriggered[Int(probe) + 1]) {
            addCandidate(set.triggered[index])
        }
    }

    /// What is counted of the event.
    func figure(_ measure: Measure, _ event: ChatEvent, _ situation: Situation) -> Int64? {
        figures.value(of: measure, event, look, situation)
    }

    func links(spelledOut: Bool) -> [Link] { figures.links(of: look, spelledOut: spelledOut) }

    /// What a rate counts now.
    func entries(of test: RateTest, _ event: ChatEvent, _ set: RuleSet) -> [RateEntry] {
        rates.entries(of: test, event, look, set)
    }

    var caps: Caps? { figures.caps(of: look) }

    func isFound(_ probe: Int32) -> Bool { found[Int(probe)] == scanNumber }

    func state(of lane: Int) -> LaneState { lanes[lane] }

    // MARK: Asking

    private func verdict(
        on rule: Rule, _ event: ChatEvent, _ situation: Situation, _ slate: Slate, _ set: RuleSet,
        _ progress: Progress
    ) -> Verdict {
        guard slate.hasRule[rule.number] else {
            if rule.source.run == .disabled { return .disabled }
            return event.name.map(rule.events.contains) == true ? .otherChannel : .otherEvent
        }
        if let command = rule.command, !command.isCalled(by: call) { return .notCalled }
        if look.isOwn(in: situation) { return .ownMessage }
        if !rule.seesBots, look.isBot == true || (rule.stage == .answer && event.message?.isNotice == true) {
            return .bot
        }
        var isWanted: Bool? = true
        if let condition = rule.condition {
            isWanted = answer(condition, rule, event, situation, set)
            if isWanted == false { return .conditionFails }
        }
        if rule.exemptsSome, let member = event.member,
            rule.exempts(member, account: event.account, situation.directory)
        {
            return .exempt
        }
        if isWanted == nil { return .undecided }
        let isWrong = rule.command != nil && !fits(rule, event, situation)
        if isWrong, rule.command?.answersWrongArguments != true { return .wrongArguments }
        if rule.stage == .answer {
            if situation.isStale { return .stale }
            // Of a group that picks all, each may answer where one does.
            var isBeside = false
            if let group = rule.group, let by = progress.groups[group] {
                if set.groups[group] == .first { return .groupAnswered(by: by) }
                isBeside = progress.countedGroups.contains(group)
            }
            if rule.isCounted || isWrong, !isBeside {
                if progress.decision.answers >= situation.answersLeft {
                    return .answered(by: progress.answeredBy ?? "another handler")
                }
                if set.answersEdits, let key = event.answeredKey, situation.memory.value(of: key) != nil {
                    return .answeredBefore
                }
            }
        }
        return rule.rest(event, situation) ?? .matches
    }

    /// Whether the condition holds; not if there was no time to find out.
    func holds(
        _ condition: Condition, _ rule: Rule, _ event: ChatEvent, _ situation: Situation, _ set: RuleSet
    ) -> Bool {
        answer(condition, rule, event, situation, set) == true
    }

    /// Whether the condition holds; nil if that hangs on what there was no time to look for.
    private func answer(
        _ condition: Condition, _ rule: Rule, _ event: ChatEvent, _ situation: Situation, _ set: RuleSet
    ) -> Bool? {
        guard deadline != nil else { return isTrue(condition, rule, event, situation, set) }
        switch condition {
        case .found(let probe):
            if isFound(probe) { return true }
            return unread.isDisjoint(with: set.probes[Int(probe)].lanes) ? false : nil
        case .near(let test, let probe):
            // To compare words takes its time too.
            if isFound(probe), isOver { return nil }
            if isTrue(condition, rule, event, situation, set) { return true }
            return unread.isDisjoint(with: test.lanes) ? false : nil
        case .all(let list):
            var all: Bool? = true
            for condition in list {
                switch answer(condition, rule, event, situation, set) {
                case true?: continue
                case false?: return false
                case nil: all = nil
                }
            }
            return all
        case .any(let list):
            var any: Bool? = false
            for condition in list {
                switch answer(condition, rule, event, situation, set) {
                case true?: return true
                case false?: continue
                case nil: any = nil
                }
            }
            return any
        case .not(let condition): return answer(condition, rule, event, situation, set).map { !$0 }
        default: return isTrue(condition, rule, event, situation, set)
        }
    }

    /// The same where there is time for all.
    private func isTrue(
        _ condition: Condition, _ rule: Rule, _ event: ChatEvent, _ situation: Situation, _ set: RuleSet
    ) -> Bool {
        switch condition {
        case .found(let probe): return isFound(probe)
        case .has(let fields):
            return fields.contains { field in
                switch field {
                case .body: look.text != nil
                case .userName: look.name != nil
                default: !field.texts(event).isEmpty
                }
            }
        case .near(let test, let probe):
            return isFound(probe) && nearMatch(test, event, set) != nil
        case .user(let test):
            return test.objection(event, look, situation) { path in
                values(of: rule, event, situation, set).value(of: path)
            } == nil
        case .count(let test):
            return figures.value(of: test.measure, event, look, situation).map(test.span.contains) == true
        case .links(let test):
            return look.text != nil && test.holds(figures.links(of: look, spelledOut: test.isLoose))
        case .hosts(let test, let probe):
            return isFound(probe) && test.holds(figures.links(of: look))
        case .mentions(let test):
            if test.everyone { return figures.value(of: .everyone, event, look, situation) == 1 }
            if test.of == .members {
                return look.text != nil && test.span.contains(members(event, situation))
            }
            return figures.value(of: .mentions, event, look, situation).map(test.span.contains) == true
        case .caps(let test): return figures.caps(of: look).map(test.holds) == true
        case .time(let test): return test.holds(isOpen)
        case .rate(let test): return isFound(test.probe)
        case .plugin(let test): return test.holds(event, situation)
        case .mode(let test): return test.holds(situation)
        case .reaction(let test): return test.holds(event)
        case .by(let test): return test.holds(event, situation)
        case .policy(let test): return test.match(event, situation) != nil
        case .check(let test): return test.holds(values(of: rule, event, situation, set))
        case .all(let list):
            for condition in list where !isTrue(condition, rule, event, situation, set) { return false }
            return true
        case .any(let list):
            for condition in list where isTrue(condition, rule, event, situation, set) { return true }
            return false
        case .not(let condition): return !isTrue(condition, rule, event, situation, set)
        }
    }
}
