internal import Chat
internal import YAML

/// Looks whether what a rule does can be done: its templates, its places, its actions, its examples.
final class RuleChecks {
    let rule: BotRule
    let file: BotFile
    let groupNames: [String]
    private let stage: Stage
    let compiler: RuleCompiler
    var wantsGroups = false
    var wantsWindow = false
    /// Whether a template prints what is remembered.
    var asksMemory = false
    private let windows: [NamedWindow]
    private(set) lazy var isAlwaysOpen = TimeTest.isAlwaysOpen(windows)
    var wantsRate = false
    /// The variables that can be used here.
    var locals: [String] = []

    init(
        _ rule: BotRule, _ file: BotFile, groupNames: [String], stage: Stage, windows: [NamedWindow],
        compiler: RuleCompiler
    ) {
        self.rule = rule
        self.file = file
        self.groupNames = groupNames
        self.stage = stage
        self.windows = windows
        self.compiler = compiler
    }

    var findings: Findings { compiler.findings }
    var hasWindows: Bool { !windows.isEmpty }
    var events: [EventName] { rule.when.map(\.value) }
    /// Whether what its events have is known.
    var hasEvents: Bool { !events.isEmpty || !rule.modeEvents.isEmpty || !rule.strikeEvents.isEmpty }

    func run(condition: Condition?) {
        checkVariables()
        checkStops(rule.steps)
        checkModeration()
        for step in rule.allSteps { check(step) }
        checkBatch()
        if let condition = rule.condition { checkPaths(of: condition.value) }
        checkKeys()
        let examples = rule.matching + rule.notMatching
        if condition?.asksForText != true, let example = examples.first,
            rule.condition != nil || !rule.written.contains("if")
        {
            findings.error("examples need a text condition", at: example.spot)
        }
        if stage == .guard, condition?.asksForContent == true, events.contains(.messageAdded),
            !events.contains(.messageEdited)
        {
            findings.warn(
                "this rule does not see text that is edited in later", at: rule.when[0].spot,
                hint: "write [messageAdded, messageEdited]", code: .editsUnseen)
        }
    }

    private func checkKeys() {
        if let continues = rule.continues, continues.value, stage != .guard {
            findings.error(
                "\"continue\" is for rules that delete or warn", at: continues.spot,
                hint: stage == .answer ? "to answer beside others write also: true" : nil)
        }
        if let also = rule.also, also.value, stage != .answer {
            findings.error("\"also\" is for rules that answer", at: also.spot)
        }
        if let group = rule.group, stage != .answer {
            findings.error("only rules that answer belong to a group", at: group.spot)
        }
        if rule.isOncePerWindow, !hasWindows {
            findings.error(
                "once per window, and no window is asked for", at: rule.id.spot, hint: "add time: to if:")
        }
        if rule.cooldown?.per == .user || rule.once == .user, !events.isEmpty,
            !events.contains(where: \.hasMember)
        {
            findings.error("\(rule.eventNames) has no user, so nothing is per user", at: rule.id.spot)
        }
    }

    private func checkStops(_ steps: [BotStep]) {
        if let stop = steps.firstIndex(where: { $0.verb == .stop }), stop + 1 < steps.count {
            findings.error("this is never done, because \"stop\" comes first", at: steps[stop + 1].spot)
        }
        for branch in steps.flatMap(\.branches) { checkStops(branch.steps) }
    }

    private func checkVariables() {
        var before = Set(file.vars.keys)
        for variable in rule.vars {
            locals = before.sorted()
            check(variable.template)
            if !before.insert(variable.name.value).inserted {
                findings.error("\"\(variable.name.value)\" is a variable already", at: variable.name.spot)
            }
        }
        locals = before.sorted()
    }

    /// A batch is acted on later, when nothing is left of the events but who and what they were.
    private func checkBatch() {
        guard let batch = rule.batch else { return }
        if batch.value < .seconds(1) || batch.value > .seconds(86_400) {
            findings.error("events are collected for 1s to 1d", at: batch.spot)
        }
        if stage == .guard {
            findings.error(
                "a rule that deletes or warns cannot wait for others", at: batch.spot, hint: "remove batch")
        }
        if let command = rule.command {
            findings.error("a command is answered at once", at: command.name.spot, hint: "remove batch")
        }
        for branch in rule.allSteps.flatMap(\.branches) {
            guard let condition = branch.condition, condition.value.asksForMore else { continue }
            findings.error(
                "a batch is acted on later, and its branches cannot ask for text or user",
                at: condition.spot, hint: "move the condition to the rule's if:")
        }
    }

    private func checkPaths(of condition: BotCondition) {
        switch condition {
        case .all(let list), .any(let list): for condition in list { checkPaths(of: condition) }
        case .not(let condition): checkPaths(of: condition)
        case .text, .count, .links, .mentions, .caps, .time: break
        case .rate, .plugin, .mode, .reaction, .by, .policy: break
        case .check(let written):
            check(written.value)
            if written.value.isFixed {
                findings.error(
                    "\"\(written.value.source.shortened)\" has no value, so it is the same each time",
                    at: written.value.spot, hint: "write one, as in \"{{ args.n }}\"")
            }
        case .user(let user): if let path = user.isNot { check(path.value, at: path.spot) }
        }
    }

    // MARK: Actions

