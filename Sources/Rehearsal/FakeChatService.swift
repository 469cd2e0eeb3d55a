public import Chat
internal import Engine

/// An account on a `FakeChat`: reads its channels from the cursors on, and does what actions ask.
public final class FakeChatService: ChatService {
    /// What an account does wrong, for tests.
    public struct Faults: Sendable {
        /// `run` ends with this instead of logging in.
        public var loginFails: String?
        /// Says that repeating cannot help.
        public var loginFailsForGood: String?
        /// Logs in and is connected, but hears nothing.
        public var isDeaf = false
        /// Never says who it is.
        public var hidesIdentity = false
        /// Hands over each event so often.
        public var copies = 1

        /// Nothing goes wrong.
        public init() {}
    }

    /// Where it is logged in.
    public let chat: FakeChat
    /// The account's name in `config.yaml`.
    public let name: String
    /// Who it is in the chat.
    public let user: String
    /// The channels that it joins.
    public let channels: [String]
    private let faults = Locked(Faults())

    /// All events; it deletes and kicks, and leaves mutes and bans to steward.
    public let abilities = Abilities(
        events: Set(EventName.allCases), actions: ["reply", "send", "dm", "delete", "kick", "warn", "relay"],
        textLimit: .init(4096, .codePoints))

    /// `name` is the account's name, `user` who it is in the chat.
    public init(_ chat: FakeChat, name: String = "fake", user: String = "steward", channels: [String]) {
        self.chat = chat
        self.name = name
        self.user = user
        self.channels = channels
    }

    /// Changes what goes wrong from now on.
    public func setFaults(_ change: (inout Faults) -> Void) {
        faults.withLock { change(&$0) }
        chat.changed.fire()
    }

    /// Reads until cancelled; throws `FakeFault` where its faults say so.
    public func run(_ inbox: any Inbox) async throws {
        while !Task.isCancelled {
            inbox.report(.connecting)
            await chat.wait { $0.state.withLock { $0.isReachable } }
            try Task.checkCancellation()
            let faults = faults.withLock { $0 }
            if let why = faults.loginFailsForGood {
                inbox.report(.failed(reason: why))
                throw FakeFault(why)
            }
            if let why = faults.loginFails { throw FakeFault(why) }
            chat.state.withLock { $0.connections += 1 }
            if !faults.hidesIdentity { await inbox.identified(as: chat.realm.user(user), in: chat.realm) }
            await read(into: inbox)
            inbox.report(.down(reason: "connection lost"))
        }
        throw CancellationError()
    }

    /// Reads until the connection is cut or steward stops.
    private func read(into inbox: any Inbox) async {
        var positions: [String: Int64] = [:]
        let cursors = await inbox.cursors(of: chat.realm)
        var new: [Cursor] = []
        for channel in channels {
            if case .number(let position, _)? = cursors[channel] {
                positions[channel] = position
            } else {
                // A channel seen for the first time: what was said before is history.
                let (position, index) = chat.state.withLock { state in
                    (
                        Int64(state.channels[channel]?.count ?? 0),
                        Int64(state.messages[channel]?.count ?? 0) - 1
                    )
                }
                positions[channel] = position
                new.append(
                    Cursor(stream: chat.realm.stream(channel), position: .number(position, index: index)))
            }
        }
        await inbox.begin(new)
        inbox.report(.up)
        var isOpen = true
        while !Task.isCancelled {
            let version = chat.changed.version
            guard chat.state.withLock({ $0.isReachable }) else { return }
            let faults = faults.withLock { $0 }
            if !faults.isDeaf { inbox.heard() }
            let events = faults.isDeaf || !isOpen ? [] : newEvents(since: positions, copies: faults.copies)
            if events.isEmpty {
                await chat.changed.wait(past: version)
                continue
            }
            switch await inbox.deliver(events) {
            case .taken:
                for event in events {
                    if let cursor = event.cursor, case .number(let position, _) = cursor.position {
                        positions[cursor.stream.text] = position
                    }
                }
            case .behind: await Task.yield()
            case .closed: isOpen = false
            }
        }
    }

    private func newEvents(since positions: [String: Int64], copies: Int) -> [ChatEvent] {
        let entries = chat.state.withLock { state in
            channels.flatMap { channel in
                (state.channels[channel] ?? []).dropFirst(Int(positions[channel] ?? 0))
            }
        }
        return entries.flatMap { entry in [ChatEvent](repeating: event(entry), count: copies) }
    }

