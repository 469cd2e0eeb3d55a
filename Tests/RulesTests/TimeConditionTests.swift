import Chat
import Testing
import Zones

@testable import Rules

@Suite struct TimeConditionTests {
    private let windows = """
        version: 1
        windows:
          night: {between: "22:00-07:00", zone: Europe/Oslo}
          weekend: {days: sat-sun, between: "00:00-24:00", zone: Europe/Oslo}
          office: {days: [mon-thu, fri], between: "09:00-17:00", zone: Europe/Oslo}
          tea: {between: 16:00-16:30, zone: Europe/London}

        """

    private func scene(_ condition: String) throws -> Scene {
        try Scene(
            windows
                + "rules:\n  it:\n    when: messageAdded\n    if: {\(condition)}\n    do: [{reply: \"yes\"}]\n"
        )
    }

    private func moment(_ text: String) throws -> Timestamp {
        Timestamp(milliseconds: try ISO8601.moment(text))
    }

    @Test(arguments: [
        ("time: night", "2026-01-05T23:00:00+01:00", true),
        ("time: night", "2026-01-05T06:59:59+01:00", true),
        ("time: night", "2026-01-05T07:00:00+01:00", false),
        ("time: night", "2026-01-05T21:59:59+01:00", false),
        ("time: weekend", "2026-01-03T00:00:00+01:00", true),
        ("time: weekend", "2026-01-05T00:00:00+01:00", false),
        ("time: office", "2026-01-09T09:00:00+01:00", true),
        ("time: office", "2026-01-10T09:00:00+01:00", false),
        ("time: {any: [night, weekend]}", "2026-01-10T12:00:00+01:00", true),
        ("time: {any: [night, weekend]}", "2026-01-09T12:00:00+01:00", false),
        ("time: [night, weekend]", "2026-01-09T23:00:00+01:00", true),
        ("time: {not: office}", "2026-01-10T12:00:00+01:00", true),
        ("time: {not: office}", "2026-01-09T12:00:00+01:00", false),
        ("time: {any: weekend, not: night}", "2026-01-10T23:00:00+01:00", false),
        ("time: {any: weekend, not: night}", "2026-01-10T12:00:00+01:00", true),
        ("not: {time: night}", "2026-01-10T12:00:00+01:00", true),
        ("time: tea", "2026-07-06T15:15:00Z", true), ("time: tea", "2026-01-05T15:15:00Z", false),
        // The clocks go from 02:00 to 03:00 on the 29th of March, and from 03:00 to 02:00 on the 25th of October.
        ("time: night", "2026-03-29T06:59:00+02:00", true),
        ("time: night", "2026-03-29T07:00:00+02:00", false),
        ("time: night", "2026-10-25T06:59:00+01:00", true),
        ("time: night", "2026-10-25T07:00:00+01:00", false),
    ])
    func `a window is open by the clock of its zone`(_ condition: String, _ text: String, _ expected: Bool)
        throws
    {
        let scene = try scene(condition)
        scene.now = try moment(text)
        #expect(scene.say("x") == (expected ? ["reply general: yes"] : []))
    }

    @Test func `time may go back, as in a backlog`() throws {
        let scene = try scene("time: night")
        for (text, expected) in [
            ("2026-01-05T12:00:00+01:00", false), ("2026-01-04T23:00:00+01:00", true),
            ("2026-01-05T12:00:00+01:00", false), ("2026-01-05T22:00:00+01:00", true),
            ("2026-01-05T21:00:00+01:00", false),
        ] {
            scene.now = try moment(text)
            #expect(scene.say("x") == (expected ? ["reply general: yes"] : []), "\(text)")
        }
    }

    @Test func `an answer may depend on the time`() throws {
        let scene = try Scene(
            windows + """
                rules:
                  hours:
                    when: messageAdded
                    if: {text: open}
                    do:
                      - choose:
                          - if: {time: office}
                            do: [{reply: "we are open"}]
                          - do: [{reply: "we are closed"}]
                """)
        scene.now = try moment("2026-01-09T12:00:00+01:00")
        #expect(scene.say("are you open?") == ["reply general: we are open"])
        scene.now = try moment("2026-01-10T12:00:00+01:00")
        #expect(scene.say("are you open?") == ["reply general: we are closed"])
    }

