import Chat
import Engine
import Rules
import Testing

@testable import Rehearsal

@Suite struct Replays {
    private let identities = Identities()
    private let noon = Timestamp(milliseconds: 1_781_524_800_000)

    private func rules(_ words: String) throws -> RuleSet {
        let text = """
            version: 1
            rules:
              greet:
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
}
