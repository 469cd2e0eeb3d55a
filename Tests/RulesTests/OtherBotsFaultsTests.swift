import Chat
import Testing

@testable import Rules

/// What went wrong in other bots, and does not here.
@Suite struct OtherBotsFaultsTests {
    private func guarded(_ text: String, by condition: String) throws -> Bool {
        let scene = try Scene(
            rule: "    when: [messageAdded, messageEdited]\n    if: {text: \(condition)}\n    do: [delete]\n")
        return scene.say(text) == ["delete general"]
    }

    @Test(arguments: [
        "re\u{200B}fund", "re\u{00AD}fund", "r\u{2060}e\u{FEFF}f\u{200D}und", "\u{202E}refund\u{202C}",
        "re\u{1}fund", "re\u{7F}f\u{9F}und",
    ])
    func `invisible characters inside a word do not hide it`(_ text: String) throws {
        #expect(try guarded(text, by: "refund"))
    }

    @Test func `emoji that invisible characters join come out of an answer as they were`() throws {
        let scene = try Scene(rule: "    when: messageAdded\n    do: [{reply: \"{{ message.text }}\"}]\n")
        #expect(scene.say("👨‍👩‍👧‍👦 🏳️‍🌈") == ["reply general: 👨‍👩‍👧‍👦 🏳️‍🌈"])
    }

    @Test
    func `letters of another script in a Latin word are seen through, a Russian sentence is left alone`()
        throws
    {
        let condition = "{has_any: [paypal, cop, poc], fold: loose}"
        #expect(try guarded("раypal", by: condition))
        #expect(try !guarded("Сор на полу, рос и рос", by: condition))
        #expect(try !guarded("раypal", by: "paypal"))
    }

    @Test(arguments: ["Scunthorpe", "Zukunft", "Sky sources", "classic assassin"])
    func `a word inside another word is not that word`(_ text: String) throws {
        #expect(try !guarded(text, by: "{has_any: [cunt, kunf, ass, kys], fold: loose}"))
    }

    @Test func `quoted text in a reply neither triggers a rule nor hides what follows`() throws {
        let scene = try Scene(
            """
            version: 1
            rules:
              help: {when: messageAdded, if: {text: {starts_with: "!help"}}, do: [{reply: "help"}]}
              refund: {when: messageAdded, if: {text: refund}, do: [{reply: "refund"}]}
            """)
        #expect(scene.say("> ana: how about a refund?\nno idea") == [])
        #expect(scene.say("> ana: how about a refund?\n!help") == ["reply general: help"])
    }

    @Test(arguments: [
        ("a: no", "no"), ("a: on", "on"), ("a: off", "off"), ("a: 22:00", "22:00"), ("a: 012", "012"),
        ("a: 0x10", "0x10"), ("a: 1_000", "1_000"), ("a: 2026-01-05", "2026-01-05"), ("a: null", "null"),
        ("a: ~", "~"),
    ])
    func `what looks like a number, a date or a truth is text where text is expected`(
        _ line: String, _ expected: String
    ) throws {
        let scene = try Scene(
            "version: 1\nvars:\n  \(line)\nrules:\n  it: {when: messageAdded, if: {text: [\(expected)]}, do: [{reply: \"{{ vars.a }}\"}]}\n"
        )
        #expect(scene.say(expected) == ["reply general: \(expected)"])
    }

    @Test func `the second of two equal keys does not win in silence`() {
        let text =
            "version: 1\nrules:\n  it:\n    when: messageAdded\n    do: [{reply: a}]\n    do: [{reply: b}]\n"
        let errors = RuleSet.load([BotSource(name: "x.yaml", bytes: Array(text.utf8))]).errors
        #expect(
            errors.map(\.description) == ["x.yaml:6:5: error: duplicate key \"do\" - it is at 5:5 already"])
    }

    @Test(arguments: [
        "{has_any: []}", "{has_none: []}", "[]", "{regex: []}", "{regex: ''}", "{has_any: [\"*\"]}",
    ])
    func `an empty list or pattern is an error, never everything`(_ condition: String) {
        let text =
            "version: 1\nrules:\n  it: {when: messageAdded, if: {text: \(condition)}, do: [{reply: a}]}\n"
        #expect(RuleSet.load([BotSource(name: "x.yaml", bytes: Array(text.utf8))]).errors.count == 1)
    }

    @Test(
        .timeLimit(.minutes(1)),
        arguments: [
            "(a+)+$", "(a|aa)+$", "(?:a|a|b)*c", "(.*)(.*)(.*)(.*)x$", "a{1,500}a{1,500}$",
        ])
    func `no pattern and no text can hold the bot up`(_ pattern: String) throws {
        for text in [String(repeating: "a", count: 50_000), String(repeating: "`>:/www.", count: 5_000)] {
            _ = try guarded(text + "!", by: "{regex: '\(pattern)'}")
        }
    }

    @Test(
        .timeLimit(.minutes(1)),
        arguments: [
            "`", "``` `", "> \n", "http://", "www.", ":// ", "[](", "@", "\u{200B}", "а", "e\u{301}", "👨‍👩‍👧‍👦",
            "\u{1}",
        ])
    func `texts made to be slow are not`(_ piece: String) throws {
        let scene = try Scene(
            rule: """
                    when: [messageAdded, messageEdited]
                    if:
                      any:
                        - text: {has_any: [heck], fold: loose}
                        - text: {near: {any: [password], edits: 2}}
                        - text: {regex: 'x(?<y>.*)z'}
                    do: [{reply: "{{ message.text | quote }}"}]
                """.indented)
        _ = scene.say(String(repeating: piece, count: 20_000) + " heck")
    }

    @Test func `programs are not punished unless a rule asks for them`() throws {
        let scene = try Scene(
            """
            version: 1
            rules:
              usual: {when: [messageAdded, messageEdited], if: {text: heck}, do: [delete]}
              asked: {when: [messageAdded, messageEdited], exempt: {bots: false}, if: {text: darn}, do: [delete]}
            """)
        let bot = scene.member("other-bot", isBot: true)
        let channel = scene.channel("general")
        #expect(scene.take(scene.event(.messageAdded(scene.message("heck", by: bot)), in: channel)) == [])
        #expect(
            scene.take(scene.event(.messageAdded(scene.message("darn", by: bot)), in: channel)) == [
                "delete general"
            ])
    }
}
