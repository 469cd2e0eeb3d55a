import SQLite
import Testing

@Suite struct PowerCutTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// The ids that are in a database made of these two files, as a power cut would leave them.
    private func ids(file: [UInt8], log: [UInt8]) throws -> [Int64] {
        try folder.write(file, to: "after.db")
        try folder.write(log, to: "after.db-wal")
        let connection = try Connection(file: folder.file("after.db"))
        #expect(try connection.damage() == [])
        return try connection.rows("SELECT id FROM notes ORDER BY id") { $0.int(0) }
    }

    @Test func `every commit is there after a power cut, and nothing of what was not committed`() throws {
        let connection = try Connection(file: folder.file("state.db"))
        try connection.script("CREATE TABLE notes (id INTEGER PRIMARY KEY, body)")
        for id in 1...5 { try connection.run("INSERT INTO notes VALUES (?, 'x')", [SQLValue(id)]) }
        try connection.transaction {
            try connection.run("INSERT INTO notes VALUES (6, zeroblob(100000))")
            #expect(
                try ids(file: folder.bytes("state.db"), log: folder.bytes("state.db-wal")) == [1, 2, 3, 4, 5])
        }
        #expect(
            try ids(file: folder.bytes("state.db"), log: folder.bytes("state.db-wal")) == [1, 2, 3, 4, 5, 6])
    }

    @Test func `a log cut anywhere gives the commits before the cut`() throws {
        var options = DatabaseOptions()
        options.checkpointPages = 0
        let connection = try Connection(file: folder.file("state.db"), options: options)
        try connection.script("CREATE TABLE notes (id INTEGER PRIMARY KEY, body)")
        try connection.checkpoint(.truncate)
        for id in 1...8 { try connection.run("INSERT INTO notes VALUES (?, 'x')", [SQLValue(id)]) }
        let file = try folder.bytes("state.db")
        let log = try folder.bytes("state.db-wal")
        var seen: Set<Int> = []
        for cut in stride(from: 0, through: log.count, by: 997) {
            let ids = try ids(file: file, log: Array(log.prefix(cut)))
            #expect(ids == (0..<Int64(ids.count)).map { $0 + 1 })
            seen.insert(ids.count)
        }
        #expect(seen.isSuperset(of: 0...7))
    }

    @Test func `a log that is long from the beginning gives what was written into it, and no more`() throws {
        var options = DatabaseOptions()
        options.checkpointPages = 0
        let connection = try Connection(file: folder.file("state.db"), options: options)
        try connection.script("CREATE TABLE notes (id INTEGER PRIMARY KEY, body)")
        try connection.reserveLog(bytes: 100_000)
        #expect(try folder.bytes("state.db-wal").count == 100_000)
        // Once around, so that older pages are behind the newer ones, too.
        for id in 1...6 { try connection.run("INSERT INTO notes VALUES (?, 'x')", [SQLValue(id)]) }
        try connection.checkpoint()
        try connection.reserveLog(bytes: 50_000)
        let file = try folder.bytes("state.db")
        for id in 7...9 { try connection.run("INSERT INTO notes VALUES (?, 'x')", [SQLValue(id)]) }
        let log = try folder.bytes("state.db-wal")
        #expect(log.count == 100_000)
        #expect(try ids(file: file, log: log) == Array(1...9))
        var seen: Set<Int> = []
        for cut in stride(from: 0, through: 20_000, by: 997) {
            let zeros = [UInt8](repeating: 0, count: log.count - cut)
            let ids = try ids(file: file, log: Array(log.prefix(cut)) + zeros)
            #expect(ids == (0..<Int64(ids.count)).map { $0 + 1 })
            seen.insert(ids.count)
        }
        #expect(seen == [6, 7, 8, 9])
    }
}
