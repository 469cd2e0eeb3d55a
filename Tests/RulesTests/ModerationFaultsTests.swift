import Chat
import Testing

@testable import Rules

/// What went wrong with the moderation of other bots.
@Suite struct ModerationFaults {
    private func scene(_ rule: String) throws -> Scene {
        try Scene("version: 1\nladders: {conduct: {steps: {3: [kick]}}}\nrules:\n  it:\n\(rule)")
    }

    @Test func `programs are not punished unless a rule asks for them`() throws {
        let rule =
            "    when: messageAdded\n    if: {rate: 2 messages in 10s per user}\n    do: [{mute: 1m}]\n"
        for (text, isMuted) in [
            (rule, false), (rule.replacing("    if", with: "    exempt: {bots: false}\n    if"), true),
        ] {
            let scene = try scene(text)
            let robo = scene.member("robo", isBot: true)
            var last: [String] = []
            for _ in 1...3 {
                let said = scene.take(
                    scene.event(.messageAdded(scene.message("x", by: robo)), in: scene.channel("general")))
                if !said.isEmpty { last = said }
            }
            #expect(last.isEmpty != isMuted)
        }
    }

    @Test func `a moderator who cleans up by hand is no flood, and removals are no messages`() throws {
        let scene = try scene(
            "    when: [messageAdded, messageDeleted]\n    if: {rate: 3 messages in 10s per user}\n    do: [{mute: 1m}]\n"
        )
        let mia = scene.member("mia", roles: ["channel admin"])
        for number in 1...10 {
            let message = scene.message("x", by: mia, id: "M\(number)")
            #expect(scene.take(scene.event(.messageAdded(message), in: scene.channel("general"))) == [])
            let ana = scene.message("y", by: scene.member("ana"), id: "A\(number)")
            #expect(scene.take(scene.event(.messageDeleted(ana), in: scene.channel("general"))) == [])
        }
    }

    @Test func `banned text that is edited in is removed, with the same conditions on who wrote it`() throws {
        let scene = try scene(
            "    when: [messageAdded, messageEdited]\n    if: {links: 1+, user: {permit: {not: links}}}\n    do: [delete, strike]\n"
        )
        func edit(_ id: String) -> [String] {
            let message = scene.message("see https://evil.org", by: scene.member(id), id: "M-\(id)")
            return scene.take(scene.event(.messageEdited(message), in: scene.channel("general")))
        }
        scene.memory.apply(.set(.permit("links", of: scene.member("ben").user), .number(1), keep: nil))
        #expect(edit("ana") == ["delete general"])
        #expect(edit("ben") == [])
        #expect(scene.strikes("conduct", of: "ana") == 1)
    }

    @Test func `a rule that is switched off punishes nobody`() throws {
        let scene = try scene(
            "    when: messageAdded\n    run: disabled\n    if: {rate: 1 messages in 10s}\n    do: [kick, {strike: 3}]\n"
        )
        #expect(scene.say("x") == [])
        #expect(scene.memory.values.isEmpty)
    }

    @Test func `a rule on dry run gives no strikes and enters no mode`() throws {
        let scene = try Scene(
            "version: 1\nladders: {conduct: {steps: {3: [kick]}}}\nmodes: {raid: {clears_after: 1h}}\nrules:\n  it: {when: [messageAdded, messageEdited], run: dry, if: {text: x}, do: [{strike: 3}, {enter_mode: raid}]}\n"
        )
        let event = scene.event(
            .messageAdded(scene.message("x", by: scene.member("ana"))), in: scene.channel("general"))
        let decision = try #require(scene.decide(event).first)
        #expect(decision.matched == ["it (dry)"])
        #expect(decision.changes.isEmpty && decision.charges.isEmpty && decision.later.isEmpty)
    }

    @Test func `when a split heals, those who come back are no raid`() throws {
        let scene = try scene(
            "    when: memberJoined\n    if: {rate: {count: 5, of: joins, in: 30s, per: channel, only: {first_time: true}}}\n    do: [{lock: 10m}]\n"
        )
        for number in 1...40 {
            let member = scene.member("u\(number)")
            scene.facts[member.user.text] = MemberFacts(firstSeen: scene.now - .seconds(86_400))
            #expect(scene.take(scene.event(.memberJoined(member), in: scene.channel("general"))) == [])
        }
        var locked = 0
        for number in 1...8 {
            let said = scene.take(
                scene.event(.memberJoined(scene.member("n\(number)")), in: scene.channel("general")))
            if !said.isEmpty { locked += 1 }
        }
        #expect(locked == 1)
    }

    @Test func `who left by choice is told from whom steward removed`() throws {
        let scene = try Scene(
            """
            version: 1
            rules:
              kick: {when: [messageAdded, messageEdited], if: {text: bad}, do: [kick]}
              left: {when: memberLeft, if: {user: {left_by: choice}}, do: [{send: "bye {{ user.name }}"}]}
              gone: {when: memberLeft, if: {user: {left_by: removal}}, do: [{log: "gone"}]}
            """)
        scene.say("bad", by: "ben")
        let left = { (id: String) in
            scene.take(scene.event(.memberLeft(scene.member(id)), in: scene.channel("general")))
        }
        #expect(left("ben") == [])
        #expect(left("ana") == ["send general: bye ana"])
    }

    @Test func `what is punished is told with its reasons`() throws {
        let scene = try Scene(
            """
            version: 1
            ladders: {conduct: {steps: {3: [{mute: 1d}]}}}
            modes: {raid: {clears_after: 30m}}
            rules:
              vile: {when: [messageAdded, messageEdited], if: {text: vile}, do: [delete, {strike: {points: 3, reason: vileness}}, {ban: 2h}, {enter_mode: raid}, {lock: 10m}]}
              raid: {when: messageAdded, if: {mode: raid, text: hello}, do: [kick]}
              known: {when: messageAdded, if: {text: hello, user: {strikes: 2+}}, do: [{reply: x}]}
              allowed: {when: messageAdded, if: {text: hello, user: {permit: links}}, do: [{reply: x}]}
              give: {when: {command: give}, do: [{permit: {what: links, for: 5m}}]}
            """)
        let now = scene.now
        let told = { (text: String) in
            try #require(scene.rules.explain(say: text, as: "ana", in: "lobby", now: now)).description
        }
        let vile = try told("so vile")
        for words in [
            "→ delete the message", "→ mute ana in general for 1 day", "→ ban ana from general for 2 hours",
            "→ lock general for 10 minutes", "→ strike +3 on conduct of ana: vileness",
            "→ enter the mode raid",
            "→ file a case against ana",
        ] { #expect(vile.contains(words)) }
        let hello = try told("hello")
        for words in [
            "no: the mode is calm, not raid", "no: ana has 0 points on conduct, not 2+",
            "no: ana has no permit for links",
        ] { #expect(hello.contains(words)) }
        #expect(try told("!give").contains("→ permit links of ana for 5 minutes"))
    }
}
