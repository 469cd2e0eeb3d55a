/// Something that happened in a chat service, or that steward itself had put off until now.
public struct ChatEvent: Sendable {
    /// In memory of their own, so that to hand an event on costs one reference, however many parts it has.
    private final class Values: Sendable {
        let digest: EventDigest
        let id: String
        let account: String
        let realm: Realm
        let channel: Channel?
        let sentAt: Timestamp
        let kind: Kind
        let cursor: Cursor?
        let by: UserID?

        init(
            id: String, account: String, realm: Realm, channel: Channel?, sentAt: Timestamp, kind: Kind,
            cursor: Cursor?, by: UserID? = nil
        ) {
            digest = EventDigest(kind, in: channel, cursor)
            self.id = id
            self.account = account
            self.realm = realm
            self.channel = channel
            self.sentAt = sentAt
            self.kind = kind
            self.cursor = cursor
            self.by = by
        }

        /// The same with something else.
        convenience init(
            _ other: Values, id: String? = nil, account: String? = nil, realm: Realm? = nil,
            channel: Channel?? = nil, sentAt: Timestamp? = nil, kind: Kind? = nil, cursor: Cursor?? = nil,
            by: UserID?? = nil
        ) {
            self.init(
                id: id ?? other.id, account: account ?? other.account, realm: realm ?? other.realm,
                channel: channel ?? other.channel, sentAt: sentAt ?? other.sentAt, kind: kind ?? other.kind,
                cursor: cursor ?? other.cursor, by: by ?? other.by)
        }
    }

    private var values: Values

    /// `id`, `sentAt` and `cursor` are the service's own: read again, the same event has the same ones.
    public init(
        id: String, account: String, realm: Realm, channel: Channel? = nil, sentAt: Timestamp, kind: Kind,
        cursor: Cursor? = nil
    ) {
        values = Values(
            id: id, account: account, realm: realm, channel: channel, sentAt: sentAt, kind: kind,
            cursor: cursor)
    }

    /// Names the event in its realm and channel; the same event read twice, by whichever account, has the same id.
    public var id: String {
        get { values.id }
        set { values = Values(values, id: newValue) }
    }

    /// The account that read it, by its name in `config.yaml`.
    public var account: String {
        get { values.account }
        set { values = Values(values, account: newValue) }
    }

    /// Where its ids mean something.
    public var realm: Realm {
        get { values.realm }
        set { values = Values(values, realm: newValue) }
    }

    /// Nil for what concerns the account as a whole.
    public var channel: Channel? {
        get { values.channel }
        set { values = Values(values, channel: .some(newValue)) }
    }

    /// When it happened, by the service's clock.
    public var sentAt: Timestamp {
        get { values.sentAt }
        set { values = Values(values, sentAt: newValue) }
    }

    /// What happened, and what it is about.
    public var kind: Kind {
        get { values.kind }
        set { values = Values(values, kind: newValue) }
    }

    /// How far its stream has been read once this event is decided; nil for what the service cannot give again.
    public var cursor: Cursor? {
        get { values.cursor }
        set { values = Values(values, cursor: .some(newValue)) }
    }

    /// Who did it, where the service says so and it is not the one whom it is about: who removed or banned the member,
    /// who deleted the message.
    public var by: UserID? {
        get { values.by }
        set { values = Values(values, by: .some(newValue)) }
    }

    /// Its kind, and whom and what it is about, as numbers.
    package var digest: EventDigest { values.digest }

    /// Whether both are one and the same, not only of the same id.
    package func isSame(as other: ChatEvent) -> Bool { values === other.values }

