public import Chat

/// A memory that is a dictionary, for a handler alone.
public struct Remembered: Recollection {
    /// All that is remembered; a test may write into it.
    public var values: [MemoryKey: MemoryValue]

    /// Nothing is remembered but these.
    public init(_ values: [MemoryKey: MemoryValue] = [:]) {
        self.values = values
    }

    /// Nil when nothing is remembered.
    public func value(of key: MemoryKey) -> MemoryValue? { values[key] }

    /// Applies what a decision changes; nothing is forgotten by time.
    public mutating func apply(_ changes: [MemoryChange]) {
        for change in changes {
            switch change {
            case .claim(let key, let at, let most, _):
                var times: [Timestamp] = []
                if case .times(let some)? = values[key] { times = some }
                values[key] = .times((times + [at]).suffix(most))
            case .add(let key, let number, _):
                var sum: Int64 = 0
                if case .number(let some)? = values[key] { sum = some }
                values[key] = .number(sum + number)
            case .set(let key, let value, _): values[key] = value
            case .forget(let key): values[key] = nil
            }
        }
    }
}
