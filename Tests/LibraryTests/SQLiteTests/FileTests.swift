import FoundationEssentials
import SQLite
import Testing

@Suite struct FileTests {
    let folder: TemporaryFolder
    var file: String { folder.file("state.db") }

    init() throws { folder = try TemporaryFolder() }

    private func made() throws -> Connection {
        let connection = try Connection(file: file)
        try connection.script("CREATE TABLE notes (id INTEGER PRIMARY KEY, body)")
        return connection
    }

    private func openingError(_ file: String, _ options: DatabaseOptions = .init()) -> DatabaseError? {
        #expect(throws: DatabaseError.self) { try Connection(file: file, options: options) }
    }

    @Test func `what was committed is there after reopening, and the file alone is whole`() throws {
        let connection = try made()
        try connection.run("INSERT INTO notes VALUES (1, 'x')")
        connection.close()
        #expect(!folder.has("state.db-wal"))
        #expect(
            try Connection(file: file, options: .readOnly).rows("SELECT body FROM notes") { $0.text(0) } == [
                "x"
            ])
    }

    @Test func `a closed connection says so`() throws {
        let connection = try made()
        connection.close()
        connection.close()
        let error = #expect(throws: DatabaseError.self) { try connection.run("SELECT 1") }
        #expect(error?.kind == .closed)
        #expect(error?.description == "\(file): is closed")
    }

    @Test func `closing in the middle of an answer is survived`() throws {
        let connection = try made()
        for _ in 0..<3 { try connection.run("INSERT INTO notes DEFAULT VALUES") }
        let error = #expect(throws: DatabaseError.self) {
            try connection.each("SELECT id FROM notes") { _ in connection.close() }
        }
        #expect(error?.kind == .closed)
    }

    @Test func `a new file is for its owner only`() throws {
        let connection = try made()
        try connection.run("INSERT INTO notes DEFAULT VALUES")
        for name in ["state.db", "state.db-wal", "state.db-shm"] {
            let attributes = try FileManager.default.attributesOfItem(atPath: folder.file(name))
            #expect(attributes[.posixPermissions] as? Int == 0o600)
        }
    }

    @Test func `nothing is written through a connection for reading, and nothing made`() throws {
        try made().close()
        let error = #expect(throws: DatabaseError.self) {
            try Connection(file: file, options: .readOnly).run("DELETE FROM notes")
        }
        #expect(error?.kind == .readOnly)
        #expect(error?.description == "\(file): attempt to write a readonly database")
        let missing = folder.file("missing.db")
        #expect(openingError(missing, .readOnly)?.kind == .cannotOpen)
        #expect(!folder.has("missing.db"))
    }

    @Test func `a file that cannot be opened is named with the reason`() {
        let error = openingError(folder.file("no/such/state.db"))
        #expect(error?.kind == .cannotOpen)
        #expect(
            error?.description == "\(folder.path)/no/such/state.db: unable to open database file "
                + "(No such file or directory)")
        #expect(openingError(folder.path)?.kind == .cannotOpen)
        #expect(openingError("")?.kind == .cannotOpen)
    }

    @Test(arguments: [false, true]) func `a file of something else is left alone`(_ isReadOnly: Bool) throws {
        let text = [UInt8](repeating: UInt8(ascii: "x"), count: 5000)
        try folder.write(text, to: "state.db")
        var options = DatabaseOptions()
        options.isReadOnly = isReadOnly
        let error = openingError(file, options)
        #expect(error?.kind == .notADatabase)
        #expect(error?.description == "\(file): file is not a database")
        #expect(try folder.bytes("state.db") == text)
    }

    @Test func `damage is found out`() throws {
        let connection = try made()
        try connection.transaction {
            for _ in 0..<500 { try connection.run("INSERT INTO notes (body) VALUES (hex(randomblob(100)))") }
        }
        connection.close()
        var bytes = try folder.bytes("state.db")
        for place in 8192..<min(bytes.count, 40_000) { bytes[place] = 0x5A }
        try folder.write(bytes, to: "state.db")
        let damaged = try Connection(file: file)
        #expect(try !damaged.damage().isEmpty)
        let error = #expect(throws: DatabaseError.self) {
            try damaged.rows("SELECT body FROM notes") { $0.text(0) }
        }
        #expect(error?.kind == .corrupt)
        #expect(error?.description == "\(file): database disk image is malformed")
    }

    @Test func `damaged files of any kind give errors, not crashes`() throws {
        let connection = try made()
        try connection.transaction {
            for _ in 0..<50 { try connection.run("INSERT INTO notes (body) VALUES (hex(randomblob(100)))") }
        }
        connection.close()
        let whole = try folder.bytes("state.db")
        for round in 0..<200 {
            var bytes = whole
            for step in 0..<5 {
                bytes[(round * 7919 + step * 104_729) % bytes.count] ^= UInt8(1 << (round % 8))
            }
            try folder.write(bytes, to: "state.db")
            do {
                let damaged = try Connection(file: file)
                _ = try damaged.damage()
                _ = try damaged.rows("SELECT * FROM notes") { $0.values }
            } catch is DatabaseError {
                continue
            }
        }
    }

    @Test func `a path that looks like a URI is a path`() throws {
        let connection = try Connection(file: folder.file("file:x?mode=memory"))
        try connection.script("CREATE TABLE t (x)")
        #expect(folder.has("file:x?mode=memory"))
    }

    @Test func `a copy made while the file is open is whole`() throws {
        let connection = try made()
        try connection.run("INSERT INTO notes VALUES (1, 'x')")
        try connection.copy(to: folder.file("copy.db"))
        let copy = try Connection(file: folder.file("copy.db"))
        #expect(try copy.rows("SELECT id, body FROM notes") { $0.values } == [[1, "x"]])
        #expect(throws: DatabaseError.self) { try connection.copy(to: folder.file("copy.db")) }
    }

    @Test func `a checkpoint tells how far it came`() throws {
        var options = DatabaseOptions()
        options.checkpointPages = 0
        let connection = try Connection(file: file, options: options)
        try connection.script("CREATE TABLE notes (body)")
        try connection.run("INSERT INTO notes VALUES (zeroblob(10000))")
        let passive = try connection.checkpoint()
        #expect(passive.logged > 2)
        #expect(passive.moved == passive.logged)
        #expect(try connection.checkpoint(.truncate) == (0, 0))
        #expect(try folder.bytes("state.db-wal").isEmpty)
        #expect(try Connection(file: ":memory:").checkpoint() == (0, 0))
    }

    @Test func `commits move a long log into the file, and go on from its beginning`() throws {
        var options = DatabaseOptions()
        options.checkpointPages = 10
        let connection = try Connection(file: file, options: options)
        try connection.script("CREATE TABLE notes (body)")
        for _ in 0..<100 { try connection.run("INSERT INTO notes VALUES (zeroblob(3000))") }
        #expect(try folder.bytes("state.db-wal").count < 20 * 4120)
        #expect(try folder.bytes("state.db").count > 60 * 4096)
        #expect(connection.usedLog < 20 * 4120)
    }
}
