import JSON
import Testing

@testable import ChatServer

@Suite(.timeLimit(.minutes(1))) struct SendingAgain {
    private func say(_ text: String, key: String, in room: SID) -> JSON {
        ["channel": .string(room.text), "text": .string(text), "key": .string(key)]
    }

    @Test func `a message that a page sends again is posted once, also when it was deleted meanwhile`()
        async throws
    {
        try await TestServer.run { server async throws in
            let room = try await server.server.channel("room", as: "ana")
            for name in ["ana", "bo"] { try await server.server.join(room, as: name) }
            let ana = try await TestPage(server, name: "ana")
            let first = try await ana.order("say", say("one", key: "k1", in: room))
            #expect(first["index"] == 0)
            #expect(try await ana.hear("message")["message"]?["key"] == "k1")
            #expect(try await ana.order("say", say("one", key: "k1", in: room))["index"] == 0)
            #expect(try await ana.order("say", say("two", key: "k2", in: room))["index"] == 1)
            let sid = try #require(server.server.messages(in: room).first?.sid)
            try await server.server.delete(sid, in: room, as: "ana")
            #expect(try await ana.order("say", say("one", key: "k1", in: room))["index"] == 0)
            // The key of somebody else is another key.
            let bo = try await TestPage(server, name: "bo")
            #expect(try await bo.order("say", say("mine", key: "k1", in: room))["index"] == 2)
            #expect(server.server.messages(in: room).map(\.content.body) == ["two", "mine"])
            let long = String(repeating: "k", count: 65)
            #expect(try await ana.order("say", say("x", key: long, in: room))["on"] == "error")
        }
    }

    @Test func `a message that a page sends again after a restart is posted once`() async throws {
        let file = TemporaryState()
        var room: SID?
        try await TestServer.run({ $0.state = file.path }) { server async throws in
            let made = try await server.server.channel("room", as: "ana")
            try await server.server.join(made, as: "ana")
            let ana = try await TestPage(server, name: "ana")
            _ = try await ana.order("say", say("one", key: "k1", in: made))
            room = made
        }
        try await TestServer.run({ $0.state = file.path }) { server async throws in
            let room = try #require(room)
            let ana = try await TestPage(server, name: "ana")
            #expect(try await ana.order("say", say("one", key: "k1", in: room))["index"] == 0)
            #expect(server.server.messages(in: room).count == 1)
        }
    }

    @Test func `too much at once is refused for now, which the page knows from for ever`() async throws {
        try await TestServer.run({ $0.writesPerSecond = 1 }) { server async throws in
            let room = try await server.server.channel("room", as: "ana")
            try await server.server.join(room, as: "ana")
            let ana = try await TestPage(server, name: "ana")
            _ = try await ana.order("say", say("one", key: "k1", in: room))
            let refused = try await ana.order("say", say("two", key: "k2", in: room))
            #expect(refused["later"] == true)
            // Asking again for what has arrived costs nothing.
            #expect(try await ana.order("say", say("one", key: "k1", in: room))["index"] == 0)
            let large = String(repeating: "x", count: 40_000)
            try await server.server.change { _ in }
            #expect(try await ana.order("say", say(large, key: "k3", in: room))["on"] == "error")
        }
    }
}
