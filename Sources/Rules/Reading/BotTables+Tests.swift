internal import Chat
internal import YAML
internal import Zones

/// The tables of the keys that tests may have.
extension BotTables {
    static let test = KeyTable<BotTest>(
        "a test", otherNames: ["step": "steps", "title": "name", "when": "steps", "before": "given"],
        [
            Key("name", "What it shows, in words.") { node, test, reader in
                test.name = reader.filled(node, isProse: true, hint: "say what it shows") ?? ""
            },
            Key("given", "What holds before the first step.") { node, test, reader in
                reader.read(node, given, into: &test.given)
            },
            Key("steps", "What happens, and what must come of it.") { node, test, reader in
                guard case .sequence(let items) = node.kind else {
                    reader.notAList(node, "steps", of: "steps")
                    return
                }
                if items.isEmpty { reader.error("\"steps\" is an empty list", at: node) }
                test.steps = items.compactMap(reader.step)
            },
        ])

    static let given = KeyTable<BotTest.Given>(
        "given", otherNames: ["user": "users", "people": "users", "time": "now", "counter": "counters"],
        [
            Key("now", "The time at the start, such as \"2026-03-28T23:10:00+01:00\".") {
                node, given, reader in
                guard let text = reader.text(node) else { return }
                do throws(ZoneError) {
                    given.now = Timestamp(milliseconds: try ISO8601.moment(text))
                } catch {
                    reader.error(error.problem, at: node, hint: error.hint)
                }
            },
            Key("users", "People by name and what is known of them; all: everyone else.") {
                node, given, reader in
                for entry in reader.mapping(node, "users") ?? [] {
                    guard let name = entry.key.text else { continue }
                    var person = BotTest.Person(user: name)
                    reader.read(entry.value, BotTables.person, into: &person)
                    if person.isFirstTime == true, person.wasSeen {
                        reader.error(
                            "\"\(name)\" cannot be there for the first time and have been seen",
                            at: entry.key)
                    }
                    if name == "all" { given.everyone = person } else { given.people.append(person) }
                }
            },
            Key("counters", "What counters stand at: {pages: 3}, {karma: {ana: 5}}.") { node, given, reader in
                reader.counts(node, into: &given)
            },
            Key("modes", "The mode that there is at the start.") { node, given, reader in
                guard let name = reader.text(node) else { return }
                given.mode = name
                reader.testModes.append(Placed(name, at: reader.spot(node)))
            },
        ])

    static let person = KeyTable<BotTest.Person>(
        "a user", otherNames: ["roles": "role", "is_bot": "bot", "age": "member_for", "new": "first_time"],
        [
            Key("name", "The name people see.") { node, person, reader in person.name = reader.text(node) },
            Key("role", "A role, or a list.") { node, person, reader in
                person.roles = (reader.texts(node, "role") ?? []).map { role in
                    reader.testRoles.append(role)
                    return role.value
                }
            },
            Key("bot", "true: a program.") { node, person, reader in
                person.isBot = reader.bool(node) ?? false
            },
            Key("first_time", "false: seen before.") { node, person, reader in
                person.isFirstTime = reader.bool(node)
            },
            Key("member_for", "How long a member: 30d.") { node, person, reader in
                person.memberFor = reader.duration(node)
            },
            Key("away", "How long ago they were seen last: 90d.") { node, person, reader in
                person.away = reader.duration(node)
            },
            Key("messages", "How many messages of theirs were seen.") { node, person, reader in
                person.messages = reader.number(node, 0...Int64.max)
            },
            Key("strikes", "How many points they have: 2, or {conduct: 2}.") { node, person, reader in
                reader.strikes(node, into: &person)
            },
            Key("permit", "A permit that they have, or a list.") { node, person, reader in
                person.permits = (reader.texts(node, "permit") ?? []).map(\.value)
            },
        ])

