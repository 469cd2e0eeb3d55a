import Chat
import Rehearsal
import Testing

@testable import Engine

@Suite(.timeLimit(.minutes(1))) struct ManualClocks {
    @Test func `nobody wakes before the clock was moved far enough`() async throws {
        let clock = ManualClock()
        let start = clock.now
        let woken = Locked<[Int]>([])
        await withTaskGroup(of: Void.self) { group in
            for seconds in [20, 10] {
                group.addTask {
                    try? await clock.sleep(for: .seconds(seconds))
                    woken.withLock { $0.append(seconds) }
                }
                await clock.waitForSleeper(until: start + .seconds(10))
            }
            await clock.waitForSleeper(until: start + .seconds(20))
            while clock.nextWake != start + .seconds(10) { await Task.yield() }
            clock.advance(by: .seconds(9))
            #expect(woken.withLock { $0 } == [])
            clock.advance(by: .seconds(1))
            await group.next()
            #expect(woken.withLock { $0 } == [10])
            clock.advance(by: .seconds(10))
            await group.next()
        }
        #expect(woken.withLock { $0 } == [10, 20])
        #expect(clock.now == start + .seconds(20))
        #expect(clock.nextWake == nil)
    }

    @Test func `a sleeper whose task is cancelled wakes at once`() async {
        let clock = ManualClock()
        let sleeper = Task { try await clock.sleep(for: .seconds(10)) }
        await clock.waitForSleeper(until: clock.now + .seconds(10))
        sleeper.cancel()
        let result = await sleeper.result
        #expect(throws: CancellationError.self) { try result.get() }
        #expect(clock.nextWake == nil)
    }
}

@Suite(.timeLimit(.minutes(1))) struct FakeChats {
    private let chat = FakeChat()
    private let place = Place(account: "fake", channel: "lobby")
    private let key = ActionKey(text: "0123")

    @Test func `what it was asked for is there, and is found by its key`() async throws {
        let service = FakeChatService(chat, channels: ["lobby"])
        let action = ChatAction(.send(Outgoing("hi")), in: place)
        #expect(try await service.find(action, key: key, since: .now) == nil)
        let receipt = try await service.perform(action, key: key)
        #expect(receipt == Receipt(message: MessageReference(id: "lobby-0", index: 0), channel: "lobby"))
        #expect(try await service.find(action, key: key, since: .now) == receipt)
        #expect(chat.messages(in: "lobby").map(\.text) == ["hi"])
    }

    @Test func `scripted faults happen in turn, done or not done`() async throws {
        let service = FakeChatService(chat, channels: ["lobby"])
        let action = ChatAction(.send(Outgoing("hi")), in: place)
        chat.script([.fails(.rejected("no")), .failsAfterwards(.unknownOutcome("cut"))])
        await #expect(throws: ChatServiceError.rejected("no")) { try await service.perform(action, key: key) }
        #expect(chat.messages(in: "lobby").isEmpty)
        await #expect(throws: ChatServiceError.unknownOutcome("cut")) {
            try await service.perform(action, key: key)
        }
        #expect(chat.messages(in: "lobby").count == 1)
        chat.setReachable(false)
        await #expect(throws: ChatServiceError.unreachable("not connected")) {
            try await service.perform(action, key: key)
        }
    }

    @Test func `a message is deleted once, and a second time nothing happens`() async throws {
        let service = FakeChatService(chat, channels: ["lobby"])
        let message = chat.say("bad", as: "ana", in: "lobby")
        let action = ChatAction(.deleteMessage(MessageReference(id: message.id)), in: place)
        _ = try await service.perform(action, key: key)
        _ = try await service.perform(action, key: key)
        #expect(chat.messages(in: "lobby") == [])
        let unknown = ChatAction(.deleteMessage(MessageReference(id: "none")), in: place)
        await #expect(throws: ChatServiceError.rejected("there is no message none")) {
            try await service.perform(unknown, key: key)
        }
    }
}
