internal import Chat

/// A client that came in by a door.
protocol Connected: AnyObject, Sendable {
    /// Empty until it has logged in.
    var identity: String { get }
    /// Does what is due by now; says when to come again.
    func tick(at now: Timestamp) -> Timestamp
}

/// Those who came in by one door and are still there.
final class Connections<Connection: Connected>: Sendable {
    private let all = Locked<[ObjectIdentifier: Connection]>([:])

    /// Knows the connection while the body runs.
    func hold(_ connection: Connection, _ body: () async -> Void) async {
        all.withLock { $0[ObjectIdentifier(connection)] = connection }
        await body()
        all.withLock { $0[ObjectIdentifier(connection)] = nil }
    }

    /// Those of one identity, or all.
    func of(_ identity: String?) -> [Connection] {
        all.withLock { Array($0.values) }.filter { identity == nil || $0.identity == identity }
    }

    /// Pings, warnings and expiry of all of them, until cancelled.
    func keepTime() async {
        while !Task.isCancelled {
            let now = Timestamp.now
            var due = now + .seconds(1)
            for connection in of(nil) { due = min(due, connection.tick(at: now)) }
            try? await Task.sleep(for: max(.milliseconds(5), due - now))
        }
    }
}
