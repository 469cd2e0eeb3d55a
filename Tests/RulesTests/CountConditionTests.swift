import Chat
import Testing

@testable import Rules

@Suite struct CountConditionTests {
    private func holds(_ condition: String, _ text: String) throws -> Bool {
        let scene = try Scene(
            rule: "    when: messageAdded\n    if: {\(condition)}\n    do: [{reply: \"yes\"}]\n")
        return scene.say(text) == ["reply general: yes"]
    }

    @Test(arguments: [
        ("length: over 3", "abcd", true), ("length: over 3", "abc", false), ("length: 2 to 3", "ab", true),
        ("length: under 3", "ab", true), ("length: under 3", "abc", false), ("length: 5", "12345", true),
        ("length: 1", "👨‍👩‍👧‍👦", true), ("length: 4", "e\u{301}\u{302}tés", true), ("length: 3", "ไทย", true),
        ("length: 5", "مرحبا", true), ("length: 4", "日本語だ", true), ("length: 2", "🇳🇴🇸🇪", true),
        ("length: 3", "a\r\nb", true), ("length: 0", "", true), ("lines: 2+", "a\nb", true),
        ("lines: 2+", "a\n", false), ("lines: 3", "a\r\nb\rc", true), ("lines: 2", "a\u{2028}б", true),
        ("lines: 0", "", true), ("lines: 3", "a\n\nb", true), ("emoji: 2", "👍🏽 👨‍👩‍👧‍👦", true),
        ("emoji: 1+", "123 #* ©", false), ("emoji: 1", "1️⃣", true), ("emoji: 1", "❤️", true),
        ("emoji: 1", "🇳🇴", true), ("emoji: 0", "日本語 привет", true), ("emoji: 3", "⌚🙈🏳️‍🌈", true),
        ("marks: over 6 per letter", "Z\u{351}\u{36B}\u{343}\u{36A}\u{302}\u{36B}\u{33D}\u{34F}algo", true),
        ("marks: over 6 per letter", "Tiếng Việt, हिन्दी, ไทยที่, שָׁלוֹם, مُحَمَّد", false),
        ("marks: 2+", "e\u{301}e\u{301}", true), ("marks: 1+", "❤️ é", false),
    ])
    func `length, lines, emoji and marks are counted as people count them`(
        _ condition: String, _ text: String, _ expected: Bool
    ) throws {
        #expect(try holds(condition, text) == expected)
    }

    @Test(arguments: [
        ("caps: {share: 80%+, letters: 15+}", "THIS IS VERY MUCH TOO LOUD", true),
        ("caps: {share: 80%+, letters: 15+}", "LOUD", false),
        ("caps: {share: 80%+, letters: 15+}", "this is a QUIET line of text", false),
        ("caps: {share: 80%+, letters: 10+}", "ABCDEFGHij", true),
        ("caps: {share: over 80%, letters: 10+}", "ABCDEFGHij", false),
        ("caps: {share: 80%+, letters: 5+}", "ПОЧЕМУ ТАК ГРОМКО", true),
        ("caps: {share: 80%+, letters: 5+}", "日本語日本語 OK", false),
        ("caps: {share: 80%+, letters: 5+}", "https://EXAMPLE.ORG/LOUDPATH ok", false),
        ("caps: {share: 80%+, letters: 5+}", "`SELECT * FROM TABLE` ok", false),
        ("caps: {share: 80%+, letters: 5+}", "> WHO SHOUTED THIS\nnot me", false),
        ("caps: {share: 80%+, letters: 5+}", ":KAPPA_PRIDE: :LOUDEMOTE: fine", false),
        ("caps: {share: under 10%, letters: 5+}", "all small", true), ("caps: {share: 0%}", "small", true),
        ("caps: {share: 100%}", "123", false),
    ])
    func `capitals are a share of the letters that have any`(
        _ condition: String, _ text: String, _ expected: Bool
    ) throws {
        #expect(try holds(condition, text) == expected)
    }

    @Test(arguments: [
        ("mentions: 3+", "@ana @ben @cho", true), ("mentions: 3+", "@ana @ana @Ana", false),
        ("mentions: 1+", "mail ana@example.org", false), ("mentions: 1", "(@ana), hi", true),
        ("mentions: 1", "ping @ана", true), ("mentions: 1+", "@ nobody", false),
        ("mentions: everyone", "hey @everyone!", true), ("mentions: everyone", "hey @HERE", true),
        ("mentions: everyone", "everyone @ana", false), ("mentions: {at_least: 2}", "@a @b", true),
        ("mentions: {at_least: 2}", "@a", false), ("mentions: 0", "nobody", true),
        ("mentions: under 2", "@a @b", false),
    ])
    func `mentions are counted by person`(_ condition: String, _ text: String, _ expected: Bool) throws {
        #expect(try holds(condition, text) == expected)
    }

