internal import Chat
internal import Matching
internal import Unicode
internal import YAML

/// Makes a rule set of what bots' files say, and notes what does not fit together.
final class RuleCompiler {
    let directory: Directory
    let findings: Findings
    var files: [BotFile]
    let list: (String) -> [UInt8]?
    /// Those whose conditions rules may ask for.
    let plugins: [any Plugin]
    /// How many rules may answer one event.
    let answersPerEvent: Int

    var lists: [String: [Placed<String>]] = [:]
    var groups: [String: BotGroup] = [:]
    var counters: [String: Counter] = [:]
    var ladders: [String: Ladder] = [:]
    /// As they are written, and in which file.
    var writtenLadders: [String: (BotLadder, BotFile)] = [:]
    var modes = Modes()
    /// Permits that conditions ask for.
    var askedPermits: [Placed<String>] = []
    var scopes: [Scope: Int] = [:]
    var laneNumbers: [Lane.Name: Int] = [:]
    var builders: [LaneBuilder] = []
    /// What conditions look for; they name it by its number here.
    var probes: [Probe] = []
    /// How many words each probe has.
    var sizes: [Int] = []
    /// Lists, groups and variables that some rule uses, as `RuleLint` names them.
    var usedNames: Set<String> = []
    var warnedNames: Set<String> = []
    var regexes: [String: Regex] = [:]
    /// For each host that a rule names, the probes that it is in.
    var hosts: [String: [Int32]] = [:]
    /// Conditions name windows by their numbers here.
    var rateWindows: [RateWindow] = []
    var rateNumbers: [RateWindowKey: Int] = [:]
    var exemptions: [Exemption] = []
    /// The file whose rules are read.
    var file: BotFile?
    var windows: [NamedWindow] = []
    var windowNumbers: [String: Int] = [:]

    init(
        _ files: [BotFile], directory: Directory, findings: Findings, plugins: [any Plugin] = [],
        answersPerEvent: Int = 1, list: @escaping (String) -> [UInt8]?
    ) {
        self.plugins = plugins
        self.answersPerEvent = answersPerEvent
        self.files = files
        self.directory = directory
        self.findings = findings
        self.list = list
    }

    /// Nil when there are errors.
    func compile() -> RuleSet? {
        readLists()
        readGroups()
        readWindows()
        readCounters()
        readLadders()
        readModes()
        readStrikeEvents()
        files = files.map(prepared)
        var drafts = readRules()
        checkCommands(drafts)
        let lanes = builders.map { $0.built() }
        checkReach(drafts)
        for (builder, lane) in zip(builders, lanes) {
            for number in lane.patterns.regexesWithoutLiteral {
                findings.warn(
                    "no letters must occur for this expression to match, so it is tried on every text",
                    at: builder.regexSpots[number], code: .slowExpression)
            }
        }
        guard findings.errorCount == 0 else { return nil }
        RuleLint(
            files: files, drafts: drafts, findings: findings, lists: lists, used: usedNames,
            askedPermits: askedPermits
        ).run()
        addHelp(to: &drafts)
        return RuleSet(
            rules: drafts.map(Rule.init), lanes: lanes, probes: probes, sizes: sizes,
            scopes: scopes.sorted { $0.value < $1.value }.map(\.key),
            groups: groups.mapValues(\.pick), directory: directory, hosts: hosts, windows: windows,
            rateWindows: rateWindows, exemptions: exemptions, modes: modes,
            tests: files.flatMap { file in file.rules.flatMap(\.tests) + file.tests })
    }

    private func readGroups() {
        for group in files.flatMap(\.groups) {
            if let first = groups[group.name.value] {
                twice("group", group.name, first.name.spot)
            } else {
                groups[group.name.value] = group
            }
        }
    }

    private func readCounters() {
        var spots: [String: Spot] = [:]
        for counter in files.flatMap(\.counters) {
            if let first = spots.updateValue(counter.name.spot, forKey: counter.name.value) {
                twice("counter", counter.name, first)
            } else {
                counters[counter.name.value] = Counter(counter)
            }
        }
    }

