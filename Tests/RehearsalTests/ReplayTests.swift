import Chat
import Engine
import Rules
import Testing

@testable import Rehearsal

@Suite struct Replays {
    private let identities = Identities()
    private let noon = Timestamp(milliseconds: 1_781_524_800_000)

    private func rules(_ words: String, name: String = "greet", more: String = "") throws -> RuleSet {
        let text = """
            version: 1
            rules:
              \(name):
                \(more)
                when: messageAdded
                if: {text: [\(words)]}
                cooldown: 10m per user
                do: [{reply: hi}]
            """
        let loaded = RuleSet.load(
            [BotSource(name: "b", bytes: Array(text.utf8))], directory: BotTestTests.directory)
        return try #require(loaded.rules)
    }

    private func message(_ text: String, by user: String, after time: Duration) -> ChatEvent {
        let realm = identities.realm("IS1")
        let id = "IM\(time.milliseconds)"
        return ChatEvent(
            id: id, account: "town", realm: realm,
            channel: Channel(id: realm.channel("CH1"), uniqueName: "general", title: "General"),
            sentAt: noon + time,
            kind: .messageAdded(Message(id: id, author: Member(user: realm.user(user)), text: text)))
    }

    @Test func `past events go through two sets of rules on a clock of their own`() throws {
        var replay = Replay(
            try rules("hello"), beside: try rules("morning"), limits: .init(), identities: identities,
            from: noon)
        replay.take(message("hello", by: "ana", after: .seconds(0)))
        // The cooldown holds by the time of the events, not by that of the replay.
        replay.take(message("hello", by: "ana", after: .seconds(60)))
        replay.take(message("hello, good morning", by: "ben", after: .seconds(61)))
        replay.take(message("hello", by: "ana", after: .seconds(600)))
        let tally = try #require(replay.tallies["greet"])
        #expect((tally.old, tally.new) == (3, 1))
        #expect(
            tally.onlyOld == [
                "messageAdded by ana in general: \"hello\"", "messageAdded by ana in general: \"hello\"",
            ])
        #expect(tally.onlyNew == [])
        #expect(replay.events == 4)
    }

    @Test func `a rule under a new name is counted with what it was`() throws {
        let (old, new) = (try rules("hello"), try rules("morning", name: "welcome", more: "was: greet"))
        var replay = Replay(old, beside: new, limits: .init(), identities: identities, from: noon)
        replay.take(message("hello", by: "ana", after: .seconds(0)))
        replay.take(message("hello, good morning", by: "ben", after: .seconds(1)))
        #expect(replay.renamed == ["greet": "welcome"])
        #expect(replay.rules(old, new) == ["welcome"])
        #expect(replay.tallies.keys.sorted() == ["welcome"])
        let tally = try #require(replay.tallies["welcome"])
        #expect((tally.old, tally.new) == (2, 1))
        #expect(tally.onlyOld == ["messageAdded by ana in general: \"hello\""])
    }

    @Test func `what is collected matches when it comes, and not again when it is acted on`() throws {
        let text = """
            version: 1
            rules:
              greet: {when: memberJoined, batch: 5s, do: [{send: "Welcome, {{ users | join }}!"}]}
            """
        let loaded = RuleSet.load(
            [BotSource(name: "b", bytes: Array(text.utf8))], directory: BotTestTests.directory)
        var replay = Replay(
            try #require(loaded.rules), beside: nil, limits: .init(), identities: identities, from: noon)
        let realm = identities.realm("IS1")
        for (number, user) in ["ana", "ben"].enumerated() {
            replay.take(
                ChatEvent(
                    id: "\(number)", account: "town", realm: realm,
                    channel: Channel(id: realm.channel("CH1"), uniqueName: "general", title: "General"),
                    sentAt: noon + .seconds(number), kind: .memberJoined(Member(user: realm.user(user)))))
        }
        replay.take(message("hello", by: "ana", after: .seconds(60)))
        let tally = try #require(replay.tallies["greet"])
        #expect(tally.old == 2)
        #expect(tally.samples == ["memberJoined by ana in general", "memberJoined by ben in general"])
    }
}
