internal import Chat

/// Something for the decider.
enum Work: Sendable {
    case started
    case identified(account: String, UserID, Realm)
    case status(account: String, ServiceStatus)
    /// Streams that are read for the first time, from there on.
    case began([Cursor], Flag)
    case events(Delivery)
    /// An action came to its end.
    case result(OpenAction, ActionOutcome)
    /// Continuations whose time has come.
    case due([String])
    /// What others ask.
    case orders([StoredOrder])
    /// What is to go has to be looked for.
    case upkeep
}

/// Events that were handed over together.
struct Delivery: Sendable {
    let inbox: AccountInbox
    var events: ArraySlice<ChatEvent>
    let at: ContinuousClock.Instant
}

/// Where one account's service puts what it reads, and what is known of its connection.
final class AccountInbox: Inbox {
    struct State {
        var status = ServiceStatus.connecting
        var since: Timestamp
        var realm: Realm?
        var own: UserID?
        var queued = 0
        /// How often the account came up.
        var ups = 0
        var lastHeard: Timestamp
        /// Restarts because of silence since it was last heard for long.
        var deafRestarts = 0
        /// The last reason that was logged; the same one again is no news.
        var complaint: String?
        /// Complaints are logged once, not once an event.
        var hasComplained = false
    }

    let account: String
    /// Fired at each change of the status, and when the engine closes.
    let changed = Signal()
    private let state: Locked<State>
    private let limit: Int
    private let queue: BatchQueue<Work>
    private let gate: EngineGate
    private let time: any TimeSource
    private let log: Log
    private let readCursors: @Sendable (Realm) async -> [String: Position]

    init(
        account: String, limit: Int, queue: BatchQueue<Work>, gate: EngineGate, time: any TimeSource,
        log: Log,
        cursors: @escaping @Sendable (Realm) async -> [String: Position]
    ) {
        self.account = account
        self.limit = limit
        self.queue = queue
        self.gate = gate
        self.time = time
        self.log = log.with("account", account)
        readCursors = cursors
        let now = time.now
        state = Locked(State(since: now, lastHeard: now))
    }

    var current: State { state.withLock { $0 } }

    var isUp: Bool { state.withLock { $0.status == .up } }

    func identified(as user: UserID, in realm: Realm) async {
        let isNew = state.withLock { state in
            defer {
                state.own = user
                state.realm = realm
            }
            return state.own != user || state.realm != realm
        }
        if isNew { queue.put(.identified(account: account, user, realm)) }
    }

    func cursors(of realm: Realm) async -> [String: Position] {
        await readCursors(realm)
    }

    func begin(_ streams: [Cursor]) async {
        guard !streams.isEmpty else { return }
        let isDurable = Flag()
        queue.put(.began(streams, isDurable))
        await gate.wait { isDurable.isSet }
    }

    func deliver(_ events: [ChatEvent]) async -> Taken {
        guard !events.isEmpty else { return gate.isClosed ? .closed : .taken }
        heard()
        if gate.isClosed { return .closed }
        if gate.isStoreInTrouble { return .behind }
        let (isTaken, complains) = state.withLock { state in
            guard state.own != nil else {
                defer { state.hasComplained = true }
                return (false, !state.hasComplained)
            }
            // A delivery that is larger than the inbox must not wait for ever.
            guard state.queued == 0 || state.queued + events.count <= limit else { return (false, false) }
            state.queued += events.count
            return (true, false)
        }
        if complains { log.warning("events came before it is known who we are; they have to wait") }
        guard isTaken else { return .behind }
        queue.put(.events(Delivery(inbox: self, events: events[...], at: .now)))
        return .taken
    }

    func heard() {
        let now = time.now
        state.withLock { $0.lastHeard = now }
    }

    func report(_ status: ServiceStatus) {
        let now = time.now
        let (isNew, isNews) = state.withLock { state in
            guard state.status != status else { return (false, false) }
            state.status = status
            state.since = now
            state.lastHeard = now
            if status == .up { state.ups += 1 }
            return (true, state.isNews(status))
        }
        guard isNew else { return }
        changed.fire()
        gate.changed.fire()
        queue.put(.status(account: account, status))
        guard isNews else { return }
        switch status {
        case .connecting: log.debug("connecting")
        case .up: log.info("logged in, all channels known")
        case .down(let reason): log.warning("not connected: \(reason)")
        case .failed(let reason): log.error("failed: \(reason)")
        }
    }

    /// So many of its events were decided.
    func finished(_ count: Int) {
        state.withLock { $0.queued -= count }
    }

    /// Counts a restart because of silence; what is heard of the new connection says whether it helped.
    func noteDeaf() {
        let now = time.now
        state.withLock { state in
            state.deafRestarts += 1
            state.lastHeard = now
        }
    }

    func noteHearing() {
        state.withLock { $0.deafRestarts = 0 }
    }
}

extension AccountInbox.State {
    /// Whether the log has not said so already.
    fileprivate mutating func isNews(_ status: ServiceStatus) -> Bool {
        switch status {
        case .connecting: return true
        case .up:
            complaint = nil
            return true
        case .down(let reason), .failed(let reason):
            defer { complaint = reason }
            return complaint != reason
        }
    }
}

/// Becomes true once.
final class Flag: Sendable {
    private let state = Locked(false)

    var isSet: Bool { state.withLock { $0 } }

    func set() { state.withLock { $0 = true } }
}

/// What every inbox asks before it takes something.
final class EngineGate: Sendable {
    private let state = Locked((isClosed: false, trouble: String?.none))
    /// Fired at each change that somebody may wait for.
    let changed = Signal()

    var isClosed: Bool { state.withLock { $0.isClosed } }
    var isStoreInTrouble: Bool { state.withLock { $0.trouble != nil } }
    /// What is wrong with the store, while it cannot be written.
    var trouble: String? { state.withLock { $0.trouble } }

    func close() {
        state.withLock { $0.isClosed = true }
        changed.fire()
    }

    /// Something came to rest; who closes waits for that.
    func mayBeQuiet() {
        if isClosed { changed.fire() }
    }

    func setTrouble(_ trouble: String?) {
        state.withLock { $0.trouble = trouble }
        changed.fire()
    }

    /// Returns once `condition` holds, or the task is cancelled.
    func wait(until condition: () async -> Bool) async {
        while !Task.isCancelled {
            let version = changed.version
            if await condition() { return }
            await changed.wait(past: version)
        }
    }
}
