import Chat
import Testing

@testable import Rules

/// Rates whose burst is one offence.
@Suite struct BurstTests {
    private let flood = """
        version: 1
        ladders: {conduct: {steps: {9: [kick]}}}
        rules:
          flood:
            when: messageAdded
            if: {rate: 3 messages in 10s per user}
            do: [{delete: burst}, {strike: {reason: flooding}}, {mute: 5m}]

        """

    /// A message with what is done about it.
    private func say(
        _ scene: Scene, _ text: String, by id: String = "ana", in channel: String = "general",
        id message: String
    )
        -> Decision
    {
        let message = scene.message(text, by: scene.member(id), id: message)
        return scene.decide(scene.event(.messageAdded(message), in: scene.channel(channel))).first ?? .nothing
    }

    private func deleted(_ decision: Decision) -> [String] {
        decision.actions.compactMap { action in
            if case .deleteMessage(let reference) = action.verb { reference.id } else { nil }
        }
    }

    @Test func `all of it is deleted, the newest first, for one strike and one case`() throws {
        let scene = try Scene(flood)
        #expect(say(scene, "a", id: "M1").isEmpty)
        #expect(say(scene, "x", by: "ben", id: "M2").isEmpty)
        #expect(say(scene, "b", id: "M3").isEmpty)
        let decision = say(scene, "c", id: "M4")
        #expect(deleted(decision) == ["M4", "M3", "M1"])
        #expect(decision.removed)
        #expect(decision.actions.count == 4)
        #expect(decision.charges.count == 1)
        #expect(decision.charges.first?.messages.map(\.id) == ["M4", "M3", "M1"])
        #expect(scene.strikes("conduct", of: "ana") == 1)
    }

    @Test func `what follows is deleted too, and is no further offence until it was quiet for a while`()
        throws
    {
        let scene = try Scene(flood)
        for number in 1...3 { _ = say(scene, "\(number)", id: "M\(number)") }
        for number in 4...20 {
            scene.now = scene.now + .seconds(4)
            // Twenty messages of which each is four seconds after the last: three in ten seconds all the time.
            let decision = say(scene, "\(number)", id: "M\(number)")
            #expect(deleted(decision) == ["M\(number)"])
            #expect(decision.actions.count == 1 && decision.charges.isEmpty)
        }
        #expect(scene.strikes("conduct", of: "ana") == 1)
        scene.now = scene.now + .seconds(11)
        #expect(say(scene, "a", id: "N1").isEmpty)
        #expect(say(scene, "b", id: "N2").isEmpty)
        #expect(deleted(say(scene, "c", id: "N3")) == ["N3", "N2", "N1"])
        #expect(scene.strikes("conduct", of: "ana") == 2)
    }

    @Test func `the burst of one is not that of another`() throws {
        let scene = try Scene(flood)
        for number in 1...3 { _ = say(scene, "\(number)", id: "A\(number)") }
        for number in 1...2 { #expect(say(scene, "\(number)", by: "ben", id: "B\(number)").isEmpty) }
        #expect(deleted(say(scene, "3", by: "ben", id: "B3")) == ["B3", "B2", "B1"])
        #expect(scene.strikes("conduct", of: "ben") == 1)
    }

    @Test func `a burst over several channels is deleted where it was`() throws {
        let scene = try Scene(flood.replacing("per user", with: "per user across service"))
        _ = say(scene, "a", in: "general", id: "M1")
        _ = say(scene, "b", in: "support", id: "M2")
        let decision = say(scene, "c", in: "staff", id: "M3")
        #expect(
            decision.actions.map(describe).prefix(3) == ["delete staff", "delete support", "delete general"])
    }

    @Test func `what another rule has deleted is not deleted again`() throws {
        let scene = try Scene(
            flood.replacing(
                "rules:\n",
                with: "rules:\n  bad: {when: [messageAdded, messageEdited], if: {text: bad}, do: [delete]}\n")
        )
        _ = say(scene, "bad", id: "M1")
        _ = say(scene, "b", id: "M2")
        #expect(deleted(say(scene, "c", id: "M3")) == ["M3", "M2"])
    }

    @Test func `a backlog that is read at once is no flood`() throws {
        let scene = try Scene(flood)
        let start = scene.now
        for number in 1...30 {
            scene.now = start - .seconds(600 - Int64(number) * 20)
            let message = scene.message("\(number)", by: scene.member("ana"), id: "M\(number)")
            let event = scene.event(.messageAdded(message), in: scene.channel("general"))
            scene.now = start
            #expect(scene.decide(event).isEmpty)
        }
    }

    @Test func `what was before a restart is counted when the store tells it`() throws {
        let scene = try Scene(flood)
        let guards = try #require(scene.rules.handlers.first as? any RecallingHandler)
        #expect(guards.recalls == .seconds(10))
        for number in 1...2 {
            let message = scene.message("\(number)", by: scene.member("ana"), id: "M\(number)")
            let event = scene.event(.messageAdded(message), in: scene.channel("general"))
            guards.recall(event, in: scene.situation(for: event))
        }
        #expect(deleted(say(scene, "c", id: "M3")) == ["M3", "M2", "M1"])
    }

