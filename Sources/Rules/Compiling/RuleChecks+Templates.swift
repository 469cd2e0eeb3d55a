internal import Chat
internal import YAML

/// Whether what templates print exists.
extension RuleChecks {
    func check(_ template: Template) {
        for piece in template.pieces {
            guard case .value(let expression) = piece else { continue }
            var kind: TemplateValue.Kind?
            if case .path(let path) = expression.base {
                check(path, at: template.spot(at: path.offset))
                kind = self.kind(of: path)
                if path.root == "window", path.field == "starts" || path.field == "ends", isAlwaysOpen,
                    !expression.filters.contains(where: { $0.filter?.name == "default" })
                {
                    findings.warn(
                        "a window of this rule is always open, so \"\(path.text)\" is empty",
                        at: template.spot(at: path.offset),
                        hint: "give the window days or between:, or say what stands for it: | default('…')",
                        code: .neverEnds)
                }
            }
            for use in expression.filters {
                for case .path(let path) in use.arguments { check(path, at: template.spot(at: path.offset)) }
                guard let filter = use.filter else {
                    kind = nil
                    continue
                }
                if filter.name == "of", !expression.base.isCounter {
                    findings.error(
                        "\"of\" belongs directly behind a counter", at: template.spot(at: use.offset),
                        hint: "write {{ counters.name | of(user) }}")
                }
                if let takes = filter.takes, let kind, !takes.contains(kind) {
                    let wanted = takes.map(\.rawValue).sorted().joined(separator: " or ")
                    findings.error(
                        "\"\(filter.name)\" needs a \(wanted), not \(kind.rawValue)",
                        at: template.spot(at: use.offset))
                }
                switch filter.name {
                case "default", "duration": break
                case "first", "last": kind = kind == .list ? nil : .text
                default: kind = filter.gives
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
        case "match": return .text
        // Nil for what does not exist, which is said of its name.
        default: return TemplateRoot.named[path.root]?.field(path.field)?.kind
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
            for owner in [file.name, rule.id.value] {
                compiler.usedNames.insert("\(owner) vars.\(path.field ?? "")")
            }
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
            // That has been said.
            if let first, command.unread.contains(first) { return }
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
        case .message: exists = events.contains(where: \.hasText)
        case .reaction: exists = events.contains(where: \.hasReaction)
        case .policy:
            exists =
                events.contains(where: \.hasPolicy) || rule.condition?.value.asksForPolicy == true
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
