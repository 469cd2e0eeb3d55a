package import Chat
internal import SQLite

/// Where somebody beside the steward that works on a store leaves orders for it, and waits for the answers.
package actor OrderDesk {
    private nonisolated let database: Database
    private nonisolated let file: String

    private init(_ database: Database, file: String) {
        self.database = database
        self.file = file
    }

    package nonisolated var unownedExecutor: UnownedSerialExecutor { database.unownedExecutor }

    /// Opens a store that is there. Throws `.tooNew` and, for one that this steward has not worked on yet, `.unusable`.
    package static func open(_ file: String) async throws(JournalError) -> OrderDesk {
        do {
            let database = try await Database.open(file)
            try await database.run { connection in
                let version = try connection.version
                let known = SQLiteJournal.schema.count
                if version > known {
                    throw JournalError.tooNew(
                        "\(file): written by a later version (schema \(version), this one knows \(known))")
                }
                guard version == known else {
                    throw JournalError.unusable(
                        "\(file): an earlier steward wrote it - start this one once, so that it is brought up to date"
                    )
                }
            }
            return OrderDesk(database, file: file)
        } catch let error as DatabaseError where error.kind == .readOnly || error.kind == .cannotOpen {
            throw .unusable("\(error) - order it as the user that steward runs as")
        } catch {
            throw JournalError(error)
        }
    }

    /// Whether a steward works on the store now. Never true for one that was killed on this machine.
    package nonisolated var isServed: Bool { LeaseLock.isTaken(file + ".lock") }

    /// Leaves an order; it waits until a steward works on the store. Answers its number.
    package func place(_ order: Order, at now: Timestamp) async throws(JournalError) -> Int64 {
        let body = JSONRow.body(of: order)
        return try perform { connection in
            try connection.transaction {
                try connection.run(
                    "INSERT INTO orders (at, body) VALUES (?, ?)", [.int(now.milliseconds), .blob(body)])
                return try connection.first("SELECT last_insert_rowid()") { $0.int(0) } ?? 0
            }
        }
    }

    /// What came of an order; nil when nobody has seen to it yet.
    package func answer(to number: Int64) async throws(JournalError) -> OrderAnswer? {
        let body = try perform { connection in
            try connection.first("SELECT answer FROM orders WHERE number = ?", [.int(number)]) {
                $0.blobOrNil(0)
            }
        }
        return body.flatMap(\.self).flatMap { JSONRow.value(OrderAnswer.self, from: $0) }
    }

    /// What waits for a steward to start.
    package func waiting() async throws(JournalError) -> [Order] {
        try perform { connection in
            try connection.rows("SELECT body FROM orders WHERE answer IS NULL ORDER BY number") {
                $0.blob(0)
            }
        }.compactMap { JSONRow.value(Order.self, from: $0) }
    }

    package func close() async { await database.close() }

    private func perform<Answer: Sendable>(
        _ body: @Sendable (Connection) throws -> Answer
    ) throws(JournalError) -> Answer {
        do {
            return try database.assumeIsolated { database in
                try database.run(whenCancelled: .finishes, body)
            }
        } catch let error as DatabaseError where error.kind == .readOnly {
            throw .unusable("\(error) - order it as the user that steward runs as")
        } catch {
            throw JournalError(error)
        }
    }
}
