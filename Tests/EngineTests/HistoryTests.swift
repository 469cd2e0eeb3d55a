import Chat
import Testing

@testable import Engine

@Suite struct HistoryTests {
    private let noon = Timestamp(milliseconds: 1_700_000_000_000)
    private let realm = Identities().realm("fake")

    @Test func `the history of a channel is bounded, and an edited message stands as it is now`() {
        let ana = Member(user: realm.user("ana"))
        func event(_ number: Int, _ channel: String, edit: String? = nil) -> ChatEvent {
            let message = Message(id: "\(number)", author: ana, text: edit ?? "\(number)")
            return ChatEvent(
                id: "\(number)", account: "fake", realm: realm, channel: Channel(id: realm.channel(channel)),
                sentAt: noon + .seconds(number),
                kind: edit == nil ? .messageAdded(message) : .messageEdited(message))
        }
        var history = History()
        for number in 0..<1000 { history.note(event(number, "one")) }
        history.note(event(999, "one", edit: "changed"))
        let texts = history[realm.channel("one")].compactMap { $0.message?.text }
        #expect(texts == (900..<999).map { "\($0)" } + ["changed"])
        for channel in 0..<2000 {
            for number in 0..<100 { history.note(event(2000 + channel * 100 + number, "c\(channel)")) }
        }
        #expect(history[realm.channel("one")].isEmpty)
        #expect(history[realm.channel("c1999")].count == 100)
    }

    @Test func `messages of any length stand in the history as they were written`() {
        var history = History()
        var expected: [String] = []
        var random: UInt64 = 7
        func next(_ limit: UInt64) -> Int {
            random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int((random >> 33) % limit)
        }
        for number in 0..<5_000 {
            // Now and then a long one, and some that come with more than a text.
            let length = next(40) == 0 ? next(20_000) : next(200)
            let text = String(repeating: number % 2 == 0 ? "a" : "д", count: length)
            let name = String(repeating: "n", count: next(30))
            let file = Message.Attachment(id: "F\(number)", name: "f.png", contentType: "image/png", size: 7)
            let message = Message(
                id: next(3) == 0 ? "M\(number)" : "\(number)", index: next(2) == 0 ? nil : Int64(number),
                author: Member(
                    user: realm.user("u\(next(9))"), name: name, roles: ["a b", "c"], isBot: next(2) == 0),
                text: text, attachments: next(5) == 0 ? [file] : [], replyTo: next(7) == 0 ? "M1" : nil)
            let event = ChatEvent(
                id: "\(number)", account: "fake", realm: realm, channel: Channel(id: realm.channel("one")),
                sentAt: noon + .seconds(number), kind: .messageAdded(message))
            _ = history.touch(realm.channel("one").identity.number)
            history.note(event)
            expected.append(described(event))
            if number % 97 == 0 {
                #expect(history[realm.channel("one")].map(described) == expected.suffix(History.most))
            }
        }
        history.forget(realm.user("u3"))
        #expect(
            history[realm.channel("one")].map(described)
                == expected.suffix(History.most).filter { !$0.contains(" u3 ") })
    }

    private func described(_ event: ChatEvent) -> String {
        guard let message = event.message else { return "nothing" }
        let author = message.author
        return "\(event.id) \(event.sentAt.milliseconds) \(message.id) \(message.index ?? -1) "
            + "\(author.user.text) \(author.name) \(author.roles) \(author.isBot) \(message.text) "
            + "\(message.attachments.map(\.id)) \(message.replyTo ?? "-")"
    }
}
