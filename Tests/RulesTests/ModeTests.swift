import Chat
import Testing

@testable import Rules

/// Modes, confirmations and breakers: what rules remember for all.
@Suite struct ModeTests {
    private let raid = """
        version: 1
        modes:
          calm: {default: true}
          watch: {clears_after: 15m}
          raid: {clears_after: 30m, announce_to: staff}
        rules:
          watch: {when: messageAdded, if: {text: odd}, do: [{enter_mode: watch}]}
          raid: {when: messageAdded, if: {text: raid}, do: [{enter_mode: raid}]}
          over: {when: messageAdded, if: {text: over}, do: [{leave_mode: raid}]}
          newcomers:
            when: messageAdded
            if: {mode: [watch, raid], text: hello}
            do: [{reply: "not now, it is {{ mode.name }}"}]
          calm:
            when: messageAdded
            if: {mode: {not: [watch, raid]}, text: hello}
            do: [{reply: "hello"}]
          begun: {when: {modeEntered: raid}, do: [{lock: 10m}]}
          ended: {when: {modeLeft: raid}, do: [unlock, {send: {to: staff, text: "open"}}]}

        """

    /// What a message leads to, and what is put off by it.
    private func say(_ scene: Scene, _ text: String, in channel: String = "general") -> (
        said: [String], later: [Continuation]
    ) {
        let event = scene.event(
            .messageAdded(scene.message(text, by: scene.member("ana"))), in: scene.channel(channel))
        let decisions = scene.decide(event)
        return (decisions.flatMap(\.actions).map(describe), decisions.flatMap(\.later))
    }

    /// Lets what is due by now happen, as the engine does.
    private func due(_ later: [Continuation], _ scene: Scene) -> (said: [String], later: [Continuation]) {
        var result: (said: [String], later: [Continuation]) = ([], [])
        for continuation in later where continuation.due.map({ $0 <= scene.now }) == true {
            let place = continuation.place?.channel.replacing("CH-", with: "")
            let event = scene.event(.resumed(continuation, .due), in: place.map { scene.channel($0) })
            for handler in scene.rules.handlers where handler.resumes(owner: continuation.owner) {
                guard let decision = try? handler.decide(event, in: scene.situation(for: event)) else {
                    continue
                }
                for change in decision.changes { scene.memory.apply(change) }
                result.said += decision.actions.map(describe)
                result.later += decision.later
            }
        }
        return result
    }

