import Chat
import JSON
import Synapse
import Testing

@testable import Services

/// The client against a real homeserver.
@Suite(.synapse, .timeLimit(.minutes(3))) struct MatrixOnSynapse {
    private func key(_ text: String) -> ActionKey { ActionKey(text: text) }

    @Test(arguments: [11, 12]) func `the whole way there and back`(version: Int) async throws {
        try await withMatrix(version: version) { stage in
            let (ana, room) = (stage.ana, stage.room)
            try await ana.say("before", in: room)
            let inbox = TestInbox()
            let service = try await stage.login(inbox)
            try await ana.setPower(50, of: stage.bot.id, in: room)
            let hello = try await ana.say("hello", in: room)
            _ = try await inbox.story(of: 2)
            let receipt = try await service.perform(
                ChatAction(.reply(Outgoing("hi"), to: MessageReference(id: hello)), in: stage.place),
                key: key("k1"))
            let answer = try await ana.event(in: room) { $0["content"]?["body"] == "hi" }
            #expect(answer["event_id"]?.string == receipt.message?.id)
            #expect(answer["content"]?["msgtype"] == "m.notice")
            #expect(answer["content"]?["m.mentions"] == [:])
            #expect(answer["content"]?["m.relates_to"]?["m.in_reply_to"]?["event_id"]?.string == hello)
            // The same key again: the same message.
            let again = try await service.perform(
                ChatAction(.reply(Outgoing("hi"), to: MessageReference(id: hello)), in: stage.place),
                key: key("k1"))
            #expect(again == receipt)
            try await ana.edit(hello, to: "hello all", in: room)
            try await ana.react("👍", to: hello, in: room)
            _ = try await service.perform(
                ChatAction(.deleteMessage(MessageReference(id: hello)), in: stage.place), key: key("k2"))
            try await inbox.wait { $0.events.contains { $0.name == .messageDeleted } }
            let story = inbox.story.filter { !$0.hasSuffix("added") }
            let name = ana.name
            #expect(
                story.filter { !$0.hasPrefix("$") } == [
                    "\(room) + \(name): hello", "\(room) ~ \(name): hello all", "\(room) - \(name): ",
                ])
            let deleted = inbox.state.withLock { $0.events.last { $0.name == .messageDeleted } }
            #expect(deleted?.message?.id == hello)
            #expect(deleted?.by?.text == stage.bot.id)
            let edited = inbox.state.withLock { $0.events.last { $0.name == .messageEdited } }
            #expect(edited?.message?.id == hello)
        }
    }
}