    @Test func `each of those who did it, and nobody else`() throws {
        let scene = try Scene(
            """
            version: 1
            defaults: {report_to: staff}
            rules:
              raid:
                when: messageAdded
                if: {rate: {count: 3, of: similar, in: 60s, per: channel, distinct: user}}
                do:
                  - each: {of: rate.users, do: [{delete: burst}, {kick: raid}]}
                  - report: "{{ rate.users | count }} removed"
            """)
        _ = say(scene, "join cool-place now", by: "r1", id: "M1")
        _ = say(scene, "join cool-place now", by: "r1", id: "M2")
        _ = say(scene, "nice weather today", by: "ana", id: "M3")
        _ = say(scene, "Join cool-place NOW", by: "r2", id: "M4")
        let decision = say(scene, "join cool-place now!", by: "r3", id: "M5")
        #expect(
            decision.actions.map(describe) == [
                "delete general", "delete general", "kick r1 out of general", "delete general",
                "kick r2 out of general", "delete general", "kick r3 out of general",
                "send staff: 3 removed\ncases C1 to C3",
            ])
        #expect(deleted(decision) == ["M2", "M1", "M4", "M5"])
        #expect(decision.charges.map(\.user.text) == ["r1", "r2", "r3"])
        #expect(decision.charges.map { $0.messages.map(\.id) } == [["M2", "M1"], ["M4"], ["M5"]])
        #expect(Set(decision.actions.map(\.path)).count == 6)
    }

    @Test(arguments: [("strikes", "strike: {points: 2}"), ("reports", "report: hm")])
    func `what rules do about people can be counted`(_ kind: String, _ action: String) throws {
        let scene = try Scene(
            """
            version: 1
            ladders: {conduct: {steps: {99: [kick]}}}
            defaults: {report_to: staff}
            rules:
              bad: {when: [messageAdded, messageEdited], if: {text: bad}, do: [delete, {\(action)}], continue: true}
              calm:
                when: messageAdded
                if: {rate: \(kind == "strikes" ? 4 : 2) \(kind) in 1m}
                do: [{slowmode: 30s}]
            """)
        #expect(!scene.say("bad").contains("slow mode general: 30 seconds"))
        #expect(!scene.say("bad", by: "ben").contains("slow mode general: 30 seconds"))
        #expect(scene.say("hello", by: "cho") == ["slow mode general: 30 seconds"])
        #expect(scene.say("hello", by: "cho") == [])
    }

    @Test(arguments: [
        (
            "if: {text: x}\n    do: [{delete: burst}]",
            "a burst is what a rate has counted, and this rule asks for none - add rate: under if:"
        ),
        (
            "if: {text: x}\n    do: [{each: {of: user.name, do: [kick]}}]",
            "\"user.name\" is no list of users - use rate.users"
        ),
        (
            "if: {text: x}\n    do: [{report: hi}]",
            "\"report\" does not say where - write defaults: {report_to: staff}, or add to: staff"
        ),
        (
            "if: {text: x}\n    do: [strike]",
            "there is no ladder for strikes - declare one: ladders: {conduct: {steps: {3: [{mute: 1d}]}}}"
        ),
        ("if: {text: x}\n    do: [{enter_mode: raid}]", "unknown mode \"raid\" - declare it under modes:"),
        ("if: {mode: raid}\n    do: [delete]", "unknown mode \"raid\" - declare it under modes:"),
        (
            "if: {text: x}\n    do: [{slowmode: {in: lobby}}]",
            "\"slowmode\" does not say how slow - write slowmode: 30s, or none"
        ),
        (
            "if: {text: x}\n    do: [{permit: {for: 5m}}]",
            "\"permit\" does not say for what - add what: links"
        ),
        (
            "if: {text: x}\n    do: [{confirm: sure}]",
            "nothing is done when it is confirmed - put actions behind it"
        ),
        ("if: {text: x}\n    do: [{mute: long}]", "\"long\" is not a duration - try \"10m\""),
        (
            "if: {text: {has_any: xxxxxx, fold: squeezed}}\n    do: [{mute: 1m}]",
            "a rule that punishes cannot use \"squeezed\": it finds words in what was not meant - use loose, or report instead"
        ),
        (
            "if: {text: x}\n    do: [{reply: \"{{ strike.total }}\"}]",
            "\"strike\" is what a strike has given, and this rule gives none - did you mean \"strikes.ladder\"?"
        ),
        ("if: {text: x}\n    breaker: {in: 2d}\n    do: [delete]", "a breaker looks back for 1m to 1d"),
    ])
    func `a mistake is told with the way out`(_ lines: String, _ expected: String) throws {
        let text = "version: 1\nrules:\n  it:\n    when: [messageAdded, messageEdited]\n    \(lines)\n"
        let loaded = RuleSet.load(
            [BotSource(name: "x.yaml", bytes: Array(text.utf8))], directory: Scene.directory())
        let told = loaded.errors.map { $0.problem + ($0.hint.map { " - \($0)" } ?? "") }
        #expect(told == [expected])
    }

    @Test func `a mute without an end is told, and what nobody uses or gives`() {
        let text = """
            version: 1
            ladders: {spare: {steps: {3: [kick]}}}
            modes: {raid: {clears_after: 1h}}
            rules:
              it:
                when: [messageAdded, messageEdited]
                if: {text: x, user: {permit: lniks}}
                do: [mute]
              give:
                when: {command: give}
                do: [{permit: links}, lock]
            """
        let loaded = RuleSet.load(
            [BotSource(name: "x.yaml", bytes: Array(text.utf8))], directory: Scene.directory())
        #expect(
            loaded.findings.map(\.description) == [
                "x.yaml:2:11: warning: no rule gives strikes on the ladder \"spare\" - write strike: {ladder: spare}, or remove it",
                "x.yaml:3:9: warning: no rule enters the mode \"raid\" - write enter_mode: raid, or remove it",
                "x.yaml:7:34: warning: no rule gives the permit \"lniks\" - did you mean \"links\"?",
                "x.yaml:8:10: warning: this mute never ends - write mute: 10m",
                "x.yaml:11:27: warning: this lock never ends, and no rule unlocks - write lock: 10m",
            ])
    }
}