    @Test func `a mode decides between rules, and rules hear when it begins and ends`() throws {
        let scene = try Scene(raid)
        #expect(say(scene, "hello").said == ["reply general: hello"])
        let begun = say(scene, "raid", in: "support")
        #expect(begun.said == ["send staff: Mode \"raid\" begins (raid), for 30 minutes at least."])
        #expect(
            due(begun.later, scene).said == ["lock support until \((scene.now + .seconds(600)).milliseconds)"]
        )
        #expect(say(scene, "hello").said == ["reply general: not now, it is raid"])
        let over = say(scene, "over", in: "staff")
        #expect(over.said == ["send staff: Mode \"raid\" is over (over)."])
        // Where it was entered, not where it was left.
        #expect(due(over.later, scene).said == ["unlock support", "send staff: open"])
        #expect(say(scene, "hello").said == ["reply general: hello"])
        #expect(say(scene, "over").said == [])
    }

    @Test func `a mode ends by itself, unless it was entered anew`() throws {
        let scene = try Scene(raid)
        let first = say(scene, "raid").later
        scene.now = scene.now + .seconds(20 * 60)
        let second = say(scene, "raid")
        #expect(second.said == [])
        scene.now = scene.now + .seconds(10 * 60)
        #expect(due(first.filter { $0.step == "clear" }, scene).said == [])
        #expect(say(scene, "hello").said == ["reply general: not now, it is raid"])
        scene.now = scene.now + .seconds(20 * 60)
        let end = due(second.later, scene)
        #expect(end.said == ["send staff: Mode \"raid\" is over (raid)."])
        #expect(due(end.later, scene).said == ["unlock general", "send staff: open"])
    }

    @Test func `what enters it with each message puts nothing off each time`() throws {
        let scene = try Scene(raid)
        _ = say(scene, "raid")
        for _ in 1...20 { #expect(say(scene, "raid").later.isEmpty) }
    }

    @Test func `a mode gives way to those behind it only`() throws {
        let scene = try Scene(raid)
        _ = say(scene, "odd")
        #expect(say(scene, "hello").said == ["reply general: not now, it is watch"])
        _ = say(scene, "raid")
        _ = say(scene, "odd")
        #expect(say(scene, "hello").said == ["reply general: not now, it is raid"])
    }

    @Test func `what a mode's rules locked is unlocked when it is over, wherever that was, and nothing else`()
        throws
    {
        let scene = try Scene(
            raid.replacing(
                "if: {text: raid}, do: [{enter_mode: raid}]",
                with: "if: {text: raid}, do: [{enter_mode: raid}, lock]")
                    + """
                      again: {when: messageAdded, if: {mode: raid, text: again}, do: [{lock: 10m}]}
                      own: {when: messageAdded, if: {text: shut}, do: [{lock: 10m}]}

                    """)
        let begun = say(scene, "raid", in: "support")
        #expect(begun.said.last == "lock support")
        _ = due(begun.later, scene)
        #expect(say(scene, "again").said.count == 1)
        #expect(say(scene, "again").said.count == 1)
        #expect(say(scene, "shut", in: "staff").said.count == 1)
        let over = say(scene, "over", in: "staff")
        #expect(due(over.later, scene).said == ["unlock support", "unlock general", "send staff: open"])
        #expect(!scene.memory.values.keys.contains { $0.name.hasPrefix("mode") })
    }

    // MARK: Confirmation

    private let clear = """
        version: 1
        rules:
          clear:
            when: {command: {name: clear, args: {n: integer 1 to 100, who: optional person}}}
            if: {user: {role: helper}}
            exempt: none
            do:
              - confirm: {text: "Remove {{ args.n }}?", within: 1m}
              - delete: {last: "{{ args.n }}", from: "{{ args.who }}"}
              - log: "{{ args.n }} gone"
        """

    @Test func `what stands behind a question is done when the same person says yes, once`() throws {
        let scene = try Scene(clear)
        for text in ["a", "b", "c"] { scene.say(text, by: text) }
        #expect(scene.say("!clear 2", by: "hal") == ["reply general: Remove 2? Answer yes within 1 minute."])
        #expect(scene.say("yes", by: "ana") == [])
        #expect(scene.say("yes", by: "hal", in: "support") == [])
        let event = scene.event(
            .messageAdded(scene.message(" YES! ", by: scene.member("hal"))), in: scene.channel("general"))
        let decision = try #require(scene.decide(event).first)
        #expect(decision.actions.map(describe) == ["delete general", "delete general"])
        #expect(decision.charges.map(\.user.text) == ["c", "b"])
        #expect(decision.notes.map(\.text) == ["2 gone"])
        #expect(decision.removed)
        #expect(scene.say("yes", by: "hal") == [])
    }

    @Test func `no, or too late, is nothing`() throws {
        let scene = try Scene(clear)
        scene.say("a")
        scene.say("!clear 1", by: "hal")
        #expect(scene.say("no", by: "hal") == ["reply general: Nothing is done."])
        #expect(scene.say("yes", by: "hal") == [])
        scene.say("!clear 1", by: "hal")
        scene.now = scene.now + .seconds(61)
        #expect(scene.say("yes", by: "hal") == [])
        #expect(scene.say("!clear 0", by: "hal").first?.contains("Usage") == true)
    }

    @Test func `messages that were removed by hand do not count among the last`() throws {
        let scene = try Scene(clear)
        for text in ["a", "b", "c"] { scene.say(text, by: text) }
        let gone = scene.message("c", by: scene.member("c"), id: "IM3")
        scene.take(scene.event(.messageDeleted(gone), in: scene.channel("general")))
        scene.say("!clear 1", by: "hal")
        let event = scene.event(
            .messageAdded(scene.message("yes", by: scene.member("hal"))), in: scene.channel("general"))
        #expect(scene.decide(event).first?.charges.map(\.user.text) == ["b"])
    }

    @Test func `keep_copy goes with the charge, and of two the longer`() throws {
        let scene = try Scene(
            """
            version: 1
            rules:
              clear:
                when: {command: {name: clear}}
                exempt: none
                do:
                  - delete: {last: 1, keep_copy: 2d}
                  - delete: {last: 2, keep_copy: 1d}
            """)
        for text in ["a", "b"] { scene.say(text, by: text) }
        let event = scene.event(
            .messageAdded(scene.message("!clear", by: scene.member("hal"))), in: scene.channel("general"))
        let charges = scene.decide(event).flatMap(\.charges)
        #expect(charges.map(\.user.text) == ["b", "a"])
        #expect(charges.map(\.keep) == [.seconds(2 * 86_400), .seconds(86_400)])
    }

    @Test func `a case is undone by its name`() throws {
        let scene = try Scene(
            "version: 1\nrules:\n  undo: {when: {command: {name: undo, args: {case: word}}}, do: [{undo: \"{{ args.case }}\"}]}\n"
        )
        let event = scene.event(
            .messageAdded(scene.message("!undo c17", by: scene.member("hal"))), in: scene.channel("general"))
        #expect(scene.decide(event).first?.undone == ["C17"])
    }

    // MARK: Breakers

    private func broken(_ breaker: String, said: [String]) throws -> (Scene, [[String]]) {
        let scene = try Scene(
            """
            version: 1
            defaults: {report_to: staff}
            rules:
              it:
                when: [messageAdded, messageEdited]
                \(breaker)
                if: {text: bad}
                do: [delete]
            """)
        scene.rules.turn.withLock { $0.breakers.isUsual = true }
        return (scene, said.map { scene.say($0) })
    }

    @Test func `a new rule that matches too often puts itself on dry run, and says so once`() throws {
        let (scene, said) = try broken("run: live", said: Array(repeating: "bad", count: 8))
        let told =
            "send staff: Rule \"it\" matched 6 of 6 events in 1 hour and is on dry run for a day. To go on at once, write breaker: none in the rule."
        #expect(said == Array(repeating: ["delete general"], count: 5) + [[told], [], []])
        let decision = scene.decide(
            scene.event(
                .messageAdded(scene.message("bad", by: scene.member("ana"))), in: scene.channel("general")))
        #expect(decision.first?.matched == ["it (dry)"])
        #expect(scene.memory.keeps.contains(.seconds(86_400)))
    }

    @Test func `what is a small part of all is no reason`() throws {
        let (_, said) = try broken(
            "run: live", said: (1...200).map { $0.isMultiple(of: 25) ? "bad" : "good" })
        #expect(said.count { $0 == ["delete general"] } == 8)
    }

    @Test func `matches of more than an hour ago are no reason`() throws {
        let (scene, _) = try broken("run: live", said: Array(repeating: "bad", count: 5))
        scene.now = scene.now + .seconds(3601)
        #expect(scene.say("bad") == ["delete general"])
    }

    @Test func `a rule of yesterday, and one without a breaker, go on`() throws {
        let (_, said) = try broken("breaker: none", said: Array(repeating: "bad", count: 20))
        #expect(said.allSatisfy { $0 == ["delete general"] })
        let (scene, _) = try broken("run: live", said: ["bad"])
        scene.now = scene.now + .seconds(86_401)
        for _ in 1...20 { #expect(scene.say("bad") == ["delete general"]) }
    }

    @Test func `a breaker that is written holds for ever and by its own numbers`() throws {
        let (scene, said) = try broken(
            "breaker: {matches: 2, share: 50%, in: 10m}", said: ["bad", "bad", "bad"])
        #expect(said.map(\.count) == [1, 1, 1])
        #expect(said[2].first?.contains("matched 3 of 3 events in 10 minutes") == true)
        scene.memory.values = [:]
        scene.now = scene.now + .seconds(90_000)
        #expect(scene.say("bad") == ["delete general"])
    }
}
