internal import CSQLite
internal import Glibc

/// An open database file, used by one task at a time; it closes itself. Calls block: on Swift's own threads use
/// `Database`.
///
/// Journal mode is WAL: readers and the one writer do not wait for each other, also across processes. Foreign keys are
/// checked, and text in double quotes is a name, never a value. A new file is readable by its owner alone.
package final class Connection {
    /// As it was opened.
    package let file: String

    private var handle: OpaquePointer?
    private var statements: [String: Statement] = [:]
    private let busyTimeout: Duration
    private let checkpointPages: Int
    /// How many pages the write-ahead log had after the last commit.
    private(set) var loggedPages = 0
    private var busySince = ContinuousClock.now

    /// Whether the end of the task that runs a statement ends the statement too.
    var stopsWhenCancelled = true
    /// How many `transaction`s are around what runs now.
    var transactionDepth = 0

    private static let statementLimit = 100
    /// A log that grew beyond these bytes in a burst is cut when it was moved into the file.
    private static let keptLog = 16 << 20
    /// A cancelled task is noticed after so many steps of SQLite's machine: some 100 µs.
    private static let stepsBetweenLooks: Int32 = 10_000

    /// Opens or makes the file; `:memory:` is a database of its own that ends with the connection.
    package init(file: String, options: DatabaseOptions = DatabaseOptions()) throws(DatabaseError) {
        self.file = file
        busyTimeout = options.busyTimeout
        checkpointPages = options.checkpointPages
        // SQLite would take no name for a temporary database.
        guard !file.isEmpty else {
            throw DatabaseError(.cannotOpen, "a database file needs a name", file: "\"\"")
        }
        try open(options)
        try configure(options)
    }

    deinit { close() }

    /// Moves what is in the write-ahead log into the file, if nobody else is using it, and closes. Everything after
    /// throws `.closed`; closing twice is fine.
    package func close() {
        guard let handle else { return }
        statements = [:]
        // They would call a connection that is on its way out.
        sqlite3_busy_handler(handle, nil, nil)
        sqlite3_progress_handler(handle, 0, nil, nil)
        if sqlite3_db_readonly(handle, "main") == 0 {
            // So that the file alone is a whole copy. What another connection still reads stays in the log.
            sqlite3_wal_checkpoint_v2(handle, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil)
        }
        sqlite3_close_v2(handle)
        self.handle = nil
    }
}

// MARK: Opening

extension Connection {
    private func open(_ options: DatabaseOptions) throws(DatabaseError) {
        var flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        if options.isReadOnly {
            flags |= SQLITE_OPEN_READONLY
        } else {
            flags |= SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
            createPrivately()
        }
        var opened: OpaquePointer?
        let result = sqlite3_open_v2(Self.path(file), &opened, flags, nil)
        guard result == SQLITE_OK else {
            let error = DatabaseError(opened, code: result, file: file)
            sqlite3_close_v2(opened)
            throw error
        }
        handle = opened
    }

