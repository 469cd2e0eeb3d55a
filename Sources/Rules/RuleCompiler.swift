internal import Chat
internal import Matching
internal import Unicode
internal import YAML

/// Makes a rule set of what bots' files say, and notes what does not fit together.
final class RuleCompiler {
    let directory: Directory
    let findings: Findings
    private let files: [BotFile]
    private let list: (String) -> [UInt8]?

    private var lists: [String: [Placed<String>]] = [:]
    private var groups: [String: BotGroup] = [:]
    private var scopes: [Scope: Int] = [:]
    private var laneNumbers: [Lane.Name: Int] = [:]
    private var builders: [LaneBuilder] = []
    /// For each lane the places of its phrases and expressions, to point at those that are of no use.
    private var probes: [Probe] = []
    private var sizes: [Int] = []
    private var warnedNames: Set<String> = []
    private var regexes: [String: Regex] = [:]

    init(
        _ files: [BotFile], directory: Directory, findings: Findings, list: @escaping (String) -> [UInt8]?
    ) {
        self.files = files
        self.directory = directory
        self.findings = findings
        self.list = list
    }

    /// Nil when there are errors.
    func compile() -> RuleSet? {
        readLists()
        readGroups()
        let drafts = readRules()
        let lanes = builders.map { $0.built() }
        checkReach(drafts)
        guard findings.errorCount == 0 else { return nil }
        return RuleSet(
            rules: drafts.map(Rule.init), lanes: lanes, probes: probes, sizes: sizes,
            scopes: scopes.sorted { $0.value < $1.value }.map(\.key),
            groups: groups.mapValues(\.pick), directory: directory)
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
        }
        return drafts
    }

    private func draft(_ rule: BotRule, _ file: BotFile, number: Int) -> RuleDraft {
        var draft = RuleDraft(
            source: rule, file: file, number: number, stage: stage(of: rule))
        let scope = Scope(names: Set(rule.places.map(\.value)), notNames: Set(rule.notPlaces.map(\.value)))
        draft.scope = scopes[scope] ?? scopes.count
        scopes[scope] = draft.scope
        for place in rule.places + rule.notPlaces { check(channel: place, mayBeGlob: true) }
        for role in rule.exempt?.roles ?? [] { check(role: role) }
        check(events: rule)
        if let group = rule.group, groups[group.value] == nil {
            findings.error(
                "unknown group \"\(group.value)\"", at: group.spot,
                hint: Suggestion.hint(for: group.value, among: groups.keys.sorted())
                    ?? "declare it under groups:")
        }
        var groupNames: [String] = []
        let firstProbe = probes.count
        if let condition = rule.condition {
            draft.condition = compile(condition.value, of: rule, stage: draft.stage, &groupNames)
        }
        draft.regexProbes = (firstProbe..<probes.count).filter { probes[$0].kind == .regex }.map { Int32($0) }
        let checks = RuleChecks(rule, file, groupNames: groupNames, stage: draft.stage, compiler: self)
        checks.run(condition: draft.condition)
        draft.wantsGroups = checks.wantsGroups
        return draft
    }

    private func stage(of rule: BotRule) -> Stage {
        let derived = rule.derivedStage
        guard let written = rule.stage, written.value != derived else { return derived }
        if written.value == .observe, derived == .answer { return .observe }
        let why = derived == .guard ? "it deletes or warns" : "it neither deletes nor warns"
        findings.error(
            "this rule is of the stage \"\(derived == .guard ? "guard" : "answer")\", because \(why)",
            at: written.spot, hint: "remove \"stage\"")
        return derived
    }

    /// A rule that comes after one with the same conditions, which always acts first, can never act.
    private func checkReach(_ drafts: [RuleDraft]) {
        var first: [String: BotRule] = [:]
        for draft in drafts where draft.source.run == .live && !draft.source.when.isEmpty {
            let rule = draft.source
            let isEnd: Bool
            switch draft.stage {
            case .guard: isEnd = rule.continues?.value != true
            case .answer: isEnd = Rule(draft).isCounted
            case .observe: isEnd = false
            }
            let key = "\(draft.stage) \(draft.file.exempt == nil ? "" : draft.file.name) \(rule.signature)"
            if let earlier = first[key], isEnd {
                findings.error(
                    "rule \"\(rule.id.value)\" can never run: \"\(earlier.id.value)\" has the same conditions and comes first",
                    at: rule.id.spot, hint: "join the two, or change the conditions of one")
            } else if isEnd, rule.cooldown == nil, rule.once == nil, first[key] == nil {
                first[key] = rule
            }
        }
    }

    // MARK: Lists

    private func readLists() {
        var spots: [String: Spot] = [:]
        for file in files {
            for list in file.lists {
                if let first = spots.updateValue(list.name.spot, forKey: list.name.value) {
                    twice("list", list.name, first)
                    continue
                }
                lists[list.name.value] = list.file.map { read($0, for: list.name.value) } ?? list.words
                for word in lists[list.name.value] ?? [] {
                    if word.value.isListName { findings.error("a list cannot hold a list", at: word.spot) }
                    check(word)
                }
            }
        }
    }

    private func read(_ path: Placed<String>, for name: String) -> [Placed<String>] {
        guard let bytes = list(path.value) else {
            findings.error("there is no file \"\(path.value)\" in the bots folder", at: path.spot)
            return []
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            findings.error("\"\(path.value)\" is not UTF-8", at: path.spot)
            return []
        }
        findings.add(YAMLSource(text: text), of: path.value)
        var words: [Placed<String>] = []
        for (index, line) in YAMLSource(text: text).lines.enumerated() {
            let written = line.prefix { $0 != "#" }
            let word = String(String.UnicodeScalarView(written)).trimmed.replacing("\u{FEFF}", with: "")
            guard !word.isEmpty else { continue }
            let indent = written.prefix { $0.properties.isWhitespace }.count
            let place = YAMLPlace(line: index + 1, column: indent + 1)
            words.append(Placed(word, at: Spot(file: path.value, place: place)))
        }
        if words.isEmpty {
            findings.error(
                "list \"\(name)\" is empty: \"\(path.value)\" has no words", at: path.spot,
                hint: "fill it or remove the list")
        }
        return words
    }

    /// The words with those of the lists they name.
    private func resolved(_ words: [Placed<String>]) -> [Placed<String>] {
        words.flatMap { word -> [Placed<String>] in
            guard word.value.isListName else { return [word] }
            let name = String(word.value.dropFirst())
            if let list = lists[name] { return list }
            findings.error(
                "unknown list \"\(name)\"", at: word.spot,
                hint: Suggestion.hint(for: name, among: lists.keys.sorted()) ?? "declare it under lists:")
            return []
        }
    }

    // MARK: Conditions

    private func compile(
        _ condition: BotCondition, of rule: BotRule, stage: Stage, _ groupNames: inout [String]
    ) -> Condition {
        switch condition {
        case .all(let list): return .all(list.map { compile($0, of: rule, stage: stage, &groupNames) })
        case .any(let list): return .any(list.map { compile($0, of: rule, stage: stage, &groupNames) })
        case .not(let inner): return .not(compile(inner, of: rule, stage: stage, &groupNames))
        case .text(let text): return compile(text, of: rule, stage: stage, &groupNames)
        case .user(let user):
            for role in (user.roles ?? []) + (user.notRoles ?? []) { check(role: role) }
            if !rule.when.isEmpty, !rule.when.contains(where: { $0.value.hasMember }) {
                findings.error("\(rule.eventNames) has no user", at: user.spot)
            }
            let test = UserTest(user)
            guard let name = user.name else { return .user(test) }
            return .all([.user(test), compile(name, of: rule, stage: stage, &groupNames)])
        }
    }

    private func compile(
        _ text: BotText, of rule: BotRule, stage: Stage, _ groupNames: inout [String]
    ) -> Condition {
        check(text, of: rule, stage: stage)
        let level = text.fold.flatMap { FoldLevel(rawValue: $0.value) } ?? .plain
        let lanes = text.fields.map { field in
            lane(Lane.Name(field: field, skip: field == .body ? text.skip : [], level: level))
        }
        let place = Phrase.Place(rawValue: text.match.rawValue) ?? .word
        var conditions: [Condition] = []
        func add(
            _ kind: Probe.Kind, _ words: [Placed<String>], _ place: Phrase.Place, _ anchor: Lane.Target.Anchor
        ) -> Condition {
            .found(probe(Probe(kind: kind, words: words, fields: text.fields, lanes: lanes), place, anchor))
        }
        if let words = text.any { conditions.append(add(.any, resolved(words), place, .none)) }
        if let words = text.all {
            conditions += resolved(words).map { add(.all, [$0], place, .none) }
        }
        if let words = text.equals { conditions.append(add(.equals, resolved(words), .anywhere, .whole)) }
        if let words = text.starts {
            let isOpen = place == .anywhere || place == .prefix
            conditions.append(add(.starts, resolved(words), isOpen ? .prefix : .word, .start))
        }
        if let words = text.ends {
            let isOpen = place == .anywhere || place == .suffix
            conditions.append(add(.ends, resolved(words), isOpen ? .suffix : .word, .end))
        }
        if let sources = text.regexes {
            conditions.append(regexes(sources, text, lanes, &groupNames))
        }
        if let near = text.near {
            let words = resolved(near.words)
            let phrases = words.map { NearTest.words(of: $0.value.folded(to: level)) }
            conditions.append(
                .near(NearTest(phrases: phrases, edits: near.edits, words: words, lanes: lanes)))
        }
        if let words = text.none {
            let none = add(.none, resolved(words), place, .none)
            conditions += [.has(text.fields), .not(none)]
        }
        return conditions.count == 1 ? conditions[0] : .all(conditions)
    }

    private func lane(_ name: Lane.Name) -> Int {
        if let number = laneNumbers[name] { return number }
        laneNumbers[name] = builders.count
        builders.append(LaneBuilder(name))
        return builders.count - 1
    }

    private func probe(_ probe: Probe, _ place: Phrase.Place, _ anchor: Lane.Target.Anchor) -> Int32 {
        let number = Int32(probes.count)
        probes.append(probe)
        sizes.append(probe.words.count)
        for word in probe.words {
            do throws(PhraseError) {
                let phrase = try Phrase(written: word.value, in: place)
                for lane in probe.lanes
                where phrase.text.folded(to: builders[lane].name.level).trimmed.isEmpty {
                    findings.error("nothing of \"\(word.value.shortened)\" can be matched", at: word.spot)
                    break
                }
                for lane in probe.lanes {
                    builders[lane].add(phrase, for: Lane.Target(probe: number, anchor: anchor))
                }
            } catch {
                findings.error(error.text, at: word.spot)
            }
        }
        return number
    }

    private func check(_ word: Placed<String>) {
        do throws(PhraseError) {
            _ = try Phrase(written: word.value)
        } catch {
            findings.error(error.text, at: word.spot)
        }
    }

    private func regexes(
        _ sources: [Placed<String>], _ text: BotText, _ lanes: [Int], _ groupNames: inout [String]
    ) -> Condition {
        var probe = Probe(kind: .regex, words: sources, fields: text.fields, lanes: lanes)
        probe.seesFolded = text.fold != nil
        let number = Int32(probes.count)
        for source in sources {
            do throws(RegexError) {
                let regex = try compiled(source.value)
                probe.regexes.append(regex)
                groupNames += regex.groupNames.compactMap(\.self)
                warn(regex, source, text)
                for lane in lanes {
                    builders[lane].add(regex, sees: text.fold == nil ? .original : .folded, for: number)
                }
            } catch {
                findings.error(error.text, at: source.spot)
            }
        }
        probes.append(probe)
        // What it takes to try it is not known; any list of words is better.
        sizes.append(1000)
        return .found(number)
    }

    private func compiled(_ source: String) throws(RegexError) -> Regex {
        if let known = regexes[source] { return known }
        let regex = try Regex(source)
        regexes[source] = regex
        return regex
    }

    private func warn(_ regex: Regex, _ source: Placed<String>, _ text: BotText) {
        if regex.matchesEmptyText {
            findings.warn("this expression matches every text", at: source.spot)
        }
        if !regex.asciiClassesBesideLetters.isEmpty {
            findings.warn(
                "\\b, \\w and \\d are ASCII here and stand beside a letter that is not", at: source.spot,
                hint: "use \\p{L} and \\p{N}")
        }
    }

    private func check(_ text: BotText, of rule: BotRule, stage: Stage) {
        let events = rule.when.map(\.value)
        if text.fields == [.body], !events.isEmpty, !events.contains(where: \.hasMessage) {
            findings.error("\(rule.eventNames) has no text to look at", at: text.spot)
        }
        if text.skip.contains(.links), text.fields.contains(.body) {
            let words = (text.any ?? []) + (text.all ?? []) + (text.starts ?? []) + (text.regexes ?? [])
            if let word = words.first(where: { $0.value.contains("://") || $0.value.hasPrefix("www.") }) {
                findings.warn(
                    "links are skipped here, so this never matches one", at: word.spot, hint: "add skip: none"
                )
            }
        }
        if stage == .guard, text.match == .anywhere {
            let words = resolvedQuietly(text.any ?? [])
            if let word = words.first(where: { $0.value.count < 5 }) {
                findings.warn(
                    "\"\(word.value)\" is short and matches inside other words", at: word.spot,
                    hint: "remove match: anywhere")
            }
        }
    }

    private func resolvedQuietly(_ words: [Placed<String>]) -> [Placed<String>] {
        words.flatMap { $0.value.isListName ? lists[String($0.value.dropFirst())] ?? [] : [$0] }
    }

    // MARK: Names

    private func twice(_ what: String, _ name: Placed<String>, _ first: Spot) {
        findings.error(
            "\(what) \"\(name.value)\" is declared twice", at: name.spot,
            hint: "it is at \(first.file):\(first.place) already")
    }

    func check(channel name: Placed<String>, mayBeGlob: Bool = false) {
        if mayBeGlob, name.value == Scope.direct || name.value.contains("*") { return }
        if directory.isEmpty {
            warnOnce("channel", name)
        } else if directory.places(named: name.value).isEmpty {
            let names = directory.channels.keys.sorted() + directory.accounts.values.flatMap(\.joins)
            findings.error(
                "unknown channel \"\(name.value)\"", at: name.spot,
                hint: Suggestion.hint(for: name.value, among: names)
                    ?? "name it under channels: in config.yaml, or let an account join it")
        }
    }

    private func check(role name: Placed<String>) {
        if directory.roles[name.value] != nil || Rule.rolesOfOrder.contains(name.value) { return }
        if directory.isEmpty {
            warnOnce("role", name)
        } else {
            let names = directory.roles.keys.sorted() + Rule.rolesOfOrder
            findings.error(
                "unknown role \"\(name.value)\"", at: name.spot,
                hint: Suggestion.hint(for: name.value, among: names) ?? "name it under roles: in config.yaml")
        }
    }

    private func warnOnce(_ what: String, _ name: Placed<String>) {
        guard warnedNames.insert("\(what) \(name.value)").inserted else { return }
        findings.warn("\(what) \"\(name.value)\" is not checked without config.yaml", at: name.spot)
    }

    private func check(events rule: BotRule) {
        guard !directory.accounts.isEmpty else { return }
        let own: Set<EventName> = [.started, .serviceUp, .serviceDown]
        for event in rule.when where !own.contains(event.value) {
            let lacking = directory.accounts.filter { !$0.value.abilities.events.contains(event.value) }
            guard !lacking.isEmpty else { continue }
            let names = lacking.keys.sorted().joined(separator: ", ")
            if lacking.count == directory.accounts.count {
                findings.error("no account tells \(event.value.rawValue)", at: event.spot)
            } else {
                findings.warn("\(event.value.rawValue) is not told by \(names)", at: event.spot)
            }
        }
    }
}

extension Directory {
    /// Nothing is known, as when a file is checked by itself.
    var isEmpty: Bool { accounts.isEmpty && channels.isEmpty && roles.isEmpty }
}

extension EventName {
    var hasMessage: Bool {
        switch self {
        case .messageAdded, .messageEdited, .messageDeleted, .reactionAdded, .reactionRemoved, .delivered:
            true
        default: false
        }
    }

    var hasMember: Bool {
        switch self {
        case .channelAdded, .channelUpdated, .channelDeleted, .channelFrozen, .started, .serviceUp,
            .serviceDown:
            false
        default: true
        }
    }

    var hasChannel: Bool {
        switch self {
        case .started, .serviceUp, .serviceDown: false
        default: true
        }
    }
}

extension BotRule {
    var eventNames: String { when.map(\.value.rawValue).joined(separator: " or ") }
}

extension String {
    /// `$name` stands for the words of a list.
    var isListName: Bool {
        count > 1 && first == "$" && unicodeScalars.dropFirst().first?.properties.isAlphabetic == true
            && unicodeScalars.dropFirst().allSatisfy(TemplatePath.isPart)
    }
}
