import Chat
import Testing

@testable import Rules

@Suite struct ExplanationTests {
    private let text = """
        version: 1
        rules:
          welcome: {when: memberJoined, do: [{send: "Welcome!"}]}
          words: {when: [messageAdded, messageEdited], if: {text: {has_any: heck, fold: loose}}, do: [delete, {warn: "Softly."}]}
          off: {when: messageAdded, run: disabled, do: [{reply: "x"}]}
          refund:
            when: messageAdded
            in: [lobby, support]
            if:
              text: {has_any: [refund, "money back"]}
              not: {text: got my refund}
            do: [{reply: {text: "Refunds take 3-5 working days. You find all there is to know about them on our page.", delete_after: 6h}}]
          new: {when: messageAdded, if: {user: {first_time: false}}, do: [{reply: "x"}]}
          staff: {when: messageAdded, in: staff, if: {text: refund}, do: [{reply: "x"}]}
          all: {when: messageAdded, if: {text: back}, do: [{reply: "x"}]}
        """

    private func explain(_ say: String, in channel: String = "lobby", roles: [String] = []) throws -> String {
        let scene = try Scene(text)
        let now = Timestamp(milliseconds: 0)
        return try #require(scene.rules.explain(say: say, as: "ana", in: channel, roles: roles, now: now))
            .description
    }

