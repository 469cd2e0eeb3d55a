import Chat
import ChatTesting
import Engine
import Testing

@Suite(.timeLimit(.minutes(1))) struct Engines {
    @Test func `a message is answered, and our own answer is not`() async throws {
        let rig = Rig([.echo])
        try await rig.runReady { engine in
            rig.chat.say("hello", as: "ana", in: "lobby")
            await rig.chat.wait { $0.messages(in: "lobby").count == 2 }
        }
        #expect(rig.chat.messages(in: "lobby").map(\.text) == ["hello", "re: hello"])
    }
}

extension EventHandler where Self == Handler {
    static var echo: Handler { Handler.echo }
}
