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

    @Test
    func `a window that nobody asks for, a counter that nobody counts and a variable of a rule are told`() {
        let text = """
            windows: {night: {zone: UTC}, day: {zone: UTC}}
            counters: {pages: {per: all, keep: forever}, karma: {per: user, keep: forever}}
            rules:
              r:
                when: messageAdded
                if: {time: night, text: x1}
                vars: {a: "{{ message.text }}", b: "{{ vars.a }}"}
                do: [{count: {karma: +1}}, {reply: "{{ counters.pages }}"}]
              s: {when: messageAdded, if: {text: x2}, vars: {b: x}, do: [{reply: "{{ vars.b }}"}]}
            """
        #expect(
            warnings(text) == [
                "x.yaml:2:31: warning: no rule asks for the window \"day\" - write if: {time: day}, or remove it",
                "x.yaml:3:12: warning: no rule counts \"pages\", so it is always 0 - write count: {pages: +1}, or remove it",
                "x.yaml:8:37: warning: nothing in this rule uses the variable \"b\" - write {{ vars.b }}, or remove it",
            ])
    }

    @Test(arguments: ["kick", "ban", "mute"])
    func `a person in the short form of a punishment is told, as it is about who calls`(verb: String) {
        func found(_ step: String) -> [String] {
            warnings(
                """
                rules:
                  out:
                    when: {command: {name: out, args: {who: person}}}
                    do: [{\(step)}]
                """
            ).filter { $0.contains("whoever calls") }
        }
        #expect(
            found("\(verb): \"{{ args.who }}\"") == [
                "x.yaml:5:11: warning: this \(verb) is about whoever calls the command, not about \"who\" - write \(verb): {user: \"{{ args.who }}\"}"
            ])
        #expect(found("\(verb): {user: \"{{ args.who }}\"}") == [])
    }

    @Test func `an expression for letters that its fold leaves in no text is told, with what it leaves`() {
        let text = """
            rules:
              a: {when: messageAdded, if: {text: {regex: Buy Now, fold: plain}}, do: [{reply: x}]}
              b: {when: messageAdded, if: {text: {regex: '(?i)Buy Now', fold: plain}}, do: [{reply: x}]}
              c: {when: messageAdded, if: {text: {regex: Buy Now}}, do: [{reply: x}]}
            """
        #expect(
            warnings(text) == [
                "x.yaml:3:46: warning: \"Buy Now\" is in no text after fold: plain - write \"buy now\""
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

    /// The rules a, b and c have the same conditions; which of them can never run?
    @Test(arguments: [
        ("pick: first", "g", "g", "g", 1, ["b", "c"]),
        ("pick: all", "g", "g", "g", 1, []),
        ("pick: all", "g", "g", nil, 1, ["c"]),
        ("pick: all", "g", "g", nil, 2, []),
        ("pick: first", "g", "g", nil, 2, ["b"]),
        ("pick: all", nil, nil, nil, 1, ["b", "c"]),
        ("pick: all", nil, nil, nil, 2, ["c"]),
        ("pick: all", nil, nil, nil, 3, []),
    ])
    func `only a rule that others leave no answer to can never run`(
        _ pick: String, _ a: String?, _ b: String?, _ c: String?, _ answers: Int, _ expected: [String]
    ) {
        let rules = [("a", a), ("b", b), ("c", c)].map { id, group in
            "  \(id): {when: messageAdded, if: {text: x1}, \(group.map { "group: \($0), " } ?? "")do: [{reply: \(id)}]}\n"
        }
        let text = "version: 1\ngroups: {g: {\(pick)}}\nrules:\n" + rules.joined()
        let errors = RuleSet.load(
            [BotSource(name: "x.yaml", bytes: Array(text.utf8))], answersPerEvent: answers
        ).errors
        #expect(
            errors.compactMap { $0.problem.split(separator: "\"").dropFirst().first.map(String.init) }
                == expected)
        #expect(errors.allSatisfy { $0.code == .neverRuns })
    }

    @Test(arguments: [
        ("[refund, \"ref*\"]", "", ["refund"]), ("[\"refund*\", \"ref*\", \"*fund*\"]", "", ["refund*"]),
        ("[\"*fund\", \"un*\", fund]", "", ["fund"]), ("[\"my refunds\", \"ref*\"]", "", ["my refunds"]),
        ("[\"ref*\", \"*ref\", \"re*\"]", "", ["ref*"]), ("[re, \"ref*\", \"my ref*\"]", "", ["my ref*"]),
        ("[\"refund my*\", \"refund myself\"]", "", ["refund myself"]), ("[fun, refund]", "", []),
        ("[fund, refunds]", ", match: anywhere", ["refunds"]),
        ("[refund, ref]", ", match: prefix", ["refund"]),
        ("[refund, fund]", ", match: suffix", ["refund"]), ("[refund, ref]", ", match: suffix", []),
        ("[Refund, refund]", ", fold: exact", []),
    ])
    func `a word that one with a star covers is told`(_ words: String, _ more: String, _ covered: [String]) {
        let found = warnings(
            "rules: {a: {when: messageAdded, if: {text: {has_any: \(words)\(more)}}, do: [{reply: x}]}}")
        #expect(found.map { $0.split(separator: "\"")[1] } == covered.map { $0[...] })
    }

    @Test(arguments: [
        ("", true), ("if: {length: over 2}", true), ("if: {length: over 200}", false),
        ("if: {text: {has_none: hello}}", true), ("if: {not: {text: hello}}", true),
        ("if: {not: {length: over 2}}", false), ("if: {user: {first_time: true}}", false),
        ("if: {user: {bot: false, member_for: over 1d}}", true), ("if: {user: {role: helper}}", false),
        ("if: {links: 1+}", false), ("if: {attachments: 1+}", false),
        ("if: {lines: 1 to 3, emoji: under 4}", true),
        ("if: {any: [{links: 1+}, {length: 1+}]}", true), ("if: {rate: 3 messages in 10s}", false),
        ("cooldown: 10m per channel", false), ("once: per user", false), ("batch: 20s", false),
        ("in: direct", false), ("in: [direct, lobby]", true), ("in: lobby", true),
    ])
    func `an answer to whatever people write is told`(_ line: String, _ isTold: Bool) {
        for action in ["send: x1", "reply: x1"] where action == "send: x1" || line != "batch: 20s" {
            let text =
                "version: 1\nrules:\n  a:\n    when: messageAdded\n    do: [{\(action)}]\n    \(line)\n"
            let loaded = RuleSet.load(
                [BotSource(name: "x.yaml", bytes: Array(text.utf8))], directory: Scene.directory())
            #expect(loaded.errors.map(\.description) == [])
            #expect(
                loaded.warnings.map(\.description)
                    == (isTold
                        ? [
                            "x.yaml:5:11: warning: this answers each message that people write - add cooldown: 10m per channel, or say under if: what it answers"
                        ] : []))
        }
    }

    @Test(arguments: [
        (
            "in: general, not_in: \"gen*\"",
            "error: this rule can never run: \"not_in\" leaves none of its channels"
        ),
        (
            "in: lobby, not_in: general",
            "error: this rule can never run: \"not_in\" leaves none of its channels"
        ),
        (
            "in: \"gen*\", not_in: \"g*\"",
            "error: this rule can never run: \"not_in\" leaves none of its channels"
        ),
        ("not_in: \"*\"", "error: this rule can never run: \"not_in\" leaves none of its channels"),
        (
            "in: \"zzz*\"",
            "warning: no channel that config.yaml names is like \"zzz*\" - only one into which steward comes some day can be"
        ),
        ("in: [general, support], not_in: \"gen*\"", nil), ("in: \"lob*\"", nil), ("in: \"twilio:*\"", nil),
        ("in: direct, not_in: \"gen*\"", nil), ("in: \"*\", not_in: \"gen*\"", nil),
    ])
    func `a rule that no channel is left to is told`(_ line: String, _ expected: String?) {
        let text = "version: 1\nrules: {a: {when: messageAdded, if: {text: x1}, \(line), do: [{reply: x}]}}"
        let found = RuleSet.load(
            [BotSource(name: "x.yaml", bytes: Array(text.utf8))], directory: Scene.directory()
        ).findings.map { String($0.description.drop { $0 != " " }.dropFirst()) }
        #expect(found == [expected].compactMap(\.self))
    }

    /// A newcomer's mistakes in a word list, each line one.
    @Test(arguments: [
        (
            "\"refund\"",
            "l.txt:1:1: warning: the quotes are part of the word \"refund\" - write it without them"
        ),
        ("'refund'", "l.txt:1:1: warning: the quotes are part of the word 'refund' - write it without them"),
        (
            "- refund",
            "l.txt:1:1: warning: \"- \" is part of the word here - write one word or phrase a line, nothing before it"
        ),
        (
            "refund, money",
            "l.txt:1:1: warning: the comma makes one phrase of \"refund, money\" - put each word on a line of its own"
        ),
        (
            "refund.*",
            "l.txt:1:1: warning: \"refund.*\" is looked for letter by letter - an expression belongs to regex:"
        ),
        ("re*fund", "l.txt:1:1: error: \"*\" may only stand at the ends of a word, not as in \"re*fund\""),
        (
            "refund\nRefund",
            "l.txt:2:1: warning: \"Refund\" changes nothing: \"refund\" is the same - remove one of the two"
        ),
        ("$words", "l.txt:1:1: error: a list cannot hold a list"),
        ("\u{200B}", "l.txt:1:1: error: nothing of \"\u{200B}\" can be matched"),
        (
            "# only this",
            "x.yaml:2:19: error: list \"l\" is empty: \"l.txt\" has no words - fill it or remove the list"
        ),
    ])
    func `what is wrong in a word list is told with its line and the way out`(
        _ list: String, _ expected: String
    ) {
        let text =
            "version: 1\nlists: {l: {file: l.txt}}\nrules: {r: {when: messageAdded, if: {text: $l}, do: [{reply: a}]}}"
        let findings = RuleSet.load([BotSource(name: "x.yaml", bytes: Array(text.utf8))]) { _ in
            Array(list.utf8)
        }.findings
        #expect(findings.map(\.description).first == expected)
    }
}
