import Testing

@testable import Rules

@Suite struct LintTests {
    private func warnings(_ text: String) -> [String] {
        RuleSet.load([BotSource(name: "x.yaml", bytes: Array("version: 1\n\(text)".utf8))]).findings.map(
            \.description)
    }

    @Test func `what is declared and never used is told`() {
        let text = """
            vars: {a: b, c: d}
            lists: {used: [x1], spare: [x2]}
            groups: {used: {}, spare: {}}
            rules: {r: {when: messageAdded, group: used, if: {text: $used}, do: [{reply: "{{ vars.a }}"}]}}
            """
        #expect(
            warnings(text) == [
                "x.yaml:2:14: warning: no text of this file uses the variable \"c\" - write {{ vars.c }}, or remove it",
                "x.yaml:3:21: warning: no rule uses the list \"spare\" - write $spare where words are expected, or remove it",
                "x.yaml:4:20: warning: no rule belongs to the group \"spare\" - write group: spare in its rules, or remove it",
            ])
    }

    @Test func `a word that another covers is told, and one that only looks like it is not`() {
        let text = """
            rules:
              a:
                when: messageAdded
                if: {text: ["Money back", "my money back please", refund, refunds, "RE\\u00ADFUND", "money, back"]}
                do: [{reply: x}]
            """
        #expect(
            warnings(text) == [
                "x.yaml:5:31: warning: \"my money back please\" changes nothing: \"Money back\" is found wherever it is - remove one of the two",
                "x.yaml:5:72: warning: \"RE\u{AD}FUND\" changes nothing: \"refund\" is the same - remove one of the two",
            ])
    }

    @Test(arguments: [
        ("if: {text: [hello, hi]}", 1),
        ("if: {text: hello}\n    cooldown: 5m per channel", 0),
        ("if: {text: hello}\n    once: per user", 0),
        ("if: {text: {has_any: hello, starts_with: bot}}", 0),
        ("if: {text: opening hours}", 0),
        ("if: {text: {equals: hello}}", 0),
    ])
    func `an answer to an everyday word each time it is said is told`(_ lines: String, _ count: Int) {
        let found = warnings("rules:\n  a:\n    when: messageAdded\n    \(lines)\n    do: [{reply: x}]\n")
        #expect(found.count == count)
        for finding in found {
            #expect(
                finding
                    == "x.yaml:5:17: warning: people say \"hello\" all the time, and this rule answers each time - add cooldown: 10m per channel"
            )
        }
    }
}
