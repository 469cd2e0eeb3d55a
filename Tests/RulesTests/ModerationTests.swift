import Chat
import Testing

@testable import Rules

/// Strikes, ladders and punishments.
@Suite struct ModerationTests {
    static let ladder = """
        version: 1
        ladders:
          conduct:
            forgive: 1 per 7d
            steps:
              1: [{warn: "keep it friendly ({{ strike.reason }}, {{ strike.total }})"}]
              2: [{mute: 10m}]
              3: [{mute: 1d}, {report: "third strike for {{ user.name }}"}]
              5: [ban]
        defaults: {report_to: staff}
        rules:

        """

    private func scene(_ rules: String) throws -> Scene { try Scene(Self.ladder + rules) }

    private let rude = """
          rude:
            when: [messageAdded, messageEdited]
            if: {text: rude}
            do: [delete, {strike: {reason: rudeness}}]
          vile:
            when: [messageAdded, messageEdited]
            if: {text: vile}
            do: [delete, {strike: {points: 3, reason: vileness}}]
          warn:
            when: {command: {name: warn, args: {who: person, why: optional rest}}}
            if: {user: {role: helper}}
            exempt: {roles: [moderator, helper]}
            do: [{strike: {user: "{{ args.who }}", reason: "{{ args.why }}"}}]
        """

