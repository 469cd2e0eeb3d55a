internal import Chat
internal import YAML

/// Looks whether what a rule does can be done: its templates, its places, its actions, its examples.
final class RuleChecks {
    let rule: BotRule
    private let file: BotFile
    private let groupNames: [String]
    private let stage: Stage
    let compiler: RuleCompiler
    private(set) var wantsGroups = false
    private(set) var wantsWindow = false
    /// Whether a template prints what is remembered.
    private(set) var asksMemory = false
    private let hasWindows: Bool
    private(set) var wantsRate = false
    /// The variables that can be used here.
    private var locals: [String] = []

    init(
        _ rule: BotRule, _ file: BotFile, groupNames: [String], stage: Stage, hasWindows: Bool,
        compiler: RuleCompiler
    ) {
        self.rule = rule
        self.file = file
        self.groupNames = groupNames
        self.stage = stage
        self.hasWindows = hasWindows
        self.compiler = compiler
    }

    var findings: Findings { compiler.findings }
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
        case .rate, .plugin, .mode: break
        case .check(let written): check(written.value)
        case .user(let user): if let path = user.isNot { check(path.value, at: path.spot) }
        }
    }

    // MARK: Actions

    private func check(_ step: BotStep) {
        let message = step.message
        for count in step.counts { check(count) }
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
        let needsMessage =
            switch step.verb {
            case .reply, .react, .confirm: true
            case .relay: message.text == nil
            case .delete: step.deed.last == nil && !step.deed.isBurst
            default: false
            }
        if needsMessage, hasEvents, !events.contains(where: \.hasMessage) {
            findings.error(
                "\"\(step.verb.rawValue)\" needs a message, and \(rule.eventNames) has none", at: step.spot,
                hint: step.verb == .reply ? "use send" : nil)
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
        let directory = compiler.directory
        let own = step.message.to + step.deed.places
        let places = (own.isEmpty ? rule.places : own).map(\.value)
        let reached = places.flatMap(directory.places).map(\.account)
        let isOpen = places.isEmpty || places.contains { $0 == Scope.direct || $0.contains("*") }
        let accounts = directory.accounts.sorted { $0.key < $1.key }.filter {
            isOpen || reached.contains($0.key)
        }
        checkWishes(step, accounts.map { ($0.key, $0.value) })
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

    // MARK: Templates

    func check(_ template: Template) {
        for piece in template.pieces {
            guard case .value(let expression) = piece else { continue }
            var kind: TemplateValue.Kind?
            if case .path(let path) = expression.base {
                check(path, at: template.spot(at: path.offset))
                kind = self.kind(of: path)
            }
            for use in expression.filters {
                for case .path(let path) in use.arguments { check(path, at: template.spot(at: path.offset)) }
                if use.filter.name == "of", !expression.base.isCounter {
                    findings.error(
                        "\"of\" belongs directly behind a counter", at: template.spot(at: use.offset),
                        hint: "write {{ counters.name | of(user) }}")
                }
                if let takes = use.filter.takes, let kind, !takes.contains(kind) {
                    let wanted = takes.map(\.rawValue).sorted().joined(separator: " or ")
                    findings.error(
                        "\"\(use.filter.name)\" needs a \(wanted), not \(kind.rawValue)",
                        at: template.spot(at: use.offset))
                }
                switch use.filter.name {
                case "default", "duration": break
                case "first", "last": kind = kind == .list ? nil : .text
                default: kind = use.filter.gives
                }
            }
        }
    }

    func kind(of path: TemplatePath) -> TemplateValue.Kind? {
        switch path.root {
        case "counters", "strikes": return .number
        case "window": return OpenSpan.parts.first { $0.name == path.field }?.kind
        case "users", "messages": return .list
        case "vars":
            // A variable of the rule's own may be of any kind.
            return file.vars[path.field ?? ""] == nil ? nil : .text
        case "args":
            let (argument, part) = argument(path)
            guard let part else { return argument?.kind.templateKind }
            return TemplateValue.partsOfUser.first { $0.name == part }?.kind
        default: return TemplateRoot.named[path.root]?.field(path.field)?.kind ?? .text
        }
    }

    private func argument(_ path: TemplatePath) -> (BotArgument?, part: String?) {
        let names = path.field?.split(separator: ".", maxSplits: 1).map(String.init) ?? []
        let argument = rule.command?.arguments.first { $0.name.value == names.first }
        return (argument, names.count > 1 ? names[1] : nil)
    }

    func check(_ path: TemplatePath, at spot: Spot) {
        switch path.root {
        case "vars":
            compiler.usedNames.insert("\(file.name) vars.\(path.field ?? "")")
            check(path, "variable", among: locals, spot, "declare it under vars:")
        case "counters":
            asksMemory = true
            check(
                path, "counter", among: compiler.counters.keys.sorted(), spot, "declare it under counters:")
        case "strikes":
            asksMemory = true
            compiler.usedNames.insert("ladder \(path.field ?? "")")
            check(path, "ladder", among: compiler.ladders.keys.sorted(), spot, "declare it under ladders:")
        case "strike":
            let hasStrike = rule.allSteps.contains { $0.verb == .strike } || !rule.strikeEvents.isEmpty
            if !hasStrike {
                findings.error(
                    "\"strike\" is what a strike has given, and this rule gives none", at: spot,
                    hint: "did you mean \"strikes.\(compiler.ladders.keys.min() ?? "ladder")\"?")
            } else if let root = TemplateRoot.named[path.root] {
                check(path, of: root, at: spot)
            }
        case "args": check(argument: path, at: spot)
        case "window":
            wantsWindow = true
            let names = OpenSpan.parts.map(\.name)
            if !hasWindows {
                findings.error(
                    "no window is asked for, so \"\(path.text)\" can never exist", at: spot,
                    hint: "add time: to if:")
            } else if !names.contains(path.field ?? "") {
                findings.error(
                    "unknown value \"\(path.text)\"", at: spot,
                    hint: path.field.flatMap { Suggestion.nearest(to: $0, among: names) }.map {
                        "did you mean \"window.\($0)\"?"
                    } ?? "known: window.name, window.starts, window.ends")
            }
        case "rate":
            wantsRate = true
            if rule.condition?.value.asksForRate != true {
                findings.error(
                    "\"rate\" is what a rate has counted, and this rule asks for none", at: spot,
                    hint: "add rate: under if:")
            } else if let root = TemplateRoot.named[path.root] {
                check(path, of: root, at: spot)
            }
        case "users", "messages":
            if rule.batch == nil {
                findings.error(
                    "\"\(path.root)\" are there only with batch:", at: spot,
                    hint: path.root == "users" ? "use user" : "use message.text")
            } else if let field = path.field {
                findings.error(
                    "unknown value \"\(path.text)\"", at: spot,
                    hint: "\"\(path.root)\" is a list; without \".\(field)\" it can be printed")
            }
        case "match":
            wantsGroups = true
            check(
                path, "group", among: groupNames, spot,
                "name a group of the regex: (?<\(path.field ?? "name")>...)")
        default:
            guard let root = TemplateRoot.named[path.root] else {
                if TemplateRoot.later.contains(path.root) {
                    findings.error("\"\(path.root)\" is not built yet", at: spot)
                } else {
                    let known = TemplateRoot.all.map(\.name) + TemplateRoot.declared
                    let names = known + TemplateRoot.later.sorted()
                    findings.error(
                        "unknown value \"\(path.text)\"", at: spot,
                        hint: (path.field == nil
                            ? Suggestion.hint(for: path.root, among: TemplateRoot.paths + names)
                            : meant(path, among: names)) ?? "values begin with "
                            + known.joined(separator: ", "))
                }
                return
            }
            check(path, of: root, at: spot)
        }
    }

    private func check(argument path: TemplatePath, at spot: Spot) {
        guard let command = rule.command else {
            findings.error(
                "\"args\" are what is written behind a command, and this rule is none", at: spot,
                hint: "write when: {command: {name: …, args: …}}")
            return
        }
        let (argument, part) = argument(path)
        guard let argument else {
            let names = command.arguments.map(\.name.value)
            let first = path.field?.split(separator: ".").first.map(String.init)
            check(
                TemplatePath(root: "args", field: first), "argument", among: names, spot,
                "declare it under args:")
            return
        }
        guard let part else { return }
        let parts = argument.kind.templateKind == .user ? TemplateValue.partsOfUser.map(\.name) : []
        if !parts.contains(part) {
            let near = Suggestion.nearest(to: part, among: parts)
            findings.error(
                "unknown value \"\(path.text)\"", at: spot,
                hint: near.map { "did you mean \"args.\(argument.name.value).\($0)\"?" })
        }
    }

    /// The whole value that was meant, as far as it can be told.
    private func meant(_ path: TemplatePath, among names: [String]) -> String? {
        guard let root = Suggestion.nearest(to: path.root, among: names) else { return nil }
        let fields = TemplateRoot.named[root]?.fields.map(\.name) ?? []
        let field = path.field.flatMap {
            fields.contains($0) ? $0 : Suggestion.nearest(to: $0, among: fields)
        }
        return "did you mean \"\(root)\(field.map { ".\($0)" } ?? "")\"?"
    }

    private func check(_ path: TemplatePath, of root: TemplateRoot, at spot: Spot) {
        guard root.field(path.field) != nil else {
            let names = root.fields.map(\.name).filter { !$0.isEmpty }
            let near = path.field.flatMap { Suggestion.nearest(to: $0, among: names) }
            findings.error(
                "unknown value \"\(path.text)\"", at: spot,
                hint: near.map { "did you mean \"\(root.name).\($0)\"?" }
                    ?? "known: " + names.map { "\(root.name).\($0)" }.joined(separator: ", "))
            return
        }
        let exists: Bool
        switch root.source {
        case .any: exists = true
        case .member: exists = rule.hasMember || rule.allSteps.contains { $0.verb == .each }
        case .message: exists = events.contains(where: \.hasMessage)
        case .channel:
            exists =
                events.contains(where: \.hasChannel) || !rule.modeEvents.isEmpty || !rule.strikeEvents.isEmpty
        }
        let isFact = path.root == "user" && ["messages", "member_for", "away"].contains(path.field)
        if isFact { asksMemory = true }
        if rule.batch != nil, isFact {
            findings.error("when a batch is acted on, \"\(path.text)\" is not known any more", at: spot)
        }
        if !exists, hasEvents {
            findings.error(
                "\(rule.eventNames) has no \(root.name), so \"\(path.text)\" can never exist", at: spot)
        }
    }

    private func check(
        _ path: TemplatePath, _ what: String, among names: [String], _ spot: Spot, _ otherwise: String
    ) {
        guard let field = path.field else {
            findings.error(
                "\"\(path.root)\" alone has no value", at: spot, hint: "name a \(what): \(path.root).name")
            return
        }
        guard !names.contains(field) else { return }
        let near = Suggestion.nearest(to: field, among: names)
        findings.error(
            "unknown \(what) \"\(field)\"", at: spot,
            hint: near.map { "did you mean \"\(path.root).\($0)\"?" } ?? otherwise)
    }
}

extension Template.Operand {
    fileprivate var isCounter: Bool {
        guard case .path(let path) = self else { return false }
        return path.root == "counters" || path.root == "strikes"
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
