import Chat
import Testing

@testable import Rules

@Suite struct AnswerTests {
    private func scene(_ rules: String, group: String = "") throws -> Scene {
        try Scene("version: 1\n\(group)rules:\n\(rules)")
    }

    private let three = """
          a: {when: messageAdded, group: g, if: {text: x}, do: [{reply: a}]}
          b: {when: messageAdded, group: g, if: {text: x}, do: [{reply: b}, {react: "👍"}]}
          c: {when: messageAdded, group: g, if: {text: x}, do: [{react: "🎉"}]}
          d: {when: messageAdded, if: {text: y}, do: [{reply: d}]}
        """

    @Test func `in a group that picks the first one member acts`() throws {
        let rules = three.replacing(
            "if: {text: x}, do: [{reply: b}", with: "if: {text: [x, z]}, do: [{reply: b}")
        #expect(try scene(rules, group: "groups: {g: {pick: first}}\n").say("x y") == ["reply general: a"])
    }

    @Test func `in a group that picks all each member acts, and they are one answer`() throws {
        let scene = try scene(three, group: "groups: {g: {pick: all}}\n")
        #expect(
            scene.say("x y") == [
                "reply general: a", "reply general: b", "react general: 👍", "react general: 🎉",
            ])
        #expect(scene.say("y") == ["reply general: d"])
    }

    @Test func `after another's answer a group that picks all is silent`() throws {
        let scene = try scene(
            """
              first: {when: messageAdded, if: {text: y}, do: [{reply: first}]}
              a: {when: messageAdded, group: g, if: {text: x}, do: [{reply: a}]}
              b: {when: messageAdded, group: g, if: {text: [x, z]}, do: [{reply: b}]}
            """, group: "groups: {g: {pick: all}}\n")
        #expect(scene.say("x y") == ["reply general: first"])
        #expect(scene.say("x") == ["reply general: a", "reply general: b"])
    }

    @Test(arguments: [
        ("5m per user", 60, [1, 0, 1]), ("5m per channel", 60, [1, 0, 0]), ("5m per rule", 60, [1, 0, 0]),
        ("5m per user", 301, [1, 1, 1]), ("2 in 10m per user", 60, [1, 1, 1]),
        ("2 in 10m per channel", 60, [1, 1, 0]),
    ])
    func `a cooldown in each form`(_ cooldown: String, _ seconds: Int64, _ acts: [Int]) throws {
        let scene = try Scene(
            rule: "    when: messageAdded\n    cooldown: \(cooldown)\n    do: [{reply: x}]\n")
        var counts = [scene.say("x").count]
        scene.now = scene.now + .seconds(seconds)
        counts.append(scene.say("x").count)
        counts.append(scene.say("x", by: "ben").count)
        #expect(counts == acts)
    }

    @Test func `a window of time holds so many times in any such time`() throws {
        let scene = try Scene(
            rule: "    when: messageAdded\n    cooldown: 3 in 1d per user\n    do: [{reply: x}]\n")
        var counts: [Int] = []
        for hours in [0, 10, 10, 3, 2, 9] {
            scene.now = scene.now + .seconds(Int64(hours * 3600))
            counts.append(scene.say("x").count)
        }
        // At 0, 10 and 20 h; 23 h is one too many, 25 h is not, 34 h is a day after 10 h.
        #expect(counts == [1, 1, 1, 0, 1, 1])
    }

    @Test func `once per window is once per night, and a weekend between nights is one with them`() throws {
        let scene = try Scene(
            """
            version: 1
            windows:
              night: {between: "22:00-07:00", zone: Europe/Oslo}
              weekend: {days: sat-sun, between: "00:00-24:00", zone: Europe/Oslo}
            rules:
              note:
                when: messageAdded
                if: {time: {any: [night, weekend]}}
                once: per user per window
                do:
                  - reply: "We are back at {{ window.ends | date('EEEE HH:mm') }} ({{ window.name }})."
            """)
        func at(_ time: Int64, by id: String = "ana") -> [String] {
            scene.now = Timestamp(milliseconds: time * 1000)
            return scene.say("anyone?", by: id)
        }
        // Thursday the 26th of March 2026, 23:10 in Oslo.
        let start: Int64 = 1_774_563_000
        let hour: Int64 = 3600
        #expect(at(start) == ["reply general: We are back at Friday 07:00 (night)."])
        #expect(at(start + 1200) == [])
        #expect(at(start + 1200, by: "ben").count == 1)
        #expect(at(start + 12 * hour) == [])
        #expect(at(start + 24 * hour) == ["reply general: We are back at Monday 07:00 (night)."])
        #expect(at(start + 36 * hour) == [])
        #expect(at(start + 36 * hour, by: "cho") == ["reply general: We are back at Monday 07:00 (weekend)."])
        #expect(at(start + 72 * hour) == [])
        #expect(at(start + 96 * hour) == ["reply general: We are back at Tuesday 07:00 (night)."])
    }

    @Test func `a renamed rule keeps what it remembers`() throws {
        let old = try Scene(
            "version: 1\nrules: {old: {when: messageAdded, once: per user, do: [{reply: x}]}}")
        #expect(old.say("x").count == 1)
        let new = try Scene(
            "version: 1\nrules: {new: {was: old, when: messageAdded, once: per user, do: [{reply: x}]}}")
        // Users are other objects in another scene.
        for (key, value) in old.memory.values {
            guard case .user(let user) = key.subject else { continue }
            let same = MemoryKey(owner: key.owner, name: key.name, subject: .user(new.member(user.text).user))
            new.memory.values[same] = value
        }
        #expect(new.say("x") == [])
        #expect(new.say("x", by: "ben").count == 1)
    }

    @Test func `choose takes the first branch that holds`() throws {
        let scene = try Scene(
            rule: """
                    when: messageAdded
                    do:
                      - choose:
                          - if: {text: tea}
                            do: [{reply: tea}, {react: "👍"}]
                          - if: {text: [tea, coffee]}
                            do:
                              - choose:
                                  - if: {user: {id: ana}}
                                    do: [{reply: "for you"}]
                          - do: [{reply: water}]
                      - react: "🎉"

                """)
        #expect(
            scene.say("tea and coffee") == ["reply general: tea", "react general: 👍", "react general: 🎉"])
        #expect(scene.say("coffee") == ["reply general: for you", "react general: 🎉"])
        #expect(scene.say("coffee", by: "ben") == ["react general: 🎉"])
        #expect(scene.say("hm") == ["reply general: water", "react general: 🎉"])
        let channel = scene.channel("general")
        let event = scene.event(.messageAdded(scene.message("coffee", by: scene.member("ana"))), in: channel)
        #expect(scene.decide(event).flatMap(\.actions).first?.path == "do[0].choose[1].do[0].choose[0].do[0]")
    }

    @Test func `stop and delete count only in the branch that was taken`() throws {
        let scene = try Scene(
            """
            version: 1
            rules:
              sort:
                when: [messageAdded, messageEdited]
                if: {text: [bad, odd, fine]}
                do:
                  - choose:
                      - if: {text: bad}
                        do: [delete]
                      - if: {text: odd}
                        do: [stop]
                  - react: "👍"
              answer: {when: messageAdded, do: [{reply: x}]}
            """)
        #expect(scene.say("bad") == ["delete general", "react general: 👍"])
        #expect(scene.say("odd") == [])
        #expect(scene.say("fine") == ["react general: 👍", "reply general: x"])
    }

    @Test func `a rule that only reacted has not answered`() throws {
        let scene = try Scene(
            """
            version: 1
            rules:
              first:
                when: messageAdded
                do:
                  - choose:
                      - if: {text: tea}
                        do: [{reply: tea}]
                      - do: [{react: "👍"}]
              second: {when: messageAdded, do: [{reply: x}]}
            """)
        #expect(scene.say("tea") == ["reply general: tea"])
        #expect(scene.say("hm") == ["react general: 👍", "reply general: x"])
    }

    @Test func `a rule that logs or counts looks on, whoever answers`() throws {
        let scene = try Scene(
            """
            version: 1
            counters: {seen: {per: channel, forget_after: 7d}}
            rules:
              forbidden: {when: [messageAdded, messageEdited], if: {text: bad}, do: [delete]}
              answer: {when: messageAdded, do: [{reply: "{{ counters.seen }}"}]}
              seen:
                when: messageAdded
                do:
                  - count: {seen: +1}
                  - log: {text: "{{ user.name }}\\nsaid {{ message.text }}", level: warning}
            """)
        let event = scene.event(
            .messageAdded(scene.message("bad\nline", by: scene.member("ana"))), in: scene.channel("general"))
        let notes = scene.decide(event).flatMap(\.notes)
        #expect(notes == [Decision.Note(by: "seen", "ana said bad line", isWarning: true)])
        #expect(scene.say("x") == ["reply general: 1"])
        #expect(scene.say("x") == ["reply general: 2"])
        #expect(scene.say("x", in: "support") == ["reply support: 0"])
    }

    @Test func `what an action counts is in what those behind it print and look at`() throws {
        let scene = try Scene(
            """
            version: 1
            counters: {n: {per: user, keep: forever}, all: {per: all, keep: forever}}
            rules:
              it:
                when: messageAdded
                if: {text: hi}
                do:
                  - reply: "{{ counters.n }} {{ counters.all }}"
                  - count: {n: +1, all: +1}
                  - reply: "{{ counters.n }} {{ counters.all }}"
                  - choose:
                      - if: {check: {value: "{{ counters.n }}", is: 2}}
                        do: [{reset: n}, {reply: "{{ counters.n }} again"}]
            """)
        #expect(scene.say("hi") == ["reply general: 0 0", "reply general: 1 1"])
        #expect(
            scene.say("hi") == [
                "reply general: 1 1", "reply general: 2 2", "reply general: 0 again",
            ])
    }

    @Test func `a batch prints what it has counted itself`() throws {
        let scene = try Scene(
            """
            version: 1
            counters: {n: {per: all, keep: forever}}
            rules:
              it:
                when: memberJoined
                batch: 1m
                do:
                  - count: {n: +1}
                  - choose:
                      - if: {check: {value: "{{ counters.n }}", is: 2}}
                        do: [{send: "{{ counters.n }} came"}]
            """)
        var later: [Continuation] = []
        for name in ["ana", "ben"] {
            later += scene.decide(
                scene.event(.memberJoined(scene.member(name)), in: scene.channel("general"))
            )
            .flatMap(\.later)
        }
        scene.now = scene.now + .seconds(60)
        let end = scene.resume(try #require(later.first), in: scene.channel("general"))
        #expect(end.actions.map(describe) == ["send general: 2 came"])
    }

    @Test func `variables of a rule are made in order, and are typed`() throws {
        let scene = try Scene(
            """
            version: 1
            vars: {house: H}
            rules:
              it:
                when: messageAdded
                if: {text: {regex: '(?<word>[a-z@]+)$'}}
                vars:
                  word: "{{ match.word | upper }}"
                  both: "{{ vars.house }}: {{ vars.word }} by {{ user }}"
                  n: "{{ user.messages }}"
                do:
                  - reply: "{{ vars.both }} {{ vars.n | plural('time', 'times') }} {{ vars.both | lower }}"
            """)
        #expect(
            scene.say("hello @all") == [
                "reply general: H: @\u{200B}ALL by ana 0 times h: @\u{200B}all by ana"
            ])
    }

    @Test func `a variable calls nobody either`() throws {
        let scene = try Scene(
            rule: """
                    when: messageAdded
                    vars: {at: "@{{ message.text }}", "two": "{{ vars.at }}@"}
                    do: [{reply: "{{ vars.at }} {{ vars.two }}{{ message.text }}"}]

                """)
        #expect(scene.say("all") == ["reply general: @\u{200B}all @\u{200B}all@\u{200B}all"])
    }

    @Test func `variables that double each other stay small`() throws {
        let lines = (1..<20).map {
            "      v\($0): \"{{ vars.v\($0 - 1) }}{{ vars.v\($0 - 1) | default('x') }}\""
        }
        let scene = try Scene(
            "version: 1\nrules:\n  it:\n    when: messageAdded\n    vars:\n      v0: \"{{ message.text }}!\"\n"
                + lines.joined(separator: "\n")
                + "\n    do: [{reply: {text: \"{{ vars.v19 }}\", split: false}}]\n")
        let answer = try #require(scene.say("abc").first)
        #expect(answer.count < 32_800 && answer.hasPrefix("reply general: abc!abc!"))
    }

    @Test func `counters are forgotten, reset, and belong to whom they name`() throws {
        let scene = try Scene(
            """
            version: 1
            counters: {karma: {per: user, keep: forever}, all: {per: all, keep: forever}}
            rules:
              give:
                when: {command: {name: give, args: {who: person}}}
                do: [{count: {karma: {user: "{{ args.who }}", by: +2}, all: +1}}, {react: "👍"}]
              reset:
                when: {command: {name: reset, args: {who: person}}}
                do: [{reset: {karma: {user: "{{ args.who }}"}}}, {react: "🗑️"}]
              show:
                when: {command: {name: show, args: {who: optional person}}}
                do: [{reply: "{{ counters.karma | of(args.who, user) }} {{ counters.karma }} {{ counters.all }}"}]
            """)
        scene.say("!give @ben")
        scene.say("!give ben.")
        scene.say("!give me")
        #expect(scene.say("!show @ben") == ["reply general: 4 2 3"])
        #expect(scene.say("!show") == ["reply general: 2 2 3"])
        scene.say("!reset ben")
        #expect(scene.say("!show ben") == ["reply general: 0 2 3"])
    }

    @Test(arguments: [
        ("count: {karma: +1}", "unknown counter \"karma\" - declare it under counters:"),
        ("count: {seen: 1.5}", "\"1.5\" is not a whole number - try +1"),
        ("count: {seen: {user: \"x\"}}", "\"seen\" does not count per user"),
        ("choose: []", "\"choose\" is an empty list - say what to choose from"),
        (
            "choose: [{do: [stop]}, {if: {text: x}, do: [stop]}]",
            "this branch is always taken, so those behind it never are - put it last, or add if:"
        ),
        ("choose: [{if: {text: x}}]", "this branch has no \"do\""),
        ("stop\n      - reply: x", "this is never done, because \"stop\" comes first"),
        ("reply: \"{{ users | join }}\"", "\"users\" are there only with batch: - use user"),
        (
            "reply: \"{{ args.n }}\"",
            "\"args\" are what is written behind a command, and this rule is none - write when: {command: {name: …, args: …}}"
        ),
        ("reply: {text: x, mention: [counters.seen]}", "\"counters.seen\" is nobody who can be called"),
    ])
    func `an action that cannot be is an error`(_ action: String, _ expected: String) {
        let text = """
            version: 1
            counters: {seen: {per: channel, forget_after: 1d}}
            rules:
              it:
                when: messageAdded
                do:
                  - \(action)
            """
        let errors = RuleSet.load([BotSource(name: "bot.yaml", bytes: Array(text.utf8))]).errors
        #expect(errors.map { $0.problem + ($0.hint.map { " - \($0)" } ?? "") } == [expected])
    }

    @Test(arguments: [
        ("{per: user}", "counter \"a\" must say how long it keeps - write keep: forever or forget_after: 7d"),
        ("{keep: forever}", "counter \"a\" does not say per whom - add per: user"),
        ("{per: users, keep: forever}", "unknown value \"users\" - did you mean \"user\"?"),
    ])
    func `a counter says for whom and how long`(_ counter: String, _ expected: String) {
        let text = "version: 1\ncounters: {a: \(counter)}\nrules: {it: {when: messageAdded, do: [stop]}}"
        let errors = RuleSet.load([BotSource(name: "bot.yaml", bytes: Array(text.utf8))]).errors
        #expect(errors.map { $0.problem + ($0.hint.map { " - \($0)" } ?? "") } == [expected])
    }

    @Test func `what may not be split is cut and says so`() throws {
        var abilities = Scene.abilities
        abilities.textLimit = .init(20, .codePoints)
        let scene = try Scene(
            rule: "    when: messageAdded\n    do: [{reply: {text: \"{{ message.text }}\", split: false}}]\n",
            abilities: abilities)
        #expect(scene.say("one two three four five six") == ["reply general: one two…"])
    }
}
