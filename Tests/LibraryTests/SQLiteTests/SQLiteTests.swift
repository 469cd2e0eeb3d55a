import SQLite
import Testing

@Suite struct ConnectionTests {
    @Test func `what is written can be read`() throws {
        let connection = try Connection(file: ":memory:")
        try connection.script("CREATE TABLE t (a, b); INSERT INTO t VALUES (1, 'x')")
        try connection.run("INSERT INTO t VALUES (?, ?)", [2, .blob([1, 2])])
        #expect(
            try connection.rows("SELECT * FROM t ORDER BY a") { $0.values } == [
                [1, "x"], [2, .blob([1, 2])],
            ])
    }
}
