import Chat
import Testing

@testable import Rules

/// What can be written and can never do what its author meant is an error that says where, why and what helps.
@Suite struct UselessValues {
    private static let reactions = {
        var abilities = Scene.abilities
        abilities.events = Set(EventName.allCases)
        abilities.actions.formUnion([
            "mute", "unmute", "ban", "unban", "lock", "slowmode", "invite", "join", "leave", "create",
            "title",
            "topic", "acl",
        ])
        return abilities
    }()

    /// What is around the rules, so that nothing is missing but what a test is about.
    private static let names = """
        windows: {night: {between: "22:00-07:00", zone: UTC}}
        counters: {k: {per: user, keep: forever}}
        ladders: {conduct: {steps: {3: [{mute: 1d}]}}}
        modes: {calm: {default: true}, raid: {clears_after: 30m}}

        """

    private func findings(_ file: String, service: String = "twilio") -> [BotFileError] {
        var directory = Scene.directory(Self.reactions)
        directory.accounts["twilio"]?.service = service
        return RuleSet.load(
            [BotSource(name: "x", bytes: Array("version: 1\n\(file)".utf8))], directory: directory,
            plugins: [Seen(settings: .init())]
        ) { _ in nil }.findings
    }

    private func errors(_ file: String, service: String = "twilio") -> [BotFileError] {
        findings(file, service: service).filter { $0.severity == .error }
    }

    /// The mistakes of a rule with such a line.
    private func errors(
        when: String = "[messageAdded, messageEdited]", rule line: String, service: String = "twilio"
    )
        -> [BotFileError]
    {
        errors(
            Self.names
                + "rules:\n  it:\n    when: \(when)\n    do: [{log: x}]\n    \(line)\n",
            service: service)
    }

    private func errors(when: String = "messageAdded", doing action: String) -> [BotFileError] {
        errors(
            Self.names + "rules:\n  it:\n    when: \(when)\n    do:\n      - \(action)\n      - log: x\n")
    }

    private struct Seen: Plugin {
        struct Settings: Decodable, Sendable {}

        let name = "last-seen"
        let stage = Stage.observe
        let conditions = [PluginCondition("seen_within", "Seen so lately.") { _ in { _, _ in true } }]

        init(settings: Settings) {}

        func decide(_ event: ChatEvent, in situation: Situation) -> Decision { .nothing }
    }

    private func expectOne(_ errors: [BotFileError], line: Int, _ what: String) {
        #expect(errors.count == 1, "\(what): \(errors.map(\.description))")
        for error in errors {
            #expect(error.line == line, "\(what): \(error)")
            #expect(error.hint != nil, "\(what): \(error)")
            #expect(error.excerpt.contains("^"), "\(what): \(error)")
        }
    }

    @Test(arguments: [
        "reply: \"\"", "reply: \" \"", "reply: \"\\u200b\"", "send: \"\"", "dm: \"\"", "warn: \"\"",
        "log: \"\"", "kick: \"\"", "undo: \"\"", "join: \"\"", "join: \" \"", "create: \"\"", "title: \"\"",
        "topic: \"\"", "unmute: \"\"", "unban: \"\"", "invite: \"\"", "reply: {text: \"\"}",
        "reply: {text: x, footer: \"\"}", "dm: {text: \"\", if_closed: skip}",
        "report: {text: \"\", to: staff}",
        "relay: {to: staff, text: \"\"}", "strike: {reason: \"\"}", "mute: {for: 1h, reason: \"\"}",
        "kick: {user: \"\"}", "delete: {last: 5, from: \"\"}", "invite: {user: \"\"}",
        "create: {title: \"\"}",
        "count: {k: {user: \"\"}}", "acl: {deny: \"\"}", "acl: {deny: [a.example, \" \"]}", "react: \"\"",
        "send: {text: x, to: \" \"}",
    ])
    func `an action with an empty text is an error`(_ action: String) {
        expectOne(errors(doing: action), line: 10, action)
    }

    @Test(arguments: [
        "reply: {text: x, delete_after: 0s}", "warn: {text: x, delete_after: 0s}",

        "delete: {last: 5, keep_copy: 0s}", "permit: {what: links, for: 0s}", "lock: {for: 0s}", "ban: 0s",
        "delete: {from: \"{{ user }}\"}", "count: {}", "count: {k: 0}", "count: {k: {by: 0}}", "reset: {}",
        "title: {in: staff}", "topic: {}", "acl: {in: staff}", "react: hello world", "react: hello",
        "react: 5",
        "react: \"👍👍\"", "react: \"👍 \"", "react: \",\"",
    ])
    func `an action that does nothing is an error`(_ action: String) {
        expectOne(errors(doing: action), line: 10, action)
    }

