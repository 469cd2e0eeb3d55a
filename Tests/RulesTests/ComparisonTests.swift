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