    static let step = KeyTable<TestStepDraft>(
        "a step", noun: "step",
        otherNames: [
            "message": "say", "delete": "remove", "wait": "tick", "sleep": "tick", "part": "leave",
            "reaction": "react", "by": "as", "user": "as", "channel": "in", "times": "repeat",
            "then": "expect", "after": "at",
            "interval": "every",
        ],
        [
            Key("at", "When, since the start: 20s.") { node, draft, reader in
                draft.step.at = reader.duration(node)
            },
            Key("say", "Somebody writes: a text, or {by, in, text, bot, attachments}.") {
                node, draft, reader in
                draft.does("say", node, reader) { .say($0) }
            },
            Key("edit", "The last message gets another text: a text, or {by, in, text}.") {
                node, draft, reader in
                draft.does("edit", node, reader) { .edit($0) }
            },
            Key("remove", "last: the last message is removed; or {by, in}.") { node, draft, reader in
                draft.set(.remove, node, reader)
                if case .mapping = node.kind {
                    reader.read(node, BotTables.who, into: &draft)
                } else if let text = reader.text(node), text != "last" {
                    reader.error("unknown message \"\(text.shortened)\"", at: node, hint: "use last")
                }
            },
            Key("join", "That person joins.") { node, draft, reader in draft.does(.join, node, reader) },
            Key("leave", "That person leaves.") { node, draft, reader in draft.does(.leave, node, reader) },
            Key("rename", "That person takes the name that to: says.") { node, draft, reader in
                draft.does(.rename(to: ""), node, reader)
            },
            Key("to", "The new name of who is renamed.") { node, draft, reader in
                draft.newName = reader.filled(node).map { Placed($0, at: reader.spot(node)) }
            },
            Key("react", "Somebody puts an emoji to the last message: an emoji, or {emoji, of, by, in}.") {
                node, draft, reader in
                draft.reacts(node, isAdded: true, reader)
            },
            Key("unreact", "Somebody takes it away again.") { node, draft, reader in
                draft.reacts(node, isAdded: false, reader)
            },
            Key("policy", "A ban list changes: {list: coc, add: \"*.evil.example\"}.") {
                node, draft, reader in
                reader.policy(node, into: &draft)
            },
            Key("command", "Somebody writes a command, with or without its prefix.") { node, draft, reader in
                draft.does("command", node, reader) { .command($0) }
            },
            .later("webhook"),
            Key("tick", "Time passes: 10m.") { node, draft, reader in
                draft.set(.tick(reader.duration(node) ?? .zero), node, reader)
            },
            Key("restart", "Steward ends and starts; now, or how long it is away.") { node, draft, reader in
                draft.set(.restart(reader.pause(node)), node, reader)
            },
            Key("reconnect", "The connection is lost; now, or for how long.") { node, draft, reader in
                draft.set(.reconnect(reader.pause(node)), node, reader)
            },
            Key("backlog", "So many messages, as say: says, arrive at once.") { node, draft, reader in
                draft.backlog = reader.number(node, 1...100_000).map {
                    Placed(Int($0), at: reader.spot(node))
                }
            },
            Key("spread", "Within which time a backlog was written; 10m when missing.") {
                node, draft, reader in
                draft.spread = reader.duration(node).map { Placed($0, at: reader.spot(node)) }
            },
            Key("as", "Who does it.") { node, draft, reader in draft.step.by = reader.filled(node) },
            Key("in", "In which channel.") { node, draft, reader in
                draft.step.channel = reader.channel(node)
            },
            Key("repeat", "How often; {{ n }} in its texts is 1, 2, 3 and so on.") { node, draft, reader in
                draft.step.times = Int(reader.number(node, 1...100_000) ?? 1)
            },
            Key("every", "How much time lies between repetitions: 1s.") { node, draft, reader in
                draft.every = reader.duration(node).map { Placed($0, at: reader.spot(node)) }
            },
            Key("expect", "What must have come of this and the steps since the last expect, or nothing.") {
                node, draft, reader in
                draft.step.expected = reader.expectations(node)
            },
        ])

    /// What `say` and its like may have beside the text.
    static let who = KeyTable<TestStepDraft>(
        "who and where", otherNames: ["as": "by", "user": "by", "channel": "in"],
        [
            Key("by", "Who does it.") { node, draft, reader in draft.step.by = reader.filled(node) },
            Key("in", "In which channel.") { node, draft, reader in
                draft.step.channel = reader.channel(node)
            },
        ])

    static let saying = KeyTable<TestStepDraft>(
        "what is said", otherNames: ["as": "by", "user": "by", "channel": "in", "files": "attachments"],
        who.keys + [
            Key("text", "The text.") { node, draft, reader in draft.text = reader.text(node) },
            Key("bot", "true: a program writes it.") { node, draft, reader in
                draft.step.isBot = reader.bool(node) ?? false
            },
            Key("attachments", "Names of files.") { node, draft, reader in
                draft.step.attachments = (reader.texts(node, "attachments") ?? []).map(\.value)
            },
        ])

