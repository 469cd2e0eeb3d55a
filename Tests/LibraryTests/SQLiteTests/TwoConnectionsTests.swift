import SQLite
import Testing

@Suite struct TwoConnectionsTests {
    let folder: TemporaryFolder
    let one: Connection
    let other: Connection

    init() throws {
        folder = try TemporaryFolder()
        one = try Connection(file: folder.file("state.db"))
        try one.script("CREATE TABLE notes (id INTEGER PRIMARY KEY)")
        var options = DatabaseOptions()
        options.busyTimeout = .milliseconds(20)
        other = try Connection(file: folder.file("state.db"), options: options)
    }

    private func add(_ id: Int, with connection: Connection) throws {
        try connection.run("INSERT INTO notes VALUES (?)", [SQLValue(id)])
    }

    private func count(_ connection: Connection) throws -> SQLValue? {
        try connection.value("SELECT count(*) FROM notes")
    }

    @Test func `a reader goes on while another writes, and sees commits only`() throws {
        try one.transaction {
            try add(1, with: one)
            #expect(try count(other) == 0)
        }
        #expect(try count(other) == 1)
    }

    @Test func `a transaction for reading sees one moment`() throws {
        try other.transaction(.read) {
            #expect(try count(other) == 0)
            try add(1, with: one)
            #expect(try count(other) == 0)
        }
        #expect(try count(other) == 1)
    }

    @Test func `a second writer waits for its timeout and then says busy`() throws {
        try one.transaction {
            let start = ContinuousClock.now
            let error = #expect(throws: DatabaseError.self) {
                try other.transaction { try add(2, with: other) }
            }
            #expect(error?.kind == .busy)
            #expect(error?.description == "\(folder.file("state.db")): database is locked")
            #expect(start.duration(to: .now) >= .milliseconds(20))
        }
        try other.transaction { try add(2, with: other) }
        #expect(try count(one) == 1)
    }

    @Test func `closing one leaves the other whole`() throws {
        try add(1, with: one)
        let counts = try other.transaction(.read) {
            let before = try count(other)
            one.close()
            return [before, try count(other)]
        }
        #expect(counts == [1, 1])
        try add(2, with: other)
        #expect(try count(other) == 2)
    }
}