    @Test(arguments: [
        (
            "windows: {a: {between: \"22:00-07:00\"}}",
            "window \"a\" has no \"zone\" - say whose clock counts: zone: Europe/Oslo"
        ),
        (
            "windows: {a: {zone: Europe/Olso}}",
            "unknown time zone \"Europe/Olso\" - did you mean \"Europe/Oslo\"?"
        ),
        (
            "windows: {a: {between: \"22-7\", zone: UTC}}",
            "\"22\" is not a time of day - write it as in \"09:00\""
        ),
        ("windows: {a: {days: monday, zone: UTC}}", "unknown day \"monday\" - did you mean \"mon\"?"),
        ("windows: {a: {day: mon, zone: UTC}}", "unknown key \"day\" - did you mean \"days\"?"),
    ])
    func `a mistake in a window names the way out`(_ written: String, _ expected: String) {
        let text = "version: 1\n\(written)\nrules:\n  it: {when: messageAdded, do: [{reply: a}]}\n"
        let errors = RuleSet.load([BotSource(name: "x.yaml", bytes: Array(text.utf8))]).errors
        #expect(errors.map { $0.problem + ($0.hint.map { " - \($0)" } ?? "") } == [expected])
    }

    @Test(arguments: [
        ("time: nigth", "unknown window \"nigth\" - did you mean \"night\"?"),
        (
            "time: {any: [night], not: [night, office]}",
            "this rule can never run: its windows are never open as it wants them"
        ),
        (
            "time: night, all: [{time: office}]",
            "this rule can never run: its windows are never open as it wants them"
        ),
    ])
    func `a window that is never open is an error`(_ condition: String, _ expected: String) {
        let text = windows + "rules:\n  it: {when: messageAdded, if: {\(condition)}, do: [{reply: a}]}\n"
        let errors = RuleSet.load([BotSource(name: "x.yaml", bytes: Array(text.utf8))]).errors
        #expect(errors.map { $0.problem + ($0.hint.map { " - \($0)" } ?? "") } == [expected])
    }

    @Test func `explain tells what time it is there`() throws {
        let scene = try scene("time: {any: [night, weekend], not: tea}")
        func reason(_ text: String) throws -> String {
            scene.now = try moment(text)
            let event = scene.event(
                .messageAdded(scene.message("x", by: scene.member("ana"))), in: scene.channel("general"))
            return scene.rules.explain(event, in: scene.situation(for: event)).entries[0].reason
        }
        #expect(
            try reason("2026-01-09T12:30:00+01:00")
                == "no: it is fri 12:30 there, not night (22:00-07:00, Europe/Oslo) or weekend (sat-sun 00:00-24:00, Europe/Oslo)"
        )
        #expect(try reason("2026-01-09T23:30:00+01:00") == "matches: it is night")
        #expect(
            try reason("2026-01-10T16:00:00Z")
                == "no: it is tea (16:00-16:30, Europe/London), and must not be")
    }
}

@Suite struct CheckConditionTests {
    @Test(arguments: [
        ("start", "reply general: went"), ("START", "reply general: went"), ("stop", ""),
    ])
    func `a value is compared as text`(_ said: String, _ expected: String) throws {
        let scene = try Scene(
            """
            version: 1
            rules:
              raid:
                when: {command: {name: raid, args: {state: one of start stop}}}
                if: {check: {value: "{{ args.state }}", is: start}}
                do: [{reply: "went"}]
            """)
        #expect(scene.say("!raid \(said)") == (expected.isEmpty ? [] : [expected]))
    }

    @Test(arguments: [
        ("{value: \"{{ message.text }}\", is: 5+}", "7", true),
        ("{value: \"{{ message.text }}\", is: 5+}", "4", false),
        ("{value: \"{{ message.text }}\", is: 5+}", "seven", false),
        ("{value: \"{{ message.text }}\", is: under 1h}", "30m", true),
        ("{value: \"{{ message.text }}\", is: under 1h}", "90m", false),
        ("{value: \"{{ user.messages }}\", is: 2 to 5}", "x", true),
        ("{value: \"{{ user.member_for }}\", is: over 1d}", "x", true),
        ("{value: \"{{ user.member_for }}\", is: over 3d}", "x", false),
        ("{value: \"{{ message.text | upper }}\", is: [YES, ja]}", "ja", true),
        ("{value: \"{{ message.text | trim }} {{ user.name }}\", is: hi ana}", " Hi ", true),
        ("{value: \"{{ message.text }}\", is: \"{{ user.name }}\"}", "{{ user.name }}", true),
    ])
    func `a value may be in a range, of several words, and is read once`(
        _ check: String, _ text: String, _ expected: Bool
    ) throws {
        let scene = try Scene(
            rule: "    when: messageAdded\n    if: {check: \(check)}\n    do: [{reply: \"yes\"}]\n")
        scene.facts["ana"] = MemberFacts(firstSeen: scene.now - .seconds(2 * 86_400), messages: 3)
        #expect(scene.say(text) == (expected ? ["reply general: yes"] : []))
    }

