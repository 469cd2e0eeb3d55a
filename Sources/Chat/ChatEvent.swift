/// Something that happened in a chat service, or that steward itself had put off until now.
public struct ChatEvent: Sendable {
    private struct Values: Sendable {
        var id: String
        var account: String
        var realm: Realm
        var channel: Channel? { didSet { digest.channel = channel?.id.identity.number ?? 0 } }
        var sentAt: Timestamp
        var kind: Kind { didSet { digest.take(kind) } }
        var cursor: Cursor? { didSet { digest.take(cursor) } }
        var by: UserID?
        private(set) var digest = EventDigest()

        init(
            id: String, account: String, realm: Realm, channel: Channel?, sentAt: Timestamp, kind: Kind,
            cursor: Cursor?
        ) {
            self.id = id
            self.account = account
            self.realm = realm
            self.channel = channel
            self.sentAt = sentAt
            self.kind = kind
            self.cursor = cursor
            digest.channel = channel?.id.identity.number ?? 0
            digest.take(kind)
            digest.take(cursor)
        }
    }

    private var shared: Shared<Values>

    public init(
        id: String, account: String, realm: Realm, channel: Channel? = nil, sentAt: Timestamp, kind: Kind,
        cursor: Cursor? = nil
    ) {
        shared = Shared(
            Values(
                id: id, account: account, realm: realm, channel: channel, sentAt: sentAt, kind: kind,
                cursor: cursor))
    }

    /// Names the event in its realm and channel; the same event read twice, by whichever account, has the same id.
    public var id: String {
        get { shared.value.id }
        set { shared.value.id = newValue }
    }

    /// The account that read it, by its name in `config.yaml`.
    public var account: String {
        get { shared.value.account }
        set { shared.value.account = newValue }
    }

    public var realm: Realm {
        get { shared.value.realm }
        set { shared.value.realm = newValue }
    }

    /// Nil for what concerns the account as a whole.
    public var channel: Channel? {
        get { shared.value.channel }
        set { shared.value.channel = newValue }
    }

    /// When it happened, by the service's clock.
    public var sentAt: Timestamp {
        get { shared.value.sentAt }
        set { shared.value.sentAt = newValue }
    }

    public var kind: Kind {
        get { shared.value.kind }
        set { shared.value.kind = newValue }
    }

    /// How far its stream has been read once this event is decided; nil for what the service cannot give again.
    public var cursor: Cursor? {
        get { shared.value.cursor }
        set { shared.value.cursor = newValue }
    }

    /// Who did it, where the service says so and it is not the one whom it is about: who removed or banned the member,
    /// who deleted the message.
    public var by: UserID? {
        get { shared.value.by }
        set { shared.value.by = newValue }
    }

    /// Its kind, and whom and what it is about, as numbers.
    package var digest: EventDigest { shared.value.digest }

    /// Whether both are one and the same, not only of the same id.
    package func isSame(as other: ChatEvent) -> Bool { shared.isSame(as: other.shared) }

    public enum Kind: Sendable {
        case messageAdded(Message)
        case messageEdited(Message)
        case messageDeleted(Message)
        case memberJoined(Member)
        case memberLeft(Member)
        case memberUpdated(Member)
        /// Asked to join, and not yet there.
        case memberInvited(Member)
        /// Kept out from now on; one who was there has left with it, and no `memberLeft` comes beside.
        case memberBanned(Member)
        /// May not write from now on.
        case memberMuted(Member)
        indirect case reactionAdded(Reaction)
        indirect case reactionRemoved(Reaction)
        case channelAdded
        case channelUpdated
        case channelDeleted
        /// Only operators may write from now on.
        case channelFrozen
        case typingStarted(Member)
        case typingEnded(Member)
        /// The member has read up to and including the message of that index; nil when they took it back.
        indirect case readHorizonMoved(Member, to: Int64?)
        /// The member's device has got everything up to and including the message of that index.
        indirect case delivered(Member, to: Int64?)
        /// A ban list that we follow has an entry more, or one less.
        indirect case policyAdded(Policy)
        indirect case policyRemoved(Policy)
        /// Steward runs; once a process, before everything else.
        case started
        /// An account is logged in and complete: all its channels are known.
        case serviceUp
        indirect case serviceDown(reason: String)
        /// What a handler put off has come: its time, or the result it waited for.
        indirect case resumed(Continuation, Outcome)
    }

    /// What came back to a continuation.
    public enum Outcome: Sendable, Codable, Equatable {
        case due
        case done(Receipt)
        case failed(String)
    }
}

