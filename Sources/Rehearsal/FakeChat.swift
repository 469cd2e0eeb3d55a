public import Chat
internal import Engine

/// A chat service in memory, for tests: channels with messages and members, and what accounts did there. It outlives
/// the services that are logged in to it, so a test can stop a steward and start another.
public final class FakeChat: Sendable {
    /// A message as the service has it.
    public struct Message: Sendable, Equatable {
        /// Its channel and its position in it, such as `lobby-3`.
        public var id: String
        /// Its position in its channel, from 0.
        public var index: Int64
        /// The user who wrote it.
        public var author: String
        /// What it says now.
        public var text: String
        /// The id of the message that it answers.
        public var replyTo: String?
        /// The key of the action that sent it; nil for people's messages.
        public var key: String?
        /// Taken away, and still listed by `allMessages`.
        public var isDeleted: Bool
    }

    struct Entry: Sendable {
        var position: Int64
        var channel: String
        var sentAt: Timestamp
        var kind: Kind

        enum Kind: Sendable {
            case added(Message, isBot: Bool)
            case edited(Message)
            case deleted(Message)
            case joined(String)
            case left(String)
            case renamed(String, name: String)
        }
    }

    struct State {
        var channels: [String: [Entry]] = [:]
        var messages: [String: [Message]] = [:]
        var members: [String: Set<String>] = [:]
        /// What accounts were asked to do, with the key of the action.
        var performed: [(key: String, action: ChatAction)] = []
        var faults: [Fault] = []
        var isReachable = true
        var connections = 0
        var hanging = 0
        var lookUps = 0
    }

    /// What happens to the next action.
    public enum Fault: Sendable {
        /// It is done.
        case none
        /// Nothing is done, and this is thrown.
        case fails(ChatServiceError)
        /// It is done, and then this is thrown.
        case failsAfterwards(ChatServiceError)
        /// Nothing is done, and no answer comes.
        case hangs
        /// It is done, and no answer comes.
        case hangsAfterwards
    }

    /// Hand these to the steward under test, so that both mean the same users and channels.
    public let identities: Identities
    /// Where its ids mean something.
    public let realm: Realm
    let time: @Sendable () -> Timestamp
    let state = Locked(State())
    let changed = Signal()

    /// `now` is the service's clock.
    public init(
        _ identities: Identities = Identities(), realm: String = "fake",
        now: @escaping @Sendable () -> Timestamp = { .now }
    ) {
        self.identities = identities
        self.realm = identities.realm(realm)
        time = now
    }

    // MARK: What people do

    /// Somebody writes; they need not be in the channel. `at`: now, when nil.
    @discardableResult
    public func say(
        _ text: String, as user: String, in channel: String, isBot: Bool = false, at: Timestamp? = nil
    ) -> Message {
        let message = post(text, as: user, in: channel, isBot: isBot, key: nil, replyTo: nil, at: at)
        changed.fire()
        return message
    }

    /// Gives a message another text; nothing happens where there is no such message.
    public func edit(_ message: Message, to text: String, in channel: String) {
        let sentAt = time()
        state.withLock { state in
            guard let index = state.messages[channel]?.firstIndex(where: { $0.id == message.id }) else {
                return
            }
            state.messages[channel]?[index].text = text
            guard let edited = state.messages[channel]?[index] else { return }
            state.add(.edited(edited), in: channel, at: sentAt)
        }
        changed.fire()
    }

    /// Takes a message away; nothing happens where it is gone already.
    public func delete(_ message: Message, in channel: String) {
        let sentAt = time()
        state.withLock { _ = $0.delete(message.id, in: channel, at: sentAt) }
        changed.fire()
    }

    /// Somebody comes in; nothing happens when they are in already.
    public func join(_ user: String, _ channel: String) {
        let sentAt = time()
        state.withLock { state in
            if state.members[channel, default: []].insert(user).inserted {
                state.add(.joined(user), in: channel, at: sentAt)
            }
        }
        changed.fire()
    }

    /// False when they were not in.
    @discardableResult
    public func leave(_ user: String, _ channel: String) -> Bool {
        let sentAt = time()
        let wasIn = state.withLock { state in
            guard state.members[channel]?.remove(user) != nil else { return false }
            state.add(.left(user), in: channel, at: sentAt)
            return true
        }
        changed.fire()
        return wasIn
    }

    /// Somebody is called otherwise from now on.
    public func rename(_ user: String, to name: String, in channel: String) {
        let sentAt = time()
        state.withLock { $0.add(.renamed(user, name: name), in: channel, at: sentAt) }
        changed.fire()
    }

    // MARK: What goes wrong

    /// What happens to the next actions, one after the other; those after them succeed.
    public func script(_ faults: [Fault]) {
        state.withLock { $0.faults += faults }
    }

    /// What was scripted and has not happened will not.
    public func clearScript() {
        state.withLock { $0.faults = [] }
    }

    /// Cuts every connection, and lets nobody in while false.
    public func setReachable(_ isReachable: Bool) {
        state.withLock { $0.isReachable = isReachable }
        changed.fire()
    }

    // MARK: What is there now

    /// What stands in the channel, oldest first, without what was deleted.
    public func messages(in channel: String) -> [Message] {
        state.withLock { ($0.messages[channel] ?? []).filter { !$0.isDeleted } }
    }

    /// Those that were deleted as well.
    public func allMessages(in channel: String) -> [Message] {
        state.withLock { $0.messages[channel] ?? [] }
    }

    /// Every action that was carried out, in order.
    public var performed: [ChatAction] { state.withLock { $0.performed.map(\.action) } }

    /// How many actions wait for an answer that does not come.
    public var hanging: Int { state.withLock { $0.hanging } }

    /// How often it was asked whether an action had been done.
    public var lookUps: Int { state.withLock { $0.lookUps } }

    /// How many logins there were.
    public var connections: Int { state.withLock { $0.connections } }

    /// Returns once this holds, or the task is cancelled.
    public func wait(until holds: @Sendable (FakeChat) -> Bool) async {
        while !Task.isCancelled {
            let version = changed.version
            if holds(self) { return }
            await changed.wait(past: version)
        }
    }

    func post(
        _ text: String, as user: String, in channel: String, isBot: Bool, key: String?, replyTo: String?,
        at: Timestamp? = nil
    ) -> Message {
        let sentAt = at ?? time()
        return state.withLock { state in
            let index = Int64(state.messages[channel, default: []].count)
            let message = Message(
                id: "\(channel)-\(index)", index: index, author: user, text: text, replyTo: replyTo, key: key,
                isDeleted: false)
            state.messages[channel, default: []].append(message)
            state.add(.added(message, isBot: isBot), in: channel, at: sentAt)
            return message
        }
    }
}

extension FakeChat.State {
    mutating func add(_ kind: FakeChat.Entry.Kind, in channel: String, at sentAt: Timestamp) {
        let position = Int64(channels[channel, default: []].count) + 1
        channels[channel, default: []].append(
            FakeChat.Entry(position: position, channel: channel, sentAt: sentAt, kind: kind))
    }

    mutating func delete(_ message: String, in channel: String, at sentAt: Timestamp) -> Bool {
        guard let index = messages[channel]?.firstIndex(where: { $0.id == message }) else { return false }
        guard messages[channel]?[index].isDeleted == false else { return true }
        messages[channel]?[index].isDeleted = true
        if let deleted = messages[channel]?[index] { add(.deleted(deleted), in: channel, at: sentAt) }
        return true
    }
}
