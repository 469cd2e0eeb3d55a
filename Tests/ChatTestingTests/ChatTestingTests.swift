import Chat
import ChatTesting
import Testing

/// What the author of a plugin writes.
@Suite struct PluginTesting {
    private struct Welcome: EventHandler {
        let name = "welcome"
        let stage = Stage.answer

        func decide(_ event: ChatEvent, in situation: Situation) throws -> Decision {
            guard case .memberJoined(let member) = event.kind else { return .nothing }
            return .send("Welcome, \(member.name)!", about: event)
        }
    }

    @Test func `a plugin is asked about an event that was built by hand`() throws {
        let decision = try Welcome().decide(.join("ana"), in: .test())
        let place = Place(account: "test", channel: "lobby")
        #expect(decision.actions == [ChatAction(.send(Outgoing("Welcome, ana!")), in: place)])
        #expect(try Welcome().decide(.message("hi"), in: .test()).isEmpty)
    }

    @Test func `events built by hand say who, where and when`() {
        let event = ChatEvent.message("hi", from: "ben", in: "staff", id: "M7")
        #expect(event.member?.user.text == "ben")
        #expect(event.place == Place(account: "test", channel: "staff"))
        #expect(event.message?.text == "hi")
        #expect(event.sentAt == ManualClock().now)
        #expect(NothingRemembered().value(of: MemoryKey(owner: "a", name: "b", subject: .all)) == nil)
    }
}