    @Test func `attachments are counted`() throws {
        let scene = try Scene(
            rule: "    when: messageAdded\n    if: {attachments: 2+}\n    do: [{reply: \"yes\"}]\n")
        let file = Message.Attachment(id: "1", name: "a.png", contentType: "image/png", size: 1)
        let channel = scene.channel("general")
        func say(_ files: [Message.Attachment]) -> [String] {
            scene.take(
                scene.event(
                    .messageAdded(scene.message("x", by: scene.member("ana"), attachments: files)),
                    in: channel))
        }
        #expect(say([file]) == [])
        #expect(say([file, file]) == ["reply general: yes"])
    }

    @Test(arguments: [
        "http://example.org", "see HTTPS://EXAMPLE.ORG/x?y.", "www.example.org", "(example.org)",
        "example.org/path", "пример.рф", "bücher.example.com", "これはexample.comです", "食狮.com", "it.it/x",
        "[docs](https://example.org/x)", "http://localhost:8000", "https://user@example.org",
    ])
    func `what people take for a link is one`(_ text: String) throws {
        #expect(try holds("links: 1", text))
    }

    @Test(arguments: [
        "omg..what", "end.Next sentence", "e.g. this", "i.e. that", "notes.txt", "readme.md", "yes.no",
        "ana@example.org", "1.2.3", "3.50", "wait...what", "node.js", "x://y", "..", "a.", ".b",
        "/etc/example.com", "really?no.maybe", "你好。谢谢",
    ])
    func `a dot alone makes no link`(_ text: String) throws {
        #expect(try holds("links: 0", text))
    }

