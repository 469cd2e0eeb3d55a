/// Something for a chat service to do. A handler asks for it; the outbox sees to it.
public struct ChatAction: Sendable, Codable, Equatable {
    /// What is to be done.
    public var verb: Verb
    /// The account that does it, and in which channel.
    public var place: Place
    /// The rule or plugin that asks; filled in with the handler's name when empty.
    public var by: String
    /// Where in its rule it stands, such as `do[1]`; filled in with its position in the decision when empty.
    public var path: String
    /// Comes back to the handler with the receipt, or with why it failed.
    public var then: Continuation?
    /// `lock` and `slowMode`: who may write all the same. Nil: moderators, admins and bots. The owner always may.
    public var spares: Spared?

    /// `by` and `path` may stay empty: the engine fills them in.
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
        /// Roles by the names that `config.yaml` gives them, such as `moderator`.
        public var roles: [String]
        /// By their ids, on any account, or as `account:id`.
        public var users: [String]
        /// Whoever the service says is a program.
        public var bots: Bool

        /// Bots are spared unless it says otherwise.
        public init(roles: [String] = [], users: [String] = [], bots: Bool = true) {
            self.roles = roles
            self.users = users
            self.bots = bots
        }
    }

    /// What to do. Users, messages and attributes are in the terms of the service that the place names; what it cannot do
    /// is refused as `ChatServiceError.rejected`.
    public enum Verb: Sendable, Codable, Equatable {
        /// A message into the channel.
        case send(Outgoing)
        /// A message into the channel that answers another one.
        case reply(Outgoing, to: MessageReference)
        /// To one person, outside the channel.
        case direct(Outgoing, user: String)
        /// Another text in place of the old one; most services let us edit our own messages only.
        case editMessage(MessageReference, text: String)
        /// Gone for everybody; one that is gone already counts as done.
        case deleteMessage(MessageReference)
        /// Our reaction, an emoji or the service's name of one; there already, it counts as done.
        case react(String, to: MessageReference)
        /// Takes somebody into the channel, or invites them where people decide for themselves. A service may not ask whether
        /// such a user exists.
        case addMember(user: String)
        /// Out of the channel, and free to come back; one who is not in it counts as done.
        case removeMember(user: String)
        /// What the member writes is not to be seen, until then or until `unmute`.
        case mute(user: String, until: Timestamp?, reason: String?)
        /// Ends a mute, whoever began it.
        case unmute(user: String)
        /// Removed, and kept out until then or until `unban`.
        case ban(user: String, until: Timestamp?, reason: String?)
        /// Ends a ban, whoever began it; it brings nobody back.
        case unban(user: String)
        /// Each member may write once in so long; nil: as often as they like.
        case slowMode(Duration?)
        /// Only those whom the action spares may write.
        case lock(until: Timestamp?, reason: String?)
        /// Everybody may write again.
        case unlock
        /// A channel with us in it. The place names it, if it says anything; `attributes` is JSON text.
        case createChannel(title: String, attributes: String?)
        /// The channel with all that is in it, for good.
        case destroyChannel
        /// We become a member of the channel that the place names, by id or alias.
        case joinChannel
        /// We are no member of the channel any more.
        case leaveChannel
        /// What people see as the channel's name.
        case setChannelTitle(String)
        /// What the channel is about; empty takes it away.
        case setChannelTopic(String)
        /// Nobody from these servers is in the channel any more, or may join; `*` stands for any text. Those that were
        /// refused before stay refused, and our own server never is.
        case denyServers([String])
        /// Takes entries out of what `denyServers` refused, each exactly as it stands there.
        case admitServers([String])
        /// We are shown as writing, for a few seconds.
        case typing
        /// Everything up to and including that index counts as read.
        case advanceReadHorizon(to: Int64)
        /// Free-form data in place of the old, as JSON text.
        case setChannelAttributes(String)
        /// Likewise, of one message.
        case setMessageAttributes(MessageReference, String)
        /// Likewise, of one member of the channel.
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
    /// The account's name in `config.yaml`.
    public var account: String
    /// The channel's id or its unique name; empty for an action that is in none.
    public var channel: String

    /// Neither is looked up here: whether there is such a channel is known when the action is done.
    public init(account: String, channel: String) {
        self.account = account
        self.channel = channel
    }

    /// Such as `helpdesk:lobby`.
    public var description: String { "\(account):\(channel)" }
}

/// Text on its way out.
public struct Outgoing: Sendable, Codable, Equatable {
    /// The whole text; the service refuses what is longer than its `textLimit`.
    public var text: String
    /// Users to be notified; nobody else is, whatever the text says.
    public var mentions: [String]
    /// Free-form data for the service, as JSON text.
    public var attributes: String?
    /// Files that go with it, in this order.
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

    /// `mentions` are user ids; `attributes` is JSON text.
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
        /// The file's name as people see it, without a path.
        public var name: String
        /// Its media type, such as `image/png`.
        public var contentType: String
        /// All of it; it is kept in memory, and in the store until it is sent.
        public var bytes: [UInt8]

        /// Nothing is checked here; what is too large for the service is refused there.
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
    /// Of a kick or ban: whether it took out somebody who was a member, and whom an undo may put back; nil when the
    /// service does not know.
    public var tookOut: Bool?

    /// What a service does not know it leaves out.
    public init(message: MessageReference? = nil, channel: String? = nil, tookOut: Bool? = nil) {
        self.message = message
        self.channel = channel
        self.tookOut = tookOut
    }
}

/// Names one action for ever: a hash of realm, event, rule and the action's path. The same action has the same key
/// after a restart, so that it can be looked for before it is repeated.
public struct ActionKey: Sendable, Codable, Hashable, CustomStringConvertible {
    /// 32 hexadecimal digits.
    public let text: String

    /// From what was stored; new ones are made by the engine.
    public init(text: String) {
        self.text = text
    }

    /// The text.
    public var description: String { text }
}