    @Test(arguments: [
        "plugin: {}", "plugin: {last-seen: {}}", "links: {fold: loose}", "length: 0+", "emoji: over -1",
        "length: under 0", "links: 0+", "links: {count: 0+}", "caps: {share: 0%+}",
        "caps: {share: over 100%}",
        "caps: {share: under 0%}", "caps: {share: 80%+, letters: 0}", "mode: {not: [calm, raid]}",
        "check: {value: x, is: x}", "check: {value: \"\", is: x}",
        "check: {value: \"{{ user }}\", is: \" \"}",
        "user: {id: \" \"}", "user: {role: \" \"}", "user: {permit: \" \"}", "user: {messages: -1}",
        "user: {messages: under 0}", "user: {messages: 0+}", "user: {member_for: under 0s}",
        "user: {member_for: 5m}", "user: {away: 0s+}", "user: {strikes: 0+}", "user: {is_not: user}",
        "user: {is_not: user.name}", "user: {first_time: true, messages: 5+}",
        "user: {first_time: true, away: over 90d}", "text: {has_all: [Cat, dog], has_none: [cat]}",
        "text: {has_any: [cat], has_none: [cat, dog]}", "rate: {count: 5, of: messages}",
        "links: {hosts_in: \"example.org:80\"}",
    ])
    func `a condition that always or never holds is an error`(_ condition: String) {
        expectOne(errors(rule: "if: {\(condition)}"), line: 10, condition)
    }

    @Test(arguments: [
        "in: \"twilio:\"", "in: \" \"", "about: \"\"", "about: \" \"", "was: \"\"", "was: \" \"",
        "examples: {}",
        "exempt: {users: [\" \"]}", "breaker: {share: 100%}",
        "tests: [{name: \" \", steps: [{say: hi, expect: nothing}]}]",
        "tests: [{name: x, steps: [{join: \"\", expect: nothing}]}]",
        "tests: [{name: x, steps: [{say: {by: \"\", text: hi}, expect: nothing}]}]",
    ])
    func `a key of a rule that says nothing is an error`(_ line: String) {
        expectOne(errors(rule: "if: {text: zebra}\n    " + line), line: 11, line)
    }

    @Test(arguments: [
        "modes: {raid: {clears_after: 0s}}", "ladders: {c: {steps: {}}}",
        "ladders: {c: {steps: {\"3\": [kick], \"03\": [ban]}}}",
        "counters: {c: {per: user, forget_after: 0s}}",
    ])
    func `what is declared and cannot work is an error`(_ line: String) {
        let rule = "rules:\n  it: {when: messageAdded, if: {text: zebra}, do: [{log: x}]}\n"
        expectOne(errors("\(line)\n\(rule)"), line: 2, line)
    }

    @Test(arguments: [
        "[messageAdded, messageAdded]", "{command: {name: a, aliases: [b, b]}}",
        "{command: {name: a, usage: \"\"}}",
        "{command: {name: a, args: {n: duration under 0s}}}", "{command: {name: a, args: {n: when 0s}}}",
        "{command: {name: a, args: {n: word 0}}}", "{command: {name: a, args: {n: rest under 1}}}",
        "{command: {name: a, args: {n: one of b b}}}", "{strikes: {total: 0+}}",
    ])
    func `an event that cannot be, or is there twice, is an error`(_ event: String) {
        expectOne(errors(when: event, rule: "about: x"), line: 8, event)
    }

    @Test(arguments: ["confirm: \"\"", "confirm: {text: x, within: 0s}"])
    func `a question that nobody can answer is an error`(_ action: String) {
        expectOne(errors(when: "{command: go}", doing: action), line: 10, action)
    }

    @Test(arguments: ["5", "hello", "hello world", "\" \"", "\"👍👍\"", "[\"👍\", ok]"])
    func `a reaction that nobody can make is an error where a service has emoji alone`(_ key: String) {
        for service in ["twilio", "matrix"] {
            expectOne(
                errors(when: "reactionAdded", rule: "if: {reaction: \(key)}", service: service), line: 10, key
            )
        }
    }

    @Test(arguments: [
        "\"👍\"", "\"👍🏽\"", "\"❤\"", "\"❤️\"", "\"5️⃣\"", "\"🇳🇴\"", "\"👩‍🚀\"", "\"✓\"", "\":party_parrot:\"",
    ])
    func `one emoji is a reaction, and a name between colons`(_ key: String) {
        for service in ["twilio", "matrix", "sendbird"] {
            #expect(errors(when: "reactionAdded", rule: "if: {reaction: \(key)}", service: service).isEmpty)
        }
        #expect(errors(doing: "react: \(key)").isEmpty)
    }

