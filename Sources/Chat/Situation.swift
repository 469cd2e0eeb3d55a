/// What a handler may know beside the event: a value, read before the handler is asked.
public struct Situation: Sendable {
    public var now: Timestamp
    /// Who we are on the account that read the event; nil only before the first log-in.
    public var own: UserID?
    public var abilities: Abilities
    /// What is known of the event's member, as it was before this event.
    public var facts: MemberFacts
    /// True while a service catches up, when the event is older than answers may be.
    public var isStale: Bool
    /// How many answers this event may still get: a decision with more of them is dropped whole.
    public var answersLeft: Int
    /// What rules and plugins remembered.
    public var memory: any Recollection
    /// Names of accounts, channels and roles from `config.yaml`.
    public var directory: Directory

    public init(
        now: Timestamp, own: UserID? = nil, abilities: Abilities, facts: MemberFacts = MemberFacts(),
        isStale: Bool = false, answersLeft: Int = 1, memory: any Recollection, directory: Directory
    ) {
        self.now = now
        self.own = own
        self.abilities = abilities
        self.facts = facts
        self.isStale = isStale
        self.answersLeft = answersLeft
        self.memory = memory
        self.directory = directory
    }
}

/// What steward remembers of every user by itself.
public struct MemberFacts: Sendable, Equatable {
    /// When the user was first seen in this realm; nil when never before.
    public var firstSeen: Timestamp?
    /// When the user last wrote, joined or left.
    public var lastSeen: Timestamp?
    /// When the user joined this channel, as far as we saw it.
    public var joined: Timestamp?
    /// How many messages of theirs were taken.
    public var messages: Int64

    public init(
        firstSeen: Timestamp? = nil, lastSeen: Timestamp? = nil, joined: Timestamp? = nil, messages: Int64 = 0
    ) {
        self.firstSeen = firstSeen
        self.lastSeen = lastSeen
        self.joined = joined
        self.messages = messages
    }
}

/// Reads what was remembered; never waits.
public protocol Recollection: Sendable {
    /// Nil when nothing is remembered, or it is forgotten by now.
    func value(of key: MemoryKey) -> MemoryValue?
}
