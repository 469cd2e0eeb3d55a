import Chat
import Testing

@testable import Rules

/// What moderators mistype must not become another punishment.
@Suite struct MistypedCommandTests {
    private static let bot = """
        version: 1
        rules:
          mute:
            when: {command: {name: mute, args: {who: person, for: duration = 10m, why: optional rest}}}
            exempt: none
            limits: {for: 1m to 28d}
            do: [{mute: {user: "{{ args.who }}", for: "{{ args.for }}", reason: "{{ args.why }}"}}]
          clear:
            when: {command: {name: clear, args: {n: optional integer 1 to 50, who: optional person}}}
            exempt: none
            do: [{reply: "{{ args.n }}/{{ args.who.name }}"}]
          roll:
            when: {command: {name: roll, args: {for: optional duration, n: integer}}}
            do: [{reply: "{{ args.n }}"}]
        """

    private static let usage =
        "reply general: Usage: !mute <who> [for] [why] (for: a time such as 10m, 1m to 28d)"

    @Test(arguments: [
        "!mute max 30 days please", "!mute max 90d", "!mute max 2m30", "!mute max 30s", "!mute max 0m",
        "!mute max -5m",
        "!mute max .5h", "!mute max 10minutes",
    ])
    func `a mistyped duration is not silently another punishment`(_ text: String) throws {
        #expect(try Scene(Self.bot).say(text) == [Self.usage])
    }

    @Test func `a number that is not within its bounds is no name, and what another argument takes is taken`()
        throws
    {
        let scene = try Scene(Self.bot)
        #expect(scene.say("!clear 200").first?.hasPrefix("reply general: Usage: !clear [n] [who]") == true)
        #expect(scene.say("!clear max") == ["reply general: /max"])
        #expect(scene.say("!clear 5 max") == ["reply general: 5/max"])
        #expect(scene.say("!roll 20") == ["reply general: 20"])
    }

    @Test func `a reason may stand alone, and a name of several words in quotes`() throws {
        let scene = try Scene(Self.bot)
        for id in ["max", "spacy name"] { _ = scene.say("hello", by: id) }
        let end = scene.now.milliseconds + 600_000
        #expect(scene.say("!mute max spam again") == ["mute max in general until \(end): spam again"])
        #expect(scene.say("!mute \"spacy name\" 10m") == ["mute spacy name in general until \(end)"])
    }

    @Test func `a name of several words that was seen needs no quotes, and the longest counts`() throws {
        let scene = try Scene(Self.bot)
        for id in ["Ana", "Ana Lee", "Ana Lee Marsh"] { _ = scene.say("hello", by: id) }
        let end = scene.now.milliseconds + 600_000
        #expect(scene.say("!mute @Ana Lee 10m spam") == ["mute Ana Lee in general until \(end): spam"])
        #expect(scene.say("!mute Ana Lee Marsh") == ["mute Ana Lee Marsh in general until \(end)"])
        #expect(scene.say("!mute Ana again") == ["mute Ana in general until \(end): again"])
    }

    @Test func `who punishes somebody that was never seen is told`() throws {
        let scene = try Scene(Self.bot)
        let end = scene.now.milliseconds + 600_000
        #expect(
            scene.say("!mute nobdy 10m") == [
                "mute nobdy in general until \(end)",
                "reply general: Nobody called nobdy was seen here so far.",
            ])
    }

    @Test func `a strike and a mute of one command say once that nobody was seen by that name`() throws {
        let scene = try Scene(
            """
            version: 1
            ladders:
              conduct: {forgive: never, steps: {9: [{warn: "enough"}]}}
            rules:
              punish:
                when: {command: {name: punish, args: {who: person}}}
                exempt: none
                do:
                  - strike: {user: "{{ args.who }}"}
                  - mute: {user: "{{ args.who }}", for: 10m}
            """)
        let end = scene.now.milliseconds + 600_000
        #expect(
            scene.say("!punish nobdy") == [
                "reply general: Nobody called nobdy was seen here so far.",
                "mute nobdy in general until \(end)",
            ])
    }

    @Test func `a number beyond its bounds is not taken for the next one`() throws {
        let scene = try Scene(
            """
            version: 1
            rules:
              roll:
                when: {command: {name: roll, args: {n: integer 1 to 20 = 1, sides: integer 2 to 1000 = 20}}}
                do: [{reply: "{{ args.n }}d{{ args.sides }}"}]
            """)
        #expect(scene.say("!roll 3 6") == ["reply general: 3d6"])
        #expect(scene.say("!roll 50 6").first?.hasPrefix("reply general: Usage: !roll [n] [sides]") == true)
        #expect(scene.say("!roll 50").first?.hasPrefix("reply general: Usage: !roll") == true)
    }

    @Test func `the owner is not punished, and who asks for it is told`() throws {
        let scene = try Scene(Self.bot, owner: "olga")
        #expect(scene.say("!mute olga 1h") == ["reply general: That cannot be done: olga is the owner."])
    }
}

@Suite struct CheckedPunishmentTests {
    private func found(_ rule: String) -> [String] {
        RuleSet.load([BotSource(name: "x.yaml", bytes: Array("version: 1\nrules:\n  it:\n\(rule)".utf8))])
            .findings.map { String($0.description.split(separator: ": ", maxSplits: 1)[1]) }
    }

    @Test(arguments: [
        ("mute: 0s", "error: \"0s\" is no time at all - write 10m, or leave it out"),
        ("mute: 10 minutes", "error: \"10 minutes\" has no unit - write 10m"),
        (
            "ban: forever",
            "error: \"forever\" is not a duration - leave the time out: what has none lasts until it is taken back"
        ),
        ("timeout: 10m", "error: unknown action \"timeout\" - did you mean \"mute\"?"),
        ("undo: C17", "warning: this undoes the same case each time - write undo: \"{{ args.case }}\""),
    ])
    func `check tells what is probably not meant, and the way out`(_ step: String, _ told: String) {
        #expect(
            found("    when: [messageAdded, messageEdited]\n    if: {text: heck}\n    do: [{\(step)}]\n") == [
                told
            ])
    }

    @Test func `check tells of a command by which everybody may punish, and of a question to nobody`() {
        let command =
            "    when: {command: {name: kick, args: {who: person}}}\n    do: [{kick: {user: \"{{ args.who }}\"}}]\n"
        #expect(
            found(command) == [
                "warning: anybody may call \"kick\", which is to kick somebody - add if: {user: {role: moderator}}"
            ])
        #expect(
            found(
                "    when: [messageAdded, messageEdited]\n    if: {text: heck}\n    do: [{confirm: {text: sure}}, delete]\n"
            )
                == [
                    "warning: nobody calls this rule, so whoever happened to write is asked - write when: {command: {name: it}}, or remove confirm"
                ])
    }
}
