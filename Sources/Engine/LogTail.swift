/// The rows that are in the log and not yet in their tables.
///
/// They go there in sweeps, each in the order of the tables' keys: rows beside each other share a page of the file, so
/// that under load a tenth of the pages is written. The log is trimmed when a sweep is over.
struct LogTail: Sendable {
    /// What rows are read by.
    private struct Key: Hashable {
        var table: JournalTable
        var key: String

        init(_ key: RowKey) {
            table = key.table
            self.key = key.key
        }
    }

    private struct Entry {
        var body: [UInt8]?
    }

    private struct Place {
        var key: RowKey
        /// The log entry that brought the row here; those behind it must stay.
        var number: Int64
    }

    private var rows: [Key: [String: Entry]] = [:]
    /// What is left of this sweep; empty only when nothing waits either.
    private var order: ArraySlice<Place> = []
    /// The oldest log entry that a row of this sweep came with.
    private var oldestOfSweep: Int64?
    /// For the next sweep, oldest first.
    private var waiting: [Place] = []

    var count: Int { order.count + waiting.count }

    mutating func add(_ changes: [RowChange], number: Int64) {
        for change in changes {
            let key = change.key
            let old = rows[Key(key), default: [:]].updateValue(Entry(body: change.body), forKey: key.part)
            if old == nil { waiting.append(Place(key: key, number: number)) }
        }
        if order.isEmpty { sweep() }
    }

    private mutating func sweep() {
        oldestOfSweep = waiting.first?.number
        order = waiting.sorted { $0.key.sortsBefore($1.key) }[...]
        waiting = []
    }

    /// The rows whose turn it is, as they are now.
    func first(_ count: Int) -> [RowChange] {
        order.prefix(count).compactMap { place in
            rows[Key(place.key)]?[place.key.part].map { RowChange(place.key, $0.body) }
        }
    }

    /// The oldest log entry that is still needed once the first rows are in their tables; nil when none is.
    func oldest(without count: Int) -> Int64? {
        order.count > count ? oldestOfSweep : waiting.first?.number
    }

    mutating func removeFirst(_ count: Int) {
        for place in order.prefix(count) {
            guard let index = rows.index(forKey: Key(place.key)) else { continue }
            if rows.values[index].count == 1 {
                rows.remove(at: index)
            } else {
                rows.values[index][place.key.part] = nil
            }
        }
        order = order.dropFirst(count)
        if order.isEmpty {
            sweep()
        } else if order.startIndex > 4 * order.count {
            // A slice keeps what it was cut from; copying now and then lets that go.
            order = ArraySlice(Array(order))
        }
    }

    /// The rows of one key: those of the table, as the log has changed them.
    func overlay(_ stored: [StoredRow], of table: JournalTable, key: String) -> [StoredRow] {
        let key = RowKey(table, key)
        guard let parts = rows[Key(key)] else { return stored }
        return stored.filter { parts[$0.key.part] == nil } + changed(parts, key)
    }

    /// All rows of a table, as the log has changed them.
    func overlay(_ stored: [StoredRow], of table: JournalTable) -> [StoredRow] {
        stored.filter { rows[Key($0.key)]?[$0.key.part] == nil }
            + rows.lazy.filter { $0.key.table == table }.flatMap {
                changed($0.value, RowKey(table, $0.key.key))
            }
    }

    private func changed(_ parts: [String: Entry], _ key: RowKey) -> [StoredRow] {
        parts.compactMap { part, entry in
            entry.body.map { StoredRow(key: RowKey(key.table, key.key, part), body: $0) }
        }
    }
}

extension RowKey {
    /// The order in which a table has its rows.
    fileprivate func sortsBefore(_ other: RowKey) -> Bool {
        if table != other.table { return table.rawValue < other.table.rawValue }
        return key == other.key ? part < other.part : key < other.key
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
