import SQLite
import Testing

@Suite(.timeLimit(.minutes(1))) struct DatabaseTests {
    struct Stop: Error {}

    private static let endless =
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"
    private static let long =
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500000) SELECT max(i) FROM n"

    let folder: TemporaryFolder
    let database: Database

    init() async throws {
        folder = try TemporaryFolder()
        database = try await Database.open(folder.file("state.db"))
        try await database.run("CREATE TABLE notes (id INTEGER PRIMARY KEY, body)")
    }

    @Test func `what many tasks write at once is all there`() async throws {
        try await withThrowingTaskGroup { group in
            for id in 0..<200 {
                group.addTask { [database] in
                    try await database.run("INSERT INTO notes VALUES (?, ?)", [SQLValue(id), "x"])
                }
            }
            try await group.waitForAll()
        }
        #expect(try await database.rows("SELECT id FROM notes ORDER BY id") { $0.int(0) } == Array(0..<200))
    }

    @Test func `several statements in one go are one transaction`() async throws {
        let count = try await database.transaction { connection in
            for id in 1...3 { try connection.run("INSERT INTO notes VALUES (?, NULL)", [SQLValue(id)]) }
            return try connection.first("SELECT count(*) FROM notes") { $0.int(0) }
        }
        #expect(count == 3)
        await #expect(throws: Stop.self) {
            try await database.transaction { connection in
                try connection.run("DELETE FROM notes")
                throw Stop()
            }
        }
        #expect(try await database.rows("SELECT id FROM notes") { $0.int(0) } == [1, 2, 3])
    }

    /// Runs `body` in a task that is cancelled once `body` has begun.
    private func cancelled<R: Sendable>(
        _ cancellation: Database.Cancellation, _ body: @escaping @Sendable (Connection) throws -> R
    ) async throws -> R {
        let (begun, begin) = AsyncStream.makeStream(of: Void.self)
        let task = Task { [database] in
            try await database.transaction(whenCancelled: cancellation) { connection in
                begin.finish()
                return try body(connection)
            }
        }
        for await _ in begun {}
        task.cancel()
        return try await task.value
    }

    @Test func `a statement of a cancelled task stops, and its transaction is undone`() async throws {
        await #expect(throws: CancellationError.self) {
            try await cancelled(.stops) { connection in
                try connection.run("INSERT INTO notes VALUES (1, NULL)")
                try connection.run(Self.endless)
            }
        }
        #expect(try await database.rows("SELECT id FROM notes") { $0.int(0) } == [])
    }

    @Test func `what has to be written is written although the task is cancelled`() async throws {
        let last = try await cancelled(.finishes) { connection in
            while !Task.isCancelled {}
            try connection.run("INSERT INTO notes VALUES (1, NULL)")
            return try connection.first(Self.long) { $0.int(0) }
        }
        #expect(last == 500_000)
        #expect(try await database.rows("SELECT id FROM notes") { $0.int(0) } == [1])
    }

    @Test func `a task that was cancelled before does not begin`() async throws {
        let task = Task { [database] in
            while !Task.isCancelled { await Task.yield() }
            try await database.run("INSERT INTO notes VALUES (1, NULL)")
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try await database.rows("SELECT id FROM notes") { $0.int(0) } == [])
    }

    @Test func `waiting for a lock ends with the task`() async throws {
        var options = DatabaseOptions()
        options.busyTimeout = .seconds(3600)
        let other = try await Database.open(folder.file("state.db"), options: options)
        let holder = try Connection(file: folder.file("state.db"))
        try holder.run("BEGIN IMMEDIATE")
        let (begun, begin) = AsyncStream.makeStream(of: Void.self)
        let task = Task {
            try await other.run { connection in
                begin.finish()
                try connection.run("INSERT INTO notes VALUES (1, NULL)")
            }
        }
        for await _ in begun {}
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        try holder.run("ROLLBACK")
        try await other.run("INSERT INTO notes VALUES (1, NULL)")
    }

    @Test func `closing leaves one whole file; after it every call says closed`() async throws {
        try await database.run("INSERT INTO notes VALUES (1, 'x')")
        await database.close()
        await database.close()
        #expect(!folder.has("state.db-wal"))
        let error = await #expect(throws: DatabaseError.self) { try await database.run("SELECT 1") }
        #expect(error?.kind == .closed)
    }

    @Test func `opening fails with what SQLite said`() async throws {
        let file = folder.file("no/state.db")
        let error = await #expect(throws: DatabaseError.self) { try await Database.open(file) }
        #expect(error?.description == "\(file): unable to open database file (No such file or directory)")
    }

    @Test func `a database in memory is its own`() async throws {
        let one = try await Database.open(":memory:")
        let other = try await Database.open(":memory:")
        try await one.run("CREATE TABLE t (x)")
        try await other.run("CREATE TABLE t (x)")
    }
}
