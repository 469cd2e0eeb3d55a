/// The rows that are in the log and not yet in their tables, oldest first, each once.
struct LogTail: Sendable {
    private struct Slot {
        let key: RowKey
        var body: [UInt8]?
        /// The log entry that brought the row here; those behind it must stay.
        let number: Int64
        let fingerprint: UInt64
        /// Where the next older row with that fingerprint is, or was.
        let older: Int
    }

    private var slots: ArraySlice<Slot> = []
    /// Where the newest row of each fingerprint is.
    private var newest: [UInt64: Int] = [:]

    var count: Int { slots.count }

    /// The oldest log entry that is still needed; nil when none is.
    var oldest: Int64? { slots.first?.number }

    mutating func add(_ changes: [RowChange], number: Int64) {
        for change in changes {
            let fingerprint = change.key.fingerprint
            if let place = place(of: change.key, fingerprint) {
                slots[place].body = change.body
                continue
            }
            let older = newest.updateValue(slots.endIndex, forKey: fingerprint) ?? -1
            slots.append(
                Slot(
                    key: change.key, body: change.body, number: number, fingerprint: fingerprint, older: older
                ))
        }
    }

    /// The oldest rows, as they are now.
    func first(_ count: Int) -> [RowChange] { slots.prefix(count).map { RowChange($0.key, $0.body) } }

    /// The oldest log entry that is still needed once the first rows are in their tables; nil when none is.
    func oldest(without count: Int) -> Int64? { slots.dropFirst(count).first?.number }

    mutating func removeFirst(_ count: Int) {
        for place in slots.indices.prefix(count) {
            let fingerprint = slots[place].fingerprint
            if newest[fingerprint] == place { newest[fingerprint] = nil }
        }
        slots = slots.dropFirst(count)
        // A slice keeps what it was cut from; copying now and then lets that go.
        if slots.isEmpty {
            slots = []
            newest = [:]
        } else if slots.startIndex > 4 * slots.count {
            rebuild()
        }
    }

    /// The rows of one key: those of the table, as the log has changed them.
    func overlay(_ stored: [StoredRow], of table: JournalTable, key: String) -> [StoredRow] {
        let key = RowKey(table, key)
        let changed = places(key.fingerprint).map { slots[$0] }.filter { $0.key.isBeside(key) }
        return changed.isEmpty ? stored : Self.overlay(stored, changed)
    }

    /// All rows of a table, as the log has changed them.
    func overlay(_ stored: [StoredRow], of table: JournalTable) -> [StoredRow] {
        let changed = slots.filter { $0.key.table == table }
        return changed.isEmpty ? stored : Self.overlay(stored, Array(changed))
    }

    private static func overlay(_ stored: [StoredRow], _ changed: [Slot]) -> [StoredRow] {
        let keys = Set(changed.lazy.map(\.key))
        return stored.filter { !keys.contains($0.key) }
            + changed.compactMap { slot in slot.body.map { StoredRow(key: slot.key, body: $0) } }
    }

    private func place(of key: RowKey, _ fingerprint: UInt64) -> Int? {
        var place = newest[fingerprint] ?? -1
        while place >= slots.startIndex {
            if slots[place].key == key { return place }
            place = slots[place].older
        }
        return nil
    }

    private func places(_ fingerprint: UInt64) -> [Int] {
        var places: [Int] = []
        var place = newest[fingerprint] ?? -1
        while place >= slots.startIndex {
            places.append(place)
            place = slots[place].older
        }
        return places
    }

    /// The same with places that start at 0.
    private mutating func rebuild() {
        let old = slots
        slots = []
        newest = [:]
        slots.reserveCapacity(old.count)
        for slot in old {
            let older = newest.updateValue(slots.endIndex, forKey: slot.fingerprint) ?? -1
            slots.append(
                Slot(
                    key: slot.key, body: slot.body, number: slot.number, fingerprint: slot.fingerprint,
                    older: older))
        }
    }
}

extension RowKey {
    /// Rows of one key share it.
    fileprivate var fingerprint: UInt64 {
        var key = key
        var state = Self.seed ^ UInt64(table.rawValue)
        key.withUTF8 { bytes in
            let bytes = UnsafeRawBufferPointer(bytes)
            var index = 0
            while index + 8 <= bytes.count {
                Self.mix(&state, bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self))
                index += 8
            }
            var rest = UInt64(bytes.count)
            while index < bytes.count {
                rest = rest << 8 | UInt64(bytes[index])
                index += 1
            }
            Self.mix(&state, rest)
        }
        return state
    }

    /// Nobody can choose names that all have one fingerprint.
    private static let seed = UInt64.random(in: .min ... .max)

    private static func mix(_ state: inout UInt64, _ word: UInt64) {
        let product = (state ^ word).multipliedFullWidth(by: 0x9E37_79B9_7F4A_7C15)
        state = product.high ^ product.low
    }

    /// Whether both are rows of one key.
    fileprivate func isBeside(_ other: RowKey) -> Bool { table == other.table && key == other.key }
}

// An entry of the log: for each change the table, the key, the part, and the body with its length, one more so that
// 0 means that there is none.
extension LogTail {
    static func body(of changes: [RowChange]) -> [UInt8] {
        var writer = RowWriter()
        // About as much as a member's row takes.
        writer.reserve(changes.count * 128)
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
