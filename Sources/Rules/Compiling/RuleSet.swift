package import Chat

/// Bots' files compiled: one handler a stage over one shared scan of each text.
package final class RuleSet: Sendable {
    let rules: [Rule]
    let lanes: [Lane]
    let probes: [Probe]
    let scopes: [Scope]
    let groups: [String: BotGroup.Pick]
    package let directory: Directory
    /// For each rule whether it is asked only when one of its words or expressions was found.
    let isTriggered: [Bool]
    let lanesOfRules: [[Int]]
    /// For each rule, a bit for each measure that may trigger it.
    let measuresOfRules: [UInt32]
    /// Whether a rule asks for links to hosts by name.
    let asksForHosts: [Bool]
    /// The rules that each measure triggers.
    let thresholds: [Thresholds]
    /// For each host that a rule names, the probes that it is in.
    let hosts: [String: [Int32]]
    let windows: [NamedWindow]
    let rateWindows: [RateWindow]
    let exemptions: [Exemption]
    let modes: Modes
    /// Whether a rule deletes the last messages of a channel, so that they must be remembered.
    let keepsRecent: Bool
    /// Whether a rule deletes all messages of a burst, so that it matters which are gone already.
    let deletesBursts: Bool
    /// Whether a rule waits for yes or no.
    let asksBack: Bool
    /// Whether a rule may put itself on dry run.
    let mayBreak: Bool
    /// Whether somebody can be punished by name, so that roles must be remembered.
    let namesTargets: Bool
    /// For each rule the windows whose rates it asks for.
    let rateWindowsOfRules: [[Int]]
    /// The windows that a rule asks for which is not disabled.
    let liveRateWindows: [Int]
    /// For each probe the first of its rules in `triggered`; the next probe's first is its end.
    let firstTriggered: [Int32]
    let triggered: [Int32]
    /// Whether an answer must be remembered, because a rule answers edits too.
    let answersEdits: Bool
    let commands: CommandTable
    /// The scenarios of all files, those of rules before those of their file.
    package let tests: [BotTest]
    /// Whether a name in a text may mean somebody, so that names must be remembered.
    let namesPeople: Bool

    private let ids: [String: Rule]
    let turn: Locked<RuleTurn>

    init(
        rules: [Rule], lanes: [Lane], probes: [Probe], sizes: [Int], scopes: [Scope],
        groups: [String: BotGroup.Pick], directory: Directory, hosts: [String: [Int32]],
        windows: [NamedWindow], rateWindows: [RateWindow], exemptions: [Exemption], modes: Modes,
        tests: [BotTest]
    ) {
        self.modes = modes
        let live = rules.filter { $0.source.run != .disabled }
        let steps = live.flatMap(\.source.allSteps)
        keepsRecent = steps.contains { $0.deed.last != nil }
        deletesBursts = live.contains(where: \.usesBurst)
        asksBack = live.contains(where: \.asksBack)
        mayBreak = live.contains(where: \.mayBreak)
        namesTargets = steps.contains { $0.verb.punishes && $0.deed.user != nil }
        self.tests = tests
        self.rules = rules
        self.lanes = lanes
        self.probes = probes
        self.scopes = scopes
        self.groups = groups
        self.directory = directory
        self.hosts = hosts
        self.windows = windows
        self.rateWindows = rateWindows
        self.exemptions = exemptions
        var rulesOfProbes = [[Int32]](repeating: [], count: probes.count)
        var isTriggered: [Bool] = []
        var thresholds = [Thresholds](repeating: Thresholds(), count: Measure.allCases.count)
        var measures = [UInt32](repeating: 0, count: rules.count)
        for rule in rules {
            // A command is looked up by its word.
            let triggers = rule.command == nil ? rule.condition?.triggers(sizes) : []
            isTriggered.append(triggers != nil)
            for trigger in triggers ?? [] {
                switch trigger {
                case .probe(let probe): rulesOfProbes[Int(probe)].append(Int32(rule.number))
                case .least(let measure, _), .most(let measure, _):
                    thresholds[measure.rawValue].add(trigger, Int32(rule.number))
                    measures[rule.number] |= measure.bit
                }
            }
        }
        for index in thresholds.indices { thresholds[index].sort() }
        self.thresholds = thresholds
        measuresOfRules = measures
        asksForHosts = rules.map { $0.conditions.contains(where: \.asksForHosts) }
        let ratesOfRules = rules.map { $0.conditions.flatMap(\.rates).map(\.window) }
        rateWindowsOfRules = ratesOfRules
        liveRateWindows = Set(
            rules.filter { $0.source.run != .disabled }.flatMap { ratesOfRules[$0.number] }
        ).sorted()
        var first: [Int32] = []
        var flat: [Int32] = []
        for list in rulesOfProbes {
            first.append(Int32(flat.count))
            flat += list
        }
        first.append(Int32(flat.count))
        self.isTriggered = isTriggered
        firstTriggered = first
        triggered = flat
        lanesOfRules = rules.map { rule in
            ([rule.condition].compactMap(\.self) + rule.branches.values).flatMap { $0.lanes(probes) }
        }
        namesPeople = Self.namesPeople(rules)
        commands = CommandTable(
            rules.filter { $0.source.run != .disabled }.compactMap { rule in
                rule.command.map { (rule.number, $0) }
            })
        answersEdits = rules.contains {
            $0.isCounted && $0.events.contains(.messageEdited) && $0.source.run == .live
        }
        ids = Dictionary(
            rules.reversed().flatMap { rule in rule.owners.map { ($0, rule) } },
            uniquingKeysWith: { _, last in last })
        turn = Locked(RuleTurn(lanes: lanes.count, probes: probes.count, rules: rules.count))
        turn.withLock { $0.rates.countsDeeds = countsDeeds }
    }

    private var countsDeeds: Bool {
        liveRateWindows.contains { [.strikes, .reports].contains(rateWindows[$0].key.kind) }
    }

    /// The rules as the engine asks them, a handler for each stage that has any.
    package var handlers: [any EventHandler] { handlers(sharing: turn) }

    /// The same handlers with nothing kept from events that others were asked about.
    package var freshHandlers: [any EventHandler] {
        var turn = RuleTurn(lanes: lanes.count, probes: probes.count, rules: rules.count)
        turn.breakers.isUsual = false
        turn.rates.countsDeeds = countsDeeds
        return handlers(sharing: Locked(turn))
    }

    private func handlers(sharing turn: Locked<RuleTurn>) -> [any EventHandler] {
        Stage.allCases.compactMap { stage in
            var events = rules.filter { $0.stage == stage }.reduce(into: Set<EventName>()) {
                $0.formUnion($1.events)
            }
            // What is counted is counted first, whatever the other stages do.
            if stage == .guard {
                for window in liveRateWindows { events.formUnion(rateWindows[window].key.kind.events) }
                if countsArrivals { events.formUnion([.serviceUp, .serviceDown, .memberLeft]) }
                if keepsRecent { events.formUnion([.messageAdded, .messageDeleted]) }
                if asksBack { events.insert(.messageAdded) }
                if namesTargets { events.formUnion([.messageAdded, .memberJoined, .memberUpdated]) }
            }
            // Who is asked about nothing is not asked about what was put off either.
            if events.isEmpty, resumesModes(stage) { events.insert(.started) }
            guard !events.isEmpty else { return nil }
            let looksBack = rules.contains { rule in
                rule.stage == stage && rule.source.run != .disabled
                    && rule.source.allSteps.contains {
                        $0.deed.include.contains(.history) || stage == .guard && $0.verb.filesCases
                    }
            }
            return RuleHandler(
                rules: self, turn: turn, stage: stage, needs: Needs(events: events, looksBack: looksBack))
        }
    }

    /// Whether what modes and strikes put off comes back to a stage.
    func resumesModes(_ stage: Stage) -> Bool {
        stage == .guard && !modes.names.isEmpty
            || rules.contains {
                $0.stage == stage && !($0.source.modeEvents.isEmpty && $0.source.strikeEvents.isEmpty)
            }
    }

    private var countsArrivals: Bool { liveRateWindows.contains { rateWindows[$0].key.countsArrivals } }

    /// The names of all rules of the files, in order.
    package var ruleNames: [String] { rules.lazy.filter { !$0.isHelp }.map(\.id) }

    /// Rules of an earlier set that are here under a new name (`was:`): the new name by the old one.
    package func renamed(from earlier: RuleSet) -> [String: String] {
        let (before, after) = (Set(earlier.ruleNames), Set(ruleNames))
        var names: [String: String] = [:]
        for rule in rules where !before.contains(rule.id) {
            for old in rule.owners where before.contains(old) && !after.contains(old) { names[old] = rule.id }
        }
        return names
    }

    /// Of these rules those that are not here any more, under a new name (`was:`) neither.
    package func missing(of names: [String]) -> [String] { names.filter { ids[$0] == nil } }

    /// How far back the rules' rates look, or as far as the last messages of a channel are worth knowing.
    var longestLook: Duration {
        max(longestRate, keepsRecent ? .seconds(86_400) : .zero)
    }

    /// The longest window of a rate that is counted; zero when there is none.
    package var longestRate: Duration { liveRateWindows.map { rateWindows[$0].time }.max() ?? .zero }

    func rule(owner: String) -> Rule? { ids[owner] }

    func decide(
        _ event: ChatEvent, in situation: Situation, stage: Stage, _ turn: Locked<RuleTurn>
    ) -> Decision {
        guard let name = event.name else {
            guard case .resumed(let continuation, let outcome) = event.kind else { return .nothing }
            if continuation.step == Batch.step {
                guard let rule = rule(owner: continuation.owner) else { return .nothing }
                return turn.withLock { turn in
                    turn.lookAtWindows(situation.now, self)
                    return turn.run(rule, continuation, event, situation, self)
                }
            }
            let told = turn.withLock { $0.told(continuation, event, situation, stage, self) }
            return told ?? continuation.resumed(outcome, event, situation)
        }
        return turn.withLock { turn in
            if stage == .guard {
                turn.rates.note(name, event, situation)
                if keepsRecent { turn.recent.note(event) }
                if mayBreak { turn.breakers.note(at: situation.now) }
                if asksBack, name.number == EventName.messageAdded.number,
                    let decision = turn.answered(event, situation, self)
                {
                    return decision
                }
            }
            return turn.decide(event, name, situation, stage, self, witness: nil)
        }
    }

    /// Asks every rule of a stage in order and tells the witness what became of each.
    func retrace(
        _ event: ChatEvent, in situation: Situation, stage: Stage, witness: @escaping RuleTurn.Witness
    ) -> Decision {
        guard let name = event.name else { return .nothing }
        var turn = RuleTurn(lanes: lanes.count, probes: probes.count, rules: rules.count)
        self.turn.withLock { own in
            turn.time.budget = own.time.budget
            turn.rates = own.rates
            turn.recent = own.recent
        }
        return turn.decide(event, name, situation, stage, self, witness: witness)
    }
}

