internal import Chat
internal import YAML

/// The tables of the keys that a bot's file may have, from the outside in.
enum BotTables {
    static let file = KeyTable<BotFile>(
        "a bot's file", otherNames: ["rule": "rules", "variables": "vars", "words": "lists"],
        required: ["version"],
        [
            Key("version", "Required; 1 is the only value.") { node, file, reader in
                guard let text = reader.text(node) else { return }
                file.version = Placed(text, at: reader.spot(node))
                guard text != "1" else { return }
                reader.error(
                    "unknown version \"\(text.shortened)\"", at: node, hint: "this steward reads version 1")
            },
            Key("vars", "Constants for templates, as in {{ vars.handbook }}.") { node, file, reader in
                for entry in reader.mapping(node, "vars") ?? [] {
                    guard let name = reader.name(entry.key, "variable") else { continue }
                    guard let text = reader.text(entry.value, isProse: true) else { continue }
                    if text.contains("{{") {
                        reader.error("a variable is constant text, not a template", at: entry.value)
                    }
                    file.vars[name] = text
                    file.varSpots[name] = reader.spot(entry.key)
                }
            },
            Key("lists", "Words under a name, written out or {file: lists/words.txt}; used as $name.") {
                node, file, reader in
                for entry in reader.mapping(node, "lists") ?? [] {
                    guard let name = reader.name(entry.key, "list") else { continue }
                    if name == "none" { reader.error("a list cannot be called \"none\"", at: entry.key) }
                    var list = BotList(name: Placed(name, at: reader.spot(entry.key)))
                    if case .mapping = entry.value.kind {
                        reader.read(entry.value, listFile, into: &list)
                    } else {
                        list.words = reader.words(entry.value, name) ?? []
                    }
                    file.lists.append(list)
                }
            },
            Key(
                "windows",
                "Spans of time under a name: {night: {between: \"22:00-07:00\", zone: Europe/Oslo}}."
            ) {
                node, file, reader in
                reader.windows(node, into: &file)
            },
            Key("groups", "Answer rules of which the first answers, or all: {pick: first}.") {
                node, file, reader in
                for entry in reader.mapping(node, "groups") ?? [] {
                    guard let name = reader.name(entry.key, "group") else { continue }
                    var group = BotGroup(name: Placed(name, at: reader.spot(entry.key)))
                    reader.read(entry.value, BotTables.group, into: &group)
                    file.groups.append(group)
                }
            },
            Key("modes", "States that all rules share, in rising order: {raid: {clears_after: 30m}}.") {
                node, file, reader in
                reader.modes(node, into: &file)
            },
            Key("ladders", "What strikes lead to: {conduct: {forgive: 1 per 7d, steps: {3: [{mute: 1d}]}}}.")
            {
                node, file, reader in
                reader.ladders(node, into: &file)
            },
            Key("counters", "What is counted, and for whom: {karma: {per: user, keep: forever}}.") {
                node, file, reader in
                reader.counters(node, into: &file)
            },
            .later("rotas"), .later("bridges"), .later("http"),
            Key("defaults", "What holds for the rules of this file unless they say otherwise.") {
                node, file, reader in
                reader.read(node, defaults, into: &file)
            },
            Key("rules", "The rules, each under its name.") { node, file, reader in
                let hint = "put each rule under its name, as in \"welcome:\""
                var empty: YAMLNode?
                for entry in reader.mapping(node, "rules", hint: hint) ?? [] {
                    // The keys of a rule beside its name instead of below it.
                    if let name = entry.key.text, let above = empty, rule[name] != nil {
                        reader.error(
                            "this belongs to the rule \"\(above.text ?? "")\"", at: entry.key,
                            hint: "indent it by two more spaces")
                        continue
                    }
                    empty = entry.value.isEmpty ? entry.key : nil
                    guard let id = reader.name(entry.key, "rule") else { continue }
                    file.rules.append(reader.rule(id, entry))
                }
            },
            Key("tests", "Scenarios for all rules: what happens, and what must come of it.") {
                node, file, reader in
                file.tests = reader.tests(node, of: nil)
            },
        ])

