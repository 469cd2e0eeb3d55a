import Chat
import Testing

@testable import Rules

@Suite struct CommandTests {
    static let bot = """
        version: 1
        counters:
          karma: {per: user, keep: forever}
        rules:
          karma:
            about: How many points somebody has.
            when:
              command: {name: karma, aliases: [points], args: {who: optional person}}
            do:
              - reply: "{{ args.who.name | default(user.name) }} has {{ counters.karma | of(args.who, user) | plural('point', 'points') }}."
          roll:
            about: Throws dice.
            when:
              command: {name: roll, args: {n: integer 1 to 10, how: one of fast slow = slow, note: optional rest}}
            do:
              - reply: "{{ args.n }} {{ args.how }} {{ args.note | default('-') }}"
          pause:
            about: Only for those who keep order.
            when:
              command: {name: pause, args: {who: person, for: duration = 2m, why: optional word}}
            if: {user: {role: moderator}}
            do:
              - reply: "{{ args.who.mention }} {{ args.for }} {{ args.why }}"
          hidden:
            when: {command: {name: hidden}}
            in: staff
            do:
              - reply: "yes"
        """

    @Test(arguments: [
        ("!karma", "ana has 0 points."), ("!karma @ben", "ben has 0 points."),
        ("!KARMA ben,", "ben has 0 points."),
        ("!points me", "ana has 0 points."), ("  !karma  ", "ana has 0 points."),
        ("> said somebody\n!karma", "ana has 0 points."),
        ("!roll 3", "3 slow -"), ("!roll 3 fast", "3 fast -"),
        ("!roll 3 FAST and furious", "3 fast and furious"),
        ("!roll 3 and furious", "3 slow and furious"), ("!roll 10 slow a  b", "10 slow a  b"),
    ])
    func `a command is answered with what was written behind it`(_ text: String, _ answer: String) throws {
        #expect(try Scene(Self.bot).say(text) == ["reply general: \(answer)"])
    }

    @Test(arguments: [
        ("!roll", "roll"), ("!roll x", "roll"), ("!roll 11", "roll"), ("!roll 0 fast", "roll"),
        ("!karma a b", "karma"), ("!karma @", "karma"),
    ])
    func `who writes something else gets the line that helps`(_ text: String, _ command: String) throws {
        let usage = [
            "roll": "Usage: !roll <n> [how] [note] (n: a whole number, 1 to 10; how: fast or slow)",
            "karma": "Usage: !karma [who]",
        ]
        #expect(try Scene(Self.bot).say(text) == ["reply general: \(usage[command] ?? "")"])
    }

    @Test(arguments: [
        "karma", "!karmas", "! karma", "!nosuch", "!", "what does !karma do", "!hidden", "!pause ben",
        "!pause",
        "!kar\u{200B}ma", "/karma",
    ])
    func `what calls no command, or none that may be used, is not answered`(_ text: String) throws {
        #expect(try Scene(Self.bot).say(text) == [])
    }

