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
    /// The first entry that is in the log, if any is.
    private var firstNumber: Int64 = 1
    private var isCheckpointed = true
    /// How long the file's own log is at least, in bytes.
    private var reserved = 0
    /// Nothing was appended since the last look.
    private var isIdle = true

    private let limits: TailLimits
    /// The last row in which something to forget was looked for; nil between two such rounds, of which the next may
    /// begin at `nextLook`.
    private var looked: RowKey?
    private var nextLook = Timestamp(milliseconds: 0)

    /// So many changed rows gather, in so many entries of the log, before they set out for the tables. Rows that change often
    /// go there once for many changes, rows beside each other share a page, and a commit that moves none writes one page.
    struct TailLimits {
        var rows = 16_384
        var entries: Int64 = 2000
    }

    /// So many entries of the log that nothing needs any more go with each commit.
    private static let cut: Int64 = 8

    /// The file's own log is that long from the beginning, and as long as it ever gets once half of that is used.
    private static let (reserveAtFirst, mostReserved) = (4 << 20, 16 << 20)

    /// So many go there at once when there is nothing else to do.
    private static let slice = 200

    /// The database's thread is ours, too, so that a commit costs one hop.
    package nonisolated var unownedExecutor: UnownedSerialExecutor { database.unownedExecutor }

    package nonisolated var executor: (any SerialExecutor & TaskExecutor)? { database.executor }

    private init(_ database: Database, _ limits: TailLimits, lock: LeaseLock?) {
        self.database = database
        self.limits = limits
        self.lock = lock
    }

    /// Opens or makes the file; `:memory:` is a store of its own. Throws `.tooNew` for a file that a later steward wrote,
    /// and `.damaged` for one that is damaged, as far as that can be seen at once.
    package static func open(_ file: String) async throws(JournalError) -> SQLiteJournal {
        try await open(file, pagesLimit: nil)
    }

    /// The same for a disk that is full after so many pages.
    static func open(
        _ file: String, pagesLimit: Int?, tail: TailLimits = TailLimits()
    ) async throws(JournalError) -> SQLiteJournal {
        var options = DatabaseOptions()
        // Few large check-points; `tidy` makes most of them when nothing else is to be done.
        options.checkpointPages = 4000
        do {
            let database = try await Database.open(file, options: options)
            try await database.run(whenCancelled: .finishes) { connection in
                try connection.checkStore()
                try connection.migrate(schema)
                if let pagesLimit { try connection.setPagesLimit(pagesLimit) }
            }
            return SQLiteJournal(
                database, tail, lock: file == ":memory:" ? nil : LeaseLock(file: file + ".lock"))
        } catch {
            throw JournalError(error)
        }
    }

    /// Opens a file that is there to look into it, also while a steward works on it: nothing can be written. It is as it
    /// was when it was opened.
    package static func openForReading(_ file: String) async throws(JournalError) -> SQLiteJournal {
        do {
            let database = try await Database.open(file, options: .readOnly)
            try await database.run { connection in
                let version = try connection.version
                guard version > 0 else {
                    throw JournalError.unusable("\(file): this is no store of steward's")
                }
                guard version <= schema.count else {
                    throw JournalError.tooNew(
                        "\(file): written by a later version (schema \(version), this one knows \(schema.count))"
                    )
                }
                try connection.checkStore()
            }
            let journal = SQLiteJournal(database, TailLimits(), lock: nil)
            try await journal.readTail()
            return journal
        } catch let error as DatabaseError where error.kind == .readOnly || error.kind == .cannotOpen {
            throw .unusable(
                "\(error) - look at it as the user that steward runs as: reading takes notes beside the file")
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
        if case .taken = answer {
            try reserve(Self.reserveAtFirst)
            try readTail()
        } else {
            lock?.release()
        }
        return answer
    }

    package func renew(_ lease: Lease, until: Timestamp) async throws(JournalError) {
        // Somebody else's lock may be free by now.
        _ = lock?.take()
        if let lock, lock.isGone {
            throw .leaseLost(
                "\(lock.file): the store was taken away while steward worked on it - bring it back, or start steward without it"
            )
        }
        try write { connection in
            try connection.check(lease)
            try connection.run("UPDATE lease SET until = ?", [.int(until.milliseconds)])
        }
        let used = try perform(\.usedLog)
        if used > reserved / 2, reserved < Self.mostReserved {
            try reserve(min(4 * reserved, Self.mostReserved))
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
        let direct = changes.filter(\.key.table.isDirect)
        let changes = direct.isEmpty ? changes : changes.filter { !$0.key.table.isDirect }
        let body = LogTail.body(of: changes)
        if tail.gathered >= limits.rows || number - (tail.oldest ?? number) > limits.entries { tail.setOut() }
        let share = tail.isMoving ? max(32, 2 * changes.count) : 0
        let slice = tail.next(share)
        let (from, first) = (
            firstNumber, min(tail.oldest(without: share) ?? number, firstNumber + Self.cut)
        )
        try write { connection in
            try connection.check(lease)
            try connection.run("INSERT INTO log (number, body) VALUES (?, ?)", [.int(number), .blob(body)])
            try connection.writeBack(slice)
            try connection.keep(direct)
            try connection.cutLog(before: first, from: from)
        }
        // Only now: had it failed, nothing would have changed.
        lastNumber = number
        firstNumber = first
        tail.move(share)
        tail.add(changes, number: number)
        isCheckpointed = false
        isIdle = false
    }

    package func tidy(at now: Timestamp, under lease: Lease) async throws(JournalError) -> Bool {
        defer { isIdle = true }
        guard isIdle else { return false }
        if tail.count > 0 || firstNumber <= lastNumber {
            tail.setOut()
            let slice = tail.next(Self.slice)
            let (from, first) = (firstNumber, tail.oldest(without: Self.slice) ?? lastNumber + 1)
            try write { connection in
                try connection.check(lease)
                try connection.writeBack(slice)
                try connection.cutLog(before: first, from: from)
            }
            firstNumber = first
            tail.move(Self.slice)
            return true
        }
        try forget(at: now, under: lease)
        if !isCheckpointed {
            isCheckpointed = true
            try perform { _ = try $0.checkpoint() }
        }
        return false
    }

    /// Looks at the next slice of what is remembered; of those who never come again nobody else would notice that their
    /// time is over.
    private func forget(at now: Timestamp, under lease: Lease) throws(JournalError) {
        if looked == nil {
            guard now >= nextLook else { return }
            nextLook = now + .seconds(86_400)
        }
        let (after, limit) = (looked ?? RowKey(.memory, ""), Self.slice * 2)
        let (last, forgotten) = try perform { connection in
            var rows = try connection.rows(
                "SELECT key, part, body FROM memory WHERE (key, part) > (?, ?) ORDER BY key, part LIMIT ?",
                [.text(after.key), .text(after.part), .int(Int64(limit))]
            ) { StoredRow(key: RowKey(.memory, $0.text(0), $0.text(1)), body: $0.blob(2)) }
            let last = rows.count < limit ? nil : rows.last?.key
            rows.removeAll { $0.key.part.isEmpty }
            return (last, rows.compactMap { OwnerRow.change(forgettingIn: $0, at: now) })
        }
        looked = last
        guard !forgotten.isEmpty else { return }
        try write { connection in
            try connection.check(lease)
            try connection.writeBack(forgotten)
        }
        isCheckpointed = false
    }

    package func rows(of table: JournalTable, keys: [String]) async throws(JournalError) -> [StoredRow] {
        let tail = tail
        return try perform { connection in
            try connection.transaction(.read) {
                // A store of an earlier steward that was opened for reading lacks these.
                let isLater = table == .cases || table == .evidence
                guard try !isLater || connection.has(table) else { return [] }
                return try keys.flatMap { key in
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
            guard try connection.has(table) else { return [] }
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
        firstNumber = rows.first?.0 ?? 1
        for (number, body) in rows {
            guard let changes = LogTail.changes(in: body) else {
                throw .damaged(database.file, "entry \(number) of the log cannot be read")
            }
            tail.add(changes, number: number)
        }
    }

    private func reserve(_ bytes: Int) throws(JournalError) {
        try perform { try $0.reserveLog(bytes: bytes) }
        reserved = bytes
    }

    func write<Answer: Sendable>(
        _ body: @Sendable (Connection) throws -> Answer
    ) throws(JournalError) -> Answer {
        try perform { connection in try connection.transaction { try body(connection) } }
    }

    /// On the database's thread, where we are already.
    func perform<Answer: Sendable>(
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