    static let listFile = KeyTable<BotList>(
        "a list from a file", required: ["file"], isNeverEmpty: true,
        [
            Key("file", "One word or phrase a line, # for comments; the path is relative to the bots folder.")
            {
                node, list, reader in
                guard let path = reader.text(node) else { return }
                let parts = path.split(separator: "/", omittingEmptySubsequences: false)
                guard !path.hasPrefix("/"), !parts.contains("..") else {
                    reader.error("\"\(path.shortened)\" leads out of the bots folder", at: node)
                    return
                }
                list.file = Placed(path, at: reader.spot(node))
            }
        ])

    static let group = KeyTable<BotGroup>(
        "a group",
        [
            Key("pick", "first: one member answers; all: each may.") { node, group, reader in
                if let pick = reader.choice(node, BotGroup.Pick.self) { group.pick = pick }
            }
        ])

    static let defaults = KeyTable<BotFile>(
        "defaults",
        [
            Key("exempt", "Whom the guard rules of this file leave alone.") { node, file, reader in
                file.exempt = reader.exempt(node)
            },
            Key("commands", "How people call the rules of this file: {prefix: \"!\"}.") {
                node, file, reader in
                reader.read(node, commands, into: &file.commands)
            },
            Key("report_to", "Where the reports of this file go: a channel, or a list.") {
                node, file, reader in
                file.reportTo = reader.texts(node, "report_to") ?? []
            },
        ])

    static let exempt = KeyTable<Exempt>(
        "exempt",
        otherNames: ["role": "roles", "user": "users", "bot": "bots"], isNeverEmpty: true,
        [
            Key("roles", "Role names.") { node, exempt, reader in
                exempt.roles = reader.texts(node, "roles") ?? []
            },
            Key("users", "Users, as account:user or user.") { node, exempt, reader in
                exempt.users = reader.texts(node, "users") ?? []
            },
            Key("bots", "false: programs are looked at like people.") { node, exempt, reader in
                exempt.bots = reader.bool(node)
            },
        ])

