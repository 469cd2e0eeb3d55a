package import Chat

/// A store that is gone with the process: for tests, and for a steward that is to forget.
package final class MemoryJournal: Journal {
    private struct State {
        var tables: [JournalTable: [String: [String: [UInt8]]]] = [:]
        var number: Int64 = 0
        var holder: String?
        var until = Timestamp(milliseconds: 0)
        var appends = 0
    }

    private let state = Locked(State())

    package init() {}

    /// How often something was appended.
    package var appends: Int { state.withLock { $0.appends } }

    package func acquire(by holder: String, at now: Timestamp, until: Timestamp) async throws(JournalError)
        -> LeaseAnswer
    {
        state.withLock { state in
            if let other = state.holder, state.until > now { return .held(by: other, until: state.until) }
            state.number += 1
            state.holder = holder
            state.until = until
            return .taken(Lease(number: state.number))
        }
    }

    package func renew(_ lease: Lease, until: Timestamp) async throws(JournalError) {
        try state.withLock { state throws(JournalError) in
            try Self.check(lease, state)
            state.until = until
        }
    }

    package func release(_ lease: Lease) async {
        state.withLock { state in
            if state.number == lease.number { state.holder = nil }
        }
    }

    package func append(_ changes: [RowChange], under lease: Lease) async throws(JournalError) {
        try state.withLock { state throws(JournalError) in
            try Self.check(lease, state)
            state.appends += 1
            for change in changes {
                state.tables[change.key.table, default: [:]][change.key.key, default: [:]][change.key.part] =
                    change.body
            }
        }
    }

    package func rows(of table: JournalTable, keys: [String]) async throws(JournalError) -> [StoredRow] {
        state.withLock { state in
            keys.flatMap { key in
                (state.tables[table]?[key] ?? [:]).map {
                    StoredRow(key: RowKey(table, key, $0.key), body: $0.value)
                }
            }
        }
    }

    package func rows(of table: JournalTable) async throws(JournalError) -> [StoredRow] {
        state.withLock { state in
            (state.tables[table] ?? [:]).flatMap { key, parts in
                parts.map { StoredRow(key: RowKey(table, key, $0.key), body: $0.value) }
            }
        }
    }

    package func tidy(at now: Timestamp, under lease: Lease) async throws(JournalError) -> Bool { false }

    private static func check(_ lease: Lease, _ state: State) throws(JournalError) {
        guard state.number == lease.number, state.holder != nil else {
            throw .leaseLost("another steward has taken over the store")
        }
    }
}
