import SQLite
import Testing

@Suite struct ConnectionTests {
    let connection: Connection

    init() throws {
        connection = try Connection(file: ":memory:")
        try connection.script(
            "CREATE TABLE notes (id INTEGER PRIMARY KEY, body UNIQUE); CREATE TABLE other (id)")
    }

    private func error(_ sql: String, _ values: [SQLValue] = []) -> DatabaseError? {
        #expect(throws: DatabaseError.self) { try connection.run(sql, values) }
    }

    @Test(
        arguments: [
            .null, .int(.max), .int(.min), .double(0.1), .text(""), .text("häh 😀"), .text("a\0b"), .blob([]),
            .blob([0, 255, 0]),
        ] as [SQLValue])
    func `a value comes back as it was`(_ value: SQLValue) throws {
        try connection.run("INSERT INTO notes (body) VALUES (?)", [value])
        #expect(try connection.value("SELECT body FROM notes") == value)
    }

    @Test func `columns are converted, and null told apart where it matters`() throws {
        try connection.run("INSERT INTO notes VALUES (?, ?)", [7, nil])
        let isRead = try connection.first("SELECT id, body, 'x', x'0102', 2.5 FROM notes") { row in
            #expect(row.int(0) == 7)
            #expect(row.text(0) == "7")
            #expect(row.bool(0))
            #expect(row.isNull(1))
            #expect([row.int(1), row.intOrNil(1) ?? -1] == [0, -1])
            #expect([row.text(1), row.textOrNil(1) ?? "nil"] == ["", "nil"])
            #expect([row.double(1), row.doubleOrNil(1) ?? -1] == [0, -1])
            #expect([row.blob(1), row.blobOrNil(1) ?? [9]] == [[], [9]])
            #expect(row.text(2) == "x")
            #expect(row.withBlob(3) { Array($0) } == [1, 2])
            #expect(row.double(4) == 2.5)
            #expect(row[99] == .null)
            #expect(row.values == [7, nil, "x", .blob([1, 2]), 2.5])
            return true
        }
        #expect(isRead == true)
        #expect(try connection.first("SELECT 1 WHERE 0") { $0.int(0) } == nil)
    }

    @Test func `nothing at hand is written as null`() throws {
        let values = [
            SQLValue(Int64?.none), SQLValue(String?.none), SQLValue([UInt8]?.none), SQLValue(Double?.none),
        ]
        #expect(values == [.null, .null, .null, .null])
        #expect(SQLValue(true) == 1)
        #expect(SQLValue(7 as UInt32) == 7)
        #expect(SQLValue(String?.some("x")) == "x")
    }

    @Test func `a statement may run inside of its own rows`() throws {
        for id in 1...3 { try connection.run("INSERT INTO notes VALUES (?, NULL)", [SQLValue(id)]) }
        let sql = "SELECT id FROM notes ORDER BY id"
        let pairs = try connection.rows(sql) { outer in
            try connection.rows(sql) { $0.int(0) * 10 + outer.int(0) }
        }
        #expect(pairs == [[11, 21, 31], [12, 22, 32], [13, 23, 33]])
    }

    @Test func `more statements than are kept run all the same`() throws {
        for round in 0..<2 {
            for number in 0..<250 {
                #expect(try connection.value("SELECT \(number) + ?", [1]) == SQLValue(number + 1))
            }
            #expect(try connection.value("SELECT ?", [SQLValue(round)]) == SQLValue(round))
        }
    }

    @Test func `a row that an insert gives back is inserted`() throws {
        let id = try connection.first("INSERT INTO notes (body) VALUES ('x') RETURNING id") { $0.int(0) }
        #expect(id == connection.insertedRow)
        #expect(try connection.value("SELECT count(*) FROM notes") == 1)
        try connection.run("UPDATE notes SET body = 'y'")
        #expect(connection.changedRows == 1)
    }

    @Test func `what SQLite says is passed on with the file`() {
        let typo = error("SELEC 1")
        #expect(typo?.kind == .other)
        #expect(typo?.description == #":memory:: near "SELEC": syntax error"#)
        #expect(error("SELECT \"x\"")?.description == ":memory:: no such column: x")
        let twice = #expect(throws: DatabaseError.self) {
            for _ in 0..<2 { try connection.run("INSERT INTO notes (body) VALUES ('x')") }
        }
        #expect(twice?.kind == .constraint)
        #expect(twice?.description == ":memory:: UNIQUE constraint failed: notes.body")
    }

    @Test func `mistakes in a statement are errors, not surprises`() {
        #expect(error("SELECT ?")?.description == #":memory:: 0 values for 1 places in "SELECT ?""#)
        #expect(
            error("SELECT 1; SELECT 2")?.description
                == #":memory:: more than one statement in "SELECT 1; SELECT 2""#)
        #expect(error(" ")?.description == #":memory:: no statement in " ""#)
        #expect(throws: Never.self) { try connection.run("SELECT 1;\n") }
    }
}