    /// Each word calls one command; two rules may share a command as a whole.
    private func checkCommands(_ drafts: [RuleDraft]) {
        var names: [String: String] = [:]
        for draft in drafts {
            guard let command = draft.source.command else { continue }
            names[draft.file.commands.prefix + command.name.value] = draft.source.id.value
        }
        var aliases: [String: String] = [:]
        for draft in drafts {
            guard let command = draft.source.command else { continue }
            for alias in command.aliases {
                let word = draft.file.commands.prefix + alias.value
                let owner = command.name.value
                if let rule = names[word] {
                    findings.error("\"\(word)\" calls rule \"\(rule)\" already", at: alias.spot)
                } else if let other = aliases.updateValue(owner, forKey: word), other != owner {
                    findings.error("\"\(word)\" stands for \"\(other)\" already", at: alias.spot)
                }
            }
        }
    }

    /// People can ask which commands there are wherever there are any.
    private func addHelp(to drafts: inout [RuleDraft]) {
        let commands = drafts.compactMap { draft in
            draft.source.command.map { Command($0, draft.file.commands) }
        }
        for prefix in Set(commands.map(\.prefix)).sorted()
        where !commands.contains(where: { $0.prefix == prefix && $0.words.contains("help") }) {
            let everywhere = Scope(names: [], notNames: [])
            let scope = scopes[everywhere] ?? scopes.count
            scopes[everywhere] = scope
            drafts.append(Rule.help(prefix: prefix, number: drafts.count, scope: scope))
        }
    }

    private func readRules() -> [RuleDraft] {
        var spots: [String: Spot] = [:]
        var former: [String: Spot] = [:]
        var drafts: [RuleDraft] = []
        let ids = Set(files.flatMap(\.rules).map(\.id.value))
        for file in files {
            for rule in file.rules {
                if let first = spots[rule.id.value] {
                    // In one file YAML has said so already.
                    if first.file != rule.id.spot.file { twice("rule", rule.id, first) }
                } else {
                    spots[rule.id.value] = rule.id.spot
                }
                if let was = rule.was {
                    if ids.contains(was.value) {
                        findings.error(
                            "\"\(was.value)\" is a rule of its own, so nothing carries over from it",
                            at: was.spot)
                    } else if former.updateValue(was.spot, forKey: was.value) != nil {
                        findings.error("another rule was \"\(was.value)\" too", at: was.spot)
                    }
                }
                drafts.append(draft(rule, file, number: drafts.count))
            }
            for role in file.exempt?.roles ?? [] { check(role: role) }
            for rule in file.testRules where !ids.contains(rule.value) {
                findings.error(
                    "unknown rule \"\(rule.value)\"", at: rule.spot,
                    hint: Suggestion.hint(for: rule.value, among: ids.sorted()), code: .unknownName)
            }
            for role in file.testRoles { check(role: role) }
            for channel in file.testChannels { check(channel: channel) }
            for counter in file.testCounters {
                check(testCounter: counter.name, hasSubject: counter.hasSubject)
            }
            for mode in file.testModes { check(mode: mode) }
            for list in file.testPolicies { check(policyList: list) }
            for name in file.testLadders { _ = ladder(name.value.isEmpty ? nil : name, at: name.spot) }
        }
        return drafts
    }

    private func draft(_ rule: BotRule, _ file: BotFile, number: Int) -> RuleDraft {
        var draft = RuleDraft(
            source: rule, file: file, number: number, stage: stage(of: rule))
        self.file = file
        draft.scope = scope(of: rule)
        for place in rule.places + rule.notPlaces { check(channel: place, mayBeGlob: true) }
        checkChannels(of: rule)
        for role in rule.exempt?.roles ?? [] { check(role: role) }
        check(events: rule)
        if let group = rule.group { usedNames.insert("group \(group.value)") }
        if let group = rule.group, groups[group.value] == nil {
            findings.error(
                "unknown group \"\(group.value)\"", at: group.spot,
                hint: Suggestion.hint(for: group.value, among: groups.keys.sorted())
                    ?? "declare it under groups:", code: .unknownName)
        }
        var groupNames: [String] = []
        let firstProbe = probes.count
        if let condition = rule.condition {
            let compiled = compile(condition.value, of: rule, stage: draft.stage, &groupNames)
            checkTimes(compiled, at: condition.spot)
            draft.condition = compiled
        }
        draft.regexProbes = (firstProbe..<probes.count).filter { probes[$0].kind == .regex }.map { Int32($0) }
        draft.counters = counters
        draft.ladders = ladders
        draft.modes = modes
        // Groups of a branch's expression are no values: other branches do not have them.
        var names: [String] = []
        for branch in rule.allSteps.flatMap(\.branches) {
            guard let condition = branch.condition else { continue }
            draft.branches[branch.path] = compile(condition.value, of: rule, stage: draft.stage, &names)
        }
        draft.windows = windows(of: draft)
        let checks = RuleChecks(
            rule, file, groupNames: groupNames, stage: draft.stage, windows: draft.windows,
            compiler: self)
        checks.run(condition: draft.condition)
        draft.wantsGroups = checks.wantsGroups
        draft.wantsRate = checks.wantsRate
        draft.wantsWindow = checks.wantsWindow
        draft.asksMemory = checks.asksMemory
        return draft
    }

