internal import Chat
internal import YAML

/// A step while its keys are read.
struct TestStepDraft {
    var step: BotTest.Step
    var text: String?
    var newName: Placed<String>?
    var emoji: String?
    /// Whose message gets a reaction.
    var author: String?
    var backlog: Placed<Int>?
    var spread: Placed<Duration>?
    var every: Placed<Duration>?
    private var first: YAMLPlace?

    init(step: BotTest.Step) {
        self.step = step
    }

    mutating func set(_ happening: BotTest.Happening, _ node: YAMLNode, _ reader: BotFileReader) {
        if step.happening != nil {
            reader.error(
                "one thing happens in a step", at: node, hint: "put \"- \" before what happens next")
        }
        step.happening = happening
    }

    /// The text alone, or a mapping with it.
    mutating func does(
        _ name: String, _ node: YAMLNode, _ reader: BotFileReader,
        _ happening: (String) -> BotTest.Happening
    ) {
        if case .mapping = node.kind {
            reader.read(node, BotTables.saying, into: &self)
            if text == nil, node["text"] == nil { reader.error("\"\(name)\" has no \"text\"", at: node) }
        } else {
            text = reader.text(node)
        }
        set(happening(text ?? ""), node, reader)
    }

    /// The emoji alone, or a mapping with it.
    mutating func reacts(_ node: YAMLNode, isAdded: Bool, _ reader: BotFileReader) {
        if case .mapping = node.kind {
            reader.read(node, BotTables.reacting, into: &self)
            if node["emoji"] == nil {
                reader.error("this does not say which emoji", at: node, hint: "add emoji: \"👍\"")
            }
        } else {
            emoji = reader.text(node)
        }
        set(.react(emoji ?? "", of: author, isAdded: isAdded), node, reader)
    }

    /// What a person does, who is named.
    mutating func does(_ happening: BotTest.Happening, _ node: YAMLNode, _ reader: BotFileReader) {
        step.by = reader.filled(node, hint: "say who")
        set(happening, node, reader)
    }
}

/// What a step says of a ban list.
struct TestPolicyDraft {
    var list = ""
    var added: String?
    var removed: String?
    var reason: String?
}

extension BotFileReader {
    /// `{list: coc, add: "*.evil.example", reason: raids}`.
    func policy(_ node: YAMLNode, into draft: inout TestStepDraft) {
        var written = TestPolicyDraft()
        read(node, BotTables.policyEntry, into: &written)
        guard node.entries != nil, witness == nil else { return }
        if node["list"] == nil {
            error("this does not say which list", at: node, hint: "add list: and its name in config.yaml")
        }
        if (node["add"] == nil) == (node["remove"] == nil) {
            error(
                "an entry is added or removed", at: node,
                hint: "write add: \"*.evil.example\", or remove: in its place")
        }
        let entity = written.added ?? written.removed ?? ""
        let subject: Policy.Subject =
            switch entity.first {
            case "@": .user
            case "!", "#": .channel
            default: .server
            }
        let policy = Policy(list: written.list, subject: subject, entity: entity, reason: written.reason)
        draft.set(.policy(policy, isAdded: written.added != nil), node, self)
    }

    /// The list under `tests`; `rule` is the rule they stand in.
    func tests(_ node: YAMLNode, of rule: String?) -> [BotTest] {
        guard case .sequence(let items) = node.kind else {
            notAList(node, "tests", of: "tests, each with a name and steps")
            return []
        }
        if items.isEmpty { error("\"tests\" is an empty list", at: node, hint: "remove it or fill it") }
        return items.compactMap { item in
            guard let entries = mapping(item, "a test") else { return nil }
            var test = BotTest(name: "", rule: rule, place: place(item))
            for entry in entries { read(entry, BotTables.test, into: &test) }
            let written = Set(entries.compactMap(\.key.text))
            for key in ["name", "steps"] where !written.contains(key) {
                error("a test has a \"\(key)\"", at: item)
            }
            check(test, at: item)
            return test
        }
    }

    private func check(_ test: BotTest, at node: YAMLNode) {
        guard !test.steps.isEmpty else { return }
        if !test.steps.contains(where: { $0.expected != nil }) {
            error("this test expects nothing of its steps", at: node, hint: "end with expect: …")
        } else if let last = test.steps.last, last.expected == nil, last.happening != nil {
            findings.warn(
                "what comes of this step is not compared", at: spot(last.place), hint: "add expect: …")
        }
        var time = Duration.zero
        for step in test.steps {
            if let at = step.at {
                if at < time {
                    findings.error(
                        "at: \(at.short) has gone by: the steps before take until \(time.short)",
                        at: spot(step.place))
                }
                time = max(time, at)
            }
            time += step.every * (step.times - 1)
            switch step.happening {
            case .tick(let pause), .restart(let pause), .reconnect(let pause): time += pause * step.times
            default: break
            }
        }
    }