    private func check(_ step: BotStep) {
        let message = step.message
        for count in step.counts {
            if step.verb == .count { compiler.usedNames.insert("counter \(count.counter.value)") }
            check(count)
        }
        for branch in step.branches {
            if let condition = branch.condition { checkPaths(of: condition.value) }
        }
        for template in [message.text, message.footer].compactMap(\.self) { check(template) }
        for path in message.mention {
            check(path.value, at: path.spot)
            let isList = path.value.root == "users"
            if let kind = kind(of: path.value), kind != .user, kind != .text, !isList {
                findings.error("\"\(path.value.text)\" is nobody who can be called", at: path.spot)
            }
        }
        for name in message.to { compiler.check(channel: name) }
        checkDeed(step)
        if step.verb == .react, let emoji = message.text, emoji.isFixed {
            compiler.check([Placed(emoji.source, at: emoji.spot)], in: rule.places)
        }
        let needsMessage =
            switch step.verb {
            case .reply, .react: true
            case .delete: step.deed.last == nil && !step.deed.isBurst
            default: false
            }
        if needsMessage, hasEvents, !events.contains(where: \.hasMessage) {
            findings.error(
                "\"\(step.verb.rawValue)\" needs a message, and \(rule.eventNames) has none", at: step.spot,
                hint: step.verb == .reply ? "use send" : nil)
        }
        let needsText = step.verb == .confirm || step.verb == .relay && message.text == nil
        if needsText, hasEvents, !events.contains(where: \.hasText) {
            findings.error(
                "\"\(step.verb.rawValue)\" needs a message, and \(rule.eventNames) has none", at: step.spot)
        }
        let isOfSomebody =
            step.verb == .dm || step.verb == .warn || step.verb.isAboutMember && step.deed.user == nil
        if isOfSomebody, !step.isOfLadder, hasEvents, !rule.hasMember, !isInEach(step) {
            findings.error(
                "\"\(step.verb.rawValue)\" needs a member, and \(rule.eventNames) has none", at: step.spot)
        }
        if step.verb == .send, message.to.isEmpty, !events.isEmpty, !events.allSatisfy(\.hasChannel) {
            findings.error("\(rule.eventNames) has no channel", at: step.spot, hint: "say where with to:")
        }
        if step.verb == .relay, message.to.isEmpty { checkMissingTarget(step) }
        checkAbility(step)
    }

    private func check(_ count: BotCount) {
        if let subject = count.subject { check(subject) }
        if compiler.ladders[count.counter.value] != nil {
            compiler.usedNames.insert("ladder \(count.counter.value)")
            return
        }
        guard let counter = compiler.counters[count.counter.value] else {
            let names = compiler.counters.keys.sorted()
            findings.error(
                "unknown counter \"\(count.counter.value.shortened)\"", at: count.counter.spot,
                hint: Suggestion.hint(for: count.counter.value, among: names)
                    ?? "declare it under counters:")
            return
        }
        if count.subject != nil, counter.per != .user {
            findings.error("\"\(counter.name)\" does not count per user", at: count.counter.spot)
        }
        let isMissing =
            switch counter.per {
            case .all: false
            case .user: count.subject == nil && !events.contains(where: \.hasMember)
            case .channel: !events.contains(where: \.hasChannel)
            }
        if isMissing, !events.isEmpty {
            findings.error(
                "\(rule.eventNames) has no \(counter.per.rawValue) to count for", at: count.counter.spot)
        }
    }

    private func checkMissingTarget(_ step: BotStep) {
        guard
            !findings.all.contains(where: {
                $0.file == step.spot.file && $0.line >= step.spot.place.line
                    && $0.line <= step.spot.place.line + 1
            })
        else { return }
        findings.error("\"relay\" does not say where to", at: step.spot, hint: "add to: channel")
    }

    /// The action must be possible on every account that the rule reaches.
    private func checkAbility(_ step: BotStep) {
        guard let needed = step.verb.ability else { return }
        let own = step.message.to + step.deed.places
        let accounts = compiler.accounts(reachedBy: (own.isEmpty ? rule.places : own).map(\.value))
        checkWishes(step, accounts)
        for (name, account) in accounts {
            guard !account.abilities.offers(needed) else { continue }
            findings.error(
                "\"\(step.verb.rawValue)\" cannot be done on \(name) (\(account.service))", at: step.spot,
                hint: "limit the rule with in:, or remove the action")
            return
        }
    }

    /// What the message asks for beside its text, and is sent without where there is no such thing.
    private func checkWishes(_ step: BotStep, _ accounts: [(name: String, account: Directory.Account)]) {
        let message = step.message
        let wishes: [(wish: Abilities.Wish, isMeant: Bool, loss: String)] = [
            (.thread, message.thread, "it goes into the channel itself"),
            (.silent, message.silent, "it notifies like any other"),
            (.mention, !message.mention.isEmpty, "the name is written and nobody is notified"),
        ]
        for (wish, isMeant, loss) in wishes where isMeant {
            let without = accounts.filter { !$0.account.abilities.wishes.contains(wish) }
            guard !without.isEmpty else { continue }
            let names = without.map { "\($0.name) (\($0.account.service))" }.joined(separator: ", ")
            findings.warn("\"\(wish.rawValue)\" cannot be done on \(names): \(loss)", at: step.spot)
        }
    }
}

extension BotCondition {
    /// Whether it asks for more than the time and what is remembered for all.
    fileprivate var asksForMore: Bool {
        switch self {
        case .all(let list), .any(let list): list.contains(where: \.asksForMore)
        case .not(let condition): condition.asksForMore
        case .time, .check, .mode: false
        default: true
        }
    }
}
