internal import Chat
internal import SQLite

// A file that was written and cannot be read any more: its disk failed, somebody wrote into it, or half of it was copied.

extension Connection {
    /// Larger stores are not looked through when they are opened: what is wrong with them shows where it is read.
    private static let mostChecked: Int64 = 256 << 20

    /// Throws `.damaged` when the pages of the file do not fit together.
    func checkStore() throws {
        guard case .int(let pages)? = try value("PRAGMA page_count"),
            case .int(let size)? = try value("PRAGMA page_size"), pages * size <= Self.mostChecked
        else { return }
        guard let found = try damage(quickly: true).first else { return }
        // "*** in database main ***", and then what it is.
        let line = found.split(separator: "\n").last.map(String.init) ?? found
        throw JournalError.damaged(
            file, line.hasPrefix(file + ": ") ? String(line.dropFirst(file.count + 2)) : line)
    }
}

/// What could be read of a damaged store.
package struct SavedStore: Sendable {
    /// Of all tables that are read by rows.
    package fileprivate(set) var rows: [StoredRow] = []
    package fileprivate(set) var events: [[UInt8]] = []
    package fileprivate(set) var auditLines: [[UInt8]] = []
    /// What could not, a line each.
    package fileprivate(set) var losses: [String] = []

    package init() {}

    package var isEmpty: Bool { rows.isEmpty && events.isEmpty && auditLines.isEmpty }
}

extension SQLiteJournal {
    /// Reads what can be read of a damaged store, around what is damaged. Throws when nothing can be.
    package static func save(_ file: String) async throws(JournalError) -> SavedStore {
        do {
            let database = try await Database.open(file, options: .damaged)
            // Without a transaction, for the first row that cannot be read would end it.
            let saved = try await database.run { try $0.savedStore() }
            await database.close()
            return saved
        } catch {
            throw JournalError(error)
        }
    }
}

extension Connection {
    fileprivate func savedStore() throws -> SavedStore {
        var saved = SavedStore()
        let version = try version
        guard (1...SQLiteJournal.schema.count).contains(version) else {
            throw JournalError.unusable("\(file): this is no store of this steward's")
        }
        var tail = LogTail()
        for (number, body) in readable("number", of: "log", &saved, { ($0.int(0), $0.blob(1)) }) {
            if let changes = LogTail.changes(in: body) {
                tail.add(changes, number: number)
            } else {
                saved.losses.append("entry \(number) of the log")
            }
        }
        let isLogWhole = saved.losses.isEmpty
        for table in JournalTable.allCases where !table.isDirect && (try? has(table)) != false {
            let stored = readable("key, part", of: table.name, &saved) {
                (RowKey(table, $0.text(0), $0.text(1)), $0.blob(2))
            }.map { StoredRow(key: $0, body: $1) }
            let rows = tail.overlay(stored, of: table)
            // Nobody knows which of them were done: better not at all than twice.
            if table == .action, !isLogWhole, !rows.isEmpty {
                saved.losses.append("\(rows.count) actions that may have been done or not")
                continue
            }
            saved.rows += good(rows, of: table, &saved)
        }
        saved.events = bodies(of: .event, &saved)
        saved.auditLines = bodies(of: .audit, &saved)
        return saved
    }

    private func bodies(of table: JournalTable, _ saved: inout SavedStore) -> [[UInt8]] {
        guard (try? has(table)) != false else { return [] }
        let rows = readable("number", of: table.name, &saved) { ($0.int(0), $0.blob(1)) }
            .map { StoredRow(key: RowKey(table, "\($0)"), body: $1) }
        return good(rows, of: table, &saved).map(\.body)
    }

    private func good(
        _ rows: [StoredRow], of table: JournalTable, _ saved: inout SavedStore
    ) -> [StoredRow] {
        let good = rows.filter(\.isReadable)
        if good.count < rows.count {
            saved.losses.append("\(rows.count - good.count) of the rows of \"\(table.name)\"")
        }
        return good
    }

    /// The rows of a table in the order of their keys: from the beginning to where it is damaged, and from the end back
    /// to there.
    private func readable<Key: Hashable>(
        _ keys: String, of table: String, _ saved: inout SavedStore,
        _ body: (Row) -> (Key, [UInt8])
    ) -> [(Key, [UInt8])] {
        var (first, last): ([(Key, [UInt8])], [(Key, [UInt8])]) = ([], [])
        let order = keys.split(separator: ", ")
        do {
            try each("SELECT \(keys), body FROM \(table) ORDER BY \(keys)") { first.append(body($0)) }
            return first
        } catch {
            saved.losses.append("a part of \"\(table)\": \((error as? DatabaseError)?.words ?? "\(error)")")
        }
        let known = Set(first.map(\.0))
        let back = order.map { "\($0) DESC" }.joined(separator: ", ")
        try? each("SELECT \(keys), body FROM \(table) ORDER BY \(back)") { last.append(body($0)) }
        return first + last.reversed().filter { !known.contains($0.0) }
    }
}

extension StoredRow {
    /// Whether its body is one of its table's, as far as that can be told.
    package var isReadable: Bool {
        switch key.table {
        case .memory:
            key.part.isEmpty ? MemberFactsRow(body) != nil : OwnerRow(body, owner: key.part) != nil
        case .action: JSONRow.value(OpenAction.self, from: body) != nil
        case .continuation: JSONRow.value(Continuation.self, from: body) != nil
        case .rule: RuleRecord(body) != nil
        case .cases: !CaseFile.isName(key.key) || JSONRow.value(Case.self, from: body) != nil
        // Of events that are not from outside nothing is kept.
        case .event: body.isEmpty || !EventCoding.events(in: body, realms: Identities()).isEmpty
        case .audit: JSONRow.value(AuditLine.self, from: body) != nil
        default: true
        }
    }
}