/// The kinds of events by the names that rules use.
public enum EventName: String, Sendable, CaseIterable, Codable {
    case messageAdded, messageEdited, messageDeleted
    case memberJoined, memberLeft, memberUpdated, memberInvited, memberBanned, memberMuted
    case reactionAdded, reactionRemoved
    case channelAdded, channelUpdated, channelDeleted, channelFrozen
    case typingStarted, typingEnded, readHorizonMoved, delivered
    case policyAdded, policyRemoved
    case started, serviceUp, serviceDown
}

extension ChatEvent.Kind {
    /// The name rules use; nil for what a handler had put off.
    var name: EventName? {
        switch self {
        case .messageAdded: .messageAdded
        case .messageEdited: .messageEdited
        case .messageDeleted: .messageDeleted
        case .memberJoined: .memberJoined
        case .memberLeft: .memberLeft
        case .memberUpdated: .memberUpdated
        case .memberInvited: .memberInvited
        case .memberBanned: .memberBanned
        case .memberMuted: .memberMuted
        case .reactionAdded: .reactionAdded
        case .reactionRemoved: .reactionRemoved
        case .channelAdded: .channelAdded
        case .channelUpdated: .channelUpdated
        case .channelDeleted: .channelDeleted
        case .channelFrozen: .channelFrozen
        case .typingStarted: .typingStarted
        case .typingEnded: .typingEnded
        case .readHorizonMoved: .readHorizonMoved
        case .delivered: .delivered
        case .policyAdded: .policyAdded
        case .policyRemoved: .policyRemoved
        case .started: .started
        case .serviceUp: .serviceUp
        case .serviceDown: .serviceDown
        case .resumed: nil
        }
    }
}

extension ChatEvent {
    /// The name rules use; nil for what a handler had put off.
    public var name: EventName? { digest.name }

    /// The message it is about.
    public var message: Message? {
        switch kind {
        case .messageAdded(let message), .messageEdited(let message), .messageDeleted(let message): message
        default: nil
        }
    }

    /// The reaction it is about.
    public var reaction: Reaction? {
        switch kind {
        case .reactionAdded(let reaction), .reactionRemoved(let reaction): reaction
        default: nil
        }
    }

    /// The entry of a ban list that it is about.
    public var policy: Policy? {
        switch kind {
        case .policyAdded(let policy), .policyRemoved(let policy): policy
        default: nil
        }
    }

    /// The message that an answer to it, or its deletion, would be about: its own, or the one that was reacted to.
    package var reference: MessageReference? { message.map { MessageReference($0) } ?? reaction?.message }

    /// Who did it, or whom it is about.
    public var member: Member? { kind.member }

    /// The text of its message.
    package var text: String? {
        switch kind {
        case .messageAdded(let message), .messageEdited(let message), .messageDeleted(let message):
            message.text
        default: nil
        }
    }

    /// Whether its channel is known to be as that one.
    package func isIn(_ channel: Channel) -> Bool { shared.value.channel?.isSame(as: channel) == true }
}

extension ChatEvent.Kind {
    /// Who did it, or whom it is about.
    var member: Member? {
        switch self {
        case .messageAdded(let message), .messageEdited(let message), .messageDeleted(let message):
            message.author
        case .memberJoined(let member), .memberLeft(let member), .memberUpdated(let member),
            .memberInvited(let member), .memberBanned(let member), .memberMuted(let member),
            .typingStarted(let member), .typingEnded(let member), .readHorizonMoved(let member, _),
            .delivered(let member, _):
            member
        case .reactionAdded(let reaction), .reactionRemoved(let reaction): reaction.member
        default: nil
        }
    }
}

/// How far a stream has been read.
public struct Cursor: Sendable {
    public var stream: StreamID
    public var position: Position

    public init(stream: StreamID, position: Position) {
        self.stream = stream
        self.position = position
    }
}

/// A place in a stream, in the terms of its service.
public enum Position: Sendable, Codable, Equatable {
    /// The number of the last event and, in a list of messages, the index of the last message.
    case number(Int64, index: Int64?)
    /// An opaque mark that only the service can read.
    case token(String)
}

extension EventName {
    /// A small number of its own, for tables and sets of bits.
    package var number: Int {
        switch self {
        case .messageAdded: 0
        case .messageEdited: 1
        case .messageDeleted: 2
        case .memberJoined: 3
        case .memberLeft: 4
        case .memberUpdated: 5
        case .memberInvited: 6
        case .memberBanned: 7
        case .memberMuted: 8
        case .reactionAdded: 9
        case .reactionRemoved: 10
        case .channelAdded: 11
        case .channelUpdated: 12
        case .channelDeleted: 13
        case .channelFrozen: 14
        case .typingStarted: 15
        case .typingEnded: 16
        case .readHorizonMoved: 17
        case .delivered: 18
        case .started: 19
        case .serviceUp: 20
        case .serviceDown: 21
        case .policyAdded: 22
        case .policyRemoved: 23
        }
    }
}
