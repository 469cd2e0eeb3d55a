internal import Chat
internal import YAML

/// Looks whether what a rule does can be done: its templates, its places, its actions, its examples.
final class RuleChecks {
    private let rule: BotRule
    private let file: BotFile
    private let groupNames: [String]
    private let stage: Stage
    private let compiler: RuleCompiler
    private(set) var wantsGroups = false

    init(_ rule: BotRule, _ file: BotFile, groupNames: [String], stage: Stage, compiler: RuleCompiler) {
        self.rule = rule
        self.file = file
        self.groupNames = groupNames
        self.stage = stage
        self.compiler = compiler
    }

    private var findings: Findings { compiler.findings }
    private var events: [EventName] { rule.when.map(\.value) }

    func run(condition: Condition?) {
        for step in rule.steps { check(step) }
        if let condition = rule.condition { checkPaths(of: condition.value) }
        checkKeys()
        let examples = rule.matching + rule.notMatching
        if condition?.asksForText != true, let example = examples.first,
            rule.condition != nil || !rule.written.contains("if")
        {
            findings.error("examples need a text condition", at: example.spot)
        }
        if stage == .guard, condition?.asksForText == true, events.contains(.messageAdded),
            !events.contains(.messageEdited)
        {
            findings.warn(
                "this rule does not see text that is edited in later", at: rule.when[0].spot,
                hint: "write [messageAdded, messageEdited]")
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
        if rule.cooldown?.per == .user || rule.once == .user, !events.isEmpty,
            !events.contains(where: \.hasMember)
        {
            findings.error("\(rule.eventNames) has no user, so nothing is per user", at: rule.id.spot)
        }
    }

    private func checkPaths(of condition: BotCondition) {
        switch condition {
        case .all(let list), .any(let list): for condition in list { checkPaths(of: condition) }
        case .not(let condition): checkPaths(of: condition)
        case .text: break
        case .user(let user): if let path = user.isNot { check(path.value, at: path.spot) }
        }
    }

    // MARK: Actions

    private func check(_ step: BotStep) {
        let message = step.message
        for template in [message.text, message.footer].compactMap(\.self) { check(template) }
        for path in message.mention {
            check(path.value, at: path.spot)
            if let kind = kind(of: path.value), kind != .user, kind != .text {
                findings.error("\"\(path.value.text)\" is nobody who can be called", at: path.spot)
            }
        }
        for name in message.to { compiler.check(channel: name) }
        let needsMessage: Bool
        switch step.verb {
        case .reply, .delete, .react, .relay: needsMessage = step.verb != .relay || message.text == nil
        case .send, .dm, .warn, .stop: needsMessage = false
        }
        if needsMessage, !events.isEmpty, !events.contains(where: \.hasMessage) {
            findings.error(
                "\"\(step.verb.rawValue)\" needs a message, and \(rule.eventNames) has none", at: step.spot,
                hint: step.verb == .reply ? "use send" : nil)
        }
        if step.verb == .dm || step.verb == .warn, !events.isEmpty, !events.contains(where: \.hasMember) {
            findings.error(
                "\"\(step.verb.rawValue)\" needs a member, and \(rule.eventNames) has none", at: step.spot)
        }
        if step.verb == .send, message.to.isEmpty, !events.isEmpty, !events.allSatisfy(\.hasChannel) {
            findings.error("\(rule.eventNames) has no channel", at: step.spot, hint: "say where with to:")
        }
        if step.verb == .relay, message.to.isEmpty { checkMissingTarget(step) }
        checkAbility(step)
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
        let needed: String
        switch step.verb {
        case .stop: return
        case .relay: needed = "send"
        case .warn: needed = "reply"
        default: needed = step.verb.rawValue
        }
        let directory = compiler.directory
        let places = (step.message.to.isEmpty ? rule.places : step.message.to).map(\.value)
        let reached = places.flatMap(directory.places).map(\.account)
        let isOpen = places.isEmpty || places.contains { $0 == Scope.direct || $0.contains("*") }
        for (name, account) in directory.accounts.sorted(by: { $0.key < $1.key })
        where isOpen || reached.contains(name) {
            guard !account.abilities.actions.contains(needed) else { continue }
            findings.error(
                "\"\(step.verb.rawValue)\" cannot be done on \(name) (\(account.service))", at: step.spot,
                hint: "limit the rule with in:, or remove the action")
            return
        }
    }

    // MARK: Templates

    private func check(_ template: Template) {
        for piece in template.pieces {
            guard case .value(let expression) = piece else { continue }
            var kind: TemplateValue.Kind?
            if case .path(let path) = expression.base {
                check(path, at: template.spot(at: path.offset))
                kind = self.kind(of: path)
            }
            for use in expression.filters {
                for case .path(let path) in use.arguments { check(path, at: template.spot(at: path.offset)) }
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

    private func kind(of path: TemplatePath) -> TemplateValue.Kind? {
        TemplateRoot.named[path.root]?.field(path.field)?.kind ?? .text
    }

    private func check(_ path: TemplatePath, at spot: Spot) {
        switch path.root {
        case "vars": check(path, "variable", among: file.vars.keys.sorted(), spot, "declare it under vars:")
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
                    let names =
                        TemplateRoot.all.map(\.name) + ["vars", "match"] + TemplateRoot.later.sorted()
                    let known = TemplateRoot.all.map(\.name) + ["match", "vars"]
                    findings.error(
                        "unknown value \"\(path.text)\"", at: spot,
                        hint: Suggestion.hint(for: path.root, among: names) ?? "values begin with "
                            + known.joined(separator: ", "))
                }
                return
            }
            check(path, of: root, at: spot)
        }
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
        case .member: exists = events.contains(where: \.hasMember)
        case .message: exists = events.contains(where: \.hasMessage)
        case .channel: exists = events.contains(where: \.hasChannel)
        }
        if !exists, !events.isEmpty {
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