    private func event(_ entry: FakeChat.Entry) -> ChatEvent {
        var id = "\(entry.channel)/\(entry.position)"
        var index: Int64?
        let kind: ChatEvent.Kind
        switch entry.kind {
        case .added(let message, let isBot):
            id = message.id
            index = message.index
            kind = .messageAdded(self.message(message, isBot: isBot))
        case .edited(let message): kind = .messageEdited(self.message(message, isBot: false))
        case .deleted(let message): kind = .messageDeleted(self.message(message, isBot: false))
        case .joined(let user): kind = .memberJoined(Member(user: chat.realm.user(user)))
        case .left(let user): kind = .memberLeft(Member(user: chat.realm.user(user)))
        case .renamed(let user, let name):
            kind = .memberUpdated(Member(user: chat.realm.user(user), name: name))
        }
        return ChatEvent(
            id: id, account: name, realm: chat.realm,
            channel: Channel(id: chat.realm.channel(entry.channel), title: entry.channel),
            sentAt: entry.sentAt,
            kind: kind,
            cursor: Cursor(
                stream: chat.realm.stream(entry.channel), position: .number(entry.position, index: index)))
    }

    private func message(_ message: FakeChat.Message, isBot: Bool) -> Message {
        Message(
            id: message.id, index: message.index,
            author: Member(user: chat.realm.user(message.author), isBot: isBot), text: message.text,
            replyTo: message.replyTo)
    }
}

extension FakeChatService {
    /// Does it as the chat's script says: see `FakeChat.script`.
    public func perform(_ action: ChatAction, key: ActionKey) async throws(ChatServiceError) -> Receipt {
        let (isReachable, fault) = chat.state.withLock { state in
            (state.isReachable, state.faults.isEmpty || !state.isReachable ? nil : state.faults.removeFirst())
        }
        guard isReachable else { throw .unreachable("not connected") }
        switch fault {
        case nil, .some(.none): return try carryOut(action, key)
        case .fails(let error): throw error
        case .failsAfterwards(let error):
            _ = try carryOut(action, key)
            throw error
        case .hangs:
            await hang()
            throw .unknownOutcome("no answer")
        case .hangsAfterwards:
            _ = try carryOut(action, key)
            await hang()
            throw .unknownOutcome("no answer")
        }
    }

    /// Looks for a message that was sent under that key; everything else is never found.
    public func find(_ action: ChatAction, key: ActionKey, since: Timestamp) async throws(ChatServiceError)
        -> Receipt?
    {
        guard chat.state.withLock({ $0.isReachable }) else { throw .unreachable("not connected") }
        defer { chat.changed.fire() }
        return chat.state.withLock { state in
            state.lookUps += 1
            for (channel, messages) in state.messages {
                if let message = messages.first(where: { $0.key == key.text }) {
                    return Receipt(
                        message: MessageReference(id: message.id, index: message.index), channel: channel)
                }
            }
            return nil
        }
    }

    private func hang() async {
        chat.state.withLock { $0.hanging += 1 }
        chat.changed.fire()
        let never = Signal()
        await never.wait(past: never.version)
        chat.state.withLock { $0.hanging -= 1 }
    }

    private func carryOut(_ action: ChatAction, _ key: ActionKey) throws(ChatServiceError) -> Receipt {
        let channel = action.place.channel
        var receipt = Receipt(channel: channel)
        switch action.verb {
        case .send(let outgoing):
            receipt.message = reference(to: post(outgoing.text, in: channel, key, replyTo: nil))
        case .reply(let outgoing, let message):
            receipt.message = reference(to: post(outgoing.text, in: channel, key, replyTo: message.id))
        case .direct(let outgoing, let user):
            receipt.channel = "direct-\(user)"
            receipt.message = reference(to: post(outgoing.text, in: "direct-\(user)", key, replyTo: nil))
        case .deleteMessage(let message):
            let sentAt = chat.time()
            guard chat.state.withLock({ $0.delete(message.id, in: channel, at: sentAt) }) else {
                throw .rejected("there is no message \(message.id)")
            }
        case .removeMember(let user), .ban(let user, _, _): receipt.tookOut = chat.leave(user, channel)
        case .addMember(let user): chat.join(user, channel)
        default: break
        }
        chat.state.withLock { $0.performed.append((key.text, action)) }
        chat.changed.fire()
        return receipt
    }

    private func post(_ text: String, in channel: String, _ key: ActionKey, replyTo: String?)
        -> FakeChat.Message
    {
        chat.post(text, as: user, in: channel, isBot: true, key: key.text, replyTo: replyTo)
    }

    private func reference(to message: FakeChat.Message) -> MessageReference {
        MessageReference(id: message.id, index: message.index)
    }
}

/// Why a fake service did not run.
public struct FakeFault: Error, CustomStringConvertible {
    /// The words that its faults were given.
    public let description: String

    init(_ description: String) {
        self.description = description
    }
}
