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
    }

    let state: Locked<State>

    init(cursors: [String: Position] = [:]) {
        var state = State()
        state.cursors = cursors
        self.state = Locked(state)
    }

    func identified(as user: UserID, in realm: Realm) async {
        state.withLock {
            $0.own = user
            $0.realm = realm
        }
    }

    func cursors(of realm: Realm) async -> [String: Position] { state.withLock { $0.cursors } }

    func begin(_ streams: [Cursor]) async {
        state.withLock { state in
            for cursor in streams where state.cursors[cursor.stream.text] == nil {
                state.cursors[cursor.stream.text] = cursor.position
            }
        }
    }

    func deliver(_ events: [ChatEvent]) async -> Taken {
        state.withLock { state in
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

    func heard() { state.withLock { $0.heard += 1 } }

    func report(_ status: ServiceStatus) { state.withLock { $0.statuses.append(status) } }

    /// What happened, in short: `general + ana: hello`.
    var story: [String] {
        state.withLock { state in
            state.events.filter { $0.member == nil || $0.member?.user != state.own }.map(\.short)
        }
    }

    /// Waits until so many events of others are there.
    func story(of count: Int) async throws -> [String] {
        while story.count < count {
            try Task.checkCancellation()
            await Task.yield()
        }
        return story
    }

    func wait(_ condition: @Sendable (State) -> Bool) async throws {
        while !state.withLock({ condition($0) }) {
            try Task.checkCancellation()
            await Task.yield()
        }
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