    static let reacting = KeyTable<TestStepDraft>(
        "a reaction of a test",
        otherNames: ["as": "by", "user": "by", "channel": "in", "key": "emoji", "to": "of"],
        required: ["emoji"],
        who.keys + [
            Key("emoji", "Which one.") { node, draft, reader in draft.emoji = reader.text(node) },
            Key("of", "Whose last message it is put to; that of anybody but steward unless given.") {
                node, draft, reader in
                draft.author = reader.text(node)
            },
        ])

    static let policyEntry = KeyTable<TestPolicyDraft>(
        "an entry of a ban list", otherNames: ["name": "list", "why": "reason", "entity": "add"],
        required: ["list"],
        [
            Key("list", "The list's name in config.yaml.") { node, draft, reader in
                guard let name = reader.text(node) else { return }
                draft.list = name
                reader.testPolicies.append(Placed(name, at: reader.spot(node)))
            },
            Key("add", "What stands in it from now on: \"@eve:evil.example\", or \"*.evil.example\".") {
                node, draft, reader in
                draft.added = reader.text(node)
            },
            Key("remove", "What stands in it no more.") { node, draft, reader in
                draft.removed = reader.text(node)
            },
            Key("reason", "Why.") { node, draft, reader in draft.reason = reader.text(node) },
        ])

    /// Actions that chat services see, and which keys they have in an expectation.
    static let expectation = KeyTable<BotTest.Expectation>(
        "what is expected", noun: "action", otherNames: actions.otherNames,
        expectedActions.map { verb in
            Key(verb, actions[verb]?.about ?? "") { node, expectation, reader in
                expectation.verb = verb
                reader.expected(node, of: verb, into: &expectation)
            }
        } + [
            Key("count", "So often.") { node, expectation, reader in
                expectation.times = Int(reader.number(node, 1...100_000) ?? 1)
            },
            Key("by", "Which rule does it.") { node, expectation, reader in
                expectation.rule = reader.text(node)
                if let rule = expectation.rule {
                    reader.testRules.append(Placed(rule, at: reader.spot(node)))
                }
            },
        ] + expectedKeys.keys
            + actions.keys.filter { $0.read == nil && $0.name != "count" }.map { .later($0.name) })

    static let expectedActions = [
        "reply", "send", "dm", "warn", "relay", "react", "delete", "strike", "mute", "unmute", "kick", "ban",
        "unban", "slowmode", "lock", "unlock", "permit", "enter_mode", "leave_mode", "report", "confirm",
        "undo",
    ]

    /// Keys of an expectation that do not name its action.
    static let besideAction = Set(["count", "by"] + expectedKeys.names)

    static let expectedKeys = KeyTable<BotTest.Expectation>(
        "an expected action",
        otherNames: ["in": "to", "channel": "to", "mention": "mentions", "has": "text"],
        [
            Key("text", "What its text contains.") { node, expectation, reader in
                expectation.text = reader.text(node)
            },
            Key("to", "In which channel, or to whom.") { node, expectation, reader in
                guard let to = reader.text(node) else { return }
                if expectation.verb == "dm" {
                    expectation.user = to
                } else {
                    expectation.channel = reader.channel(node)
                }
            },
            Key("user", "Whose message it is about.") { node, expectation, reader in
                expectation.user = reader.text(node)
            },
            Key("mentions", "Who is called: exactly these; none: nobody.") { node, expectation, reader in
                let names = (reader.texts(node, "mentions") ?? []).map(\.value)
                expectation.mentions = names == ["none"] ? [] : names
            },
            Key("thread", "true: in a thread.") { node, expectation, reader in
                expectation.isInThread = reader.bool(node)
            },
            Key("silent", "true: without a notification.") { node, expectation, reader in
                expectation.isSilent = reader.bool(node)
            },
            Key("for", "For how long.") { node, expectation, reader in
                expectation.time = reader.duration(node)
            },
            Key("points", "How many points a strike gives.") { node, expectation, reader in
                expectation.points = reader.number(node, -1000...1000)
            },
            Key("reason", "What its reason contains.") { node, expectation, reader in
                expectation.text = reader.text(node)
            },
        ])
}

extension BotTest.Person {
    /// Something that is given says so.
    var wasSeen: Bool { memberFor != nil || away != nil || (messages ?? 0) > 0 }
}
