/// The rows that are in the log and not yet in their tables, oldest first.
struct LogTail: Sendable {
    private struct Entry {
        var body: [UInt8]?
    }

    private struct Place {
        var key: RowKey
        /// The log entry that brought the row here; those behind it must stay.
        var number: Int64
    }

    private var rows: [JournalTable: [String: [String: Entry]]] = [:]
    private var order: ArraySlice<Place> = []

    var count: Int { order.count }

    mutating func add(_ changes: [RowChange], number: Int64) {
        for change in changes {
            let key = change.key
            let old = rows[key.table, default: [:]][key.key, default: [:]].updateValue(
                Entry(body: change.body), forKey: key.part)
            if old == nil { order.append(Place(key: key, number: number)) }
        }
    }

    /// The oldest rows, as they are now.
    func first(_ count: Int) -> [RowChange] {
        order.prefix(count).compactMap { place in
            rows[place.key.table]?[place.key.key]?[place.key.part].map { RowChange(place.key, $0.body) }
        }
    }

    /// The oldest log entry that is still needed once the first rows are in their tables; nil when none is.
    func oldest(without count: Int) -> Int64? { order.dropFirst(count).first?.number }

    mutating func removeFirst(_ count: Int) {
        for place in order.prefix(count) {
            rows[place.key.table]?[place.key.key]?[place.key.part] = nil
            if rows[place.key.table]?[place.key.key]?.isEmpty == true {
                rows[place.key.table]?[place.key.key] = nil
            }
        }
        order = order.dropFirst(count)
        // A slice keeps what it was cut from; copying now and then lets that go.
        if order.isEmpty {
            order = []
        } else if order.startIndex > 4 * order.count {
            order = ArraySlice(Array(order))
        }
    }

    /// The rows of one key: those of the table, as the log has changed them.
    func overlay(_ stored: [StoredRow], of table: JournalTable, key: String) -> [StoredRow] {
        guard let parts = rows[table]?[key] else { return stored }
        return stored.filter { parts[$0.key.part] == nil } + changed(parts, RowKey(table, key))
    }

    /// All rows of a table, as the log has changed them.
    func overlay(_ stored: [StoredRow], of table: JournalTable) -> [StoredRow] {
        guard let keys = rows[table], !keys.isEmpty else { return stored }
        return stored.filter { keys[$0.key.key]?[$0.key.part] == nil }
            + keys.flatMap { changed($0.value, RowKey(table, $0.key)) }
    }

    private func changed(_ parts: [String: Entry], _ key: RowKey) -> [StoredRow] {
        parts.compactMap { part, entry in
            entry.body.map { StoredRow(key: RowKey(key.table, key.key, part), body: $0) }
        }
    }
}

// An entry of the log: for each change the table, the key, the part, and the body with its length, one more so that
// 0 means that there is none.
extension LogTail {
    static func body(of changes: [RowChange]) -> [UInt8] {
        var writer = RowWriter()
        writer.count(changes.count)
        for change in changes {
            writer.number(Int64(change.key.table.rawValue))
            writer.text(change.key.key)
            writer.text(change.key.part)
            writer.bytes(change.body)
        }
        return writer.bytes
    }

    static func changes(in body: [UInt8]) -> [RowChange]? {
        var reader = RowReader(body)
        guard let count = reader.count() else { return nil }
        var changes: [RowChange] = []
        changes.reserveCapacity(count)
        for _ in 0..<count {
            guard let number = reader.number(), let table = JournalTable(rawValue: UInt8(clamping: number)),
                let key = reader.text(), let part = reader.text(), let body = reader.bytesOrNil()
            else { return nil }
            changes.append(RowChange(RowKey(table, key, part), body))
        }
        return reader.isAtEnd ? changes : nil
    }
}
