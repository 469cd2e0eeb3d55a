import Chat
import ChatTesting
import SQLite
import Testing

@testable import Engine

/// Stores of earlier stewards.
@Suite(.timeLimit(.minutes(1))) struct EarlierStores {
    private let file = TemporaryFile()

    /// A store as a steward left it that knew so many steps, with one remembered row.
    private func make(version: Int) async throws {
        let database = try await Database.open(file.path)
        try await database.run { connection in
            try connection.migrate(Array(SQLiteJournal.schema.prefix(version)))
            try connection.run(
                "INSERT INTO memory (key, part, body) VALUES (?, ?, ?)",
                [.text("a"), .text("rule"), .blob([0])])
        }
        await database.close()
    }

    @Test(arguments: 1..<SQLiteJournal.schema.count)
    func `one of any earlier version is brought up to date with all that is in it`(_ version: Int)
        async throws
    {
        try await make(version: version)
        let chat = FakeChat()
        let journal = try await SQLiteJournal.open(file.path)
        #expect(try await journal.rows(of: .memory, keys: ["a"]).map(\.body) == [[0]])
        try await Cases.rig(journal: journal, chat: chat).runReady { _ in
            chat.say("bad", as: "ana", in: "lobby")
            await chat.wait { $0.performed.count == 2 }
        }
        #expect(try await Cases.cases(in: journal).keys.sorted() == ["C1"])
        await journal.close()
    }

    @Test(arguments: 1..<SQLiteJournal.schema.count)
    func `one of any earlier version can be looked into, and takes orders only when it is up to date`(
        _ version: Int
    ) async throws {
        try await make(version: version)
        let reader = try await SQLiteJournal.openForReading(file.path)
        #expect(try await reader.rows(of: .memory, keys: ["a"]).count == 1)
        #expect(try await reader.rows(of: .cases) == [])
        #expect(try await reader.rows(of: .evidence, keys: ["C1"]) == [])
        #expect(try await reader.auditLines(since: Timestamp(milliseconds: 0)) == [])
        #expect(try await reader.keptEvents(since: Timestamp(milliseconds: 0)) == [])
        await reader.close()
        let error = await #expect(throws: JournalError.self) { try await OrderDesk.open(file.path) }
        #expect(
            error
                == .unusable(
                    "\(file.path): an earlier steward wrote it - start this one once, so that it is brought up to date"
                ))
    }
}
