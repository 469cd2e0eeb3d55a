internal import Chat

/// The handlers in use, and the names they know; swapped as a whole between two turns.
final class Bots: Sendable {
    private let current: Locked<(handlers: HandlerTable, directory: Directory, version: Int)>

    init(_ handlers: [any EventHandler], _ directory: Directory) {
        current = Locked((HandlerTable(handlers), directory, 0))
    }

    func replace(_ handlers: [any EventHandler], _ directory: Directory) {
        let table = HandlerTable(handlers)
        current.withLock { $0 = (table, directory, $0.version + 1) }
    }

    /// Nil when `version` is still in use.
    func newer(than version: Int) -> (handlers: HandlerTable, directory: Directory, version: Int)? {
        current.withLock { $0.version == version ? nil : $0 }
    }

    var inUse: (handlers: HandlerTable, directory: Directory, version: Int) { current.withLock { $0 } }
}
