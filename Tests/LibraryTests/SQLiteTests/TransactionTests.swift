import SQLite
import Testing

@Suite struct TransactionTests {
    struct Stop: Error {}

    let connection: Connection

    init() throws {
        connection = try Connection(file: ":memory:")
        try connection.script("CREATE TABLE notes (id INTEGER PRIMARY KEY, body)")
    }

    private func add(_ id: Int) throws {
        try connection.run("INSERT INTO notes VALUES (?, NULL)", [SQLValue(id)])
    }

    private var ids: [Int64] {
        get throws { try connection.rows("SELECT id FROM notes ORDER BY id") { $0.int(0) } }
    }

    @Test func `all of a transaction is kept, or none of it`() throws {
        try connection.transaction { for id in 1...3 { try add(id) } }
        #expect(throws: Stop.self) {
            try connection.transaction {
                try add(4)
                #expect(try connection.isInTransaction)
                throw Stop()
            }
        }
        #expect(try ids == [1, 2, 3])
        #expect(try !connection.isInTransaction)
    }

    @Test func `an inner transaction is undone alone`() throws {
        try connection.transaction {
            try add(1)
            #expect(throws: Stop.self) {
                try connection.transaction {
                    try add(2)
                    throw Stop()
                }
            }
            try connection.transaction { try add(3) }
        }
        #expect(try ids == [1, 3])
    }

    @Test func `a full disk undoes the transaction, keeps what was there, and passes`() throws {
        let folder = try TemporaryFolder()
        let connection = try Connection(file: folder.file("state.db"))
        try connection.script("CREATE TABLE notes (id INTEGER PRIMARY KEY, body); PRAGMA max_page_count = 20")
        try connection.run("INSERT INTO notes VALUES (1, 'kept')")
        let error = #expect(throws: DatabaseError.self) {
            try connection.transaction {
                try connection.run("INSERT INTO notes VALUES (2, 'lost')")
                try connection.run("INSERT INTO notes VALUES (3, zeroblob(200000))")
            }
        }
        #expect(error?.kind == .full)
        #expect(error?.description == "\(folder.file("state.db")): database or disk is full")
        #expect(try connection.rows("SELECT id FROM notes") { $0.int(0) } == [1])
        try connection.script("PRAGMA max_page_count = 1000")
        try connection.run("INSERT INTO notes VALUES (3, zeroblob(200000))")
        #expect(try connection.damage() == [])
    }

    @Test func `nothing is written outside of a transaction that SQLite undid`() throws {
        try connection.script("PRAGMA max_page_count = 20")
        let error = #expect(throws: DatabaseError.self) {
            try connection.transaction {
                try add(1)
                try? connection.run("INSERT OR ROLLBACK INTO notes VALUES (1, NULL)")
                try add(2)
            }
        }
        #expect(error?.description == ":memory:: the transaction was undone")
        #expect(try ids == [])
        try connection.transaction { try add(3) }
        #expect(try ids == [3])
    }

    @Test func `a schema is brought up to date step by step, all steps or none`() throws {
        let steps = [
            "CREATE TABLE a (x); CREATE TABLE b (x)", "ALTER TABLE a ADD y", "INSERT INTO a VALUES (1, 2)",
        ]
        try connection.migrate(Array(steps.prefix(1)))
        #expect(try connection.version == 1)
        #expect(throws: DatabaseError.self) { try connection.migrate(steps + ["nonsense"]) }
        #expect(try connection.version == 1)
        try connection.migrate(steps)
        try connection.migrate(steps)
        #expect(try connection.version == 3)
        #expect(try connection.rows("SELECT x, y FROM a") { $0.values } == [[1, 2]])
    }

    @Test func `a file of a later version is left alone`() throws {
        try connection.setVersion(7)
        let error = #expect(throws: DatabaseError.self) { try connection.migrate(["CREATE TABLE a (x)"]) }
        #expect(error?.kind == .tooNew)
        #expect(error?.description == ":memory:: written by a later version (schema 7, this one knows 1)")
        #expect(try connection.version == 7)
    }
}