    /// SQLite would let everybody read the file, and makes the log after the file's example.
    private func createPrivately() {
        guard file != ":memory:" else { return }
        let descriptor = Glibc.open(file, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        if descriptor >= 0 { Glibc.close(descriptor) }
    }

    /// Debian's SQLite takes a name that looks like a URI for one.
    static func path(_ file: String) -> String { file.hasPrefix("file:") ? "./" + file : file }

    private func configure(_ options: DatabaseOptions) throws(DatabaseError) {
        let this = Unmanaged.passUnretained(self).toOpaque()
        sqlite3_busy_handler(
            handle,
            { this, tries in
                guard let this else { return 0 }
                return Unmanaged<Connection>.fromOpaque(this).takeUnretainedValue().waits(tries) ? 1 : 0
            }, this)
        sqlite3_progress_handler(
            handle, Self.stepsBetweenLooks,
            { this in
                guard let this else { return 0 }
                return Unmanaged<Connection>.fromOpaque(this).takeUnretainedValue().isCancelled ? 1 : 0
            }, this)
        for (option, value) in [
            (SQLITE_DBCONFIG_DEFENSIVE, options.readsDamaged ? 0 : 1),
            (SQLITE_DBCONFIG_WRITABLE_SCHEMA, options.readsDamaged ? 1 : 0),
            (SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0), (SQLITE_DBCONFIG_DQS_DML, 0),
            (SQLITE_DBCONFIG_DQS_DDL, 0), (SQLITE_DBCONFIG_ENABLE_FKEY, 1),
        ] {
            _ = sqlite_configure(handle, option, Int32(value))
        }
        if options.isReadOnly {
            // Reads the file, so that one that is no database is found out here.
            try run("PRAGMA schema_version")
        } else {
            let mode = try value("PRAGMA journal_mode = WAL")
            guard mode == "wal" || mode == "memory" else {
                throw DatabaseError(.cannotOpen, "has no write-ahead log here", file: file)
            }
        }
        try run("PRAGMA synchronous = \(options.synchronous.rawValue)")
        // In the place of SQLite's own, which does not say how long the log is.
        sqlite3_wal_hook(
            handle,
            { this, _, _, pages in
                guard let this else { return SQLITE_OK }
                Unmanaged<Connection>.fromOpaque(this).takeUnretainedValue().didCommit(Int(pages))
                return SQLITE_OK
            }, this)
        try run("PRAGMA mmap_size = \(options.mappedBytes)")
        try run("PRAGMA journal_size_limit = \(Self.keptLog)")
    }

    private func didCommit(_ pages: Int) {
        loggedPages = pages
        guard checkpointPages > 0, pages >= checkpointPages else { return }
        // What cannot be moved now stays in the log; the commit is safe whatever comes of it.
        sqlite3_wal_checkpoint_v2(handle, nil, SQLITE_CHECKPOINT_PASSIVE, nil, nil)
    }

    private var isCancelled: Bool { stopsWhenCancelled && Task.isCancelled }

    /// Called while another connection holds the lock: sleeps a little; false when the time is over.
    private func waits(_ tries: Int32) -> Bool {
        let now = ContinuousClock.now
        if tries == 0 { busySince = now }
        guard !isCancelled, busySince.duration(to: now) < busyTimeout else { return false }
        usleep(tries < 10 ? 1000 : 10_000)
        return true
    }
}

// MARK: Statements

extension Connection {
    /// Runs one statement, kept prepared for the next time.
    package func run(_ sql: String, _ values: [SQLValue] = []) throws(DatabaseError) {
        let statement = try begin(sql, values)
        defer { end(statement) }
        while try step(statement) {}
    }

    /// What `body` makes of each row.
    package func rows<R>(_ sql: String, _ values: [SQLValue] = [], _ body: (Row) throws -> R) throws -> [R] {
        var results: [R] = []
        try each(sql, values) { results.append(try body($0)) }
        return results
    }

    /// Hands the rows to `body`, one after the other. Other statements may be run meanwhile.
    package func each(_ sql: String, _ values: [SQLValue] = [], _ body: (Row) throws -> Void) throws {
        let statement = try begin(sql, values)
        defer { end(statement) }
        while try step(statement) { try body(Row(handle: statement.handle)) }
    }

    /// What `body` makes of the first row; nil when there is none.
    package func first<R>(_ sql: String, _ values: [SQLValue] = [], _ body: (Row) throws -> R) throws -> R? {
        let statement = try begin(sql, values)
        defer { end(statement) }
        guard try step(statement) else { return nil }
        let result = try body(Row(handle: statement.handle))
        try finish(statement)
        return result
    }

    /// The first column of the first row; nil when there is none.
    package func value(_ sql: String, _ values: [SQLValue] = []) throws(DatabaseError) -> SQLValue? {
        let statement = try begin(sql, values)
        defer { end(statement) }
        guard try step(statement) else { return nil }
        let value = Row(handle: statement.handle)[0]
        try finish(statement)
        return value
    }