/// The rules of one stage.
final class RuleHandler: RecallingHandler {
    let rules: RuleSet
    let stage: Stage
    let needs: Needs
    /// One for the handlers of all stages, which are asked about the same event one after another.
    private let turn: Locked<RuleTurn>

    init(rules: RuleSet, turn: Locked<RuleTurn>, stage: Stage, needs: Needs) {
        self.rules = rules
        self.turn = turn
        self.stage = stage
        self.needs = needs
    }

    var name: String { "rules.\(stage)" }

    /// Only guards count, for all stages.
    var recalls: Duration { stage == .guard ? rules.longestLook : .zero }

    func recall(_ event: ChatEvent, in situation: Situation) {
        guard stage == .guard, let name = event.name else { return }
        turn.withLock { $0.recall(event, name, situation, rules) }
    }

    func expect(_ next: [Expected]) {
        guard stage == .guard, !rules.liveRateWindows.isEmpty else { return }
        turn.withLock { $0.rates.expect(next, rules) }
    }

    func decide(_ event: ChatEvent, in situation: Situation) -> Decision {
        rules.decide(event, in: situation, stage: stage, turn)
    }

    func resumes(owner: String) -> Bool {
        if owner == Mode.owner || owner == StrikeEvents.owner { return rules.resumesModes(stage) }
        if owner == Undeleted.owner { return stage == .guard }
        return rules.rule(owner: owner)?.stage == stage
    }
}

extension Condition {
    /// The lanes it looks at.
    func lanes(_ probes: [Probe]) -> [Int] {
        switch self {
        case .found(let probe): probes[Int(probe)].lanes
        case .near(let test, _): test.lanes
        case .all(let list), .any(let list): list.flatMap { $0.lanes(probes) }
        case .not(let condition): condition.lanes(probes)
        default: []
        }
    }

    var asksForHosts: Bool {
        switch self {
        case .hosts: true
        case .all(let list), .any(let list): list.contains(where: \.asksForHosts)
        case .not(let condition): condition.asksForHosts
        default: false
        }
    }
}

extension BotStep.Verb {
    /// Whether a case comes of it, with what was written before.
    fileprivate var filesCases: Bool {
        switch self {
        case .delete, .strike, .mute, .kick, .ban: true
        default: false
        }
    }
}