    func step(_ node: YAMLNode) -> BotTest.Step? {
        var draft = TestStepDraft(step: BotTest.Step(place: place(node)))
        switch node.kind {
        case .scalar where isWord(node, "restart"): draft.step.happening = .restart(.zero)
        case .scalar where isWord(node, "reconnect"): draft.step.happening = .reconnect(.zero)
        case .mapping:
            read(node, BotTables.step, into: &draft)
            finish(&draft, node)
        case .unreadable: return nil
        default:
            error("a step is written as keys with values", at: node, hint: "try {say: hello, as: ana}")
            return nil
        }
        return draft.step
    }

    /// What belongs together must be there together.
    private func finish(_ draft: inout TestStepDraft, _ node: YAMLNode) {
        if case .rename = draft.step.happening {
            if draft.newName == nil {
                error("\"rename\" does not say to what", at: node, hint: "add to: name")
            }
            draft.step.happening = .rename(to: draft.newName?.value ?? "")
        } else if let name = draft.newName {
            findings.error("\"to\" belongs to \"rename\"", at: name.spot)
        }
        if let backlog = draft.backlog {
            if case .say(let text)? = draft.step.happening {
                draft.step.happening = .backlog(
                    backlog.value, within: draft.spread?.value ?? .seconds(600), text)
            } else {
                findings.error(
                    "\"backlog\" does not say what was written", at: backlog.spot, hint: "add say: …")
            }
        } else if let spread = draft.spread {
            findings.error("\"spread\" belongs to \"backlog\"", at: spread.spot)
        }
        if let every = draft.every {
            if draft.step.times < 2 { findings.error("\"every\" belongs to \"repeat\"", at: every.spot) }
            draft.step.every = every.value
        }
        let hasSomething =
            draft.step.happening != nil || node["expect"] != nil || draft.step.at != nil
            || draft.backlog != nil || draft.step.times > 1
        let isUnread = node.entries?.contains { entry in
            entry.key.text.map { BotTables.step[$0]?.read == nil } ?? true
        }
        if !hasSomething, isUnread != true { error("nothing happens in this step", at: node) }
        if draft.step.times > 1, draft.step.happening == nil, isUnread != true {
            error("\"repeat\" does not say what", at: node)
        }
    }

    // MARK: What is expected

    /// `nothing`, an action, or a list of actions.
    func expectations(_ node: YAMLNode) -> [BotTest.Expectation]? {
        if isWord(node, "nothing") { return [] }
        switch node.kind {
        case .unreadable: return nil
        case .scalar where node.isEmpty:
            _ = text(node)
            return nil
        case .sequence(let items):
            if items.isEmpty { error("\"expect\" is an empty list", at: node, hint: "write expect: nothing") }
            return items.compactMap(expectation)
        default: return expectation(node).map { [$0] }
        }
    }

    private func expectation(_ node: YAMLNode) -> BotTest.Expectation? {
        var expectation = BotTest.Expectation(verb: "", place: place(node))
        switch node.kind {
        case .scalar(let name, _) where !node.isEmpty:
            if let witness {
                witness.took(BotTables.expectedActions, node)
                return nil
            }
            let key = BotTables.expectation[name]
            if let key, key.read == nil {
                notBuilt(name, at: node)
            } else if key == nil || BotTables.besideAction.contains(name) {
                error(
                    "unknown action \"\(name.shortened)\"", at: node,
                    hint: ["none", "no", "null", "silence"].contains(name)
                        ? "write expect: nothing"
                        : BotTables.expectation.hint(for: name, without: BotTables.besideAction))
            }
            expectation.verb = name
        case .mapping(let entries):
            if let witness {
                witness.took(
                    BotTables.expectation, expectation, node, oneOf: BotTables.expectedActions)
                return nil
            }
            var verbs = 0
            // The action first, for what its keys mean depends on it.
            let isBeside = { (entry: YAMLNode.Entry) in
                entry.key.text.map(BotTables.besideAction.contains) ?? true
            }
            for entry in entries.filter({ !isBeside($0) }) + entries.filter(isBeside) {
                if !isBeside(entry) { verbs += 1 }
                if verbs > 1, !isBeside(entry) {
                    error("one action is expected here", at: entry.key, hint: "put \"- \" before each")
                }
                read(entry, BotTables.expectation, into: &expectation)
            }
            if verbs == 0 { error("this does not say which action is expected", at: node) }
        default:
            error("an action is expected here, as in {reply: \"…\"}", at: node)
        }
        return expectation.verb.isEmpty ? nil : expectation
    }

