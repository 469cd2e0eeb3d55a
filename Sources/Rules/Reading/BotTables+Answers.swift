internal import Chat
internal import YAML
internal import Zones

/// Commands, counters, and the choices of an answer.
extension BotTables {
    static let commands = KeyTable<BotCommands>(
        "commands",
        [
            Key("prefix", "What stands before the word of a command: \"!\" unless given.") {
                node, commands, reader in
                guard let text = reader.text(node) else { return }
                let isGood =
                    !text.isEmpty && text.count <= 8
                    && text.unicodeScalars.allSatisfy { !$0.properties.isWhitespace }
                    && text.first != ">"
                guard isGood else {
                    reader.error(
                        "\"\(text.shortened)\" is not a prefix", at: node,
                        hint: "use one to eight characters without spaces, such as \"!\"")
                    return
                }
                commands.prefix = text
            },
            Key("unknown", "silent: nothing is said to a command that nobody knows.") { node, _, reader in
                guard let text = reader.text(node), text != "silent" else { return }
                reader.error(
                    "unknown value \"\(text.shortened)\"", at: node,
                    hint: "use silent; two bots that answer what they do not know talk for ever")
            },
            Key("wrong_args", "usage: the line that shows what to write; or silent.") {
                node, commands, reader in
                if let what = reader.choice(node, BotCommands.WrongArguments.self) {
                    commands.wrongArguments = what
                }
            },
            Key("zone", "Whose clock it is when somebody writes 09:00: Europe/Oslo; UTC unless given.") {
                node, commands, reader in
                guard let text = reader.text(node) else { return }
                do throws(ZoneError) {
                    commands.zone = try TimeZone(named: text)
                } catch {
                    reader.error(error.problem, at: node, hint: error.hint)
                }
            },
        ])

    static let command = KeyTable<BotCommand>(
        "a command", otherNames: ["alias": "aliases", "arguments": "args", "word": "name"],
        [
            Key("name", "The word, without its prefix.") { node, command, reader in
                if let name = reader.commandName(node) { command.name = name }
            },
            Key("aliases", "Other words for it.") { node, command, reader in
                command.aliases = reader.items(node, "aliases")?.compactMap(reader.commandName) ?? []
                reader.checkTwice(command.aliases)
            },
            Key("args", "What is written behind it, in order: {who: person, n: integer 1 to 100}.") {
                node, command, reader in
                reader.arguments(node, into: &command)
            },
            Key("usage", "The line for who writes something else; made from args unless given.") {
                node, command, reader in
                command.usage = reader.filled(node, isProse: true)
            },
        ])

    static let counter = KeyTable<BotCounter>(
        "a counter",
        [
            Key("per", "user, channel or all: for whom it counts.") { node, counter, reader in
                if let per = reader.choice(node, BotCounter.Per.self) { counter.per = per }
            },
            Key("forget_after", "How long after its last change it starts anew: 7d.") {
                node, counter, reader in
                counter.keep = reader.time(node, hint: "write 7d, or keep: forever")
            },
            Key("keep", "forever: it is never forgotten.") { node, _, reader in
                guard let text = reader.text(node), text != "forever" else { return }
                reader.error(
                    "unknown value \"\(text.shortened)\"", at: node, hint: "use forever, or forget_after: 7d")
            },
        ])

    static let count = KeyTable<BotCount>(
        "count",
        [
            Key("user", "Whose: a value that names a user; who wrote, unless given.") { node, count, reader in
                count.subject = reader.template(node)
            },
            Key("by", "How many: +1 unless given.") { node, count, reader in
                if let number = reader.increment(node) { count.by = number }
            },
        ])

    static let reset = KeyTable<BotCount>("reset", [count.keys[0]])

    static let branch = KeyTable<BotBranch>(
        "a branch of \"choose\"", otherNames: ["then": "do", "when": "if", "condition": "if"],
        [
            Key("if", "Conditions; without it the branch is always taken.") { node, branch, reader in
                branch.condition = reader.condition(node).map { Placed($0, at: reader.spot(node)) }
            },
            Key("do", "Actions, in order.") { node, branch, reader in
                branch.steps = reader.steps(node, under: "\(branch.path).do")
            },
        ])

