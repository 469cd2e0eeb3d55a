import Chat

/// An inbox that keeps what it gets and remembers how far it was read, as the engine does.
final class TestInbox: Inbox {
    struct State {
        var own: UserID?
        var realm: Realm?
        var events: [ChatEvent] = []
        var cursors: [String: Position] = [:]
        var statuses: [ServiceStatus] = []
        /// Deliveries that are answered `.behind`.
        var refuses = 0
        var heard = 0
        /// What `run` threw.
        var failure: String?
        var waiting: [UInt64: Waiter] = [:]
    }

    struct Waiter: Sendable {
        var condition: @Sendable (State) -> Bool
        var continuation: CheckedContinuation<Void, any Error>
    }

    let state: Locked<State>

    init(cursors: [String: Position] = [:]) {
        var state = State()
        state.cursors = cursors
        self.state = Locked(state)
    }

    func identified(as user: UserID, in realm: Realm) async {
        change {
            $0.own = user
            $0.realm = realm
        }
    }

    func cursors(of realm: Realm) async -> [String: Position] { state.withLock { $0.cursors } }

    func begin(_ streams: [Cursor]) async {
        change { state in
            for cursor in streams where state.cursors[cursor.stream.text] == nil {
                state.cursors[cursor.stream.text] = cursor.position
            }
        }
    }

    func deliver(_ events: [ChatEvent]) async -> Taken {
        change { state in
            if state.refuses > 0 {
                state.refuses -= 1
                return .behind
            }
            state.events += events
            for event in events {
                if let cursor = event.cursor { state.cursors[cursor.stream.text] = cursor.position }
            }
            return .taken
        }
    }

    func heard() { change { $0.heard += 1 } }

    func report(_ status: ServiceStatus) { change { $0.statuses.append(status) } }

    /// What happened, in short: `general + ana: hello`.
    var story: [String] { state.withLock { Self.story($0) } }

    private static func story(_ state: State) -> [String] {
        state.events.filter { $0.member == nil || $0.member?.user != state.own }.map(\.short)
    }

    /// The story, once so many events of others are there.
    func story(of count: Int) async throws -> [String] {
        try await wait { Self.story($0).count >= count }
        return story
    }

    /// Waits until it is so.
    func wait(_ condition: @escaping @Sendable (State) -> Bool) async throws {
        let id = UInt64.random(in: 0 ... .max)
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation {
                (continuation: CheckedContinuation<Void, any Error>) in
                let isOver = state.withLock { state in
                    if Task.isCancelled || condition(state) { return true }
                    state.waiting[id] = Waiter(condition: condition, continuation: continuation)
                    return false
                }
                guard isOver else { return }
                if Task.isCancelled {
                    continuation.resume(throwing: CancellationError())
                } else {
                    continuation.resume()
                }
            }
        } onCancel: {
            state.withLock { $0.waiting.removeValue(forKey: id) }?.continuation
                .resume(throwing: CancellationError())
        }
    }

    /// Changes the state and wakes whoever waits for that.
    func change<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
        let (result, awake) = state.withLock { state in
            let result = body(&state)
            let done = state.waiting.filter { $0.value.condition(state) }
            for id in done.keys { state.waiting[id] = nil }
            return (result, done.values.map(\.continuation))
        }
        for continuation in awake { continuation.resume() }
        return result
    }

    func waitUntilUp(times: Int = 1) async throws {
        try await wait { $0.statuses.count { $0 == .up } >= times }
    }
}

extension ChatEvent {
    var short: String {
        let place = channel?.uniqueName ?? channel?.id.text ?? "-"
        return switch kind {
        case .messageAdded(let message): "\(place) + \(message.author.name): \(message.text)"
        case .messageEdited(let message): "\(place) ~ \(message.author.name): \(message.text)"
        case .messageDeleted(let message): "\(place) - \(message.author.name): \(message.text)"
        case .memberJoined(let member): "\(place) joined \(member.name)"
        case .memberLeft(let member): "\(place) left \(member.name)"
        case .memberUpdated(let member): "\(place) updated \(member.name)"
        case .channelAdded: "\(place) added"
        case .channelUpdated: "\(place) is \(channel?.title ?? "")"
        case .channelDeleted: "\(place) deleted"
        case .typingStarted(let member): "\(place) typing \(member.name)"
        case .typingEnded(let member): "\(place) typed \(member.name)"
        case .readHorizonMoved(let member, let index):
            "\(place) read \(member.name) \(index.map { "\($0)" } ?? "nothing")"
        default: "\(id)"
        }
    }
}
