import Testing

@testable import Rules

@Suite struct ComparisonTests {
    private func changes(_ old: String, _ new: String, lists: (old: String, new: String) = ("", "")) throws
        -> String
    {
        func side(_ text: String, _ list: String) -> BotComparison.Side {
            .init(files: [BotSource(name: "bots/a.yaml", bytes: Array(text.utf8))]) { _ in Array(list.utf8) }
        }
        return try BotComparison(from: side(old, lists.old), to: side(new, lists.new)).changes.map(
            \.description
        )
        .joined(separator: "\n")
    }

    private let faq = """
        version: 1
        vars: {book: a}
        lists: {bad: {file: lists/bad.txt}}
        rules:
          refund:
            about: Money.
            when: messageAdded
            in: lobby
            if: {text: [refund, refunds]}
            cooldown: 90m per user
            do: [{reply: "Soon."}]
          hours:
            when: messageAdded
            if: {text: hours}
            do: [{reply: nine}]
          clean:
            when: messageEdited
            if: {text: {has_any: $bad}}
            do: [delete]
        """

    @Test func `layout, comments, quotes and short forms are no change`() throws {
        let other = """
            # Another look.
            version: "1"
            vars:
              book: 'a'
            lists: {bad: {file: lists/bad.txt}}
            rules:
              refund:
                when: [messageAdded]
                in: [lobby]
                about: "Money."   # yes
                if:
                  text:
                    has_any: ["refund", 'refunds']
                do:
                  - reply: {text: Soon.}
                cooldown: 1h30m per user
                run: live
              hours: {when: messageAdded, if: {text: [hours]}, do: [{reply: nine}]}
              clean: {when: messageEdited, if: {text: $bad}, do: [{delete: message}]}
            """
        #expect(try changes(faq, other) == "")
    }

    @Test(arguments: [
        ("if: {rate: 3 messages in 60s per user}", "if: {rate: {count: 3+, of: message, in: 1m, per: user}}"),
        (
            "if: {rate: 3 joins in 1h across channel}",
            "if: {rate: {count: 3, of: joins, in: 60m, across: channel}}"
        ),
        ("if: {links: 1+}", "if: {links: {count: 1+}}"),
        ("if: {mentions: 2+}", "if: {mentions: {at_least: 2}}"),
        ("if: {text: word}", "if: {text: {has_any: [word], fold: plain, match: word}}"),
        ("if: {text: word}", "if: {text: {has_any: word, fields: body, skip: [links, quotes, code]}}"),
        ("if: {user: {strikes: 3+}}", "if: {user: {strikes: {total: 3+}}}"),
        ("if: {links: over 1, length: over 10}", "if: {links: 2+, length: 11+}"),
        ("if: [{text: x}, {links: 1+}]", "if: {all: [{links: 1+}, {text: x}]}"),
        ("if: {any: [{text: x}, {links: 1+}]}", "if: {any: [{links: 1+}, {text: x}]}"),
        ("if: {time: night}", "if: {time: {any: [night]}}"),
        ("when: {command: Foo}", "when: {command: {name: foo}}"),
        ("do: [{reply: '{{user.name}}!'}]", "do: [{reply: {text: '{{ user.name }}!'}}]"),
        (
            "do: [{reply: '{{ user.name|default(\"a  b\") }}'}]",
            "do: [{reply: '{{ user.name | default( \"a  b\" ) }}'}]"
        ),
        ("do: [{mute: 60s}, strike]", "do: [{mute: {for: 1m}}, {strike: {points: 1}}]"),
        ("do: [{strike: 1}]", "do: [strike]"),
        ("do: [{count: {karma: +1}}]", "do: [{count: {karma: {by: 1}}}]"),
    ])
    func `what is written short means what it means in full`(_ short: String, _ full: String) throws {
        func file(_ line: String) -> String {
            var keys = ["when: messageAdded", "if: {text: x}", "do: [{reply: y}]"]
            keys.removeAll { $0.prefix { $0 != ":" } == line.prefix { $0 != ":" } }
            return """
                version: 1
                ladders: {conduct: {steps: {3: [{mute: 1d}]}}}
                counters: {karma: {per: user, keep: forever}}
                windows: {night: {between: "22:00-07:00", zone: UTC}}
                rules:
                  a:
                    \((keys + [line]).joined(separator: "\n    "))

                """
        }
        #expect(try changes(file(short), file(full)) == "")
    }