    static let log = KeyTable<BotStep>(
        "log",
        [
            Key("text", "The line; a template.") { node, step, reader in
                step.message.text = reader.template(node)
            },
            Key("level", "info or warning.") { node, step, reader in
                guard let level = reader.choice(node, LogLevel.self) else { return }
                step.message.isWarning = level == .warning
            },
        ])

    enum LogLevel: String, CaseIterable { case info, warning }
}

extension BotFileReader {
    /// `{karma: {per: user, keep: forever}}`.
    func counters(_ node: YAMLNode, into file: inout BotFile) {
        for entry in mapping(node, "counters") ?? [] {
            guard let name = name(entry.key, "counter") else { continue }
            var counter = BotCounter(name: Placed(name, at: spot(entry.key)))
            read(entry.value, BotTables.counter, into: &counter)
            file.counters.append(counter)
            guard entry.value.entries != nil else { continue }
            if entry.value["per"] == nil {
                error("counter \"\(name)\" does not say per whom", at: entry.key, hint: "add per: user")
            }
            if (entry.value["keep"] == nil) == (entry.value["forget_after"] == nil) {
                error(
                    "counter \"\(name)\" must say how long it keeps", at: entry.key,
                    hint: "write keep: forever or forget_after: 7d")
            }
        }
    }

    func command(_ node: YAMLNode, into rule: inout BotRule) {
        var command = BotCommand(name: Placed("", at: spot(node)))
        if case .mapping = node.kind {
            read(node, BotTables.command, into: &command)
            if node["name"] == nil { error("the command has no \"name\"", at: node) }
        } else if let name = commandName(node) {
            command.name = name
        }
        rule.command = command
        rule.when.append(Placed(.messageAdded, at: spot(node)))
    }

    func commandName(_ node: YAMLNode) -> Placed<String>? {
        guard text(node) != nil, let name = name(node, "command") else { return nil }
        return Placed(name.lowercased(), at: spot(node))
    }

    fileprivate func arguments(_ node: YAMLNode, into command: inout BotCommand) {
        var arguments: [BotArgument] = []
        for entry in mapping(node, "args") ?? [] {
            guard let name = name(entry.key, "argument") else { continue }
            let place = Placed(name, at: spot(entry.key))
            let read = short(entry.value) { (text: String) throws(ShortFormError) in
                try BotArgument(place, text: text)
            }
            guard let argument = read else {
                command.unread.insert(name)
                continue
            }
            if let last = arguments.last {
                if case .rest = last.kind {
                    error(
                        "nothing is left behind \"\(last.name.value)\", which takes the rest", at: entry.key)
                } else if last.isOptional, !argument.isOptional, !last.kind.canBeSkipped {
                    error(
                        "\"\(name)\" must be written, so \"\(last.name.value)\" before it cannot be optional",
                        at: entry.key)
                }
            }
            if let preset = argument.preset, preset.isEmpty {
                error("\"\(name)\" has an empty default", at: entry.value)
            }
            arguments.append(argument)
        }
        command.arguments = arguments
    }

    /// By how much a counter goes up or down.
    fileprivate func increment(_ node: YAMLNode) -> Int64? {
        guard let text = text(node) else { return nil }
        guard let number = Int64(text), number.magnitude <= 1_000_000_000 else {
            error("\"\(text.shortened)\" is not a whole number", at: node, hint: "try +1")
            return nil
        }
        guard number != 0 else {
            error("to add 0 changes nothing", at: node, hint: "try +1, or reset to begin anew")
            return nil
        }
        return number
    }

    /// A name is written once.
    func checkTwice(_ names: [Placed<String>]) {
        var known: Set<String> = []
        for name in names where !known.insert(name.value).inserted {
            findings.error("\"\(name.value.shortened)\" stands here twice", at: name.spot, hint: "remove one")
        }
    }

    /// `{karma: +1}` or `{karma: {user: "{{ match.who }}", by: +1}}`.
    func counts(_ node: YAMLNode, into step: inout BotStep) {
        let entries = mapping(node, "count") ?? []
        if entries.isEmpty, node.entries != nil {
            error("\"count\" names no counter", at: node, hint: "try {karma: +1}")
        }
        for entry in entries {
            guard let name = entry.key.text else { continue }
            var count = BotCount(counter: Placed(name, at: spot(entry.key)))
            if case .mapping = entry.value.kind {
                read(entry.value, BotTables.count, into: &count)
            } else if let number = increment(entry.value) {
                count.by = number
            }
            step.counts.append(count)
        }
    }

