internal import CSQLite

extension Connection {
    package enum Transaction: Sendable {
        /// Takes the write lock at once, so that no later statement can find it taken.
        case write
        /// All statements see the file as it was at the first of them.
        case read
    }

    /// All of what `body` does, or, when it or the commit throws, none of it. Inside of another transaction it is a
    /// part of that, undone alone when it throws.
    package func transaction<R>(_ kind: Transaction = .write, _ body: () throws -> R) throws -> R {
        let isInner = try isInTransaction
        switch (isInner, kind) {
        case (true, _): try run("SAVEPOINT inner")
        case (false, .write): try run("BEGIN IMMEDIATE")
        case (false, .read): try run("BEGIN")
        }
        transactionDepth += 1
        defer { transactionDepth -= 1 }
        do {
            let result = try body()
            try run(isInner ? "RELEASE inner" : "COMMIT")
            return result
        } catch {
            undo(isInner: isInner)
            throw error
        }
    }

    package var isInTransaction: Bool {
        get throws(DatabaseError) { sqlite3_get_autocommit(try openHandle) == 0 }
    }

    /// A full disk makes SQLite undo all by itself; nothing is left to undo then. The undoing is never interrupted.
    private func undo(isInner: Bool) {
        guard (try? isInTransaction) == true else { return }
        let stopped = stopsWhenCancelled
        stopsWhenCancelled = false
        defer { stopsWhenCancelled = stopped }
        if isInner { try? run("ROLLBACK TO inner") }
        try? run(isInner ? "RELEASE inner" : "ROLLBACK")
    }
}