    @Test func `every rule is told of in order, with why and what`() throws {
        #expect(
            try explain("I want my MONEY  BACK") == """
                messageAdded by ana in general: "I want my MONEY  BACK"

                guards
                  · 1. words  (bot.yaml:4)
                        no: the text has none of "heck"

                answers
                  · 2. welcome  (bot.yaml:3)
                        no: it looks at memberJoined
                  · 3. off  (bot.yaml:5)
                        no: run: disabled
                  ✓ 4. refund  (bot.yaml:6)
                        matches: "MONEY  BACK"
                        → reply in general, removed after 6h: Refunds take 3-5 working days. You
                          find all there is to know about them on our page.
                  · 5. new  (bot.yaml:13)
                        no: ana was never seen before
                  · 6. staff  (bot.yaml:14)
                        no: it does not look at this channel
                  · 7. all  (bot.yaml:15)
                        not asked: "refund" answers already

                as if nothing was remembered (ana is new, nothing rests, counts are 0): 5
                """)
    }

    @Test func `what a guard removes is not answered`() throws {
        let said = try explain("what the h3ck, refund")
        #expect(
            said.contains(
                "✓ 1. words  (bot.yaml:4)\n        matches: \"h3ck\"\n        → delete the message\n"))
        #expect(said.contains("→ send to general, removed after 1m: ana: Softly."))
        #expect(said.contains("not asked: \"words\" removed the message"))
        #expect(try explain("heck", roles: ["moderator"]).contains("no: ana is exempt"))
    }

    @Test func `what does not fit a screen is told in a line, and what looks elsewhere shares one`() throws {
        let scene = try Scene(
            """
            version: 1
            counters:
              visits: {per: user, keep: forever}
            rules:
              words: {when: messageAdded, if: {text: [heck, darn, "and much more that does not fit", "a line of a terminal"]}, do: [delete]}
              one: {when: memberJoined, do: [{send: x}]}
              two: {when: memberLeft, do: [{send: x}]}
              three: {when: memberJoined, if: {user: {bot: true}}, do: [{send: x}]}
              back: {when: messageAdded, if: {text: hello, user: {messages: over 5}}, do: [{reply: x}]}
              first: {when: messageAdded, if: {text: hello}, once: per user, also: true, do: [{reply: x}]}
              plain: {when: messageAdded, if: {text: hello}, also: true, do: [{reply: x}]}
              visits: {when: messageAdded, if: {text: hello}, also: true, do: [{reply: "{{ counters.visits }}"}]}
            """)
        var explanation = try #require(
            scene.rules.explain(say: "hello", as: "ana", in: "lobby", now: Timestamp(milliseconds: 0)))
        #expect(explanation.description(in: 100) == explanation.description)
        #expect(
            explanation.description(in: 20) == """
                messageAdded by ana in general: "hello"
                guards
                  · 1. words  no: the text has none of "heck", "darn", "and much more that …
                answers
                  · 2-4. look at other events: one, two, three
                  · 5. back  no: ana wrote 0 messages, not over 5
                  ✓ 6. first  (bot.yaml:10)
                        matches: "hello"
                        → reply in general: x
                        → then never again for this user
                  ✓ 7. plain  (bot.yaml:11)
                        matches: "hello"
                        → reply in general: x
                  ✓ 8. visits  (bot.yaml:12)
                        matches: "hello"
                        → reply in general: 0
                as if nothing was remembered (ana is new, nothing rests, counts are 0): 5, 6 and
                  8
                --rule ID tells all of one rule, --all of each
                """)
        explanation.narrow(to: "plain")
        #expect(explanation.entries.map(\.number) == [7])
        #expect(explanation.assumption == nil)
        explanation.narrow(to: "none")
        #expect(explanation.entries.isEmpty)
    }

    /// Each of the four comes when the one before has too many lines.
    @Test(arguments: [
        (
            24,
            """
            guards
              · 1-2. the text has no link: links, hosts
              · 3. calm  no: the mode is calm, not storm
              ✓ 4. words  (bot.yaml:8)
                    matches: "heck"
                    → delete the message
                    → send to general: Please mind your words here, dear ana, for there are
                      children among us, and they do read along.
                    → file a case against ana
              · 5-6. not asked: "words" comes first and ends the guard stage: twice, more
            answers
              · 7. answer  not asked: "words" removed the message
            observers
              · 8. one  no: the text has none of "one"
              · 9. two  no: the text has none of "two"
              · 10. often  no: 1 message in 10s, not 3 messages in 10s
              · 11. three  no: the text has none of "three"
            """
        ),
        (
            18,
            """
            observers
              · 8-9, 11. they do not find what they look for: one, two, three
              · 10. often  no: 1 message in 10s, not 3 messages in 10s
            """
        ),
        (
            17,
            """
                    → send to general: Please mind your words here, dear ana, for there …
            """
        ),
        (
            14,
            """
            observers
              · 8-11. a condition does not hold: one, two, often, three
            """
        ),
    ])
    func `the fewer lines there are, the more rules share one`(_ most: Int, _ expected: String) throws {
        let scene = try Scene(
            """
            version: 1
            modes: {calm: {default: true}, storm: {clears_after: 1h}}
            rules:
              links: {when: [messageAdded, messageEdited], if: {links: 1+}, do: [delete]}
              hosts: {when: [messageAdded, messageEdited], if: {links: {hosts_in: x.org}}, do: [delete]}
              calm: {when: [messageAdded, messageEdited], if: {mode: storm}, do: [delete]}

              words: {when: [messageAdded, messageEdited], if: {text: heck}, do: [delete, {send: "Please mind your words here, dear {{ user.name }}, for there are children among us, and they do read along."}]}
              twice: {when: [messageAdded, messageEdited], if: {text: [heck, x]}, do: [delete]}
              more: {when: [messageAdded, messageEdited], if: {text: [heck, y]}, do: [delete]}
              answer: {when: messageAdded, if: {text: heck}, do: [{reply: x}]}
              one: {when: messageAdded, if: {text: one}, do: [{log: x}]}
              two: {when: messageAdded, if: {text: two}, do: [{log: x}]}
              often: {when: messageAdded, if: {rate: 3 messages in 10s}, do: [{log: x}]}
              three: {when: messageAdded, if: {text: three}, do: [{log: x}]}
            """)
        let told = try #require(
            scene.rules.explain(say: "heck", as: "ana", in: "lobby", now: Timestamp(milliseconds: 0))
        ).description(in: most)
        #expect(told.contains(expected))
        if most > 14 { #expect(told.split(separator: "\n").count <= most) }
    }

    @Test func `a direct conversation is a place, too`() throws {
        let scene = try Scene(
            "version: 1\nrules:\n  it: {when: messageAdded, in: direct, do: [{reply: x}]}\n  other: {when: messageAdded, in: lobby, do: [{reply: x}]}"
        )
        let told = try #require(
            scene.rules.explain(say: "hi", as: "ana", in: "direct", now: Timestamp(milliseconds: 0)))
        #expect(told.entries.map(\.matches) == [true, false])
    }

    @Test func `a condition that must not hold names what it found`() throws {
        #expect(
            try explain("got my refund").contains("no: the text has \"got my refund\", and must not"))
    }

    @Test(arguments: ["x", String(repeating: "long ", count: 60), String(repeating: "x", count: 300)])
    func `no line is wider than eighty columns`(_ said: String) throws {
        for line in try explain(said + " refund").split(separator: "\n") { #expect(line.count <= 80) }
    }

    @Test func `a channel that nobody has cannot be explained`() throws {
        #expect(
            try Scene(text).rules.explain(say: "x", as: "ana", in: "den", now: Timestamp(milliseconds: 0))
                == nil)
    }
}

@Suite struct ExampleTests {
    @Test func `examples look at the text and nothing else`() throws {
        let scene = try Scene(
            """
            version: 1
            rules:
              it:
                when: messageAdded
                in: staff
                if:
                  text: {has_any: refund}
                  user: {bot: true, role: helper}
                  not: {text: got my refund}
                  any: [{user: {first_time: true}}, {text: never}]
                do: [{reply: x}]
                examples: {match: ["a refund", "none"], no_match: ["got my refund", "refund!"]}
            """)
        #expect(scene.rules.exampleCount() == 4)
        #expect(
            scene.rules.runExamples().map(\.description) == [
                "bot.yaml:12:36: error: example \"none\" of \"it\" should match, and does not",
                "bot.yaml:12:73: error: example \"refund!\" of \"it\" should not match, and does",
            ])
        #expect(scene.rules.runExamples(of: "other") == [])
    }
}
