package import Chat
internal import SQLite

/// The store in one SQLite file: each append is one row of a log, and the rows that it changed move to their tables in
/// slices behind it. Every commit is on the disk before `append` returns.
package actor SQLiteJournal: Journal {
    private nonisolated let database: Database
    private let lock: LeaseLock?
    /// What is in the log and not in the tables yet.
    private var tail = LogTail()
    private var lastNumber: Int64 = 0
    private var isCheckpointed = true

    /// So many changed rows go to their tables with each commit.
    private static let slice = 200

    /// The database's thread is ours, too, so that a commit costs one hop.
    package nonisolated var unownedExecutor: UnownedSerialExecutor { database.unownedExecutor }

    private init(_ database: Database, lock: LeaseLock?) {
        self.database = database
        self.lock = lock
    }

    /// Opens or makes the file; `:memory:` is a store of its own. Throws `.unusable` for a file that a later steward
    /// wrote, or that is damaged.
    package static func open(_ file: String) async throws(JournalError) -> SQLiteJournal {
        try await open(file, pagesLimit: nil)
    }

    /// The same for a disk that is full after so many pages.
    package static func open(_ file: String, pagesLimit: Int?) async throws(JournalError) -> SQLiteJournal {
        var options = DatabaseOptions()
        // Few large check-points; `tidy` makes most of them when nothing else is to be done.
        options.checkpointPages = 4000
        do {
            let database = try await Database.open(file, options: options)
            try await database.run(whenCancelled: .finishes) { connection in
                try connection.migrate(schema)
                if let pagesLimit { try connection.setPagesLimit(pagesLimit) }
            }
            return SQLiteJournal(database, lock: file == ":memory:" ? nil : LeaseLock(file: file + ".lock"))
        } catch {
            throw JournalError(error)
        }
    }

    /// Closes the file. A lease that was not released is free for whoever comes next, as after a crash.
    package func close() async {
        await database.close()
        lock?.release()
    }

    package func acquire(by holder: String, at now: Timestamp, until: Timestamp) async throws(JournalError)
        -> LeaseAnswer
    {
        // The system frees the lock of a process that is gone, however it went: then nobody holds the lease.
        let isAlone = lock?.take() ?? false
        let answer = try write { connection in
            let held = try connection.first("SELECT number, holder, until FROM lease") { row in
                (number: row.int(0), holder: row.textOrNil(1), until: Timestamp(milliseconds: row.int(2)))
            }
            if let held, let other = held.holder, held.until > now, !isAlone {
                return LeaseAnswer.held(by: other, until: held.until)
            }
            let number = (held?.number ?? 0) + 1
            try connection.run(
                "UPDATE lease SET number = ?, holder = ?, until = ?",
                [.int(number), .text(holder), .int(until.milliseconds)])
            return .taken(Lease(number: number))
        }
        if case .taken = answer { try readTail() } else { lock?.release() }
        return answer
    }

    package func renew(_ lease: Lease, until: Timestamp) async throws(JournalError) {
        // Somebody else's lock may be free by now.
        _ = lock?.take()
        try write { connection in
            try connection.check(lease)
            try connection.run("UPDATE lease SET until = ?", [.int(until.milliseconds)])
        }
    }

    package func release(_ lease: Lease) async {
        // When it cannot be written, the lease runs out by itself.
        try? write { connection in
            try connection.run(
                "UPDATE lease SET holder = NULL, until = 0 WHERE number = ?", [.int(lease.number)])
        }
        lock?.release()
    }

    package func append(_ changes: [RowChange], under lease: Lease) async throws(JournalError) {
        let number = lastNumber + 1
        let body = LogTail.body(of: changes)
        // A long tail is shortened faster.
        let slice = tail.first(max(Self.slice, tail.count / 50))
        let oldest = tail.oldest(without: slice.count) ?? number
        try write { connection in
            try connection.check(lease)
            try connection.run("INSERT INTO log (number, body) VALUES (?, ?)", [.int(number), .blob(body)])
            try connection.writeBack(slice)
            try connection.run("DELETE FROM log WHERE number < ?", [.int(oldest)])
        }
        // Only now: had it failed, nothing would have changed.
        lastNumber = number
        tail.removeFirst(slice.count)
        tail.add(changes, number: number)
        isCheckpointed = false
    }

    package func tidy(under lease: Lease) async throws(JournalError) {
        if tail.count > 0 {
            let slice = tail.first(Self.slice * 5)
            let oldest = tail.oldest(without: slice.count) ?? lastNumber + 1
            try write { connection in
                try connection.check(lease)
                try connection.writeBack(slice)
                try connection.run("DELETE FROM log WHERE number < ?", [.int(oldest)])
            }
            tail.removeFirst(slice.count)
        } else if !isCheckpointed {
            isCheckpointed = true
            try perform { _ = try $0.checkpoint() }
        }
    }

    package func rows(of table: JournalTable, keys: [String]) async throws(JournalError) -> [StoredRow] {
        let tail = tail
        return try perform { connection in
            try connection.transaction(.read) {
                try keys.flatMap { key in
                    let stored = try connection.rows(
                        "SELECT part, body FROM \(table.name) WHERE key = ?", [.text(key)]
                    ) { StoredRow(key: RowKey(table, key, $0.text(0)), body: $0.blob(1)) }
                    return tail.overlay(stored, of: table, key: key)
                }
            }
        }
    }

    package func rows(of table: JournalTable) async throws(JournalError) -> [StoredRow] {
        let tail = tail
        return try perform { connection in
            let stored = try connection.rows("SELECT key, part, body FROM \(table.name)") {
                StoredRow(key: RowKey(table, $0.text(0), $0.text(1)), body: $0.blob(2))
            }
            return tail.overlay(stored, of: table)
        }
    }

    /// The log as an earlier holder left it.
    private func readTail() throws(JournalError) {
        let rows = try perform { connection in
            try connection.rows("SELECT number, body FROM log ORDER BY number") { ($0.int(0), $0.blob(1)) }
        }
        tail = LogTail()
        lastNumber = rows.last?.0 ?? 0
        for (number, body) in rows {
            guard let changes = LogTail.changes(in: body) else {
                throw .unusable("\(database.file): entry \(number) of the log cannot be read")
            }
            tail.add(changes, number: number)
        }
    }

    private func write<Answer: Sendable>(
        _ body: @Sendable (Connection) throws -> Answer
    ) throws(JournalError) -> Answer {
        try perform { connection in try connection.transaction { try body(connection) } }
    }

    /// On the database's thread, where we are already.
    private func perform<Answer: Sendable>(
        _ body: @Sendable (Connection) throws -> Answer
    ) throws(JournalError) -> Answer {
        do {
            return try database.assumeIsolated { database in
                try database.run(whenCancelled: .finishes, body)
            }
        } catch {
            throw JournalError(error)
        }
    }
}
