import Chat
import Testing

@Suite struct SharedParts {
    @Test func `a copy of an event shares its parts until one is changed`() {
        let realm = Identities().realm("test")
        let event = ChatEvent(
            id: "E1", account: "a", realm: realm, channel: Channel(id: realm.channel("C1")),
            sentAt: Timestamp(milliseconds: 1),
            kind: .messageAdded(Message(id: "M1", author: Member(user: realm.user("ana")), text: "hi")))
        var copy = event
        #expect(copy.isSame(as: event))
        copy.channel?.title = "Lobby"
        #expect(!copy.isSame(as: event))
        #expect(event.channel?.title == "")
        #expect(copy.channel?.title == "Lobby")
        #expect(copy.message?.text == "hi")
    }
}
