internal import CSQLite

extension Connection {
    /// A number in the file for the program's own use, 0 in a new one: the version of its schema.
    package var version: Int {
        get throws(DatabaseError) {
            guard case .int(let version) = try value("PRAGMA user_version") else { return 0 }
            return Int(version)
        }
    }

    package func setVersion(_ version: Int) throws(DatabaseError) {
        try run("PRAGMA user_version = \(version)")
    }

    /// Brings the schema up to date: each script is the step from the version of its place to the next one. All of
    /// the steps are taken, or none. Throws `.tooNew` for a file with more steps than these.
    package func migrate(_ steps: [String]) throws {
        guard try version != steps.count else { return }
        try transaction {
            // Looked at again: another process may have been faster.
            let version = try version
            guard version <= steps.count else {
                throw DatabaseError(
                    .tooNew, "written by a later version (schema \(version), this one knows \(steps.count))",
                    file: file)
            }
            for step in steps.dropFirst(version) { try script(step) }
            try setVersion(steps.count)
        }
    }

    /// What is wrong with the file; empty when nothing is. Reads all of it, and `quickly` stops at the first that is wrong:
    /// 100 MB take some 60 ms then.
    package func damage(quickly: Bool = false) throws -> [String] {
        var found: [String] = []
        do {
            try each("PRAGMA \(quickly ? "quick_check(1)" : "integrity_check")") { found.append($0.text(0)) }
        } catch let error as DatabaseError where error.kind == .corrupt {
            // Too broken to be looked through.
            found.append(error.description)
        }
        return found.filter { $0 != "ok" }
    }

    package enum Checkpoint: Sendable {
        /// As much as can be had without waiting for anybody.
        case passive
        /// Everything, and the log is empty after: waits for readers and writers, up to the busy timeout.
        case truncate
    }

    /// Moves pages from the write-ahead log into the file. Answers how many are in the log and how many of these are
    /// in the file now.
    @discardableResult
    package func checkpoint(_ kind: Checkpoint = .passive) throws(DatabaseError) -> (logged: Int, moved: Int)
    {
        let handle = try openHandle
        var logged: Int32 = 0
        var moved: Int32 = 0
        let mode = kind == .passive ? SQLITE_CHECKPOINT_PASSIVE : SQLITE_CHECKPOINT_TRUNCATE
        let result = sqlite3_wal_checkpoint_v2(handle, nil, mode, &logged, &moved)
        guard result == SQLITE_OK else { throw DatabaseError(handle, code: result, file: file) }
        // -1 where there is no log, as in memory.
        return (Int(max(logged, 0)), Int(max(moved, 0)))
    }

    /// How long the write-ahead log was after the last commit, in bytes: what is behind that is of no more use.
    package var usedLog: Int { loggedPages * 4120 }

    /// Makes the write-ahead log that long, so that commits write over what is there: that is half as long to wait for as
    /// when the file grows. No more than a help: nothing is thrown when there is no room.
    package func reserveLog(bytes: Int) throws {
        guard file != ":memory:" else { return }
        try transaction { _ = sqlite_reserve_log(try openHandle, Int64(bytes)) }
    }

    /// Writes a whole copy, as of this moment, while others go on. Throws when the new file exists.
    package func copy(to newFile: String) throws(DatabaseError) {
        try run("VACUUM INTO ?", [.text(Self.path(newFile))])
    }
}