    /// `pages`, `[pages, karma]` or `{karma: {user: "{{ args.who }}"}}`.
    func resets(_ node: YAMLNode, into step: inout BotStep) {
        guard case .mapping(let entries) = node.kind else {
            step.counts = (texts(node, "reset") ?? []).map { BotCount(counter: $0) }
            return
        }
        if entries.isEmpty { error("\"reset\" names no counter", at: node, hint: "write which: karma") }
        for entry in entries {
            guard let name = entry.key.text else { continue }
            var count = BotCount(counter: Placed(name, at: spot(entry.key)))
            read(entry.value, BotTables.reset, into: &count)
            step.counts.append(count)
        }
    }

    func branches(_ node: YAMLNode, into step: inout BotStep) {
        guard case .sequence(let items) = node.kind else {
            error("\"choose\" is a list of branches", at: node, hint: "write - if: … and do: … below it")
            return
        }
        if items.isEmpty { error("\"choose\" is an empty list", at: node, hint: "say what to choose from") }
        for (index, item) in items.enumerated() {
            var branch = BotBranch(spot: spot(item), path: "\(step.path).choose[\(index)]")
            read(item, BotTables.branch, into: &branch)
            if item.entries != nil {
                if item["do"] == nil { error("this branch has no \"do\"", at: item) }
                if item["if"] == nil, index + 1 < items.count {
                    error(
                        "this branch is always taken, so those behind it never are", at: item,
                        hint: "put it last, or add if:")
                }
            }
            step.branches.append(branch)
        }
    }

    /// `{greeting: "Hello {{ user.name }}"}`, each may use those before it.
    func variables(_ node: YAMLNode) -> [BotVariable] {
        var variables: [BotVariable] = []
        for entry in mapping(node, "vars") ?? [] {
            guard let name = name(entry.key, "variable"),
                let template = template(entry.value, mayBeEmpty: true)
            else {
                continue
            }
            variables.append(BotVariable(name: Placed(name, at: spot(entry.key)), template: template))
        }
        if variables.count > 20 { error("a rule has at most 20 variables", at: node) }
        return variables
    }

    /// `{n: 1 to 50}`; applied when the command is known.
    func limits(_ node: YAMLNode) -> [(argument: Placed<String>, bounds: Placed<String>)] {
        (mapping(node, "limits") ?? []).compactMap { entry in
            guard let name = entry.key.text else { return nil }
            if name == "pending" {
                notBuilt(
                    name, at: entry.key,
                    hint:
                        "it is for waits, which are not built either; bounds of an argument are {n: 1 to 50}")
                return nil
            }
            guard let text = text(entry.value) else { return nil }
            return (Placed(name, at: spot(entry.key)), Placed(text, at: spot(entry.value)))
        }
    }

    func applyLimits(to rule: inout BotRule) {
        for (name, bounds) in rule.limits {
            guard let index = rule.command?.arguments.firstIndex(where: { $0.name.value == name.value })
            else {
                if rule.command?.unread.contains(name.value) == true { continue }
                let names = rule.command?.arguments.map(\.name.value) ?? []
                findings.error(
                    "there is no argument \"\(name.value.shortened)\" to limit", at: name.spot,
                    hint: Suggestion.hint(for: name.value, among: names))
                continue
            }
            do throws(ShortFormError) {
                if let limited = try rule.command?.arguments[index].kind.limited(bounds.value) {
                    rule.command?.arguments[index].kind = limited
                }
            } catch {
                note(error, at: bounds.spot)
            }
        }
    }

    /// A default that does not fit would be nothing, each time.
    func checkPresets(of rule: BotRule) {
        for argument in rule.command?.arguments ?? [] {
            guard let preset = argument.preset, !preset.isEmpty, !argument.kind.takes(preset: preset) else {
                continue
            }
            findings.error(
                "the default \"\(preset.shortened)\" is not what \"\(argument.name.value)\" takes",
                at: argument.name.spot, hint: argument.kind.words(in: .utc).map { "write \($0)" })
        }
    }
}

extension BotArgument.Kind {
    /// Whether a piece of text tells by itself that it is none of these.
    fileprivate var canBeSkipped: Bool {
        switch self {
        case .integer, .duration, .when, .choice, .channel: true
        case .person, .word, .rest: false
        }
    }
}
