/// What a handler may know beside the event: a value, read before the handler is asked.
public struct Situation: Sendable {
    /// What is the same for many events: to hand a situation on costs one reference.
    private struct Surroundings: Sendable {
        var own: UserID?
        var abilities: Abilities
        var memory: any Recollection
        var directory: Directory
    }

    /// When it is decided, by steward's clock; while a service catches up that is later than the event.
    public var now: Timestamp
    /// What is known of the event's member, as it was before this event.
    public var facts: MemberFacts
    /// True while a service catches up, when the event is older than answers may be.
    public var isStale: Bool
    /// How many answers this event may still get: a decision with more of them is dropped whole.
    public var answersLeft: Int
    private var surroundings: Shared<Surroundings>

    /// The engine makes one for each event; tests may use `Situation.test`.
    public init(
        now: Timestamp, own: UserID? = nil, abilities: Abilities, facts: MemberFacts = MemberFacts(),
        isStale: Bool = false, answersLeft: Int = 1, memory: any Recollection, directory: Directory
    ) {
        self.now = now
        self.facts = facts
        self.isStale = isStale
        self.answersLeft = answersLeft
        surroundings = Shared(
            Surroundings(own: own, abilities: abilities, memory: memory, directory: directory))
    }

    /// Who we are on the account that read the event; nil only before the first log-in.
    public var own: UserID? {
        get { surroundings.value.own }
        set { surroundings.value.own = newValue }
    }

    /// The number of who we are; 0 before the first log-in.
    package var ownNumber: UInt32 { surroundings.value.own?.identity.number ?? 0 }

    /// Whether it was made for that account.
    package func isFor(own: UserID?, _ abilities: Abilities) -> Bool {
        surroundings.value.own == own && surroundings.value.abilities.isSame(as: abilities)
    }

    /// What the account that read the event can do.
    public var abilities: Abilities {
        get { surroundings.value.abilities }
        set { surroundings.value.abilities = newValue }
    }

    /// What rules and plugins remembered.
    public var memory: any Recollection {
        get { surroundings.value.memory }
        set { surroundings.value.memory = newValue }
    }

    /// Whether `config.yaml` names any roles.
    package var knowsRoles: Bool { !surroundings.value.directory.roles.isEmpty }

    /// Whether the member has one of the roles.
    package func hasRole(in roles: [String], _ member: Member, account: String) -> Bool {
        roles.contains { surroundings.value.directory.hasRole($0, member, account: account) }
    }

    /// Names of accounts, channels and roles from `config.yaml`.
    public var directory: Directory {
        get { surroundings.value.directory }
        set { surroundings.value.directory = newValue }
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

    /// Of somebody who was never seen, unless it says otherwise.
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

    /// What was written lately in a channel, oldest first; empty unless a handler says in its `needs` that it looks back.
    func history(of channel: ChannelID) -> [ChatEvent]
}

extension Recollection {
    /// Empty, for memories that keep no history.
    public func history(of channel: ChannelID) -> [ChatEvent] { [] }

    /// What the case of a charge will be called, such as `C17`; `others` stand before it in the same decision.
    public func caseName(after others: Int = 0) -> String {
        var filed: Int64 = 0
        if case .number(let known)? = value(of: .casesFiled) { filed = known }
        return "C\(filed + 1 + Int64(others))"
    }
}

extension MemoryKey {
    /// How many cases there have been.
    package static let casesFiled = MemoryKey(owner: "steward", name: "cases", subject: .all)
}
