import Chat
import Testing

@testable import Rules

/// Whom a lock or slow mode leaves alone.
@Suite struct SparedTests {
    private func spares(_ rule: String, defaults: String = "") throws -> [ChatAction.Spared?] {
        let scene = try Scene(
            """
            version: 1
            \(defaults)
            rules:
              it:
                when: [messageAdded, messageEdited]
                if: {text: shut}
                \(rule)
                do: [{lock: 10m}, {slowmode: 30s}, unlock, {slowmode: none}]
            """)
        let event = scene.event(
            .messageAdded(scene.message("shut", by: scene.member("ana"))), in: scene.channel("general"))
        return scene.decide(event).flatMap(\.actions).map(\.spares)
    }

    @Test func `moderators, admins and bots unless something else is said`() throws {
        #expect(try spares("run: live") == [nil, nil, nil, nil])
        #expect(try spares("exempt: none") == [nil, nil, nil, nil])
    }

    @Test func `whom the rule leaves alone, else whom its file does`() throws {
        let helpers = ChatAction.Spared(roles: ["helper"], users: ["ben", "twilio:cho"])
        let own = "exempt: {roles: [helper], users: [ben, \"twilio:cho\"]}"
        #expect(try spares(own) == [helpers, helpers, nil, nil])
        let file = "defaults: {exempt: {users: [dora], bots: false}}"
        let people = ChatAction.Spared(users: ["dora"], bots: false)
        #expect(try spares("run: live", defaults: file).prefix(2) == [people, people])
        #expect(try spares("exempt: none", defaults: file).prefix(2) == [people, people])
        #expect(try spares(own, defaults: file).prefix(2) == [helpers, helpers])
    }
}
