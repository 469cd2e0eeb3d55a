import Chat
import JSON
import SQLite
import Testing

@testable import ChatServer

/// The lines of the log so far.
private final class Lines: Sendable {
    private let state = Locked<[String]>([])
    var all: [String] { state.withLock { $0 } }
    var log: Log { Log(level: .info) { line in self.state.withLock { $0.append(line.text) } } }
}

@Suite(.timeLimit(.minutes(1))) struct FullDisks {
    @Test func `while the disk is full people and programs are told, and nothing is lost when it is not`()
        async throws
    {
        let (file, lines) = (TemporaryState(), Lines())
        try await TestServer.run({ $0.state = file.path }, log: lines.log) { server async throws in
            let room = try await server.server.channel("room", as: "ana")
            for name in ["ana", "bot"] { try await server.server.join(room, as: name) }
            let ana = try await TestPage(server, name: "ana")
            _ = try await ana.hear("welcome")
            let bot = try await server.client("bot")
            let database = try #require(server.server.store?.database)
            try await database.run { try $0.run("PRAGMA max_page_count = 1") }
            // Larger than what is free in the pages there are.
            let large = String(repeating: "x", count: 30_000)
            let channel = JSON.string(room.text)
            let first = try await ana.begin(
                "say", ["channel": channel, "text": .string(large), "key": "1"])
            let trouble = try await ana.hear("trouble")
            #expect(trouble["text"] == "the server cannot store anything just now: its disk is full")
            let second = try await ana.order("say", ["channel": channel, "text": "two", "key": "2"])
            #expect(second["later"] == true)
            #expect(second["text"] == trouble["text"])
            let path = "/Client/v2/Services/\(server.server.names.service)/Conversations/\(room)/Messages"
            let refused = try await bot.request("POST", path, body: ["body": "three", "attributes": "{}"])
            #expect(refused.httpStatus == 503)
            #expect(refused.payload["message"] == trouble["text"])
            // Who comes in now is told before the rest.
            let late = try await TestPage(server, name: "cy")
            #expect(try await late.hear("trouble")["text"] == trouble["text"])
            try await database.run { try $0.run("PRAGMA max_page_count = 100000") }
            #expect(try await ana.answer(to: first)["index"] == 0)
            #expect(try await ana.hear("trouble")["text"] == .null)
            #expect(try await late.hear("welcome")["me"] == "cy")
            let again = try await ana.order("say", ["channel": channel, "text": "two", "key": "2"])
            #expect(again["index"] == 1)
        }
        #expect(
            lines.all == [
                "chat server: \(file.path): database or disk is full; what waits is stored when that is mended, what is new is refused",
                "chat server: its state can be written again",
            ])
    }

    @Test func `who stands at the door while nothing can be stored is told, and told when it is over`()
        async throws
    {
        let file = TemporaryState()
        try await TestServer.run({ $0.state = file.path }) { server async throws in
            let database = try #require(server.server.store?.database)
            let near = try await TestPage(server, name: nil)
            _ = try await near.hear("hello")
            try await database.run { try $0.run("PRAGMA query_only = 1") }
            // The first who comes in finds out.
            try await near.enter("dee")
            let trouble: JSON = "the server cannot store anything just now: it may not write its file"
            #expect(try await near.hear("trouble")["text"] == trouble)
            // One who has not even said a name yet.
            let far = try await TestPage(server, name: nil)
            #expect(try await far.hear("trouble")["text"] == trouble)
            try await database.run { try $0.run("PRAGMA query_only = 0") }
            #expect(try await far.hear("trouble")["text"] == .null)
            #expect(try await near.hear("trouble")["text"] == .null)
            #expect(try await near.hear("welcome")["me"] == "dee")
        }
    }
}