    static let rule = KeyTable<BotRule>(
        "a rule",
        otherNames: [
            "on": "when", "event": "when", "events": "when", "trigger": "when", "channel": "in",
            "channels": "in",
            "then": "do", "actions": "do", "action": "do", "conditions": "if", "condition": "if",
            "description": "about", "name": "about", "enabled": "run",
        ],
        required: ["when", "do"],
        [
            Key("about", "One line for people.") { node, rule, reader in
                rule.about = reader.filled(node, isProse: true)
            },
            Key("when", "The event, a list of events, or a command.") { node, rule, reader in
                reader.events(node, into: &rule)
            },
            Key("in", "Channels by name or with *, or direct; without it every channel.") {
                node, rule, reader in
                rule.places = reader.texts(node, "in") ?? []
            },
            Key("not_in", "Channels that are left out.") { node, rule, reader in
                rule.notPlaces = reader.texts(node, "not_in") ?? []
            },
            Key("if", "Conditions; all must hold.") { node, rule, reader in
                rule.condition = reader.condition(node).map { Placed($0, at: reader.spot(node)) }
            },
            Key("do", "Actions, in order.") { node, rule, reader in rule.steps = reader.steps(node) },
            Key("stage", "observe: only looks on; otherwise the actions say what a rule is.") {
                node, rule, reader in
                guard let text = reader.text(node) else { return }
                let stages: [String: Stage] = ["guard": .guard, "answer": .answer, "observe": .observe]
                reader.witness?.took(stages.keys.sorted(), node)
                if let stage = stages[text] {
                    rule.stage = Placed(stage, at: reader.spot(node))
                } else {
                    let hint = Suggestion.hint(for: text, among: stages.keys.sorted()) ?? "use observe"
                    reader.error("unknown stage \"\(text.shortened)\"", at: node, hint: hint)
                }
            },
            Key("group", "The group it belongs to.") { node, rule, reader in
                rule.group = reader.text(node).map { Placed($0, at: reader.spot(node)) }
            },
            Key("continue", "true: the next guard rules are asked although this one matched.") {
                node, rule, reader in
                rule.continues = reader.bool(node).map { Placed($0, at: reader.spot(node)) }
            },
            Key("also", "true: answers beside others and is not counted.") { node, rule, reader in
                rule.also = reader.bool(node).map { Placed($0, at: reader.spot(node)) }
            },
            Key("cooldown", "How often it may act: 5m per user, 15m per rule, 3 in 1d per user.") {
                node, rule, reader in
                rule.cooldown = reader.short(node) { (text: String) throws(ShortFormError) in
                    try Cooldown(text: text)
                }
            },
            Key("once", "per user or per channel, for ever; per user per window.") { node, rule, reader in
                reader.once(node, into: &rule)
            },
            Key("batch", "How long events are collected before it acts once on all of them: 20s.") {
                node, rule, reader in
                rule.batch = reader.duration(node).map { Placed($0, at: reader.spot(node)) }
            },
            .later("overlap"),
            Key("exempt", "Whom it leaves alone instead of the file's default; none: nobody.") {
                node, rule, reader in
                rule.exempt = reader.exempt(node)
            },
            Key("run", "live, dry (matches and is logged, does nothing) or disabled.") { node, rule, reader in
                if let run = reader.choice(node, BotRule.Run.self) { rule.run = run }
            },
            Key("breaker", "When it puts itself on dry run: {matches: 5, share: 5%, in: 1h}; or none.") {
                node, rule, reader in
                rule.breaker = reader.breaker(node)
            },
            Key("limits", "Bounds of a command's arguments: {n: 1 to 50}.") { node, rule, reader in
                rule.limits = reader.limits(node)
            },
            Key("vars", "Values of its own, made in order: {short: \"{{ message.text | truncate(20) }}\"}.") {
                node, rule, reader in
                rule.vars = reader.variables(node)
            },
            Key("examples", "Texts that must match and texts that must not.") { node, rule, reader in
                reader.read(node, examples, into: &rule)
            },
            Key("tests", "Scenarios for this rule: what happens, and what must come of it.") {
                node, rule, reader in
                rule.tests = reader.tests(node, of: rule.id.value)
            },
            Key("was", "Its name before; what it remembers carries over.") { node, rule, reader in
                rule.was = reader.filled(node).map { Placed($0, at: reader.spot(node)) }
            },
        ])

    static let examples = KeyTable<BotRule>(
        "examples",
        otherNames: ["nomatch": "no_match", "not_match": "no_match", "matches": "match"], isNeverEmpty: true,
        [
            Key("match", "Texts that must match.") { node, rule, reader in
                rule.matching = reader.texts(node, "match", mayBeBlank: true) ?? []
            },
            Key("no_match", "Texts that must not match.") { node, rule, reader in
                rule.notMatching = reader.texts(node, "no_match", mayBeBlank: true) ?? []
            },
        ])

    /// Kinds of `when` that are written with keys of their own.
    static let specialEvents = KeyTable<BotRule>(
        "when", noun: "event", isNeverEmpty: true,
        [
            Key("command", "A word by which people call it: {name: karma, args: {who: optional person}}.") {
                node, rule, reader in
                reader.command(node, into: &rule)
            }, .later("schedule"), .later("webhook"),
            Key("modeEntered", "A mode begins.") { node, rule, reader in
                rule.modeEvents += (reader.texts(node, "modeEntered") ?? []).map {
                    BotModeEvent(kind: .entered, mode: $0)
                }
            },
            Key("modeLeft", "A mode ends.") { node, rule, reader in
                rule.modeEvents += (reader.texts(node, "modeLeft") ?? []).map {
                    BotModeEvent(kind: .left, mode: $0)
                }
            },
            .later("windowEntered"), .later("windowLeft"),
            Key("strikes", "Somebody's strikes reach a number: {ladder: conduct, total: 3+}.") {
                node, rule, reader in
                var event = BotStrikeEvent(spot: reader.spot(node))
                reader.read(node, BotTables.strikeEvent, into: &event)
                rule.strikeEvents.append(event)
            },
        ])
}
