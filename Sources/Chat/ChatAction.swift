/// Something for a chat service to do. A handler asks for it; the outbox sees to it.
public struct ChatAction: Sendable, Codable, Equatable {
    public var verb: Verb
    public var place: Place
    /// The rule or plugin that asks; filled in with the handler's name when empty.
    public var by: String
    /// Where in its rule it stands, such as `do[1]`; filled in with its position in the decision when empty.
    public var path: String
    /// Comes back to the handler with the receipt, or with why it failed.
    public var then: Continuation?
    /// `lock` and `slowMode`: who may write all the same. Nil: moderators, admins and bots. The owner always may.
    public var spares: Spared?

    public init(_ verb: Verb, in place: Place, by: String = "", path: String = "", then: Continuation? = nil)
    {
        self.verb = verb
        self.place = place
        self.by = by
        self.path = path
        self.then = then
    }

    /// Whom something in a channel leaves alone.
    public struct Spared: Sendable, Codable, Equatable {
        public var roles: [String]
        /// By their ids, on any account, or as `account:id`.
        public var users: [String]
        public var bots: Bool

        public init(roles: [String] = [], users: [String] = [], bots: Bool = true) {
            self.roles = roles
            self.users = users
            self.bots = bots
        }
    }

    public enum Verb: Sendable, Codable, Equatable {
        case send(Outgoing)
        case reply(Outgoing, to: MessageReference)
        /// To one person, outside the channel.
        case direct(Outgoing, user: String)
        case editMessage(MessageReference, text: String)
        case deleteMessage(MessageReference)
        case react(String, to: MessageReference)
        case addMember(user: String)
        case removeMember(user: String)
        /// What the member writes is not to be seen, until then or until `unmute`.
        case mute(user: String, until: Timestamp?, reason: String?)
        case unmute(user: String)
        /// Removed, and kept out until then or until `unban`.
        case ban(user: String, until: Timestamp?, reason: String?)
        case unban(user: String)
        /// Each member may write once in so long; nil: as often as they like.
        case slowMode(Duration?)
        /// Only those whom the action spares may write.
        case lock(until: Timestamp?, reason: String?)
        case unlock
        case createChannel(title: String, attributes: String?)
        case destroyChannel
        /// We become a member of the channel that the place names, by id or alias.
        case joinChannel
        case leaveChannel
        case setChannelTitle(String)
        case setChannelTopic(String)
        /// Nobody from these servers is in the channel any more, or may join; `*` stands for any text. Those that were
        /// refused before stay refused, and our own server never is.
        case denyServers([String])
        case admitServers([String])
        case typing
        /// Everything up to and including that index counts as read.
        case advanceReadHorizon(to: Int64)
        case setChannelAttributes(String)
        case setMessageAttributes(MessageReference, String)
        case setMemberAttributes(user: String, String)
    }

    /// Moderation goes before talk.
    public var isModeration: Bool {
        switch verb {
        case .deleteMessage, .removeMember, .mute, .unmute, .ban, .unban, .slowMode, .lock, .unlock,
            .denyServers, .admitServers:
            true
        default: false
        }
    }

    /// Repeating it changes nothing, so an unknown outcome needs no look-up.
    public var repeatsFreely: Bool {
        switch verb {
        case .send, .reply, .direct, .createChannel: false
        default: true
        }
    }
}

/// Where an action happens: an account by its name in `config.yaml`, and a channel by id or unique name.
public struct Place: Sendable, Codable, Hashable, CustomStringConvertible {
    public var account: String
    public var channel: String

    public init(account: String, channel: String) {
        self.account = account
        self.channel = channel
    }

    public var description: String { "\(account):\(channel)" }
}

/// Text on its way out.
public struct Outgoing: Sendable, Codable, Equatable {
    public var text: String
    /// Users to be notified; nobody else is, whatever the text says.
    public var mentions: [String]
    /// Free-form data for the service, as JSON text.
    public var attributes: String?
    public var attachments: [File]
    /// A wish: in a thread of the message it answers, where the service has threads.
    public var inThread: Bool
    /// A wish: without a notification, where the service can.
    public var isSilent: Bool
    /// Sent to one person who cannot be written to, it is skipped and counts as done; otherwise that is an error.
    public var isSkippable: Bool {
        get { skippable ?? false }
        set { skippable = newValue ? true : nil }
    }
    // Optional, so that stores from before it was there are read.
    private var skippable: Bool?

    public init(
        _ text: String, mentions: [String] = [], attributes: String? = nil, attachments: [File] = [],
        inThread: Bool = false, isSilent: Bool = false, isSkippable: Bool = false
    ) {
        self.text = text
        self.mentions = mentions
        self.attributes = attributes
        self.attachments = attachments
        self.inThread = inThread
        self.isSilent = isSilent
        skippable = isSkippable ? true : nil
    }

    /// A file to go with a message.
    public struct File: Sendable, Codable, Equatable {
        public var name: String
        public var contentType: String
        public var bytes: [UInt8]

        public init(name: String, contentType: String, bytes: [UInt8]) {
            self.name = name
            self.contentType = contentType
            self.bytes = bytes
        }
    }
}

/// What an action left behind.
public struct Receipt: Sendable, Codable, Equatable {
    /// The message that was sent, for actions that send one.
    public var message: MessageReference?
    /// The id of the channel it went to.
    public var channel: String?

    public init(message: MessageReference? = nil, channel: String? = nil) {
        self.message = message
        self.channel = channel
    }
}

/// Names one action for ever: a hash of realm, event, rule and the action's path. The same action has the same key
/// after a restart, so that it can be looked for before it is repeated.
public struct ActionKey: Sendable, Codable, Hashable, CustomStringConvertible {
    public let text: String

    public init(text: String) {
        self.text = text
    }

    public var description: String { text }
}
