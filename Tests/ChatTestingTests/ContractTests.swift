import Chat
import ChatTesting
import Testing

/// A chat that is made up, with an account that keeps the contract unless told to break it.
private struct FakeStage: ChatServiceStage {
    let chat = FakeChat()
    let place = Place(account: "fake", channel: "lobby")
    var faults = FakeChatService.Faults()

    func service() async throws -> any ChatService {
        let service = FakeChatService(chat, channels: ["lobby"])
        service.setFaults { $0 = faults }
        return service
    }

    func say(_ text: String) async throws { chat.say(text, as: "ana", in: "lobby") }
    func texts() async throws -> [String] { chat.messages(in: "lobby").map(\.text) }

    func cut() async throws {
        chat.setReachable(false)
        chat.setReachable(true)
    }

    func expireToken() async throws {}
    func tokenCount() async throws -> Int { 0 }

    func limit() async throws -> Duration? {
        chat.script([.fails(.rateLimited(after: .milliseconds(50), "too fast"))])
        return .milliseconds(50)
    }
}

@Suite(.timeLimit(.minutes(1))) struct TheContractOfServices {
    @Test(arguments: ChatServiceContract.allCases.filter { ![.refreshes, .saysUnreachable].contains($0) })
    func `is kept by the fake`(_ promise: ChatServiceContract) async throws {
        try await promise.check(on: FakeStage())
    }

    @Test func `sees a service that tells everything twice`() async throws {
        var stage = FakeStage()
        stage.faults.copies = 2
        let broken = await #expect(throws: ContractBroken.self) {
            try await ChatServiceContract.leavesHistory.check(on: stage)
        }
        #expect(
            broken?.description == """
                what was said before the first log-in is not told: said were ["after, 1"], \
                told were ["after, 1", "after, 1"]
                """)
    }

    @Test func `sees a service that hears nothing`() async throws {
        var stage = FakeStage()
        stage.faults.isDeaf = true
        let broken = await #expect(throws: ContractBroken.self) {
            try await ChatServiceContract.knowsItself.check(on: stage, patience: .milliseconds(100))
        }
        #expect(
            broken?.description
                == "its own messages are told, as its own: its own messages: []; others': []")
    }

    @Test func `sees a service that goes on with an ended token`() async throws {
        let broken = await #expect(throws: ContractBroken.self) {
            try await ChatServiceContract.refreshes.check(on: FakeStage())
        }
        #expect(
            broken?.description
                == "an expired token is replaced, and nobody notices: it goes on without another token")
    }

    @Test func `sees a service that acts while it is not connected`() async throws {
        let broken = await #expect(throws: ContractBroken.self) {
            try await ChatServiceContract.saysUnreachable.check(on: FakeStage())
        }
        #expect(
            broken?.description
                == "not connected, it sends nothing and says so: not connected it says that it acted")
    }
}
