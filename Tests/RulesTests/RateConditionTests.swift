import Chat
import Seeds
import Testing

@testable import Rules

@Suite struct RateConditionTests {
    private func scene(_ rate: String, when: String = "messageAdded", more: String = "") throws -> Scene {
        try Scene(
            rule:
                "    when: \(when)\n\(more)    if: {rate: \(rate)}\n    do: [{send: {to: staff, text: \"yes\"}}]\n"
        )
    }

    private let yes = ["send staff: yes"]

    @Test func `so many messages of one person in one channel in so long`() throws {
        let scene = try scene("3 messages in 10s per user")
        #expect(scene.say("a") == [])
        #expect(scene.say("b", by: "ben") == [])
        #expect(scene.say("c", in: "support") == [])
        scene.now = scene.now + .seconds(9)
        #expect(scene.say("d") == [])
        #expect(scene.say("e") == yes)
        scene.now = scene.now + .seconds(10)
        #expect(scene.say("f") == [])
    }

    /// A rate, who says something where, and whether the last of them fulfils it.
    struct Case: Sendable {
        var rate: String
        var said: String
        var isReached: Bool

        init(_ rate: String, _ said: String, _ isReached: Bool) {
            (self.rate, self.said, self.isReached) = (rate, said, isReached)
        }
    }

    static let cases: [Case] = [
        Case("3 messages in 10s", "ana/general ben/general cho/general", true),
        Case("3 messages in 10s per channel", "ana/general ben/general cho/support", false),
        Case("3 messages in 10s per user across service", "ana/general ana/staff ana/support", true),
        Case("3 messages in 10s per user across service", "ana/general ben/staff ana/support", false),
        Case("3 messages in 10s across service", "ana/general ben/staff cho/support", true),
        Case("3 messages in 10s across all", "ana/general ben/staff cho/support", true),
        Case(
            "{count: 3, of: messages, in: 10s, distinct: user}", "ana/general ben/general ana/general", false),
        Case(
            "{count: 3, of: messages, in: 10s, distinct: user}", "ana/general ben/general cho/general", true),
        Case(
            "{count: 2, of: messages, in: 10s, per: user, across: service, distinct: channel}",
            "ana/general ana/general ana/general", false),
        Case(
            "{count: 2, of: messages, in: 10s, per: user, across: service, distinct: channel}",
            "ana/general ana/general ana/staff", true),
    ]

    @Test(arguments: cases)
    func `where and by whom things are counted together`(_ example: Case) throws {
        let scene = try scene(example.rate)
        var last: [String] = []
        for said in example.said.split(separator: " ") {
            let words = said.split(separator: "/").map(String.init)
            last = scene.say("x", by: words[0], in: words[1])
        }
        #expect((last == yes) == example.isReached)
    }

    @Test(arguments: [
        ("4 links in 1m per user", "https://a.org https://b.org", "https://c.org"),
        ("4 mentions in 1m per user", "@a @b", "@c"), ("4 emoji in 1m per user", "👍👍🏽", "x 🇳🇴"),
    ])
    func `a message may count for several`(_ rate: String, _ two: String, _ one: String) throws {
        let scene = try scene(rate)
        #expect(scene.say(two) == [])
        #expect(scene.say("nothing") == [])
        #expect(scene.say(one) == [])
        #expect(scene.say(one) == yes)
    }

    @Test func `files, joins, leaves and edits are counted`() throws {
        let file = Message.Attachment(id: "1", name: "a.png", contentType: "image/png", size: 1)
        let files = try scene("3 attachments in 1m per user")
        let channel = files.channel("general")
        let message = files.message("x", by: files.member("ana"), attachments: [file, file])
        #expect(files.take(files.event(.messageAdded(message), in: channel)) == [])
        let another = files.message("x", by: files.member("ana"), attachments: [file])
        #expect(files.take(files.event(.messageAdded(another), in: channel)) == yes)
        for (kind, when) in [("joins", "memberJoined"), ("leaves", "memberLeft")] {
            let scene = try scene("3 \(kind) in 30s per channel", when: when)
            var last: [String] = []
            for name in ["a", "b", "c"] {
                #expect(last == [])
                let member = scene.member(name)
                let event: ChatEvent.Kind = kind == "joins" ? .memberJoined(member) : .memberLeft(member)
                last = scene.take(scene.event(event, in: scene.channel("general")))
            }
            #expect(last == yes)
        }
        let edits = try scene("2 edits in 30s per user", when: "messageEdited")
        let edited = edits.message("x", by: edits.member("ana"))
        #expect(edits.take(edits.event(.messageEdited(edited), in: channel)) == [])
        #expect(edits.take(edits.event(.messageEdited(edited), in: channel)) == yes)
    }