    /// Those that its conditions ask for, or else those of its branches.
    private func windows(of draft: RuleDraft) -> [NamedWindow] {
        var tests = draft.condition?.timeTests ?? []
        if tests.isEmpty {
            tests = draft.branches.sorted { $0.key < $1.key }.flatMap { $0.value.timeTests }
        }
        return tests.flatMap { $0.any ?? [] }.map { windows[$0] }
    }

    /// The number of the channels that the rule looks at.
    func scope(of rule: BotRule) -> Int {
        let scope = Scope(names: Set(rule.places.map(\.value)), notNames: Set(rule.notPlaces.map(\.value)))
        let number = scopes[scope] ?? scopes.count
        scopes[scope] = number
        return number
    }

    private func stage(of rule: BotRule) -> Stage {
        let derived = rule.derivedStage
        guard let written = rule.stage, written.value != derived else { return derived }
        if written.value == .observe, derived == .answer { return .observe }
        let (name, why) =
            switch derived {
            case .guard: ("guard", "it deletes, warns or punishes")
            case .answer: ("answer", "it neither deletes nor warns nor punishes")
            case .observe: ("observe", "it only looks on")
            }
        findings.error(
            "this rule is of the stage \"\(name)\", because \(why)",
            at: written.spot, hint: "remove \"stage\"")
        return derived
    }

    /// A rule that comes after one with the same conditions, which always acts first, can never act.
    private func checkReach(_ drafts: [RuleDraft]) {
        var first: [String: [BotRule]] = [:]
        for draft in drafts where draft.source.run == .live && !draft.source.when.isEmpty {
            let rule = draft.source
            let isEnd: Bool
            switch draft.stage {
            case .guard: isEnd = rule.continues?.value != true
            case .answer: isEnd = Rule(draft).isCounted
            case .observe: isEnd = false
            }
            guard isEnd else { continue }
            let key = "\(draft.stage) \(draft.file.exempt == nil ? "" : draft.file.name) \(rule.signature)"
            let before = first[key] ?? []
            if let earlier = draft.stage == .guard ? before.first : answered(before, rule) {
                findings.error(
                    "rule \"\(rule.id.value)\" can never run: \"\(earlier.id.value)\" has the same conditions and comes first",
                    at: rule.id.spot, hint: "join the two, or change the conditions of one",
                    code: .neverRuns)
            } else if rule.cooldown == nil, rule.once == nil,
                draft.stage == .guard || !rule.steps.contains(where: { $0.verb == .choose })
            {
                first[key] = before + [rule]
            }
        }
    }

    /// The one of the rules before, all of which answer, that leaves none to this one; nil when it may answer, too.
    private func answered(_ before: [BotRule], _ rule: BotRule) -> BotRule? {
        if let group = rule.group?.value, let earlier = before.first(where: { $0.group?.value == group }) {
            return groups[group]?.pick == .all ? nil : earlier
        }
        var beside: Set<String> = []
        let counted = before.filter { $0.group.map { beside.insert($0.value).inserted } ?? true }
        return counted.count < answersPerEvent ? nil : counted.last
    }
}

extension BotRule {
    var eventNames: String {
        let special =
            modeEvents.map { "mode\($0.kind == .entered ? "Entered" : "Left")" }
            + strikeEvents.map { _ in "strikes" }
        return (when.map(\.value.rawValue) + special).joined(separator: " or ")
    }

    /// Whether any of its events is about somebody.
    var hasMember: Bool { !strikeEvents.isEmpty || when.contains { $0.value.hasMember } }
}