    @Test(arguments: [
        ("https://example.org", true), ("https://EXAMPLE.ORG./x", true), ("https://docs.example.org", true),
        ("https://example.org.evil.net", false), ("https://notexample.org", false),
        ("https://evil.net/example.org", false), ("https://example.org@evil.net/", false),
        ("https://evil.net?example.org", false), ("https://evil.net#example.org", false),
        ("https://evil.net\\@example.org", false), ("https://example.org:443/x", true),
        ("https://example%2eorg/x", true), ("https://ｅｘａｍｐｌｅ．ｏｒｇ", true), ("https://exam\u{AD}ple.org", true),
        ("example.org", true), ("www.example.org", true), ("https://bücher.de", true),
        ("https://xn--bcher-kva.de", true), ("https://BÜCHER.de", true),
        ("https://example.org evil.net", false),
    ])
    func `hosts are compared label by label`(_ text: String, _ isGood: Bool) throws {
        let list = "[example.org, \"bücher.de\"]"
        #expect(try holds("links: {hosts_not_in: \(list)}", text) == !isGood)
        if isGood { #expect(try holds("links: {hosts_in: \(list)}", text)) }
        if !text.contains(" ") { #expect(try holds("links: {hosts_in: \(list)}", text) == isGood) }
    }

    @Test(arguments: [
        ("links: {hosts_in: [bit.ly, t.co]}", "look at t.co/abc", true),
        ("links: {hosts_in: [yes.no]}", "say yes.no now", true),
        ("links: {hosts_in: [bit.ly]}", "no link", false),
        ("links: {hosts_in: [a.org], count: 2+}", "https://a.org https://b.org", false),
        ("links: {hosts_in: [a.org], count: 2+}", "https://a.org https://x.a.org", true),
        ("links: {hosts_not_in: [a.org], count: 2+}", "https://a.org https://b.org", false),
        ("links: {count: 2+}", "https://a.org https://b.org", true), ("links: 2+", "https://a.org", false),
        ("links: {hosts_in: [evil.net]}", "evil (dot) net", false),
        ("links: {hosts_in: [evil.net], fold: loose}", "evil (dot) net", true),
        ("links: {hosts_in: [evil.net], fold: loose}", "evil[.]net/x", true),
        ("links: {hosts_in: [evil.net], fold: loose}", "evil dot net", true),
        ("links: {count: 1+, fold: loose}", "link(dot)com", true),
        ("links: {count: 1+, fold: loose}", "connect the dot to it", false),
        ("links: {count: 1+, fold: loose}", "https://x.org", true),
    ])
    func `links are counted by where they lead`(_ condition: String, _ text: String, _ expected: Bool) throws
    {
        #expect(try holds(condition, text) == expected)
    }

    @Test(arguments: [
        (
            "links: {hosts_in: [\"*.example.org\"]}",
            "\"*.example.org\" is not a host - write \"example.org\", which covers its sub-domains"
        ),
        (
            "links: {hosts_in: [\"https://example.org/x\"]}",
            "\"https://example.org/x\" is not a host - write \"example.org\""
        ),
        ("links: {hosts_in: []}", "\"hosts_in\" is an empty list - remove it or fill it"),
        ("caps: {letters: 5+}", "\"caps\" has no \"share\" - try {share: 80%+, letters: 15+}"),
        ("caps: {share: 80}", "\"80\" is not a percentage - try \"80%+\" or \"over 80%\""),
        ("length: under 0", "there is never less than nothing - write from which or to which it goes: 1+"),
        ("length: many", "\"many\" is not a whole number - try \"5\", \"5+\", \"over 5\" or \"2 to 5\""),
        ("mentions: {at_least: 0}", "\"0\" is not a number of people - try 1"),
    ])
    func `a mistake in a count names the way out`(_ condition: String, _ expected: String) {
        let text = "version: 1\nrules:\n  it: {when: messageAdded, if: {\(condition)}, do: [{reply: a}]}\n"
        let errors = RuleSet.load([BotSource(name: "x.yaml", bytes: Array(text.utf8))]).errors
        #expect(errors.map { $0.problem + ($0.hint.map { " - \($0)" } ?? "") } == [expected])
    }

    @Test func `thresholds find the same rules as asking each`() throws {
        var text = "version: 1\nrules:\n"
        for number in 1...60 {
            let condition = [
                "length: \(number)+", "length: under \(number)", "lines: \(number)",
                "mentions: over \(number)", "caps: {share: \(number)%+, letters: \(number)+}",
            ][number % 5]
            text +=
                "  r\(number): {when: messageAdded, also: true, if: {\(condition)}, do: [{react: \":n\(number):\"}]}\n"
        }
        let scene = try Scene(text)
        for said in [
            "", "hi", "THIS IS LOUD AND LONGER THAN MOST", "a\nb\nc\n@a @b @c @d",
            String(repeating: "x", count: 70),
        ] {
            let event = scene.event(
                .messageAdded(scene.message(said, by: scene.member("ana"))), in: scene.channel("general"))
            let expected = scene.rules.explain(event, in: scene.situation(for: event)).entries.filter(
                \.matches
            ).map(\.rule)
            #expect(scene.decide(event).flatMap(\.matched) == expected)
            #expect(!expected.isEmpty)
        }
    }

    @Test(arguments: [
        ("length: over 9", "short", "no: the text has 5 letters, not over 9"),
        ("length: 2+", "short", "matches: the text has 5 letters"),
        ("caps: {share: 80%+, letters: 2+}", "Short", "no: 20% of 5 letters are capitals, not 80%+"),
        ("caps: {share: 80%+, letters: 9+}", "SHORT", "no: the text has 5 letters that count, not 9+"),
        (
            "links: {hosts_not_in: [a.org]}", "https://x.a.org",
            "no: all links lead to hosts of the list: x.a.org"
        ),
        ("links: {hosts_not_in: [a.org]}", "https://b.org", "matches: a link to b.org"),
        ("links: {hosts_in: [a.org]}", "https://b.org", "no: no link leads to a host of the list: b.org"),
        ("links: 1+", "none", "no: the text has no link"),
        ("mentions: everyone", "hi", "no: nobody calls everyone"),
        ("mentions: 2+", "@ana", "no: 1 person called, not 2+"),
        ("attachments: 1+", "x", "no: 0 attachments, not 1+"),
        ("marks: over 6 per letter", "e\u{301}", "no: one letter has 1 combining mark, not over 6"),
    ])
    func `explain tells what was counted`(_ condition: String, _ text: String, _ expected: String) throws {
        let scene = try Scene(rule: "    when: messageAdded\n    if: {\(condition)}\n    do: [{reply: x}]\n")
        let event = scene.event(
            .messageAdded(scene.message(text, by: scene.member("ana"))), in: scene.channel("general"))
        #expect(
            scene.rules.explain(event, in: scene.situation(for: event)).entries.map(\.reason) == [expected])
    }
}