    @Test func `all days are those of a window without days`() throws {
        func file(_ days: String) -> String {
            "version: 1\nwindows: {night: {\(days) between: \"22:00-07:00\", zone: UTC}}\n"
        }
        #expect(try changes(file(""), file("days: mon-sun,")) == "")
        #expect(try changes(file("days: [mon, tue, wed],"), file("days: mon-wed,")) == "")
        #expect(try changes(file(""), file("days: mon-fri,")) != "")
    }

    @Test func `what only looks like a short form is a change`() throws {
        func file(_ text: String) -> String {
            "version: 1\nrules:\n  a: {when: messageAdded, if: {text: {\(text)}}, do: [{reply: '{{ user.name | default(\"a b\") }}'}]}\n"
        }
        // Beside an expression a fold says what the expression sees.
        #expect(try changes(file("regex: x"), file("regex: x, fold: plain")) != "")
        #expect(try changes(file("has_any: x"), file("has_any: x, fold: loose")) != "")
        func counting(_ mentions: String) -> String {
            "version: 1\nrules:\n  a: {when: messageAdded, if: {mentions: \(mentions)}, do: [{reply: x}]}\n"
        }
        #expect(try changes(counting("2"), counting("{at_least: 2}")) != "")
        #expect(try changes(counting("under 2"), counting("2")) != "")
        #expect(
            try changes(file("has_any: x"), file("has_any: x").replacing("a b", with: "a  b")) != "")
    }

    @Test func `what changed is told key by key, in words`() throws {
        let other = """
            version: 1
            vars: {book: b}
            lists: {bad: {file: lists/bad.txt}}
            groups: {faq: {pick: first}}
            rules:
              hours:
                when: messageAdded
                if: {text: hours}
                do: [{reply: nine}, stop]
              money-back:
                was: refund
                when: messageAdded
                in: [lobby, support]
                if: {text: [refund, money back]}
                group: faq
                cooldown: 5m per user
                do: [{reply: "Later."}]
              new: {when: memberJoined, do: [{send: hi}]}
            """
        #expect(
            try changes(faq, other, lists: ("one\ntwo # 2\n", "two\nthree\n")) == """
                variable "book": changed
                  "a" → "b"
                list "bad": changed
                  + "three", - "one"
                group "faq": added: pick: "first"
                rule "clean": removed: bots/a.yaml
                rule "hours": changed
                  do[1]: new: stop
                rule "hours": moved: now first
                rule "refund" → "money-back": renamed
                  about: removed: "Money."
                  in: + "support"
                  group: new: "faq"
                  if.text.has_any: + "money back", - "refunds"
                  cooldown: "1h30m per user" → "5m per user"
                  do[0].reply.text: "Soon." → "Later."
                rule "new": added: bots/a.yaml
                """)
    }

    @Test func `order is told only where it matters, and only of what moved`() throws {
        func file(_ names: [String]) -> String {
            "version: 1\nrules:\n"
                + names.map { name in
                    let action = name.hasPrefix("g") ? "delete" : "{reply: x}"
                    return "  \(name): {when: messageAdded, if: {text: \(name)}, do: [\(action)]}\n"
                }.joined()
        }
        #expect(try changes(file(["a1", "g1", "a2"]), file(["g1", "a1", "a2"])) == "")
        #expect(
            try changes(file(["a1", "a2", "a3", "a4"]), file(["a4", "a1", "a2", "a3"]))
                == "rule \"a4\": moved: now first")
        #expect(
            try changes(file(["a1", "a2", "a3", "a4"]), file(["a2", "a3", "a1", "a4"]))
                == "rule \"a1\": moved: now after \"a3\"")
    }

    @Test func `files with mistakes are not compared`() {
        let error = #expect(throws: BotComparisonError.self) { try changes(faq, "version: 2\n") }
        #expect(
            error?.findings.map(\.description) == [
                "bots/a.yaml:1:10: error: unknown version \"2\" - this steward reads version 1"
            ])
    }

    @Test func `what describes the language goes away when it has`() {
        weak var left: ShapeWitness?
        do {
            let witness = ShapeWitness()
            witness.describe(BotTables.file, from: BotFile(name: ""))
            #expect(witness.tables.count > 10)
            left = witness
        }
        #expect(left == nil)
    }
}