    @Test func `what is counted need not be what the rule looks at`() throws {
        let scene = try scene("2 joins in 30s", when: "messageAdded")
        let channel = scene.channel("general")
        #expect(scene.take(scene.event(.memberJoined(scene.member("a")), in: channel)) == [])
        #expect(scene.say("x") == [])
        #expect(scene.take(scene.event(.memberJoined(scene.member("b")), in: channel)) == [])
        #expect(scene.say("x") == yes)
        #expect(scene.say("x", in: "support") == [])
    }

    @Test func `only narrows whose count`() throws {
        let scene = try scene(
            "{count: 2, of: joins, in: 30s, per: channel, only: {first_time: true}}", when: "memberJoined")
        let channel = scene.channel("general")
        for name in ["a", "b"] { scene.facts[name] = MemberFacts(firstSeen: scene.now) }
        for name in ["a", "b", "c"] {
            #expect(scene.take(scene.event(.memberJoined(scene.member(name)), in: channel)) == [])
        }
        #expect(scene.take(scene.event(.memberJoined(scene.member("d")), in: channel)) == yes)
    }

    @Test func `people whom the rule leaves alone are not counted`() throws {
        let scene = try Scene(
            rule: """
                    when: messageAdded
                    if: {rate: 2 messages in 10s}
                    do: [delete]
                """.indented)
        let channel = scene.channel("general")
        let moderator = scene.member("mo", roles: ["channel admin"])
        for _ in 1...3 {
            #expect(
                scene.take(scene.event(.messageAdded(scene.message("x", by: moderator)), in: channel)) == [])
            let bot = scene.member("robot", isBot: true)
            #expect(scene.take(scene.event(.messageAdded(scene.message("x", by: bot)), in: channel)) == [])
            let own = scene.member("steward")
            #expect(scene.take(scene.event(.messageAdded(scene.message("x", by: own)), in: channel)) == [])
        }
        #expect(scene.say("x") == [])
        #expect(scene.say("x") == ["delete general"])
    }

    @Test func `an event counts once, however often the rules are asked about it`() throws {
        let scene = try scene("2 messages in 10s per user")
        let event = scene.event(
            .messageAdded(scene.message("x", by: scene.member("ana"))), in: scene.channel("general"))
        for _ in 1...3 { #expect(scene.take(event) == []) }
        #expect(scene.say("y") == yes)
    }

    @Test func `a backlog is counted by when it was sent, and is no flood`() throws {
        let scene = try scene("7 messages in 10s per user")
        let now = scene.now
        for number in 0..<30 {
            var event = scene.event(
                .messageAdded(scene.message("old \(number)", by: scene.member("max"))),
                in: scene.channel("general"))
            event.sentAt = now - .seconds(600 - number * 20)
            #expect(scene.take(event) == [])
        }
        // Two streams do not arrive in the order of time.
        for second in [5, 1, 4, 2, 6, 3] {
            var event = scene.event(
                .messageAdded(scene.message("x", by: scene.member("eve"))), in: scene.channel("general"))
            event.sentAt = now + .seconds(second)
            #expect(scene.take(event) == [])
        }
        scene.now = now + .seconds(7)
        #expect(scene.say("x", by: "eve") == yes)
    }

    static let texts: [Case] = [
        Case("identical", "Buy now|buy  NOW|buy\u{200B} now", true),
        Case("identical", "Buy now|Buy now!|Buy now", false),
        Case(
            "similar",
            "buy cheap pills at evil.net|BUY CHEAP PILLS at evil.net!!|buy cheap p1lls at evil.net #482",
            true),
        Case("similar", "spam 1|spam 22|spam 333", true),
        Case("similar", "good morning everyone|where is the office|when do you open", false),
        Case("similar", "купите дёшево сейчас|купите дешево сейчас!|Купите дёшево  сейчас 7", true),
        Case("similar", "👍|👍|👍", true), Case("similar", "👍|🎉|🔥", false), Case("similar", "yes|no|ok", false),
        Case("similar", "これを安く買ってください今すぐ|これを安く買ってください今すぐ！|これを安く買ってください今すぐ1", true),
    ]

    @Test(arguments: texts)
    func `the same text again, or nearly the same`(_ example: Case) throws {
        let scene = try scene("3 \(example.rate) in 5m per user across service")
        var last: [String] = []
        let texts = example.said.split(separator: "|").map(String.init)
        for (text, channel) in zip(texts, ["general", "support", "staff"]) {
            last = scene.say(text, in: channel)
        }
        #expect((last == yes) == example.isReached)
    }

    @Test func `a text that is edited in counts as what it says now`() throws {
        let scene = try scene("3 similar in 5m per user", when: "[messageAdded, messageEdited]")
        let channel = scene.channel("general")
        let ana = scene.member("ana")
        #expect(
            scene.take(scene.event(.messageAdded(scene.message("hello", by: ana, id: "IM-1")), in: channel))
                == [])
        scene.say("buy cheap pills now")
        scene.say("good morning")
        #expect(scene.say("buy cheap pills now") == [])
        #expect(
            scene.take(
                scene.event(
                    .messageEdited(scene.message("buy cheap pills now", by: ana, id: "IM-1")), in: channel))
                == yes)
        // The one that was edited away counts no more.
        #expect(
            scene.take(scene.event(.messageEdited(scene.message("sorry", by: ana, id: "IM-1")), in: channel))
                == [])
    }

    @Test func `a rate belongs to the channels of its rule`() throws {
        let scene = try scene("2 messages in 10s across service", more: "    in: [lobby, staff]\n")
        #expect(scene.say("a", in: "support") == [])
        #expect(scene.say("b", in: "general") == [])
        #expect(scene.say("c", in: "support") == [])
        #expect(scene.say("d", in: "staff") == yes)
    }

    @Test func `equal rates share one window`() throws {
        var text = "version: 1\nrules:\n"
        for number in 1...50 {
            text +=
                "  r\(number): {when: messageAdded, also: true, if: {text: w\(number), rate: \(number % 5 + 2) messages in \(number % 3 + 1)m per user}, do: [{react: 👍}]}\n"
        }
        #expect(try Scene(text).rules.rateWindows.count == 1)
    }

    @Test func `a guard that removes the message does not hide it from a rate`() throws {
        let scene = try Scene(
            """
            version: 1
            rules:
              words: {when: [messageAdded, messageEdited], if: {text: heck}, do: [delete]}
              many: {when: messageAdded, if: {rate: 2 messages in 10s per user}, do: [{send: {to: staff, text: "yes"}}]}
            """)
        #expect(scene.say("heck") == ["delete general"])
        #expect(scene.say("fine") == yes)
    }

    @Test func `templates print what was counted`() throws {
        let scene = try Scene(
            rule: """
                    when: memberJoined
                    if: {rate: {count: 3, of: joins, in: 30s, per: channel}}
                    do: [{send: {to: staff, text: "{{ rate.count }} joins in {{ rate.span }}: {{ rate.users | join }}"}}]
                """.indented)
        var last: [String] = []
        for name in ["ana", "ben", "cho"] {
            last = scene.take(scene.event(.memberJoined(scene.member(name)), in: scene.channel("general")))
            scene.now = scene.now + .seconds(2)
        }
        #expect(last == ["send staff: 3 joins in 4 seconds: ana, ben and cho"])
    }

    /// A window's logs, and what is left of a key when it is asked for.
    private struct Logs {
        var logs = RateLogs()
        /// In milliseconds.
        var window: Int64 = 100

        mutating func add(
            _ time: Int64, key: UInt64, place: UInt32 = 1, came: Int64? = nil, id: String? = nil
        ) {
            logs.add(
                RateEntry(time: time, id: RateID(id ?? "\(time)"), amount: 1), isEdit: false, to: key,
                place: place, window: window, at: Timestamp(milliseconds: came ?? time))
        }

        func times(_ key: UInt64, since start: Int64 = .min) -> [Int64] {
            var times: [Int64] = []
            logs.look(key) { time, _, _ in
                if time <= start { return false }
                times.append(time)
                return true
            }
            return times
        }
    }

    @Test func `a window lets go of what is over, whoever it was about`() {
        var logs = Logs()
        for number in 0..<200_000 { logs.add(Int64(number), key: UInt64(number)) }
        #expect(logs.logs.count < 300)
        #expect(logs.times(199_999) == [199_999])
        #expect(logs.times(100_000) == [])
    }

    @Test func `of one key no more is counted than may be, and a window holds no more than it may`() {
        var logs = Logs(window: 86_400_000)
        for time in 0..<30_000 { logs.add(Int64(time), key: 7) }
        #expect(logs.times(7).count == RateLogs.mostOfOne)
        for number in 0..<300_000 { logs.add(30_000, key: UInt64(number + 8), id: "\(number)") }
        #expect(logs.logs.count <= RateLogs.most + 1)
    }

    @Test func `what comes in disorder is counted in order, and each once`() {
        var logs = Logs()
        for time in [50, 10, 30, 30, 50, 20] as [Int64] { logs.add(time, key: 1) }
        logs.add(30, key: 2)
        logs.add(30, key: 1, id: "another")
        #expect(logs.times(1) == [50, 30, 30, 20, 10])
        #expect(logs.times(1, since: 20) == [50, 30, 30])
        #expect(logs.times(2) == [30])
    }

    @Test func `a channel that is read late keeps its messages while another goes on`() {
        var logs = Logs()
        for time in 0..<50 as Range<Int64> { logs.add(time, key: 1, place: 1, came: 100_000 + time) }
        for time in 0..<5000 as Range<Int64> { logs.add(100_050 + time, key: 2, place: 2) }
        #expect(logs.times(1).count == 50)
        #expect(logs.times(2).count < 300)
        // And what never goes on is not kept for ever.
        for time in 0..<5000 as Range<Int64> { logs.add(900_000 + time, key: 2, place: 2) }
        #expect(logs.times(1).isEmpty)
    }

    @Test func `numbers are found by numbers, and those that are over leave when there is no room`() {
        var (table, known) = (NumberTable(), [UInt64: Int64]())
        var seeds = SeededRandom(seed: 3)
        for step in 0..<20_000 as Range<Int64> {
            let key = UInt64.random(in: 0..<500, using: &seeds)
            table.set(step, for: key)
            known[key] = step
        }
        #expect(table.count == known.count)
        for key in 0..<500 as Range<UInt64> { #expect(table[key] == known[key]) }
        for step in 20_000..<120_000 as Range<Int64> {
            table.set(step, for: UInt64(step)) { $0 >= step - 100 }
        }
        #expect(table.count < 500)
        for step in 119_900..<120_000 as Range<Int64> { #expect(table[UInt64(step)] == step) }
    }

    @Test(arguments: [
        ("7 messages", "\"7 messages\" is not a rate - try \"7 messages in 10s per user\""),
        ("0 messages in 10s", "\"0\" is not how often something happens - use 1 to 10000"),
        ("7 mesages in 10s", "\"mesages\" cannot be counted - did you mean \"messages\"?"),
        (
            "7 warnings in 10s",
            "\"warnings\" cannot be counted - use messages, links, mentions, attachments, emoji, joins, leaves, edits, identical, similar, strikes, reports"
        ),
        ("7 messages in 10", "\"10\" has no unit - use ms, s, m, h, d or w"),
        ("7 messages in 90d", "a rate looks back for 1ms to 30d, not \"90d\" - try 10s"),
        ("7 messages in 10s per person", "unknown \"per person\" - use user or channel"),
        (
            "7 messages in 10s per channel across service",
            "\"per channel\" and \"across service\" contradict each other - remove one of them"
        ),
        ("{count: 7, of: messages}", "\"rate\" has no \"in\" - try {count: 7, of: messages, in: 10s}"),
        (
            "{count: 7, of: messages, in: 1m, per: user, distinct: user}",
            "one user is never several - remove per: user"
        ),
    ])
    func `a mistake in a rate names the way out`(_ rate: String, _ expected: String) {
        let text = "version: 1\nrules:\n  it: {when: messageAdded, if: {rate: \(rate)}, do: [{reply: a}]}\n"
        let errors = RuleSet.load([BotSource(name: "x.yaml", bytes: Array(text.utf8))]).errors
        #expect(errors.map { $0.problem + ($0.hint.map { " - \($0)" } ?? "") } == [expected])
    }

    @Test func `explain tells how often it was, and counts nothing`() throws {
        let scene = try scene("3 messages in 10s per user")
        func reason() -> String {
            let event = scene.event(
                .messageAdded(scene.message("x", by: scene.member("ana"))), in: scene.channel("general"))
            return scene.rules.explain(event, in: scene.situation(for: event)).entries[0].reason
        }
        #expect(reason() == "no: 1 message in 10s, not 3 messages in 10s per user")
        scene.say("a")
        #expect(reason() == "no: 2 messages in 10s, not 3 messages in 10s per user")
        scene.say("b")
        #expect(reason() == "matches: 3 messages in 10s")
        #expect(scene.say("c") == yes)
    }
}
