import Chat
import Testing

@testable import Rules

@Suite struct TextConditionTests {
    /// A rule that answers "yes" to what a text condition matches.
    private func answers(_ condition: String, _ text: String) throws -> Bool {
        let scene = try Scene(
            rule: "    when: messageAdded\n    if: {text: \(condition)}\n    do: [{reply: \"yes\"}]\n")
        return scene.say(text) == ["reply general: yes"]
    }

    @Test(arguments: [
        ("refund", "how do I get a refund?", true), ("refund", "REFUND please", true),
        ("refund", "re\u{200B}fund??", true), ("refund", "ｒｅｆｕｎｄ", true),
        ("refund", "is the deposit refundable", false), ("\"money back\"", "my money   back", true),
        ("\"money back\"", "my money\nback", true), ("\"money back\"", "moneyback", false),
        ("[a1, b2]", "b2", true), ("straße", "STRASSE", true), ("\"error*\"", "500 errors", true),
        ("\"error*\"", "500 erroneous", false), ("\"*ware\"", "malware", true), ("\"*ware\"", "wares", false),
        ("\"*thor*\"", "Scunthorpe", true), ("hun", "Scunthorpe", false),
        ("{has_any: x, match: anywhere}", "axb", true),
        ("{has_any: pre, match: prefix}", "prefix", true),
        ("{has_any: pre, match: prefix}", "depress", false),
        ("{has_any: fix, match: suffix}", "prefix", true), ("{has_any: fix, match: suffix}", "fixed", false),
        ("{has_all: [a, b]}", "b then a", true), ("{has_all: [a, b]}", "a only", false),
        ("{has_any: a, has_none: [b, c]}", "a", true), ("{has_any: a, has_none: [b, c]}", "a c", false),
        ("{has_none: [b]}", "a", true), ("{has_none: [b]}", "b", false),
        ("{equals: hello}", "  Hello ", true), ("{equals: hello}", "hello you", false),
        ("{equals: [ja, nein]}", "Nein", true), ("{starts_with: \"!help\"}", "!help me", true),
        ("{starts_with: \"!help\"}", "!helpless", false), ("{starts_with: \"!help\"}", "say !help", false),
        ("{starts_with: \"hel*\"}", "hello", true), ("{starts_with: \"[release]\"}", "[Release] 2.4", true),
        ("{ends_with: \"?\"}", "really?", true), ("{ends_with: now}", "do it now", true),
        ("{ends_with: now}", "I know", false), ("{ends_with: now}", "now or never", false),
    ])
    func `words match whole, folded, and only where they should`(
        _ condition: String, _ text: String, _ expected: Bool
    ) throws {
        #expect(try answers(condition, text) == expected)
    }

    @Test(arguments: [
        ("plain", "раypal", false), ("loose", "раypal", true), ("loose", "p4ypal", true),
        ("loose", "paaaaypal", true), ("loose", "páypál", true), ("exact", "PAYPAL", false),
        ("exact", "paypal", true), ("loose", "работа и жизнь", false),
    ])
    func `fold levels make more and more equal`(_ level: String, _ text: String, _ expected: Bool) throws {
        #expect(try answers("{has_any: paypal, fold: \(level)}", text) == expected)
    }

    @Test(arguments: [
        "https://example.org/heck", "see HTTPS://EXAMPLE.org/heck?x", "www.x.org/heck", "`heck`",
        "```\nheck\n```",
        "> heck\nno", "a ``heck ` b``",
    ])
    func `links, code and quotes are not looked at`(_ text: String) throws {
        #expect(try !answers("heck", text))
        #expect(try answers("{has_any: heck, skip: none}", text))
    }

    @Test(arguments: ["` heck", "heck https://x.org", "> quote\nheck", "a > heck", "note:heck", "x://heck"])
    func `what only looks like a link, code or a quote is read`(_ text: String) throws {
        #expect(try answers("heck", text))
    }

    @Test func `words on two sides of a link are no phrase`() throws {
        #expect(try !answers("\"money back\"", "money https://x.org back"))
    }

