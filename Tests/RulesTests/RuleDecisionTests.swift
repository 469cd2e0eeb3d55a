import Chat
import Testing

@testable import Rules

@Suite struct RuleDecisionTests {
    private let twoAnswers = """
        version: 1
        rules:
          first:
            when: messageAdded
            if: {text: refund}
            do: [{reply: "one"}]
          second:
            when: messageAdded
            if: {text: money}
            do: [{reply: "two"}]
        """

    @Test func `three keywords in a message get one answer, the first in the file`() throws {
        let scene = try Scene(twoAnswers)
        #expect(scene.say("money refund money") == ["reply general: one"])
        #expect(scene.say("money") == ["reply general: two"])
        #expect(scene.say("nothing") == [])
    }

    @Test func `also answers beside others and is not counted`() throws {
        let scene = try Scene(
            twoAnswers
                + "\n  third:\n    when: messageAdded\n    also: true\n    if: {text: refund}\n    do: [{react: 👍}]\n"
        )
        #expect(scene.say("refund money") == ["reply general: one", "react general: 👍"])
    }

    @Test func `a relay elsewhere is no answer`() throws {
        let scene = try Scene(
            """
            version: 1
            rules:
              relay:
                when: messageAdded
                in: [support, lobby]
                if: {text: outage}
                do: [{relay: {to: staff, quote: true}}]
              answer:
                when: messageAdded
                if: {text: outage}
                do: [{reply: "we know"}]
            """)
        #expect(
            scene.say("an outage\nagain", in: "support") == [
                "send staff: ana in Support:\n> an outage\n> again", "reply support: we know",
            ])
        #expect(scene.say("outage", in: "staff") == ["reply staff: we know"])
    }

    @Test func `guards come first, the first that matches wins, and what is removed gets no answer`() throws {
        let scene = try Scene(
            """
            version: 1
            rules:
              answer:
                when: messageAdded
                if: {text: darn}
                do: [{reply: "hello"}]
              guard-one:
                when: [messageAdded, messageEdited]
                if: {text: darn}
                do: [delete, {warn: "This is a family channel."}]
              guard-two:
                when: [messageAdded, messageEdited]
                if: {text: [darn, heck]}
                do: [{warn: "Softly."}]
              looks-on:
                stage: observe
                when: messageAdded
                do: [{send: {to: staff, text: "seen"}}]
            """)
        #expect(
            scene.say("darn") == [
                "delete general", "send general: ana: This is a family channel.", "send staff: seen",
            ])
        #expect(scene.say("heck") == ["reply general: ana: Softly.", "send staff: seen"])
        #expect(scene.rules.handlers.map(\.stage) == [.guard, .answer, .observe])
    }

    @Test func `continue lets the next guard act too`() throws {
        let scene = try Scene(
            """
            version: 1
            rules:
              one: {when: [messageAdded, messageEdited], if: {text: a1}, continue: true, do: [{warn: "one"}]}
              two: {when: [messageAdded, messageEdited], if: {text: [a1]}, do: [delete]}
              three: {when: [messageAdded, messageEdited], if: {text: {has_all: a1}}, do: [{warn: "three"}]}
            """)
        #expect(scene.say("a1") == ["reply general: ana: one", "delete general"])
    }

    @Test func `stop ends what comes after it`() throws {
        let scene = try Scene(
            """
            version: 1
            rules:
              quiet: {when: messageAdded, in: staff, do: [stop]}
              answer: {when: messageAdded, do: [{reply: "hello"}]}
            """)
        #expect(scene.say("x", in: "staff") == [])
        #expect(scene.say("x", in: "general") == ["reply general: hello"])
    }

    @Test func `steward itself and programs are not looked at unless asked for`() throws {
        let scene = try Scene(
            """
            version: 1
            rules:
              people: {when: messageAdded, do: [{reply: "person"}]}
              programs: {when: messageAdded, if: {user: {bot: true}}, do: [{reply: "program"}]}
            """)
        let channel = scene.channel("general")
        func take(_ member: Member) -> [String] {
            scene.take(scene.event(.messageAdded(scene.message("x", by: member)), in: channel))
        }
        #expect(take(scene.member("ana")) == ["reply general: person"])
        #expect(take(scene.member("bot", isBot: true)) == ["reply general: program"])
        #expect(take(scene.member("steward")) == [])
        #expect(take(scene.member("steward", isBot: true)) == [])
    }

    @Test func `moderators are exempt from guards, and exempt replaces that`() throws {
        let scene = try Scene(
            """
            version: 1
            rules:
              usual: {when: [messageAdded, messageEdited], if: {text: heck}, do: [delete]}
              nobody: {when: [messageAdded, messageEdited], if: {text: darn}, exempt: none, do: [delete]}
              helpers:
                when: [messageAdded, messageEdited]
                if: {text: dash}
                exempt: {roles: helper, users: ["twilio:max"]}
                do: [delete]
            """)
        let channel = scene.channel("general")
        func take(_ text: String, _ member: Member) -> [String] {
            scene.take(scene.event(.messageAdded(scene.message(text, by: member)), in: channel))
        }
        let moderator = scene.member("mo", roles: ["channel admin"])
        #expect(take("heck", moderator) == [])
        #expect(take("darn", moderator) == ["delete general"])
        #expect(take("dash", moderator) == ["delete general"])
        #expect(take("dash", scene.member("hal")) == [])
        #expect(take("dash", scene.member("max")) == [])
        #expect(take("heck", scene.member("hal")) == ["delete general"])
    }

    @Test func `defaults of a file replace the usual exemption of its guards`() throws {
        let scene = try Scene(
            """
            version: 1
            defaults: {exempt: {roles: helper}}
            rules:
              it: {when: [messageAdded, messageEdited], if: {text: heck}, do: [delete]}
              answer: {when: messageAdded, if: {text: hello}, do: [{reply: "hi"}]}
            """)
        #expect(scene.say("heck", by: "hal") == [])
        #expect(scene.say("hello", by: "hal") == ["reply general: hi"])
    }

    @Test func `channels are named, by pattern too, or direct`() throws {
        let scene = try Scene(
            """
            version: 1
            rules:
              a: {when: messageAdded, in: [lobby, "sup*"], not_in: support, do: [{reply: "named"}]}
              b: {when: messageAdded, in: direct, do: [{reply: "direct"}]}
              c: {when: messageAdded, in: "twilio:staff", do: [{reply: "staff"}]}
            """)
        #expect(scene.say("x", in: "general") == ["reply general: named"])
        #expect(scene.say("x", in: "superb") == ["reply superb: named"])
        #expect(scene.say("x", in: "support") == [])
        #expect(scene.say("x", in: "staff") == ["reply staff: staff"])
        let direct = scene.channel("dm1", isDirect: true)
        let event = scene.event(.messageAdded(scene.message("x", by: scene.member("ana"))), in: direct)
        #expect(scene.take(event) == ["reply dm1: direct"])
    }

    @Test func `what happens to the whole account is told where the rule says`() throws {
        let scene = try Scene(
            """
            version: 1
            rules:
              up: {when: [serviceUp, started], do: [{send: {to: [staff, lobby], text: "{{ service.name }} is up"}}]}
              here: {when: serviceUp, in: lobby, do: [{send: {to: staff, text: "never"}}]}
            """)
        #expect(
            scene.take(scene.event(.serviceUp, in: nil)) == [
                "send staff: twilio is up", "send general: twilio is up",
            ])
        #expect(scene.take(scene.event(.channelAdded, in: scene.channel("x"))) == [])
    }

    @Test func `answers do not see edits, guards do`() throws {
        let scene = try Scene(
            """
            version: 1
            rules:
              guard: {when: [messageAdded, messageEdited], if: {text: heck}, do: [delete]}
              answer: {when: messageAdded, if: {text: hello}, do: [{reply: "hi"}]}
            """)
        let channel = scene.channel("general")
        let ana = scene.member("ana")
        #expect(
            scene.take(scene.event(.messageEdited(scene.message("heck", by: ana)), in: channel)) == [
                "delete general"
            ])
        #expect(scene.take(scene.event(.messageEdited(scene.message("hello", by: ana)), in: channel)) == [])
    }

    @Test func `a message gets one answer, however often it is edited`() throws {
        let scene = try Scene(
            """
            version: 1
            rules:
              added: {when: messageAdded, if: {text: hello}, do: [{reply: "hi"}]}
              edited: {when: messageEdited, if: {text: bye}, do: [{reply: "bye"}]}
            """)
        let channel = scene.channel("general")
        let ana = scene.member("ana")
        func take(_ text: String, _ id: String, edited: Bool) -> [String] {
            let message = scene.message(text, by: ana, id: id)
            return scene.take(
                scene.event(edited ? .messageEdited(message) : .messageAdded(message), in: channel))
        }
        #expect(take("hello", "IM1", edited: false) == ["reply general: hi"])
        #expect(take("bye", "IM1", edited: true) == [])
        #expect(take("x", "IM2", edited: false) == [])
        #expect(take("bye", "IM2", edited: true) == ["reply general: bye"])
        #expect(take("bye now", "IM2", edited: true) == [])
    }

    @Test func `an answer that comes too late is not given, a guard still acts`() throws {
        let scene = try Scene(
            """
            version: 1
            rules:
              guard: {when: [messageAdded, messageEdited], if: {text: heck}, do: [delete]}
              answer: {when: messageAdded, do: [{reply: "hi"}]}
            """)
        scene.isStale = true
        #expect(scene.say("heck") == ["delete general"])
        #expect(scene.say("hello") == [])
    }

    @Test func `dry rules match, do nothing, end nothing and remember nothing; disabled ones are inert`()
        throws
    {
        let scene = try Scene(
            """
            version: 1
            rules:
              dry-guard: {when: [messageAdded, messageEdited], if: {text: heck}, run: dry, do: [delete]}
              disabled: {when: [messageAdded, messageEdited], if: {text: [heck]}, run: disabled, do: [delete]}
              dry: {when: messageAdded, run: dry, cooldown: 1m per user, once: per user, do: [{reply: "dry"}]}
              live: {when: messageAdded, do: [{reply: "live"}]}
            """)
        let event = scene.event(
            .messageAdded(scene.message("heck", by: scene.member("ana"))), in: scene.channel("general"))
        let decisions = scene.decide(event)
        #expect(decisions.map(\.matched) == [["dry-guard (dry)"], ["dry (dry)", "live"]])
        #expect(decisions.flatMap(\.actions).map(describe) == ["reply general: live"])
        #expect(scene.memory.values.isEmpty)
    }

    @Test func `of a group the first answers, or all`() throws {
        let rules = """
            rules:
              a: {when: messageAdded, group: faq, also: true, if: {text: x1}, do: [{reply: "a"}]}
              b: {when: messageAdded, group: faq, also: true, if: {text: [x1]}, do: [{reply: "b"}]}
            """
        let first = try Scene("version: 1\ngroups: {faq: {pick: first}}\n" + rules)
        #expect(first.say("x1") == ["reply general: a"])
        let all = try Scene("version: 1\ngroups: {faq: {pick: all}}\n" + rules)
        #expect(all.say("x1") == ["reply general: a", "reply general: b"])
    }

    @Test(arguments: [
        ("{first_time: true}", MemberFacts(), true),
        ("{first_time: true}", MemberFacts(firstSeen: Timestamp(milliseconds: 0)), false),
        ("{first_time: false}", MemberFacts(firstSeen: Timestamp(milliseconds: 0)), true),
        ("{messages: under 5}", MemberFacts(messages: 4), true),
        ("{messages: under 5}", MemberFacts(messages: 5), false),
        ("{messages: 5+}", MemberFacts(messages: 5), true),
        ("{messages: 2 to 3}", MemberFacts(messages: 3), true),
        (
            "{member_for: under 1d}",
            MemberFacts(joined: Timestamp(milliseconds: 1_780_000_000_000 - 3_600_000)), true
        ),
        (
            "{member_for: over 1d}",
            MemberFacts(joined: Timestamp(milliseconds: 1_780_000_000_000 - 3_600_000)), false
        ),
        ("{member_for: over 1d}", MemberFacts(firstSeen: Timestamp(milliseconds: 0)), true),
        ("{member_for: over 1d}", MemberFacts(), false), ("{member_for: under 1d}", MemberFacts(), false),
        ("{away: over 90d}", MemberFacts(lastSeen: Timestamp(milliseconds: 0)), true),
        ("{away: over 90d}", MemberFacts(), false), ("{role: helper}", MemberFacts(), false),
        ("{role: {not: helper}}", MemberFacts(), true), ("{id: ana}", MemberFacts(), true),
        ("{id: [\"twilio:ana\", ben]}", MemberFacts(), true), ("{id: ben}", MemberFacts(), false),
        ("{name: ana}", MemberFacts(), true), ("{name: {starts_with: \"an*\"}}", MemberFacts(), true),
        ("{name: an}", MemberFacts(), false), ("{is_not: message.text}", MemberFacts(), true),
    ])
    func `conditions on the user`(_ condition: String, _ facts: MemberFacts, _ expected: Bool) throws {
        let scene = try Scene(
            rule: "    when: messageAdded\n    if: {user: \(condition)}\n    do: [{reply: \"yes\"}]\n")
        scene.facts["ana"] = facts
        #expect(scene.say("x") == (expected ? ["reply general: yes"] : []))
    }

    @Test func `who was there before steward is as old a member as the service says`() throws {
        let scene = try Scene(
            rule: "    when: messageAdded\n    if: {user: {member_for: under 1d}}\n    do: [delete]\n")
        // What steward itself remembers begins with its store.
        scene.facts["ana"] = MemberFacts(firstSeen: scene.now - .seconds(60))
        let regular = scene.member("ana", joinedAt: scene.now - .seconds(30 * 86_400))
        let event = scene.event(
            .messageAdded(scene.message("hi", by: regular)), in: scene.channel("general"))
        #expect(scene.take(event) == [])
        #expect(scene.say("hi") != [])
    }

    @Test func `nobody thanks themselves`() throws {
        let scene = try Scene(
            rule: """
                    when: messageAdded
                    if:
                      text: {regex: '(?i)^thanks @(?<who>[\\p{L}\\p{N}_.-]{1,64})'}
                      user: {is_not: match.who}
                    do: [{reply: "{{ match.who }} +1"}]
                """.indented)
        #expect(scene.say("Thanks @ben!") == ["reply general: ben +1"])
        #expect(scene.say("thanks @ana") == [])
        #expect(scene.say("thanks @Ana") == [])
    }

    @Test func `any, all and not nest`() throws {
        let scene = try Scene(
            rule: """
                    when: messageAdded
                    if:
                      - any:
                          - text: {has_all: [a1, b1]}
                          - all: [{text: c1}, {not: {text: d1}}]
                      - not: {any: [{text: e1}, {user: {id: ben}}]}
                    do: [{reply: "yes"}]
                """.indented)
        for text in ["b1 a1", "c1", "a1 b1 d1"] { #expect(scene.say(text) == ["reply general: yes"]) }
        for text in ["a1", "c1 d1", "a1 b1 e1", ""] { #expect(scene.say(text) == []) }
        #expect(scene.say("c1", by: "ben") == [])
    }

    @Test func `every place of one file, then of the next`() throws {
        let files = ["b.yaml", "a.yaml"].map { name in
            BotSource(
                name: name,
                bytes: Array(
                    "version: 1\nrules: {\(name.prefix(1)): {when: messageAdded, if: {text: \(name.prefix(1))}, do: [{reply: hi}]}}"
                        .utf8))
        }
        let rules = try #require(RuleSet.load(files).rules)
        #expect(rules.ruleNames == ["b", "a"])
    }
}
