/// One thing at a time in each lane, in the order of asking.
struct Lanes<Key: Hashable> {
    private var waiting: [Key: [CheckedContinuation<Void, Never>]] = [:]

    /// True when the lane was free and is taken now; else `wait`.
    mutating func take(_ key: Key) -> Bool {
        guard waiting[key] == nil else { return false }
        waiting[key] = []
        return true
    }

    mutating func wait(_ key: Key, _ continuation: CheckedContinuation<Void, Never>) {
        if take(key) { return continuation.resume() }
        waiting[key]?.append(continuation)
    }

    /// Lets the next one in; resume it outside of any lock.
    mutating func leave(_ key: Key) -> CheckedContinuation<Void, Never>? {
        guard var line = waiting[key], !line.isEmpty else {
            waiting[key] = nil
            return nil
        }
        let next = line.removeFirst()
        waiting[key] = line
        return next
    }
}
