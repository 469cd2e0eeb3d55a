internal import Chat

/// An inbox that keeps what it gets and remembers how far each stream was read, as the engine does.
final class ContractInbox: Inbox {
    struct State: Sendable {
        var own: UserID?
        var realm: Realm?
        var events: [ChatEvent] = []
        var cursors: [String: Position] = [:]
        var statuses: [ServiceStatus] = []
        /// What deliveries are answered with.
        var answer = Taken.taken
        /// How many deliveries were not taken.
        var refused = 0
        /// Set when `run` has returned: why.
        var end: String?
    }

    private let state: Locked<State>

    init(cursors: [String: Position] = [:]) {
        var state = State()
        state.cursors = cursors
        self.state = Locked(state)
    }

    var now: State { state.withLock { $0 } }

    func change(_ body: (inout State) -> Void) { state.withLock { body(&$0) } }

    /// Waits until it is so; false when that takes too long.
    func wait(_ patience: Duration, until isSo: (State) -> Bool) async throws -> Bool {
        let end = ContinuousClock.now + patience
        while !isSo(now) {
            guard ContinuousClock.now < end else { return false }
            try await Task.sleep(for: .milliseconds(10))
        }
        return true
    }

    func identified(as user: UserID, in realm: Realm) async {
        change {
            $0.own = user
            $0.realm = realm
        }
    }

    func cursors(of realm: Realm) async -> [String: Position] { now.cursors }

    func begin(_ streams: [Cursor]) async {
        change { state in
            for cursor in streams where state.cursors[cursor.stream.text] == nil {
                state.cursors[cursor.stream.text] = cursor.position
            }
        }
    }

    func deliver(_ events: [ChatEvent]) async -> Taken {
        state.withLock { state in
            guard case .taken = state.answer else {
                state.refused += 1
                return state.answer
            }
            state.events += events
            for event in events {
                if let cursor = event.cursor { state.cursors[cursor.stream.text] = cursor.position }
            }
            return .taken
        }
    }

    func heard() {}

    func report(_ status: ServiceStatus) { change { $0.statuses.append(status) } }
}

extension ContractInbox.State {
    /// The texts of new messages, those of others or our own.
    func texts(own wanted: Bool) -> [String] {
        events.compactMap { event in
            guard case .messageAdded(let message) = event.kind, (message.author.user == own) == wanted
            else { return nil }
            return message.text
        }
    }

    var ups: Int { statuses.count { $0 == .up } }
}