    @Test(arguments: [
        ("I forgot my pasword", true), ("reset of my passwrod please", true), ("I forgot my umbrella", false),
        ("what is a good password manager", false), ("lost the passphrase", false),
    ])
    func `near forgives misspellings, a swap as one`(_ text: String, _ expected: Bool) throws {
        let condition = "{near: {any: [password, passcode], edits: 2}, has_any: [forgot, lost, reset]}"
        #expect(try answers(condition, text) == expected)
    }

    @Test func `near allows a quarter of a word at most`() throws {
        #expect(try !answers("{near: {any: [cat], edits: 2}}", "cut"))
        #expect(try answers("{near: {any: [\"opening hours\"], edits: 2}}", "your opening hrs?") == false)
        #expect(try answers("{near: {any: [\"opening hours\"], edits: 2}}", "your openning houres?"))
    }

    @Test func `a regex is applied to the text as it is, and its groups have names`() throws {
        let scene = try Scene(
            rule: """
                    when: messageAdded
                    if:
                      text:
                        regex: '(?i)\\bwhat version (?:of|is) (?<product>[a-z]{3,20})\\b'
                    do:
                      - reply: "The {{ match.product | lower | truncate(4) }} release"
                """.indented)
        #expect(scene.say("What version of Widget are you on?") == ["reply general: The wid… release"])
        #expect(scene.say("which version?") == [])
        #expect(try answers("{regex: '^thanks'}", "> hi\nthanks"))
        #expect(try answers("{regex: 'strasse', fold: plain}", "STRASSE"))
        #expect(try !answers("{regex: 'strasse'}", "STRASSE"))
    }

    @Test func `a group that spans a link is printed without it`() throws {
        let scene = try Scene(
            rule: """
                    when: messageAdded
                    if: {text: {regex: 'say (?<what>.*)'}}
                    do: [{reply: "{{ match.what }}"}]
                """.indented)
        #expect(scene.say("say see https://x.org/y now") == ["reply general: see  now"])
    }

    @Test(.timeLimit(.minutes(1))) func `a crafted text against a fragile regex takes no time`() throws {
        #expect(try !answers("{regex: '(a+)+$'}", String(repeating: "a", count: 50_000) + "!"))
    }

    @Test func `names of people and files are texts too`() throws {
        let scene = try Scene(
            rule: """
                    when: [messageAdded, messageEdited, memberUpdated]
                    if: {text: {has_any: heck, fields: [body, user.name, attachments.name], skip: [quotes]}}
                    do: [{send: {to: staff, text: "seen"}}]
                """.indented)
        let channel = scene.channel("general")
        let named = scene.member("u1", name: "Heck")
        #expect(scene.take(scene.event(.memberUpdated(named), in: channel)) == ["send staff: seen"])
        #expect(scene.take(scene.event(.memberUpdated(scene.member("u1")), in: channel)) == [])
        let file = Message.Attachment(id: "1", name: "what the heck.png", contentType: "image/png", size: 1)
        let plain = Message.Attachment(id: "2", name: "cat.png", contentType: "image/png", size: 1)
        let message = scene.message("look", by: scene.member("u1"), attachments: [file, plain])
        #expect(scene.take(scene.event(.messageAdded(message), in: channel)) == ["send staff: seen"])
    }

    @Test func `a list is used by its name`() throws {
        let scene = try Scene(
            """
            version: 1
            lists:
              mild: [heck, darn]
              strong: {file: lists/strong.txt}
            rules:
              it:
                when: messageAdded
                if: {text: [$mild, $strong, "what"]}
                do: [{reply: "yes"}]
            """, lists: ["lists/strong.txt": "# words\nbloody   # a mild one\n\n  two words\n"])
        for text in ["heck", "darn", "bloody", "two words", "what"] {
            #expect(scene.say(text) == ["reply general: yes"])
        }
        for text in ["words", "mild", "a mild one"] { #expect(scene.say(text) == []) }
    }
}

extension String {
    /// Four more spaces before each line.
    var indented: String {
        split(separator: "\n", omittingEmptySubsequences: false).map {
            $0.isEmpty ? "" : "    " + $0.drop { $0 == "\t" }
        }
        .joined(separator: "\n")
    }
}
