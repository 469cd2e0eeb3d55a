internal import Dispatch

/// A database file with a thread of its own, so that waiting for the disk stops nobody else.
///
/// What is asked for runs in order, one after the other. A hop to the thread and back takes some 10 µs: do what
/// belongs together in one `run`.
package actor Database {
    /// As it was opened.
    package nonisolated let file: String

    /// The thread, for actors that work with the database all the time: then there is no hop.
    package nonisolated let executor: QueueExecutor
    private var connection: Connection?

    /// What happens to work whose task is cancelled.
    package enum Cancellation: Sendable {
        /// It stops at once, is undone and throws `CancellationError`.
        case stops
        /// It is done all the same, for what must be on disk before the program ends.
        case finishes
    }

    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    private init(file: String) {
        self.file = file
        executor = QueueExecutor(label: "database \(file)")
    }

    /// Opens or makes the file; `:memory:` is a database of its own.
    package static func open(
        _ file: String, options: DatabaseOptions = DatabaseOptions()
    ) async throws(DatabaseError) -> Database {
        let database = Database(file: file)
        try await database.connect(options)
        return database
    }

    private func connect(_ options: DatabaseOptions) throws(DatabaseError) {
        connection = try Connection(file: file, options: options)
    }

    /// Does all of `body` in one go on the database's thread. Throws `DatabaseError`, `CancellationError`, or what
    /// `body` throws.
    package func run<R: Sendable>(
        whenCancelled cancellation: Cancellation = .stops, _ body: @Sendable (Connection) throws -> R
    ) throws -> R {
        guard let connection else { throw DatabaseError(.closed, "is closed", file: file) }
        connection.stopsWhenCancelled = cancellation == .stops
        do {
            return try body(connection)
        } catch let error as DatabaseError {
            // Waiting for a lock that a cancelled task gave up is no news either.
            let isStopped = cancellation == .stops && Task.isCancelled
            throw isStopped && [.interrupted, .busy].contains(error.kind) ? CancellationError() : error
        }
    }

    /// Does all of `body` in one transaction, or none of it.
    package func transaction<R: Sendable>(
        _ kind: Connection.Transaction = .write, whenCancelled cancellation: Cancellation = .stops,
        _ body: @Sendable (Connection) throws -> R
    ) throws -> R {
        try run(whenCancelled: cancellation) { connection in
            try connection.transaction(kind) { try body(connection) }
        }
    }

    /// Runs one statement.
    package func run(_ sql: String, _ values: [SQLValue] = []) throws {
        try run { try $0.run(sql, values) }
    }

    /// What `body` makes of each row.
    package func rows<R: Sendable>(
        _ sql: String, _ values: [SQLValue] = [], _ body: @Sendable (Row) throws -> R
    ) throws -> [R] {
        try run { try $0.rows(sql, values, body) }
    }

    /// Finishes what was asked for before, leaves the file whole (see `Connection.close`) and closes it. Everything
    /// after throws `.closed`; closing twice is fine.
    package func close() {
        connection?.close()
        connection = nil
    }
}
