import Chat
import Engine
import Rules
import Testing

@testable import Rehearsal

/// Tests in bots' files, run.
@Suite(.timeLimit(.minutes(1))) struct BotTestTests {
    static let directory = Directory(
        accounts: [
            "town": .init(
                service: "fake",
                abilities: Abilities(
                    events: Set(EventName.allCases), actions: ["reply", "send", "dm", "delete"],
                    textLimit: .init(200, .codePoints)), joins: ["general", "staff"])
        ],
        channels: ["lobby": ["town": "general"]], roles: ["helper": .init()])

    private func rules(_ text: String) throws -> RuleSet {
        let loaded = RuleSet.load(
            [BotSource(name: "bot.yaml", bytes: Array(text.utf8))], directory: Self.directory)
        #expect(loaded.errors.map(\.description) == [])
        return try #require(loaded.rules)
    }

    /// A rule for messages with *hello*, one for arrivals, a guard, and these tests of all of them.
    private func failures(_ tests: String) throws -> [String] {
        let all = try rules(
            """
            version: 1
            counters:
              karma: {per: user, keep: forever}
            rules:
              no-swearing:
                when: [messageAdded, messageEdited]
                if: {text: [darn]}
                do: [delete, {warn: "please do not"}]
              hello:
                when: messageAdded
                in: [lobby, direct]
                if: {text: [hello]}
                cooldown: 10m per user
                do: [{reply: "Hello, {{ user.name }}."}]
              greet:
                when: memberJoined
                in: lobby
                if: {user: {first_time: true}}
                once: per user
                batch: 20s
                do:
                  - send: {text: "Welcome, {{ users | mention | join }}!", delete_after: 1h}
              helpers:
                when: memberJoined
                if: {user: {role: helper}}
                do: [{send: {to: staff, text: "{{ user.mention }} is back", mention: user}}]
              thanks:
                when: messageAdded
                if: {text: [thanks]}
                do: [{count: {karma: +1}}]
              karma:
                when: {command: {name: karma}}
                do: [{reply: "{{ counters.karma }}"}]
            tests:
              - name: it
                steps:
            """ + "\n" + tests.split(separator: "\n").map { "      \($0)\n" }.joined())
        return BotTests.run(all).compactMap { $0.failure?.problem }
    }

    @Test(arguments: [
        "- {say: hello, as: ana, expect: {reply: \"Hello, ana\"}}",
        "- {say: {by: ana, in: lobby, text: hello}, expect: [reply]}",
        "- {say: hello, in: staff, expect: nothing}",
        "- {say: hello, in: direct, expect: reply}",
        "- {say: {text: hello, bot: true}, expect: nothing}",
        // A cooldown ends when its time has passed on the clock of the test.
        "- {say: hello, expect: reply}\n- {tick: 9m, expect: nothing}\n- {say: hello, expect: nothing}\n- {at: 10m, say: hello, expect: reply}",
        // It outlives a restart, and what a restart remembers is what was stored.
        "- {say: hello, expect: reply}\n- restart\n- {at: 9m, say: hello, expect: nothing}\n- {at: 10m, say: hello, expect: reply}",
        // Steps without expect collect; the order of actions does not matter.
        "- {say: hello, as: ana}\n- {say: hello, as: ben}\n- expect: [{reply: \"Hello, ben\"}, {reply: \"Hello, ana\"}]",
        // As many expectations as possible find their action, whichever comes first.
        "- {say: hello, as: ana}\n- {say: hello, as: ben, expect: [{reply: Hello}, {reply: \"Hello, ana\"}]}",
        "- {repeat: 3, every: 1s, as: \"u{{ n }}\", say: hello, expect: {reply: Hello, count: 3}}",
        "- {join: ana}\n- {join: ben, at: 3s, expect: nothing}\n- {at: 20s, expect: {send: \"Welcome, @ana and @ben!\"}}\n- {at: 61m, expect: [delete]}",
        "- {join: ana}\n- {at: 10s, restart: 1m, expect: {send: \"Welcome, @ana!\"}}",
        "- {join: ana}\n- {at: 5s, reconnect: 1m, expect: {send: {text: Welcome, mentions: none, to: lobby}}}",
        "- {say: oh darn, as: eve, expect: [{delete: darn, user: eve}, {warn: please, by: no-swearing}]}",
        "- {say: oh, as: eve}\n- {edit: oh darn, expect: [delete, warn]}",
        "- {say: oh, as: eve}\n- {remove: last, expect: nothing}\n- {rename: eve, to: Darn, expect: nothing}\n- {leave: eve, expect: nothing}",
        // What came late is not answered.
        "- {backlog: 3, spread: 40m, say: {by: \"u{{ n }}\", text: hello}, expect: {reply: \"Hello, u3\"}}",
    ])
    func `what holds`(_ steps: String) throws {
        #expect(try failures(steps + "\n") == [])
    }

    @Test(arguments: [
        ("- {say: hello, expect: nothing}", "1 action not expected"),
        ("- {say: hello, expect: {reply: Bye}}", "1 of 1 expected actions missing, 1 action not expected"),
        ("- {say: hello, expect: [reply, reply]}", "1 of 2 expected actions missing"),
        (
            "- {say: hello, expect: {reply: Hello, to: staff}}",
            "1 of 1 expected actions missing, 1 action not expected"
        ),
        ("- {say: darn, expect: delete}", "1 action not expected"),
        ("- {remove: last, expect: nothing}", "there is no message to remove"),
        // A service that cannot do it does not do it.
        ("- {say: hello, in: nowhere, expect: nothing}", ""),
    ])
    func `what does not hold`(_ steps: String, _ problem: String) throws {
        if problem.isEmpty {
            let text =
                "version: 1\nrules:\n  it:\n    when: messageAdded\n    do: [{reply: x}]\n    tests:\n      - name: x\n        steps:\n          \(steps)\n"
            let loaded = RuleSet.load(
                [BotSource(name: "b", bytes: Array(text.utf8))], directory: Self.directory)
            #expect(loaded.errors.map(\.problem) == ["unknown channel \"nowhere\""])
        } else {
            #expect(try failures(steps + "\n") == [problem])
        }
    }

    @Test func `what is given holds before the first step`() throws {
        let all = try rules(
            """
            version: 1
            counters:
              karma: {per: user, keep: forever}
              pages: {per: all, keep: forever}
            rules:
              back:
                when: memberJoined
                if: {user: {away: over 90d, messages: 5+}}
                do: [{send: "Back, {{ user.name }}, in {{ channel.title }}."}]
                tests:
                  - name: away
                    given:
                      now: "2026-03-28T23:10:00+01:00"
                      users:
                        ana: {away: 91d, messages: 7, name: Ana Lund}
                        all: {first_time: false}
                    steps:
                      - {join: ana, expect: {send: "Back, Ana Lund, in lobby"}}
                      - {join: ben, expect: nothing}
              new:
                when: memberJoined
                if: {user: {first_time: true, role: {not: helper}}}
                do: [{send: "New: {{ user.name }}"}]
                tests:
                  - name: known, helping, new
                    given: {users: {ana: {first_time: false}, hal: {role: helper}}}
                    steps:
                      - {join: ana, expect: nothing}
                      - {join: hal, expect: nothing}
                      - {join: ben, expect: {send: "New: ben"}}
                      - {join: ben, expect: nothing}
              thanks:
                when: messageAdded
                if: {text: [thanks]}
                do: [{count: {karma: +1, pages: +1}}]
              karma:
                when: {command: {name: karma}}
                do: [{reply: "{{ counters.karma }} of {{ counters.pages }}"}]
                tests:
                  - name: counters
                    given: {counters: {karma: {ana: 5}, pages: 3}}
                    steps:
                      - {command: karma, as: ana, expect: {reply: 5 of 3}}
                      - {command: "!karma", as: ben, expect: {reply: 0 of 3}}
            """)
        #expect(BotTests.run(all).compactMap { $0.failure?.report } == [])
        #expect(BotTests.run(all, of: "karma").map(\.test.name) == ["counters"])
    }

    @Test func `a test in a rule sees that rule alone, and a test of the file sees all`() throws {
        let all = try rules(
            """
            version: 1
            rules:
              one:
                when: messageAdded
                do: [{reply: one}]
                tests:
                  - {name: alone, steps: [{say: x, expect: {reply: one}}]}
              two:
                when: messageAdded
                if: {text: [x]}
                also: true
                do: [{reply: two}]
            tests:
              - {name: both, steps: [{say: x, expect: [{reply: one, by: one}, {reply: two, by: two}]}]}
            """)
        #expect(BotTests.run(all).map { $0.failure == nil } == [true, true])
    }

    @Test func `the report shows both sides in 80 columns, with the place in the file`() throws {
        let all = try rules(
            """
            version: 1
            rules:
              it:
                when: messageAdded
                do:
                  - reply: "Good morning, {{ user.name }}, this is a long answer that needs two lines."
                tests:
                  - name: a mistake
                    steps:
                      - {say: x, as: 鈴木, expect: [{reply: Good evening}, {send: "x"}]}
            """)
        let failure = try #require(BotTests.run(all).first?.failure)
        #expect(
            failure.report == """
                bot.yaml:10:13: error: test "a mistake" of "it", step 1 after 0s: 2 of 2 expected actions missing, 1 action not expected
                  expected                             │   done
                ───────────────────────────────────────┼───────────────────────────────────────
                ✗ reply: Good evening                  │ ✗ reply to lobby: Good morning, 鈴木,
                                                       │   this is a long answer that needs two
                                                       │   lines.
                ✗ send: x                              │   nothing
                """)
        for line in failure.report.split(separator: "\n").dropFirst() { #expect(Columns.width(line) <= 80) }
    }

    @Test func `the log's words about a test that fails stand below it`() throws {
        let all = try rules(
            """
            version: 1
            rules:
              it:
                when: messageAdded
                do: [{reply: x}]
                tests:
                  - {name: late, steps: [{backlog: 1, spread: 1h, say: a}, {backlog: 2, spread: 1h, say: b, expect: nothing}]}
              dry:
                when: messageAdded
                run: dry
                also: true
                do: [{reply: y}]
            """)
        let notes = try #require(BotTests.run(all).first?.failure).notes
        #expect(notes == ["dry (dry) matched, and nothing is done", "events are too old for answers"])
    }

    @Test func `a text that is longer than the service takes is not done, and the report says so`() throws {
        var directory = Self.directory
        directory.accounts["town"]?.abilities.actions = ["reply", "dm"]
        let text =
            "version: 1\nrules:\n  it:\n    when: memberJoined\n    do: [{dm: hi}]\n    tests:\n      - {name: x, steps: [{join: ana, expect: dm}]}\n"
        let loaded = RuleSet.load([BotSource(name: "b", bytes: Array(text.utf8))], directory: directory)
        #expect(BotTests.run(try #require(loaded.rules)).map { $0.failure == nil } == [true])
        var chat = RehearsedChat(directory, people: [])
        let place = Place(account: "town", channel: "general")
        let long = ChatAction(.send(Outgoing(String(repeating: "x", count: 201))), in: place)
        #expect(chat.perform(long, at: .now).0 == .failed("the text is longer than the service takes"))
        #expect(
            chat.perform(ChatAction(.react("x", to: .init(id: "m")), in: place), at: .now).0
                == .failed("the service cannot react"))
    }

    @Test func `thousands of steps take a second`() throws {
        let steps = (1...200).map {
            "          - {repeat: 10, every: 1s, as: \"u\($0)\", say: \"hello {{ n }}\"}\n"
        }.joined()
        let all = try rules(
            """
            version: 1
            rules:
              it:
                when: messageAdded
                cooldown: 1h per user
                do: [{reply: x}]
                tests:
                  - name: many
                    steps:
            """ + "\n" + steps + "          - expect: {reply: x, count: 200}\n")
        let start = ContinuousClock.now
        #expect(BotTests.run(all).map { $0.failure == nil } == [true])
        // Measured 0.2 s without optimisation.
        #expect(ContinuousClock.now - start < .seconds(20))
    }

    @Test func `JUnit's XML is well formed whatever stands in the texts`() {
        var report = JUnitReport()
        report.add("a \"quoted\" <name>", of: "rule & co", took: .microseconds(1500), failure: nil)
        report.add(
            "b", of: "rule & co", took: .zero, failure: ("1 action\nnot expected", "\u{1B}[0m ]]> \u{0}"))
        #expect(
            report.text == """
                <?xml version="1.0" encoding="UTF-8"?>
                <testsuites tests="2" failures="1">
                  <testsuite name="rule &amp; co" tests="2" failures="1">
                    <testcase name="a &quot;quoted&quot; &lt;name&gt;" classname="rule &amp; co" time="0.001500"/>
                    <testcase name="b" classname="rule &amp; co" time="0.000000">
                      <failure message="1 action&#10;not expected">\u{FFFD}[0m ]]&gt; \u{FFFD}</failure>
                    </testcase>
                  </testsuite>
                </testsuites>

                """)
    }
}