    @Test func `where a service has names for reactions they are taken`() {
        for name in ["thumbs", "sendbird_emoji_thumbsup", "+1up"] {
            let line = "if: {reaction: \(name)}"
            #expect(errors(when: "reactionAdded", rule: line, service: "sendbird").isEmpty)
            #expect(!errors(when: "reactionAdded", rule: line, service: "matrix").isEmpty)
        }
        #expect(!errors(when: "reactionAdded", rule: "if: {reaction: 5}", service: "sendbird").isEmpty)
    }

    @Test func `the errors say what helps`() {
        func told(_ action: String) -> [String] { errors(doing: action).map(\.description) }
        #expect(told("reply: ''") == ["x:10:16: error: this text is empty - say something, or remove it"])
        #expect(
            told("react: hello") == [
                "x:10:16: error: \"hello\" is not an emoji - write one, as in \"👍\", or one of your own by its name, \":hello:\""
            ])
        #expect(told("react: 5") == ["x:10:16: error: \"5\" is not an emoji - write one, as in \"👍\""])
        #expect(
            told("react: 👍🎉") == [
                "x:10:16: error: \"👍🎉\" is more than one emoji - a reaction is one, as in \"👍\""
            ])
        #expect(
            errors(rule: "if: {plugin: {last-seen: {}}}").map(\.description) == [
                "x:10:30: error: \"last-seen\" is asked for no condition - name a plugin and its condition: {last-seen: {seen_within: 1h}}"
            ])
        #expect(
            errors(rule: "if: {user: {member_for: 5m}}").map(\.description) == [
                "x:10:29: error: nothing lasts \"5m\" to the millisecond - write 5m+, over 5m or under 5m"
            ])
    }

    @Test func `a condition that is lost does not leave a rule that acts on everything`() {
        for condition in ["{plugin: {}}", "{links: {fold: loose}}", "{plugin: {last-seen: {}}}"] {
            #expect(!errors(rule: "if: \(condition)").isEmpty)
            #expect(!errors(rule: "if: {any: [{text: x1}, \(condition)]}").isEmpty)
            #expect(!errors(rule: "if: {not: \(condition)}").isEmpty)
        }
    }

    @Test(arguments: [
        ("rate: 0 messages in 0s", 2), ("rate: -1 nothings in 40d per nobody across nowhere", 5),
        ("rate: {count: 0, of: nothings, in: 0s}", 3), ("rate: {count: 5}", 2),
        ("user: {messages: x to y}", 2),
        ("check: {value: \"{{ message.sent | date('zzz', 'Mars/X') }}\", is: x}", 2),
    ])
    func `all mistakes of a condition are told at once`(_ condition: String, _ count: Int) {
        let errors = errors(rule: "if: {\(condition)}")
        #expect(errors.count == count, "\(errors.map(\.description))")
    }

    @Test(arguments: [("cooldown: 1001 in 0s per nobody", 3), ("cooldown: 0 in 5y per user", 2)])
    func `all mistakes of a short form are told at once`(_ line: String, _ count: Int) {
        let errors = errors(rule: "if: {text: zebra}\n    " + line)
        #expect(errors.count == count, "\(errors.map(\.description))")
    }

    @Test func `both mistakes of a date are told`() {
        #expect(
            errors(doing: "reply: \"{{ message.sent | date('zzz','Mars/X') }}\"").map(\.problem).count == 2)
        #expect(
            errors(rule: "if: {rate: 0 messages in 0s}").map(\.description) == [
                "x:10:16: error: \"0\" is not how often something happens - use 1 to 10000",
                "x:10:16: error: a rate looks back for 1ms to 30d, not \"0s\" - try 10s",
            ])
        #expect(errors("ladders: {c: {forgive: 0 per 0s, steps: {3: [kick]}}}\nrules: {}\n").count == 2)
    }

    @Test func `what changes nothing and is harmless is a warning`() {
        func warnings(_ text: String) -> [String] {
            findings("rules:\n  it: {when: messageAdded, if: {text: \(text)}, do: [{log: x}]}\n")
                .map { String($0.description.prefix { $0 != "-" }) }
        }
        #expect(
            warnings("{near: {any: [abc, password]}}") == [
                "x:3:53: warning: \"abc\" is too short to be misspelt: one mistake for each four letters "
            ])
        #expect(
            warnings("{equals: zebra, match: anywhere}") == [
                "x:3:39: warning: \"match\" is for words, and changes nothing here "
            ])
    }
}