    @Test func `only the highest step that is newly reached is done`() throws {
        let scene = try scene(rude)
        #expect(
            scene.say("rude") == ["delete general", "send general: ana: keep it friendly (rudeness, 1)"])
        let until = scene.now + .seconds(86_400)
        #expect(
            scene.say("vile") == [
                "delete general", "mute ana in general until \(until.milliseconds)",
                "send staff: third strike for ana\ncase C1",
            ])
        #expect(scene.say("rude") == ["delete general", "ban ana in general for good"])
        #expect(scene.say("rude") == ["delete general"])
    }

    @Test func `a step that was left behind by forgiving can be reached anew`() throws {
        let scene = try scene(rude)
        scene.say("rude")
        scene.now = scene.now + .seconds(7 * 86_400)
        #expect(
            scene.say("rude") == ["delete general", "send general: ana: keep it friendly (rudeness, 1)"])
    }

    @Test func `two strikes of one event are both on the ledger`() throws {
        let scene = try scene(
            """
              it: {when: messageAdded, if: {text: bad}, do: [{strike: 1}, {strike: 1}, {log: "{{ strike.total }}"}]}
            """)
        let event = scene.event(
            .messageAdded(scene.message("bad", by: scene.member("ana"))), in: scene.channel("general"))
        let decision = try #require(scene.decide(event).first)
        #expect(decision.notes.map(\.text) == ["2"])
        #expect(decision.charges.count == 1)
        #expect(scene.strikes("conduct", of: "ana") == 2)
    }

    @Test func `what a moderator gives counts with what a rule gives, and is about whom they name`() throws {
        let scene = try scene(rude.replacing("exempt: {roles: [moderator, helper]}", with: "exempt: none"))
        scene.say("rude", by: "ben")
        let until = scene.now + .seconds(600)
        #expect(
            scene.say("!warn @ben spoiling the film", by: "hal") == [
                "mute ben in general until \(until.milliseconds)"
            ])
        #expect(scene.strikes("conduct", of: "ben") == 2)
        #expect(scene.strikes("conduct", of: "hal") == 0)
        let key = StrikeLedger.key(ladder: "conduct", user: scene.member("ben").user)
        let entries = StrikeLedger(scene.memory.value(of: key)).entries
        #expect(entries.map(\.by) == ["rude", "warn"])
        #expect(entries.map(\.moderator) == [nil, "hal"])
        #expect(entries.map(\.reason) == ["rudeness", "spoiling the film"])
    }

    @Test func `a case is filed with who, what and why`() throws {
        let scene = try scene(rude)
        let message = scene.message("oh so RUDE of you", by: scene.member("ana"), id: "IM7")
        let decision = try #require(
            scene.decide(scene.event(.messageAdded(message), in: scene.channel("general"))).first)
        #expect(
            decision.charges == [
                Decision.Charge(
                    by: "rude", user: message.author.user, fragment: "RUDE", reason: "rudeness",
                    messages: [MessageReference(message)])
            ])
    }

    @Test func `a message that is edited again is no further strike`() throws {
        let scene = try scene(rude)
        let ana = scene.member("ana")
        scene.take(
            scene.event(
                .messageAdded(scene.message("rude", by: ana, id: "IM1")), in: scene.channel("general")))
        let edited = scene.message("rude!", by: ana, id: "IM1")
        #expect(
            scene.take(scene.event(.messageEdited(edited), in: scene.channel("general"))) == [
                "delete general"
            ])
        #expect(scene.strikes("conduct", of: "ana") == 1)
    }

    @Test func `a report shows what was before it, what matched and the case`() throws {
        let scene = try scene(
            """
              bad:
                about: Bad words.
                when: [messageAdded, messageEdited]
                if: {text: {has_any: bad, fold: loose}}
                do: [delete, {strike: {points: 3}}, {report: {include: [matched, history, message]}}]
            """)
        let guards = try #require(scene.rules.handlers.first { $0.stage == .guard })
        #expect(guards.needs.looksBack)
        for (name, text) in [("ben", "hello @here"), ("cho", "x")] {
            let message = scene.message(text, by: scene.member(name))
            scene.memory.past.append(scene.event(.messageAdded(message), in: scene.channel("general")))
        }
        let report = scene.say("so BÁD\nreally").last
        #expect(
            report == """
                send staff: Bad words.
                ana in General
                matched: BÁD
                > ben: hello @\u{200B}here
                > cho: x
                ana:
                > so BÁD
                > really
                case C1
                """)
    }

    @Test func `who was punished for their name is not punished again when something else changes`() throws {
        let scene = try scene(
            """
              named:
                when: [messageAdded, messageEdited, memberUpdated]
                if: {text: {has_any: bad, fields: [user.name]}}
                do: [{strike: {reason: name}}]
            """)
        func rename(_ name: String) {
            scene.take(
                scene.event(.memberUpdated(scene.member("ana", name: name)), in: scene.channel("general")))
        }
        for name in ["Bad", "Bad", "Good", "Bad"] { rename(name) }
        #expect(scene.strikes("conduct", of: "ana") == 1)
        rename("Bad too")
        #expect(scene.strikes("conduct", of: "ana") == 2)
    }

    // MARK: Whom nobody punishes

    static let commands = """
        version: 1
        rules:
          ban:
            when: {command: {name: ban, args: {who: person, for: optional duration, why: optional rest}}}
            if: {user: {role: helper}}
            exempt: none
            do: [{ban: {user: "{{ args.who }}", for: "{{ args.for | default('1h') }}", reason: "{{ args.why }}"}}]
        """

    @Test func `a name means whoever goes by it, and a time and a reason may follow`() throws {
        let scene = try Scene(Self.commands)
        let ben = scene.member("U2", name: "Ben")
        scene.take(scene.event(.memberJoined(ben), in: scene.channel("general")))
        let until = scene.now + .seconds(7200)
        #expect(
            scene.say("!ban @ben 2h too loud", by: "hal") == [
                "ban U2 in general until \(until.milliseconds): too loud"
            ])
    }

    @Test func `moderators, programs and steward itself are not punished by name`() throws {
        let scene = try Scene(Self.commands)
        let mia = scene.member("mia", roles: ["channel admin"])
        scene.take(scene.event(.memberJoined(mia), in: scene.channel("general")))
        scene.take(
            scene.event(.memberJoined(scene.member("robo", isBot: true)), in: scene.channel("general")))
        #expect(scene.say("!ban mia", by: "hal") == ["reply general: That cannot be done: mia is moderator."])
        #expect(
            scene.say("!ban robo", by: "hal") == ["reply general: That cannot be done: robo is a program."])
        #expect(
            scene.say("!ban steward", by: "hal") == [
                "reply general: That cannot be done: that is steward itself."
            ])
        // They lost the role.
        scene.take(scene.event(.memberUpdated(scene.member("mia")), in: scene.channel("general")))
        #expect(scene.say("!ban mia", by: "hal").first?.hasPrefix("ban mia") == true)
    }

    @Test func `a rule that leaves nobody alone may mute a moderator, and not throw them out`() throws {
        let scene = try Scene(
            """
            version: 1
            rules:
              it: {when: messageAdded, if: {text: bad}, exempt: none, do: [delete, {mute: 1m}, kick, {ban: 1d}]}
            """)
        let mia = scene.member("mia", roles: ["channel admin"])
        let event = scene.event(.messageAdded(scene.message("bad", by: mia)), in: scene.channel("general"))
        let until = scene.now + .seconds(60)
        #expect(scene.take(event) == ["delete general", "mute mia in general until \(until.milliseconds)"])
    }

    // MARK: What else is done

    @Test(arguments: [
        ("slowmode: 30s", "slow mode general: 30 seconds"), ("slowmode: none", "slow mode general: none"),
        ("slowmode: {to: 1m, in: [lobby, staff]}", "slow mode general: 1 minute, slow mode staff: 1 minute"),
        ("lock", "lock general"),
        ("lock: {for: 10m, reason: raid}", "lock general until 1780000600000: raid"),
        ("unlock: staff", "unlock staff"), ("unmute: \"{{ user }}\"", "unmute ana in general"),
        ("unban", "unban ana in general"),
        ("kick: raid", "kick ana out of general"),
        (
            "mute: {for: 1h, in: [lobby, support]}",
            "mute ana in general until 1780003600000, mute ana in support until 1780003600000"
        ),
    ])
    func `what a service is asked for`(_ action: String, _ expected: String) throws {
        // A lock without an end is allowed where a rule ends it.
        let scene = try Scene(
            "version: 1\nrules:\n  it: {when: messageAdded, if: {text: go}, do: [{log: x}, {\(action.contains(":") ? action : action + ": ")}]}\n"
                .replacing(": }]", with: "}]").replacing("{lock}", with: "lock").replacing(
                    "{unban}", with: "unban"))
        #expect(scene.say("go").joined(separator: ", ") == expected)
    }

    @Test func `a permit opens what a condition closes, for its time`() throws {
        let scene = try Scene(
            """
            version: 1
            rules:
              permit:
                when: {command: {name: permit, args: {who: person}}}
                if: {user: {role: helper}}
                do: [{permit: {user: "{{ args.who }}", what: links, for: 2m}}, {react: "👍"}]
              links:
                when: [messageAdded, messageEdited]
                if: {links: 1+, user: {permit: {not: links}}}
                do: [delete]
              told:
                when: messageAdded
                if: {user: {permit: [links, all]}, text: am i}
                do: [{reply: "you are"}]
            """)
        #expect(scene.say("https://a.org") == ["delete general"])
        #expect(scene.say("am i") == [])
        #expect(scene.say("!permit ana", by: "hal") == ["react general: 👍"])
        #expect(scene.say("https://a.org") == [])
        #expect(scene.say("am i") == ["reply general: you are"])
        #expect(scene.say("https://a.org", by: "ben") == ["delete general"])
        #expect(scene.memory.keeps.contains(.seconds(120)))
    }

    @Test func `points can be asked for, printed, taken back and forgotten`() throws {
        let scene = try scene(
            rude + """

                  strikes:
                    when: {command: {name: strikes, args: {who: optional person}}}
                    do: [{reply: "{{ strikes.conduct | of(args.who, user) | plural('point', 'points') }}"}]
                  forget:
                    when: {command: {name: forget, args: {who: person}}}
                    do: [{reset: {conduct: {user: "{{ args.who }}"}}}]
                  less:
                    when: {command: {name: less, args: {who: person}}}
                    exempt: none
                    do: [{strike: {user: "{{ args.who }}", points: -1}}]
                  asked:
                    when: messageAdded
                    if: {text: hello, user: {strikes: 2+}}
                    do: [{reply: "you again"}]
                """)
        scene.say("vile", by: "ben")
        #expect(scene.say("!strikes ben") == ["reply general: 3 points"])
        #expect(scene.say("hello", by: "ben") == ["reply general: you again"])
        #expect(scene.say("!less ben") == [])
        #expect(scene.say("!strikes", by: "ben") == ["reply general: 2 points"])
        scene.say("!forget @ben")
        #expect(scene.say("!strikes ben") == ["reply general: 0 points"])
        #expect(scene.say("hello", by: "ben") == [])
    }

    @Test func `rules hear of strikes`() throws {
        let scene = try scene(
            rude + """

                  often:
                    when: {strikes: {ladder: conduct, total: 3+}}
                    do: [{send: {to: staff, text: "{{ user.name }} has {{ strike.total }}, +{{ strike.points }}: {{ strike.reason }}"}}]
                """)
        let message = scene.message("vile", by: scene.member("ana"))
        let decisions = scene.decide(scene.event(.messageAdded(message), in: scene.channel("general")))
        let later = try #require(decisions.flatMap(\.later).first)
        #expect(later.due == scene.now)
        let told = scene.resume(later, in: scene.channel("general"))
        #expect(told.actions.map(describe) == ["send staff: ana has 3, +3: vileness"])
    }
}

extension Scene {
    func strikes(_ ladder: String, of id: String) -> Int64 {
        let key = StrikeLedger.key(ladder: ladder, user: member(id).user)
        return StrikeLedger(memory.value(of: key)).total(
            at: now, forgive: rules.rules.first?.ladders[ladder]?.forgive)
    }
}