    /// What an action must be like: a text that it contains, or keys.
    func expected(_ node: YAMLNode, of verb: String, into expectation: inout BotTest.Expectation) {
        if case .mapping = node.kind {
            read(node, BotTables.expectedKeys, into: &expectation)
            return
        }
        switch verb {
        case "delete":
            guard let text = text(node) else { return }
            if text == "burst" {
                expectation.isBurst = true
            } else if text != "message" {
                expectation.text = text
            }
        case "mute", "ban", "lock": expectation.time = duration(node)
        case "slowmode": expectation.time = isWord(node, "none") ? .zero : duration(node)
        case "strike": expectation.points = number(node, -1000...1000)
        case "kick", "unmute", "unban": expectation.user = text(node)
        case "unlock": expectation.channel = channel(node)
        default: expectation.text = text(node)
        }
    }

    /// `2`, or `{conduct: 2}`.
    func strikes(_ node: YAMLNode, into person: inout BotTest.Person) {
        guard case .mapping(let entries) = node.kind else {
            testLadders.append(Placed("", at: spot(node)))
            if let points = number(node, 1...1000) { person.strikes[""] = points }
            return
        }
        for entry in entries {
            guard let name = entry.key.text, let points = number(entry.value, 1...1000) else { continue }
            testLadders.append(Placed(name, at: spot(entry.key)))
            person.strikes[name] = points
        }
    }

    // MARK: Values of tests

    func counts(_ node: YAMLNode, into given: inout BotTest.Given) {
        for entry in mapping(node, "counters") ?? [] {
            guard let name = entry.key.text else { continue }
            let placed = Placed(name, at: spot(entry.key))
            if case .mapping(let subjects) = entry.value.kind {
                testCounters.append((placed, true))
                for subject in subjects {
                    guard let who = subject.key.text, let value = number(subject.value, Int64.min...Int64.max)
                    else { continue }
                    given.counters.append(.init(counter: name, subject: who, value: value))
                }
            } else if let value = number(entry.value, Int64.min...Int64.max) {
                testCounters.append((placed, false))
                given.counters.append(.init(counter: name, subject: nil, value: value))
            }
        }
    }

    func notAList(_ node: YAMLNode, _ name: String, of what: String) {
        switch node.kind {
        case .unreadable: break
        case .scalar where node.isEmpty: _ = text(node)
        default: error("\"\(name)\" is a list of \(what)", at: node, hint: "put \"- \" before each")
        }
    }

    func number(_ node: YAMLNode, _ range: ClosedRange<Int64>) -> Int64? {
        guard let text = text(node) else { return nil }
        guard let number = Int64(text), range.contains(number) else {
            let limits =
                switch (range.lowerBound, range.upperBound) {
                case (.min, .max): "use a whole number"
                case (_, .max): "use a whole number from \(range.lowerBound)"
                default: "use a number from \(range.lowerBound) to \(range.upperBound)"
                }
            error("\"\(text.shortened)\" is not a number that fits here", at: node, hint: limits)
            return nil
        }
        return number
    }

    /// `now`, or how long.
    func pause(_ node: YAMLNode) -> Duration {
        if case .scalar("now", _) = node.kind { return .zero }
        return duration(node) ?? .zero
    }

    /// The name of a channel, which is looked up when all files are read.
    func channel(_ node: YAMLNode) -> String? {
        guard let name = text(node) else { return nil }
        if name != Scope.direct, !name.contains("{{") { testChannels.append(Placed(name, at: spot(node))) }
        return name
    }

    func place(_ node: YAMLNode) -> BotTest.Place {
        BotTest.Place(file: file, line: node.place.line, column: node.place.column)
    }

    private func spot(_ place: BotTest.Place) -> Spot {
        Spot(file: place.file, place: YAMLPlace(line: place.line, column: place.column))
    }
}

extension BotFile {
    /// A command of a test begins as commands of its file do.
    mutating func prefixCommandsInTests() {
        for index in tests.indices { tests[index].prefixCommands(commands.prefix) }
        for rule in rules.indices {
            for index in rules[rule].tests.indices {
                rules[rule].tests[index].prefixCommands(commands.prefix)
            }
        }
    }
}

extension BotTest {
    fileprivate mutating func prefixCommands(_ prefix: String) {
        for index in steps.indices {
            guard case .command(let text)? = steps[index].happening else { continue }
            steps[index].happening = .say(text.hasPrefix(prefix) ? text : prefix + text)
        }
    }
}
