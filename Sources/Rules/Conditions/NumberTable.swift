/// Numbers by numbers: a look-up that costs one cache line, for what is asked of every event.
struct NumberTable: Sendable {
    private var slots: [Slot] = []
    private(set) var count = 0

    private struct Slot {
        var key: UInt64 = 0
        /// `.min`: free.
        var value = Int64.min
    }

    /// A value is never `.min`.
    subscript(key: UInt64) -> Int64? {
        get {
            guard !slots.isEmpty else { return nil }
            let value = slots[place(of: key)].value
            return value == .min ? nil : value
        }
        set {
            guard let newValue else { return remove(key) }
            if count * 2 >= slots.count { grow() }
            let place = place(of: key)
            if slots[place].value == .min { count += 1 }
            slots[place] = Slot(key: key, value: newValue)
        }
    }

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

    private mutating func grow() {
        let old = slots
        slots = [Slot](repeating: Slot(), count: max(16, old.count * 2))
        for slot in old where slot.value != .min { slots[place(of: slot.key)] = slot }
    }

    /// What stands behind it because its place was taken moves up, so that nothing has to mark the gap.
    private mutating func remove(_ key: UInt64) {
        guard !slots.isEmpty else { return }
        var gap = place(of: key)
        guard slots[gap].value != .min else { return }
        count -= 1
        var next = (gap + 1) & (slots.count - 1)
        while slots[next].value != .min {
            let distance = (next - home(of: slots[next].key)) & (slots.count - 1)
            if distance >= (next - gap) & (slots.count - 1) {
                slots[gap] = slots[next]
                gap = next
            }
            next = (next + 1) & (slots.count - 1)
        }
        slots[gap] = Slot()
    }
}