    /// What can happen. What a service cannot tell is not among its `abilities.events`.
    public enum Kind: Sendable {
        /// Somebody wrote, we ourselves included.
        case messageAdded(Message)
        /// With the text it has now.
        case messageEdited(Message)
        /// As far as it is still known: the text may be empty.
        case messageDeleted(Message)
        /// Came into the channel.
        case memberJoined(Member)
        /// Went, or was removed: `by` says by whom, where the service does.
        case memberLeft(Member)
        /// Has another name, other roles or other attributes.
        case memberUpdated(Member)
        /// Asked to join, and not yet there.
        case memberInvited(Member)
        /// Kept out from now on; one who was there has left with it, and no `memberLeft` comes beside.
        case memberBanned(Member)
        /// May not write from now on.
        case memberMuted(Member)
        /// Somebody put something under a message.
        indirect case reactionAdded(Reaction)
        /// It was taken away.
        indirect case reactionRemoved(Reaction)
        /// We are in a channel that we were not in before.
        case channelAdded
        /// Its title, topic, attributes or the like are new.
        case channelUpdated
        /// It is gone, for everybody.
        case channelDeleted
        /// Only operators may write from now on.
        case channelFrozen
        /// Is writing something.
        case typingStarted(Member)
        /// Stopped, sent it, or nothing was heard of it for a while.
        case typingEnded(Member)
        /// The member has read up to and including the message of that index; nil when they took it back.
        indirect case readHorizonMoved(Member, to: Int64?)
        /// The member's device has got everything up to and including the message of that index.
        indirect case delivered(Member, to: Int64?)
        /// A ban list that we follow has an entry more, or one less.
        indirect case policyAdded(Policy)
        /// With the entry that is gone.
        indirect case policyRemoved(Policy)
        /// Steward runs; once a process, before everything else.
        case started
        /// An account is logged in and complete: all its channels are known.
        case serviceUp
        /// An account that was up is not connected any more; the reason is for people.
        indirect case serviceDown(reason: String)
        /// What a handler put off has come: its time, or the result it waited for.
        indirect case resumed(Continuation, Outcome)
    }

    /// What came back to a continuation.
    public enum Outcome: Sendable, Codable, Equatable {
        /// Its time has come.
        case due
        /// The action it waited for is done.
        case done(Receipt)
        /// It will not be done; why, for people.
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
    public var message: Message? { kind.message }

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

    /// Copies the id of its message, or its own if it is about none, as far as there is room; how long the id is.
    package func copyMessageID(to room: UnsafeMutableRawBufferPointer) -> Int {
        switch values.kind {
        case .messageAdded(let message), .messageEdited(let message), .messageDeleted(let message):
            message.copyID(to: room)
        default: copyID(to: room)
        }
    }

    package func copyID(to room: UnsafeMutableRawBufferPointer) -> Int {
        MessageTexts.copy(values.id, to: room)
    }

    /// Copies its id and what its message says, as far as there is room; nil for an event about no message.
    package func copyTexts(to room: UnsafeMutableRawBufferPointer) -> MessageTexts? {
        switch values.kind {
        case .messageAdded(let message), .messageEdited(let message), .messageDeleted(let message):
            var texts = MessageTexts()
            texts.event = texts.add(values.id, to: room)
            message.copy(to: room, &texts, after: values.id)
            return texts
        default: return nil
        }
    }

    /// Whether that account read it, in that realm.
    package func isRead(by account: String, in realm: Realm) -> Bool {
        values.realm === realm && values.account == account
    }

    /// Whether that account read it.
    package func isRead(by account: String) -> Bool { values.account == account }

    /// Whether its channel is known to be as that one.
    package func isIn(_ channel: Channel) -> Bool { values.channel?.isSame(as: channel) == true }

    /// Which channel it was read with, for as long as somebody holds that; nil when it has none. To compare these counts
    /// no references.
    package var channelObject: ObjectIdentifier? { values.channel?.object }
}

extension ChatEvent.Kind {
    /// The message it is about.
    var message: Message? {
        switch self {
        case .messageAdded(let message), .messageEdited(let message), .messageDeleted(let message): message
        default: nil
        }
    }

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
    /// Which sequence of events.
    public var stream: StreamID
    /// How far: reading on from here gives what came after.
    public var position: Position

    /// Everything up to and including that position has been read.
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
