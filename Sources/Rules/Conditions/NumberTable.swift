/// Numbers by numbers: a look-up that costs one cache line, for what is asked of every event.
struct NumberTable: Sendable {
    private var slots: [Slot] = []
    private(set) var count = 0

    private struct Slot {
        var key: UInt64 = 0
        /// `.min`: free.
        var value = Int64.min
    }

    subscript(key: UInt64) -> Int64? {
        guard !slots.isEmpty else { return nil }
        let value = slots[place(of: key)].value
        return value == .min ? nil : value
    }

    /// A value is never `.min`. When the table is full, those that need not be kept are let go of all at once, which
    /// costs less than to look each up when it is over.
    mutating func set(_ value: Int64, for key: UInt64, keeping isKept: (Int64) -> Bool = { _ in true }) {
        if (count + 1) * 2 > slots.count { makeRoom(keeping: isKept) }
        let place = place(of: key)
        if slots[place].value == .min { count += 1 }
        slots[place] = Slot(key: key, value: value)
    }

    /// Reads where the key is looked for first, so that it is near when it is.
    func touch(_ key: UInt64) -> Int64 { slots.isEmpty ? 0 : slots[home(of: key)].value }

    mutating func removeAll() { self = NumberTable() }

    /// Where the key is, or would be.
    private func place(of key: UInt64) -> Int {
        var place = home(of: key)
        while slots[place].value != .min, slots[place].key != key { place = (place + 1) & (slots.count - 1) }
        return place
    }

    private func home(of key: UInt64) -> Int {
        let mixed = key &* 0x9E37_79B9_7F4A_7C15
        return Int(truncatingIfNeeded: mixed ^ (mixed >> 32)) & (slots.count - 1)
    }

    private mutating func makeRoom(keeping isKept: (Int64) -> Bool) {
        let kept = slots.filter { $0.value != .min && isKept($0.value) }
        var size = 16
        while size < kept.count * 4 { size *= 2 }
        slots = [Slot](repeating: Slot(), count: size)
        count = kept.count
        for slot in kept { slots[place(of: slot.key)] = slot }
    }
}
