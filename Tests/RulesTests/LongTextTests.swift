import Chat
import Matching
import Testing

@testable import Rules

@Suite struct LongTextTests {
    private static let bot = """
        version: 1
        defaults: {report_to: staff}
        rules:
          slurs:
            when: messageAdded
            if: {text: {has_any: [nincompoop], fold: loose}}
            do: [delete]
          polite:
            when: messageAdded
            if: {not: {text: please}, length: over 10}
            do: [{warn: "Say please."}]
            continue: true
          wall-of-text:
            when: messageAdded
            if: {any: [{text: [wall]}, {length: over 3000}]}
            do: [delete, {warn: "Too large."}]
        """

    private func word(_ count: Int) -> String {
        "you nincompoop " + String(repeating: "word ", count: count)
    }

    @Test func `a long message does not pass the guards`() throws {
        let scene = try Scene(Self.bot)
        #expect(scene.say(word(3_000)) == ["delete general"])
        #expect(scene.say(word(6_400)) == ["delete general"])
    }

    @Test func `a guard without time for a long text is told to staff, and what needs no look is decided`()
        throws
    {
        let scene = try Scene(Self.bot)
        scene.rules.turn.withLock { $0.time.budget = .zero }
        let told =
            "send staff: ⚠️ A message by ana in General was too long to look through in time: \"slurs\" and \"polite\" could not be decided, so look at it."
        #expect(scene.say(word(3_000)) == ["delete general", "send general: ana: Too large.", told])
        // Not every time.
        #expect(scene.say(word(3_000)) == ["delete general", "send general: ana: Too large."])
        #expect(scene.say("you nincompoop") == ["delete general"])
        let long = scene.event(
            .messageAdded(scene.message(word(500), by: scene.member("ana"))), in: scene.channel("general"))
        let notes = scene.decide(long).flatMap(\.notes)
        #expect(notes.map(\.by) == ["slurs", "polite", "wall-of-text"])
        #expect(
            notes.first?.text
                == "could not be decided: a text of 2515 bytes was too long to look through in time")
        scene.rules.turn.withLock { $0.time.budget = .seconds(60) }
        #expect(scene.take(long) == ["delete general"])
    }

    @Test func `explain tells that there was no time`() throws {
        let scene = try Scene(Self.bot)
        scene.rules.turn.withLock { $0.time.budget = .zero }
        let told = try #require(
            scene.rules.explain(say: word(3_000), as: "ana", in: "lobby", now: scene.now))
        #expect(told.entries.map(\.matches) == [false, false, true])
        #expect(told.entries.first?.reason.hasPrefix("undecided: the text is so long") == true)
    }

    /// What costs the most, each in its way.
    private static let texts = [
        String(repeating: "word ", count: 6_400), String(repeating: "с", count: 16_000),
        "word " + String(repeating: "сос ", count: 4_500), String(repeating: "a ", count: 16_000),
        String(repeating: "fai1 ", count: 6_400), String(repeating: "shooort ", count: 4_000),
        String(repeating: "a\u{301}\u{302}", count: 6_000), "> " + String(repeating: "heck ", count: 6_000),
    ]

    @Test(arguments: texts.indices)
    func `the time for a text grows with its length and no faster`(_ number: Int) throws {
        let text = Self.texts[number]
        let scene = try Scene(
            """
            version: 1
            rules:
              a: {when: [messageAdded, messageEdited], if: {text: {has_any: [nincompoop], fold: loose}}, do: [delete]}
              b: {when: messageAdded, if: {text: {has_any: [nincompoop], fold: squeezed}}, do: [{reply: x}]}
              c: {when: messageAdded, if: {rate: 3 similar in 5m per user}, do: [delete]}
              d: {when: [messageAdded, messageEdited], if: {text: {starts_with: heck, skip: [quotes]}}, do: [delete]}
            """)
        scene.rules.turn.withLock { $0.time.budget = .seconds(60) }
        func time(_ text: String) -> Duration {
            let start = ThreadTime.now
            scene.say(text, by: "u\(text.count)")
            return ThreadTime.now - start
        }
        let part = String(text.unicodeScalars.prefix(text.unicodeScalars.count / 8))
        let short = (0..<3).map { _ in time(part) }.min() ?? .zero
        #expect(time(text) < short * 24 + .milliseconds(20))
    }
}
