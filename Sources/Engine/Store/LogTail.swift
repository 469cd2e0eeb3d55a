/// The rows that are in the log and not yet in their tables, each as it is now.
///
/// They move in generations: while one is on its way, in the order of the tables' keys, the next one gathers. Rows that are
/// beside each other in a table share its pages, so that a page is written once for many of them.
struct LogTail: Sendable {
    private var young = Generation()
    /// On its way; empty when none is.
    private var old = Generation()
    /// Where its rows are, in the order of their keys, and how many of these have moved.
    private var order: [Int] = []
    private var moved = 0

    var count: Int { young.slots.count + order.count - moved }

    /// So many rows gather for the next generation.
    var gathered: Int { young.slots.count }

    /// A generation is on its way.
    var isMoving: Bool { !order.isEmpty }

    /// The oldest log entry that is still needed; nil when none is.
    var oldest: Int64? { old.first ?? young.first }

    /// The same once so many more rows of the generation on its way have moved.
    func oldest(without count: Int) -> Int64? { moved + count < order.count ? oldest : young.first }

    mutating func add(_ changes: [RowChange], number: Int64) { young.add(changes, number: number) }

    /// What has gathered goes on its way, if nothing else is.
    mutating func setOut() {
        guard order.isEmpty, !young.slots.isEmpty else { return }
        old = young
        young = Generation()
        order = old.order()
        moved = 0
    }

    /// The next rows on their way. Those that have changed again are left out: the log has what they are now.
    func next(_ count: Int) -> [RowChange] {
        order.dropFirst(moved).prefix(count).compactMap { place in
            let slot = old.slots[place]
            return young.place(of: slot) == nil ? RowChange(slot.key, slot.body) : nil
        }
    }

    /// So many of them are in their tables now.
    mutating func move(_ count: Int) {
        moved = min(moved + count, order.count)
        guard moved == order.count else { return }
        old = Generation()
        order = []
        moved = 0
    }

    /// The rows of one key: those of the table, as the log has changed them.
    func overlay(_ stored: [StoredRow], of table: JournalTable, key: String) -> [StoredRow] {
        let key = RowKey(table, key)
        return Self.overlay(Self.overlay(stored, old.slots(of: key)), young.slots(of: key))
    }

    /// All rows of a table, as the log has changed them.
    func overlay(_ stored: [StoredRow], of table: JournalTable) -> [StoredRow] {
        Self.overlay(Self.overlay(stored, old.slots(of: table)), young.slots(of: table))
    }

    private static func overlay(_ stored: [StoredRow], _ changed: [Slot]) -> [StoredRow] {
        if changed.isEmpty { return stored }
        let keys = Set(changed.lazy.map(\.key))
        return stored.filter { !keys.contains($0.key) }
            + changed.compactMap { slot in slot.body.map { StoredRow(key: slot.key, body: $0) } }
    }
}

private struct Slot: Sendable {
    let key: RowKey
    var body: [UInt8]?
    let print: RowKey.Print
    /// Where the row before it with that fingerprint is; -1 when there is none.
    let older: Int
}

/// Rows that were changed by entries of the log that follow each other.
private struct Generation: Sendable {
    private(set) var slots: [Slot] = []
    /// The first of those entries.
    private(set) var first: Int64?
    /// Where the newest row of each fingerprint is.
    private var newest: [UInt64: Int] = [:]

    mutating func add(_ changes: [RowChange], number: Int64) {
        if first == nil, !changes.isEmpty { first = number }
        for change in changes {
            let print = change.key.print
            if let place = place(of: print) {
                slots[place].body = change.body
                continue
            }
            let older = newest.updateValue(slots.count, forKey: print.key) ?? -1
            slots.append(Slot(key: change.key, body: change.body, print: print, older: older))
        }
    }

    /// Where its rows are, in the order in which tables have them.
    func order() -> [Int] {
        var order = slots.indices.map {
            (place: $0, group: slots[$0].print.group, word: slots[$0].print.word)
        }
        order.sort {
            if $0.group != $1.group { return $0.group < $1.group }
            // Seldom looked at, for the texts are far away.
            return $0.word == $1.word ? slots[$0.place].key < slots[$1.place].key : $0.word < $1.word
        }
        return order.map(\.place)
    }

    /// Where the row of that other generation's slot is here.
    func place(of slot: Slot) -> Int? { place(of: slot.print) }

    func slots(of key: RowKey) -> [Slot] {
        if slots.isEmpty { return [] }
        var found: [Slot] = []
        var place = newest[key.print.key] ?? -1
        while place >= 0 {
            if slots[place].key.isBeside(key) { found.append(slots[place]) }
            place = slots[place].older
        }
        return found
    }

    func slots(of table: JournalTable) -> [Slot] { slots.filter { $0.key.table == table } }

    private func place(of print: RowKey.Print) -> Int? {
        var place = newest[print.key] ?? -1
        while place >= 0 {
            if slots[place].print.row == print.row { return place }
            place = slots[place].older
        }
        return nil
    }
}

extension RowKey {
    /// What stands for a key where looking at its texts would mean to wait for memory far away.
    fileprivate struct Print {
        /// Rows of one key share it.
        var key: UInt64
        /// With the one above 128 bits of this row alone.
        var row: UInt64
        /// Rows of one table whose keys begin alike share it: users of one realm.
        var group: UInt64
        /// How the rest of the key begins: rows of a group are in its order.
        var word: UInt64
    }

    fileprivate var print: Print {
        var (key, part) = (key, part)
        let table = UInt64(table.rawValue)
        var (group, one, two) = (Self.seeds[0] ^ table, Self.seeds[1], Self.seeds[2] ^ table)
        var word: UInt64 = 0
        key.withUTF8 { bytes in
            let bytes = UnsafeRawBufferPointer(bytes)
            let start = (bytes.lastIndex(of: 0x1F) ?? -1) + 1
            for place in start..<start + 8 {
                word = word << 8 | (place < bytes.count ? UInt64(bytes[place]) : 0)
            }
            Self.eachWord(of: .init(rebasing: bytes[..<start])) { word in
                Self.mix(&group, word)
                Self.mix(&two, word)
            }
            one ^= group
            Self.eachWord(of: .init(rebasing: bytes[start...])) { word in
                Self.mix(&one, word)
                Self.mix(&two, word)
            }
        }
        part.withUTF8 { bytes in Self.eachWord(of: UnsafeRawBufferPointer(bytes)) { Self.mix(&two, $0) } }
        return Print(key: one, row: two, group: group, word: word)
    }

    /// Eight bytes at a time, and at last what is left with its count.
    private static func eachWord(of bytes: UnsafeRawBufferPointer, _ body: (UInt64) -> Void) {
        var index = 0
        while index + 8 <= bytes.count {
            body(bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self))
            index += 8
        }
        var rest = UInt64(bytes.count)
        while index < bytes.count {
            rest = rest << 8 | UInt64(bytes[index])
            index += 1
        }
        body(rest)
    }

    /// Nobody can choose names that all have one fingerprint, or two with the same.
    private static let seeds = (0..<3).map { _ in UInt64.random(in: .min ... .max) }

    private static func mix(_ state: inout UInt64, _ word: UInt64) {
        let product = (state ^ word).multipliedFullWidth(by: 0x9E37_79B9_7F4A_7C15)
        state = product.high ^ product.low
    }

    fileprivate static func < (one: RowKey, other: RowKey) -> Bool {
        one.key == other.key ? one.part < other.part : one.key < other.key
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
