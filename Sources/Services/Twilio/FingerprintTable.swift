/// Values by fingerprints: a look-up that costs one cache line, for what is asked of every event.
struct FingerprintTable<Value: Sendable>: Sendable {
    private var slots: [Slot] = []
    private(set) var count = 0

    private struct Slot: Sendable {
        var key: Fingerprint
        var value: Value?
    }

    subscript(key: Fingerprint) -> Value? {
        get { slots.isEmpty ? nil : slots[place(of: key)].value }
        set {
            guard let newValue else { return remove(key) }
            if count * 2 >= slots.count { grow() }
            let place = place(of: key)
            if slots[place].value == nil { count += 1 }
            slots[place] = Slot(key: key, value: newValue)
        }
    }

    /// Where the key is, or would be.
    private func place(of key: Fingerprint) -> Int {
        var place = home(of: key)
        while slots[place].value != nil, slots[place].key != key { place = (place + 1) & (slots.count - 1) }
        return place
    }

    /// A fingerprint is a hash already.
    private func home(of key: Fingerprint) -> Int { Int(truncatingIfNeeded: key.low) & (slots.count - 1) }

    private mutating func grow() {
        let old = slots
        let free = Slot(key: Fingerprint(""), value: nil)
        slots = [Slot](repeating: free, count: max(16, old.count * 2))
        for slot in old where slot.value != nil { slots[place(of: slot.key)] = slot }
    }

    /// What stands behind it because its place was taken moves up, so that nothing has to mark the gap.
    private mutating func remove(_ key: Fingerprint) {
        guard !slots.isEmpty else { return }
        var gap = place(of: key)
        guard slots[gap].value != nil else { return }
        count -= 1
        var next = (gap + 1) & (slots.count - 1)
        while slots[next].value != nil {
            let distance = (next - home(of: slots[next].key)) & (slots.count - 1)
            if distance >= (next - gap) & (slots.count - 1) {
                slots[gap] = slots[next]
                gap = next
            }
            next = (next + 1) & (slots.count - 1)
        }
        slots[gap].value = nil
    }
}
