import Chat
import Testing

@testable import Rules

/// Moments that people write behind a command. It is Thursday, 28 May 2026, 22:26:40 in Oslo.
@Suite struct MomentArgumentTests {
    private static let bot = """
        version: 1
        defaults: {commands: {zone: Europe/Oslo}}
        rules:
          remind:
            when: {command: {name: remind, args: {who: person, at: when, what: rest}}}
            limits: {at: 1m to 365d}
            do: [{reply: "{{ args.at | date('EEE d MMM HH:mm') }}: {{ args.what }}"}]
          nudge:
            when: {command: {name: nudge, args: {at: optional when = tomorrow 09:00, what: optional rest}}}
            do: [{reply: "{{ args.at }}: {{ args.what }}"}]
        """

    @Test(arguments: [
        ("2h tea", "Fri 29 May 00:26: tea"), ("1h30m tea", "Thu 28 May 23:56: tea"),
        ("23:00 tea", "Thu 28 May 23:00: tea"), ("09:00 tea", "Fri 29 May 09:00: tea"),
        ("9:00 tea", "Fri 29 May 09:00: tea"),
        ("today 23:59 tea", "Thu 28 May 23:59: tea"),
        ("tomorrow 09:00 call the plumber", "Fri 29 May 09:00: call the plumber"),
        ("Tomorrow tea", "Fri 29 May 22:26: tea"), ("tomorrow at noon", "Fri 29 May 22:26: at noon"),
        ("mon tea", "Mon 1 Jun 22:26: tea"), ("Monday 07:30 tea", "Mon 1 Jun 07:30: tea"),
        ("thu 23:00 tea", "Thu 28 May 23:00: tea"), ("thu 10:00 tea", "Thu 4 Jun 10:00: tea"),
        ("thu tea", "Thu 4 Jun 22:26: tea"),
        ("2026-06-15 tea", "Mon 15 Jun 22:26: tea"), ("2026-06-15 09:00 tea", "Mon 15 Jun 09:00: tea"),
        ("2026-06-15T09:00 tea", "Mon 15 Jun 09:00: tea"),
        ("2026-06-15t07:00z tea", "Mon 15 Jun 09:00: tea"),
        ("\"tomorrow 09:00\" tea", "Fri 29 May 09:00: tea"),
        // The clocks go back over it: the first of the two.
        ("2026-10-25 02:30 tea", "Sun 25 Oct 02:30: tea"),
        // They go forward over it: the first minute after.
        ("2027-03-28 02:30 tea", "Sun 28 Mar 03:00: tea"),
    ])
    func `a moment is a duration, a time, a day or a date, by the clock of the file`(
        _ text: String, _ answer: String
    ) throws {
        #expect(try Scene(Self.bot).say("!remind ben \(text)") == ["reply general: \(answer)"])
    }

    @Test(arguments: [
        "yesterday tea", "today tea", "today 09:00 tea", "25:00 tea", "tomorrow 25:00 tea", "10s tea",
        "366d tea",
        "2026-05-28 tea", "2025-06-15 tea", "2026-02-30 tea", "2 hours tea", "tomorow tea", "0m tea",
        "-2h tea",
        "99999999999w tea", "tomorrow",
    ])
    func `what is no moment to come, or none within its limits, gets the usage line`(_ text: String) throws {
        #expect(
            try Scene(Self.bot).say("!remind ben \(text)") == [
                "reply general: Usage: !remind <who> <at> <what> (at: 2h, 09:00, tomorrow 09:00, fri 09:00 or 2026-06-15 09:00, in Europe/Oslo; 1m to 365d)"
            ])
    }

    @Test func `a moment may be left out, and a mistyped one does not become the text`() throws {
        let scene = try Scene(Self.bot)
        #expect(scene.say("!nudge") == ["reply general: 2026-05-29 09:00 CEST: "])
        #expect(scene.say("!nudge buy tea") == ["reply general: 2026-05-29 09:00 CEST: buy tea"])
        #expect(scene.say("!nudge 2h buy tea") == ["reply general: 2026-05-29 00:26 CEST: buy tea"])
        #expect(scene.say("!nudge 25:00 buy tea").first?.hasPrefix("reply general: Usage:") == true)
    }

    @Test func `without a zone it is UTC, from when the message was sent`() throws {
        let scene = try Scene(
            "version: 1\nrules: {it: {when: {command: {name: it, args: {at: when}}}, do: [{reply: \"{{ args.at }}\"}]}}"
        )
        #expect(scene.say("!it 21:00") == ["reply general: 2026-05-28 21:00 UTC"])
        var event = scene.event(
            .messageAdded(scene.message("!it 2h", by: scene.member("ana"))), in: scene.channel("general"))
        event.sentAt = event.sentAt - .seconds(3600)
        #expect(scene.take(event) == ["reply general: 2026-05-28 21:26 UTC"])
    }

    @Test func `what lasts may last until a moment`() throws {
        let scene = try Scene(
            """
            version: 1
            rules:
              mute:
                when: {command: {name: mute, args: {who: person, until: when}}}
                exempt: none
                do: [{mute: {user: "{{ args.who }}", for: "{{ args.until }}"}}]
            """)
        _ = scene.say("hello", by: "max")
        let end = scene.now.milliseconds + 2 * 3_600_000
        #expect(scene.say("!mute max 2h") == ["mute max in general until \(end)"])
        #expect(scene.say("!mute max 2026-05-28T22:26:40Z") == ["mute max in general until \(end)"])
    }

    @Test(arguments: [
        (
            "defaults: {commands: {zone: Europe/Olso}}",
            "when",
            "unknown time zone \"Europe/Olso\" - did you mean \"Europe/Oslo\"?"
        ),
        ("", "when 5", "\"5\" has no unit - use ms, s, m, h, d or w"),
        ("", "date", "unknown kind of argument \"date\" - did you mean \"when\"?"),
        (
            "", "when = soon",
            "the default \"soon\" is not what \"at\" takes - write 2h, 09:00, tomorrow 09:00, fri 09:00 or 2026-06-15 09:00, in UTC"
        ),
        (
            "", "integer 1 to 10 = 20",
            "the default \"20\" is not what \"at\" takes - write a whole number, 1 to 10"
        ),
    ])
    func `what cannot be is an error with the way out`(_ defaults: String, _ kind: String, _ told: String) {
        let text = """
            version: 1
            \(defaults)
            rules: {it: {when: {command: {name: it, args: {at: \(kind)}}}, do: [stop]}}
            """
        let errors = RuleSet.load([BotSource(name: "x.yaml", bytes: Array(text.utf8))]).errors
        #expect(errors.map { $0.problem + ($0.hint.map { " - \($0)" } ?? "") } == [told])
    }
}
