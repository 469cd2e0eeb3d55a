internal import Chat

/// Takes one event at a time through the rules. It keeps the room it works in, so an event that matches nothing costs
/// no allocation.
struct RuleTurn {
    var lanes: [LaneState]
    var candidates: Candidates
    var slates = Slates()
    // What was scanned last: the stages ask one after another about the same event.
    var lastSlate: Slate?
    var lastStage = Stage.observe
    /// Whether no later stage has anything to ask about the same event.
    var isDone = false
    var look = EventLook()
    /// The command that the message calls.
    var call: CommandCall?
    var figures = EventFigures()
    var windows: [WindowState] = []
    private var people = NamedPeople()
    var rates = Rates()
    var recent = RecentMessages()
    var breakers = Breakers()
    var deletions = RecentDeletions()
    /// The probes of rates that the event reaches.
    var reached: [Int32] = []
    var time = ReadingTime()
    /// The lanes in which not all was looked for.
    var unread: Set<Int> = []

    init(lanes: Int, probes: Int, rules: Int) {
        self.lanes = Array(repeating: LaneState(), count: lanes)
        candidates = Candidates(probes: probes, rules: rules)
    }

    typealias Witness = (Rule, Verdict, borrowing RuleTurn) -> Void

    mutating func decide(
        _ event: ChatEvent, _ name: EventName, _ situation: Situation, _ stage: Stage, _ set: RuleSet,
        witness: Witness?
    ) -> Decision {
        if isDone, stage.rawValue > lastStage.rawValue, witness == nil, look.isOf(event) { return .nothing }
        let slate = slates.slate(event, name, set, situation)
        if slate.isEmpty, witness == nil {
            return set.namesTargets && stage == .guard ? named(event, situation, set) : .nothing
        }
        let isNew = scan(event, name, situation, slate, stage, set)
        isDone = candidates.isEmpty && unread.isEmpty && !slate.goesOn[stage.rawValue]
        defer { time.pause() }
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
        while next < always.count || candidate < candidates.rules.count {
            let number: Int32
            if candidate >= candidates.rules.count
                || next < always.count && always[next] < candidates.rules[candidate]
            {
                number = always[next]
                next += 1
            } else {
                number = candidates.rules[candidate]
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
}