    /// Runs several statements, divided by semicolons, that take no values: a schema.
    package func script(_ sql: String) throws(DatabaseError) {
        let handle = try usableHandle
        let result = sqlite3_exec(handle, sql, nil, nil, nil)
        guard result == SQLITE_OK else { throw DatabaseError(handle, code: result, file: file) }
    }

    /// How many rows the last statement changed.
    package var changedRows: Int { handle.map { Int(sqlite3_changes64($0)) } ?? 0 }

    /// The number of the row that was inserted last.
    package var insertedRow: Int64 { handle.map { sqlite3_last_insert_rowid($0) } ?? 0 }

    /// Throws `.closed` once it is.
    var openHandle: OpaquePointer {
        get throws(DatabaseError) {
            guard let handle else { throw DatabaseError(.closed, "is closed", file: file) }
            return handle
        }
    }

    /// Throws as well when the task was cancelled, and inside of a transaction that is no more.
    private var usableHandle: OpaquePointer {
        get throws(DatabaseError) {
            let handle = try openHandle
            if isCancelled { throw DatabaseError(nil, code: SQLITE_INTERRUPT, file: file) }
            // A full disk or an interrupt makes SQLite undo the whole transaction. What its body does after that,
            // having caught the error, would be kept although the rest is gone.
            if transactionDepth > 0, sqlite3_get_autocommit(handle) != 0 {
                throw DatabaseError(.other, "the transaction was undone", file: file)
            }
            return handle
        }
    }

    private func begin(_ sql: String, _ values: [SQLValue]) throws(DatabaseError) -> Statement {
        let handle = try usableHandle
        let statement = try prepared(sql)
        let wanted = Int(sqlite3_bind_parameter_count(statement.handle))
        guard values.count == wanted else {
            throw DatabaseError(
                .other, "\(values.count) values for \(wanted) places in \"\(sql)\"", file: file)
        }
        for (index, value) in values.enumerated() {
            let result = statement.bind(value, at: Int32(index + 1))
            guard result == SQLITE_OK else {
                statement.reset()
                throw DatabaseError(handle, code: result, file: file)
            }
        }
        statement.isRunning = true
        return statement
    }

    private func step(_ statement: Statement) throws(DatabaseError) -> Bool {
        // A closed connection may not be asked for its words, and its statements still end properly.
        let handle = try openHandle
        let result = sqlite3_step(statement.handle)
        switch result {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        default: throw DatabaseError(handle, code: result, file: file)
        }
    }

    /// The rest of a statement whose first row was enough. One that changes rows commits at its end, and that may fail.
    private func finish(_ statement: Statement) throws(DatabaseError) {
        guard sqlite3_stmt_readonly(statement.handle) == 0 else { return }
        while try step(statement) {}
    }

    private func end(_ statement: Statement) {
        statement.reset()
        statement.isRunning = false
    }

    private func prepared(_ sql: String) throws(DatabaseError) -> Statement {
        let kept = statements[sql]
        if let kept, !kept.isRunning { return kept }
        let statement = try prepare(sql)
        // The same statement inside of its own rows gets a handle for this once.
        if kept == nil {
            if statements.count >= Self.statementLimit { statements = statements.filter(\.value.isRunning) }
            statements[sql] = statement
        }
        return statement
    }

    private func prepare(_ sql: String) throws(DatabaseError) -> Statement {
        let handle = try openHandle
        var prepared: OpaquePointer?
        var hasMore = false
        let result = sql.withCString { text in
            var rest: UnsafePointer<CChar>?
            defer { hasMore = rest.map { strspn($0, " \t\r\n;") < strlen($0) } ?? false }
            return sqlite3_prepare_v3(handle, text, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &prepared, &rest)
        }
        guard result == SQLITE_OK else { throw DatabaseError(handle, code: result, file: file) }
        guard let prepared else { throw DatabaseError(.other, "no statement in \"\(sql)\"", file: file) }
        let statement = Statement(prepared)
        guard !hasMore else {
            throw DatabaseError(.other, "more than one statement in \"\(sql)\"", file: file)
        }
        return statement
    }
}
