/// A value in memory of its own: to hand it on costs one reference, however many parts it has. To change it makes
/// another.
struct Shared<Value: Sendable>: Sendable {
    private final class Storage: Sendable {
        let value: Value

        init(_ value: consuming Value) { self.value = value }
    }

    private var storage: Storage

    init(_ value: consuming Value) {
        storage = Storage(value)
    }

    var value: Value {
        _read { yield storage.value }
        set { storage = Storage(newValue) }
    }

    /// Whether both are one and the same, not only alike. Costs nothing, so it is asked before parts are compared.
    func isSame(as other: Shared) -> Bool { storage === other.storage }

    /// What is the same for those that are one, as long as one of them is held.
    var object: ObjectIdentifier { ObjectIdentifier(storage) }
}
