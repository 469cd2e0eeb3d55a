internal import Chat
internal import SQLite

extension SQLiteJournal {
    /// Each step leads from one version of the store to the next. Those that were released do not change any more.
    static let schema = [
        """
        CREATE TABLE lease (number INTEGER NOT NULL, holder TEXT, until INTEGER NOT NULL);
        INSERT INTO lease (number, holder, until) VALUES (0, NULL, 0);
        CREATE TABLE log (number INTEGER PRIMARY KEY, body BLOB NOT NULL);
        """
            + tables.map { name in
                """
                CREATE TABLE \(name) (
                    key TEXT NOT NULL, part TEXT NOT NULL, body BLOB NOT NULL, PRIMARY KEY (key, part)
                ) WITHOUT ROWID;
                """
            }.joined(),
        """
        CREATE TABLE rule (
            key TEXT NOT NULL, part TEXT NOT NULL, body BLOB NOT NULL, PRIMARY KEY (key, part)
        ) WITHOUT ROWID;
        CREATE TABLE event (number INTEGER PRIMARY KEY, last INTEGER NOT NULL, body BLOB NOT NULL);
        """,
        ["cases", "evidence"].map { name in
            """
            CREATE TABLE \(name) (
                key TEXT NOT NULL, part TEXT NOT NULL, body BLOB NOT NULL, PRIMARY KEY (key, part)
            ) WITHOUT ROWID;
            """
        }.joined() + """
            CREATE TABLE audit (number INTEGER PRIMARY KEY, at INTEGER NOT NULL, body BLOB NOT NULL);
            CREATE TABLE orders (
                number INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, body BLOB NOT NULL, answer BLOB
            );
            """,
    ]

    private static let tables = ["memory", "stream", "action", "continuation", "identity"]
}

extension JournalTable {
    /// Its name in the file.
    var name: String {
        switch self {
        case .memory: "memory"
        case .stream: "stream"
        case .action: "action"
        case .continuation: "continuation"
        case .identity: "identity"
        case .rule: "rule"
        case .event: "event"
        case .cases: "cases"
        case .evidence: "evidence"
        case .audit: "audit"
        case .order: "orders"
        }
    }
}

extension Connection {
    func check(_ lease: Lease) throws {
        let number = try first("SELECT number FROM lease WHERE holder IS NOT NULL") { $0.int(0) }
        guard number == lease.number else {
            throw JournalError.leaseLost("\(file): another steward has taken over")
        }
    }

    /// Best in the order of the tables' keys.
    func writeBack(_ rows: [RowChange]) throws {
        var last: (table: JournalTable, put: String, remove: String)?
        for row in rows {
            let table = row.key.table
            let statements = last.flatMap { $0.table == table ? $0 : nil } ?? Self.statements(for: table)
            last = statements
            let (key, part) = (SQLValue.text(row.key.key), SQLValue.text(row.key.part))
            if let body = row.body {
                try run(statements.put, [key, part, .blob(body)])
            } else {
                try run(statements.remove, [key, part])
            }
        }
    }

    private static func statements(
        for table: JournalTable
    ) -> (table: JournalTable, put: String, remove: String) {
        (
            table,
            """
            INSERT INTO \(table.name) (key, part, body) VALUES (?, ?, ?)
            ON CONFLICT DO UPDATE SET body = excluded.body
            """, "DELETE FROM \(table.name) WHERE key = ? AND part = ?"
        )
    }

    func cutLog(before number: Int64, from first: Int64) throws {
        if number > first { try run("DELETE FROM log WHERE number < ?", [.int(number)]) }
    }

    /// What is written where it stays, in the same commit as what was decided.
    func keep(_ changes: [RowChange]) throws {
        for change in changes {
            let number = SQLValue.int(Int64(change.key.key) ?? 0)
            switch (change.key.table, change.body) {
            case (.event, let body?):
                try run("INSERT INTO event (last, body) VALUES (?, ?)", [number, .blob(body)])
            case (.event, nil): try run("DELETE FROM event WHERE last < ?", [number])
            case (.audit, let body?):
                try run("INSERT INTO audit (at, body) VALUES (?, ?)", [number, .blob(body)])
            case (.order, let body?):
                try run("UPDATE orders SET answer = ? WHERE number = ?", [.blob(body), number])
            case (.order, nil): try run("DELETE FROM orders WHERE answer IS NOT NULL AND at < ?", [number])
            // Nothing is ever taken out of the audit log by those who write it.
            default: break
            }
        }
    }

    /// Whether the file has that table: a store of an earlier steward, opened for reading, lacks the later ones.
    func has(_ table: JournalTable) throws -> Bool {
        try first("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", [.text(table.name)]) {
            $0.int(0)
        } != nil
    }

    func setPagesLimit(_ pages: Int) throws {
        // Never below what the file has already.
        _ = try value("PRAGMA max_page_count = \(pages)")
    }
}

extension JournalError {
    init(_ error: any Error) {
        switch error {
        case let error as JournalError: self = error
        case let error as DatabaseError:
            switch error.kind {
            case .corrupt, .notADatabase: self = .damaged(error.file, error.words)
            case .closed, .constraint: self = .unusable(error.description)
            case .tooNew: self = .tooNew(error.description)
            default: self = .unwritable(error.description)
            }
        default: self = .unwritable("\(error)")
        }
    }
}