    @Test func `a moderator pauses, and nobody is called whom the action does not list`() throws {
        let scene = try Scene(Self.bot)
        func pause(_ text: String) -> [String] {
            let author = scene.member("mod", roles: ["channel admin"])
            return scene.take(
                scene.event(.messageAdded(scene.message(text, by: author)), in: scene.channel("general")))
        }
        #expect(pause("!pause @ben") == ["reply general: @\u{200B}ben 2 minutes "])
        #expect(pause("!pause ben 10m \"too loud\"") == ["reply general: @\u{200B}ben 10 minutes too loud"])
        #expect(pause("!pause ben loud") == ["reply general: @\u{200B}ben 2 minutes loud"])
        #expect(
            pause("!pause ben 10m too loud") == [
                "reply general: Usage: !pause <who> [for] [why] (for: a time such as 10m)"
            ])
    }

    @Test func `help lists what the person may use here`() throws {
        let scene = try Scene(Self.bot)
        #expect(
            scene.say("!help") == [
                "reply general: !karma [who] - How many points somebody has.\n!roll <n> [how] [note] - Throws dice."
            ])
        #expect(
            scene.say("!help", in: "staff") == [
                "reply staff: !karma [who] - How many points somebody has.\n!roll <n> [how] [note] - Throws dice.\n!hidden"
            ])
        #expect(
            scene.say("!help !points") == [
                "reply general: !karma [who] - How many points somebody has.\nUsage: !karma [who]"
            ])
        #expect(scene.say("!help pause").first?.contains("Throws dice") == true)
    }

    @Test func `help calls nobody`() throws {
        let scene = try Scene(
            """
            version: 1
            rules:
              it:
                about: "!it @ben is told, @everyone too"
                when: {command: it}
                do: [{reply: x}]
            """)
        #expect(
            scene.say("!help") == ["reply general: !it - !it @\u{200B}ben is told, @\u{200B}everyone too"])
    }

    @Test func `a rule of one's own may be called help`() throws {
        let scene = try Scene(
            "version: 1\nrules: {mine: {when: {command: help}, do: [{reply: mine}]}}")
        #expect(scene.say("!help") == ["reply general: mine"])
        #expect(scene.rules.ruleNames == ["mine"])
    }

    @Test func `another prefix, and silence instead of the usage line`() throws {
        let scene = try Scene(
            """
            version: 1
            defaults: {commands: {prefix: "??", unknown: silent, wrong_args: silent}}
            rules: {it: {when: {command: {name: it, args: {n: integer}}}, do: [{reply: "{{ args.n }}"}]}}
            """)
        #expect(scene.say("??it 5") == ["reply general: 5"])
        #expect(scene.say("??it x") == [])
        #expect(scene.say("!it 5") == [])
        #expect(scene.say("??help") == ["reply general: ??it <n>"])
    }

    @Test func `one message gets one answer, be it a command and a word`() throws {
        let scene = try Scene(
            """
            version: 1
            rules:
              word: {when: messageAdded, if: {text: karma}, do: [{reply: word}]}
              karma: {when: {command: karma}, do: [{reply: command}]}
            """)
        #expect(scene.say("!karma") == ["reply general: word"])
    }

    @Test func `an edited message calls nothing, and neither does a program`() throws {
        let scene = try Scene(Self.bot)
        let channel = scene.channel("general")
        let edited = scene.event(
            .messageEdited(scene.message("!karma", by: scene.member("ana"))), in: channel)
        #expect(scene.take(edited) == [])
        let bot = scene.event(
            .messageAdded(scene.message("!karma", by: scene.member("b", isBot: true))), in: channel)
        #expect(scene.take(bot) == [])
    }

    @Test func `limits bound what is written`() throws {
        let scene = try Scene(
            """
            version: 1
            rules:
              it:
                when: {command: {name: it, args: {for: duration, what: rest}}}
                limits: {for: 1m to 1d, what: under 10}
                do: [{reply: "{{ args.for }}: {{ args.what }}"}]
            """)
        #expect(scene.say("!it 2h tea") == ["reply general: 2 hours: tea"])
        #expect(
            scene.say("!it 2w tea") == [
                "reply general: Usage: !it <for> <what> (for: a time such as 10m, 1m to 1d)"
            ])
        #expect(scene.say("!it 2h much too long").first?.hasPrefix("reply general: Usage:") == true)
    }

    @Test func `explain tells why a command was not called`() throws {
        let rules = try Scene(Self.bot).rules
        let said = try #require(
            rules.explain(say: "!roll 12", as: "ana", in: "lobby", now: Timestamp(milliseconds: 0))
        ).description
        #expect(said.contains("no: it is called by !karma [who]"))
        #expect(said.contains("Usage: !roll <n>"))
    }

    @Test(arguments: [
        (
            "{name: it, args: {x: person, y: optional word, z: word}}",
            "\"z\" must be written, so \"y\" before it cannot be optional"
        ),
        ("{name: it, args: {x: rest, y: word}}", "nothing is left behind \"x\", which takes the rest"),
        ("{name: it, args: {x: user}}", "unknown kind of argument \"user\" - did you mean \"person\"?"),
        (
            "{name: it, args: {x: choice(a, b)}}",
            "unknown kind of argument \"choice(a\" - did you mean \"one of a b\"?"
        ),
        (
            "{name: it, args: {x: one of a}}",
            "\"one of a\" is no kind of argument - try \"person\", \"optional rest\", \"integer 1 to 100\" or \"one of start stop\""
        ),
        (
            "{name: it, args: {x: 'one of start stop \"go on\"'}}",
            "\"go in \"one of start stop \"go on\"\": each choice is one word, without quotes - write it as one word, such as go-on"
        ),
        ("{args: {x: person}}", "the command has no \"name\""),
        ("{name: it, alias: x}", "unknown key \"alias\" - did you mean \"aliases\"?"),
    ])
    func `a command that cannot be is an error`(_ command: String, _ expected: String) {
        let text = "version: 1\nrules: {it: {when: {command: \(command)}, do: [stop]}}"
        let errors = RuleSet.load([BotSource(name: "bot.yaml", bytes: Array(text.utf8))]).errors
        let said = errors.map { $0.problem + ($0.hint.map { " - \($0)" } ?? "") }
        #expect(said.contains { $0 == expected || $0.hasPrefix(expected) }, "\(said)")
    }

    @Test func `no command takes another's word`() {
        let text = """
            version: 1
            rules:
              a: {when: {command: {name: a, aliases: [b, c]}}, do: [stop]}
              b: {when: {command: {name: b, aliases: [c]}}, do: [stop]}
            """
        let errors = RuleSet.load([BotSource(name: "bot.yaml", bytes: Array(text.utf8))]).errors
        #expect(
            errors.map(\.problem) == ["\"!b\" calls rule \"b\" already", "\"!c\" stands for \"a\" already"])
    }
}
