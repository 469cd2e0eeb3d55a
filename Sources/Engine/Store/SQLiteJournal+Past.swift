package import Chat
internal import SQLite

// What is written where it stays: kept events, the audit log, and orders.
extension SQLiteJournal {
    package func keptEvents(
        since: Timestamp, most: Int = .max
    ) async throws(JournalError) -> [[UInt8]] {
        try perform { connection in
            guard try connection.has(.event) else { return [] }
            var bodies: [[UInt8]] = []
            var left = most
            var before = Int64.max
            // From the newest on: of a long past only the end is read.
            while left > 0 {
                let page = try connection.rows(
                    "SELECT number, last, body FROM event WHERE number < ? ORDER BY number DESC LIMIT 256",
                    [.int(before)]
                ) { (number: $0.int(0), last: $0.int(1), body: $0.blob(2)) }
                for row in page where row.last >= since.milliseconds && left > 0 {
                    bodies.append(row.body)
                    left -= row.body.count
                }
                guard let last = page.last, last.last >= since.milliseconds - Self.disorder else { break }
                before = last.number
            }
            return bodies.reversed()
        }
    }

    /// What a service gives again after a gap is older than what came before; so much older, in milliseconds.
    private static let disorder: Int64 = 3_600_000

    /// The lines of the audit log since then, oldest first.
    package func auditLines(since: Timestamp) async throws(JournalError) -> [[UInt8]] {
        try perform { connection in
            guard try connection.has(.audit) else { return [] }
            return try connection.rows(
                "SELECT body FROM audit WHERE at >= ? ORDER BY number", [.int(since.milliseconds)]
            ) { $0.blob(0) }
        }
    }

    package nonisolated var takesOrders: Bool { true }

    package func openOrders() async throws(JournalError) -> [StoredOrder] {
        try perform { connection in
            try connection.rows("SELECT number, body FROM orders WHERE answer IS NULL ORDER BY number") {
                StoredOrder(number: $0.int(0), body: $0.blob(1))
            }
        }
    }

    package func rewrite(
        _ table: JournalTable, under lease: Lease,
        _ change: @escaping @Sendable ([UInt8]) -> Rewriting
    ) async throws(JournalError) {
        var after: Int64 = 0
        while let last = try rewritePage(of: table, after: after, under: lease, change) { after = last }
    }

    /// Nil when there was nothing left.
    private func rewritePage(
        of table: JournalTable, after: Int64, under lease: Lease,
        _ change: @escaping @Sendable ([UInt8]) -> Rewriting
    ) throws(JournalError) -> Int64? {
        try write { connection in
            try connection.check(lease)
            let rows = try connection.rows(
                "SELECT number, body FROM \(table.name) WHERE number > ? ORDER BY number LIMIT 256",
                [.int(after)]
            ) { (number: $0.int(0), body: $0.blob(1)) }
            for row in rows {
                switch change(row.body) {
                case .stays: break
                case .becomes(let body):
                    try connection.run(
                        "UPDATE \(table.name) SET body = ? WHERE number = ?",
                        [.blob(body), .int(row.number)])
                case .goes:
                    try connection.run("DELETE FROM \(table.name) WHERE number = ?", [.int(row.number)])
                }
            }
            return rows.last?.number
        }
    }
}