    @Test func `explain tells what the value is`() throws {
        let scene = try Scene(
            rule:
                "    when: messageAdded\n    if: {check: {value: \"{{ message.text }}\", is: 5+}}\n    do: [{reply: \"yes\"}]\n"
        )
        func reason(_ text: String) -> String {
            let event = scene.event(
                .messageAdded(scene.message(text, by: scene.member("ana"))), in: scene.channel("general"))
            return scene.rules.explain(event, in: scene.situation(for: event)).entries[0].reason
        }
        #expect(reason("4") == "no: {{ message.text }} is \"4\", not \"5+\"")
        #expect(reason("6") == "matches: {{ message.text }} is \"6\"")
    }

    @Test(arguments: [
        (
            "{value: \"{{ args.n }}\", is: 1}",
            "\"args\" are what is written behind a command, and this rule is none - write when: {command: {name: …, args: …}}"
        ),
        ("{is: 1}", "\"check\" has no \"value\" - try {value: \"{{ args.n }}\", is: 5+}"),
    ])
    func `a mistake in a check names the way out`(_ check: String, _ expected: String) {
        let text = "version: 1\nrules:\n  it: {when: messageAdded, if: {check: \(check)}, do: [{reply: a}]}\n"
        let errors = RuleSet.load([BotSource(name: "x.yaml", bytes: Array(text.utf8))]).errors
        #expect(errors.map { $0.problem + ($0.hint.map { " - \($0)" } ?? "") } == [expected])
    }

    /// Rules that print when windows end, of which the first is always open and the other two are together.
    private func endings(_ time: String, _ text: String) -> String {
        """
        version: 1
        windows:
          always: {zone: UTC}
          am: {between: "00:00-12:00", zone: UTC}
          pm: {between: "12:00-24:00", zone: UTC}
        rules:
          it: {when: messageAdded, if: {time: \(time), text: zebra}, do: [{log: "\(text)"}]}

        """
    }

    @Test(arguments: ["always", "[am, pm]", "{any: [always, am]}"])
    func `a window that is always open has no end, and a text that prints it is told so`(_ time: String) {
        func warnings(_ text: String) -> [String] {
            let file = BotSource(name: "x", bytes: Array(endings(time, text).utf8))
            return RuleSet.load([file]).findings.filter { $0.code == .neverEnds }.map(\.description)
        }
        let told = warnings("until {{ window.ends | date('HH:mm') }}")
        #expect(told.count == 1)
        #expect(
            told.first?.hasSuffix(
                "a window of this rule is always open, so \"window.ends\" is empty - give the window days or between:, or say what stands for it: | default('…')"
            ) == true)
        #expect(warnings("{{ window.ends | date('HH:mm') | default('never') }}, {{ window.name }}") == [])
    }

    @Test(arguments: ["always", "[am, pm]"])
    func `what stands for the end of a window that has none is printed`(_ time: String) throws {
        let text = endings(
            time, "{{ window.starts | default('ever') }} to {{ window.ends | default('ever') }}")
        let scene = try Scene(text.replacing("{log: ", with: "{reply: "))
        #expect(scene.say("zebra") == ["reply general: ever to ever"])
    }

    @Test func `a window that closes has its end`() throws {
        let text = endings("am", "{{ window.ends | date('HH:mm') }}").replacing("{log: ", with: "{reply: ")
        let scene = try Scene(text)
        scene.now = Timestamp(milliseconds: try ISO8601.moment("2026-01-05T03:00:00Z"))
        #expect(scene.say("zebra") == ["reply general: 12:00"])
    }
}
