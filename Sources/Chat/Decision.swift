/// What a handler wants done about an event. Deciding changes nothing by itself.
public struct Decision: Sendable {
    private var parts: Parts?

    /// Nearly all decisions are nothing: those have no parts, and handing them on costs nothing.
    ///
    /// `@unchecked Sendable`: it is changed only by the one decision that refers to it.
    private final class Parts: @unchecked Sendable {
        var actions: [ChatAction] = []
        var changes: [MemoryChange] = []
        var later: [Continuation] = []
        var removed = false
        var matched: [String] = []
        var answers = 0
        var notes: [Note] = []
        var charges: [Charge] = []
        var undone: [String] = []

        init() {}

        init(copying other: Parts) {
            actions = other.actions
            changes = other.changes
            later = other.later
            removed = other.removed
            matched = other.matched
            answers = other.answers
            notes = other.notes
            charges = other.charges
            undone = other.undone
        }
    }

    private var changing: Parts {
        mutating get {
            if parts != nil, isKnownUniquelyReferenced(&parts), let parts { return parts }
            let own = parts.map { Parts(copying: $0) } ?? Parts()
            parts = own
            return own
        }
    }

    /// Nothing is to be done.
    public init() {}

    /// The answer to an event that a handler does not care about; it costs nothing.
    public static var nothing: Decision { Decision() }

    /// To be done, in this order within a channel; moderation goes before talk.
    public var actions: [ChatAction] {
        get { parts?.actions ?? [] }
        _modify { yield &changing.actions }
    }

    /// Applied at once, before the next event is decided.
    public var changes: [MemoryChange] {
        get { parts?.changes ?? [] }
        _modify { yield &changing.changes }
    }

    /// Comes back at its time.
    public var later: [Continuation] {
        get { parts?.later ?? [] }
        _modify { yield &changing.later }
    }

    /// A guard took the message away: answers are not asked.
    public var removed: Bool {
        get { parts?.removed ?? false }
        _modify { yield &changing.removed }
    }

    /// What matched, for logs, metrics and `steward rules`.
    public var matched: [String] {
        get { parts?.matched ?? [] }
        _modify { yield &changing.matched }
    }

    /// How many answers this is, counted against `answers_per_event`.
    public var answers: Int {
        get { parts?.answers ?? 0 }
        _modify { yield &changing.answers }
    }

    /// Lines for steward's own log.
    public var notes: [Note] {
        get { parts?.notes ?? [] }
        _modify { yield &changing.notes }
    }

    /// Against whom it is, and why: each becomes a case, named in this order by `Recollection.caseName`.
    public var charges: [Charge] {
        get { parts?.charges ?? [] }
        _modify { yield &changing.charges }
    }

    /// Cases to be undone, by their names. What was restored is told in the event's channel.
    public var undone: [String] {
        get { parts?.undone ?? [] }
        _modify { yield &changing.undone }
    }

    /// Nothing would come of it, not even a line in the log.
    public var isEmpty: Bool {
        guard let parts else { return true }
        return parts.actions.isEmpty && parts.changes.isEmpty && parts.later.isEmpty && !parts.removed
            && parts.matched.isEmpty && parts.notes.isEmpty && parts.charges.isEmpty && parts.undone.isEmpty
    }

    /// A line that a handler writes into the log.
    public struct Note: Sendable, Equatable {
        /// The rule or plugin that writes it.
        public var by: String
        /// One line, for people; no secrets.
        public var text: String
        /// It is logged as a warning, otherwise as information.
        public var isWarning: Bool

        /// `by` is the rule's or plugin's name.
        public init(by: String, _ text: String, isWarning: Bool = false) {
            self.by = by
            self.text = text
            self.isWarning = isWarning
        }
    }

    /// Why a rule acts against somebody.
    public struct Charge: Sendable, Equatable {
        /// The rule or plugin that acts.
        public var by: String
        /// Whom it is against.
        public var user: UserID
        /// The part of the message that it is about, as it was written.
        public var fragment: String?
        /// Why, for people; it stands in the case.
        public var reason: String?
        /// The messages that it is about: the event's own, or all of a burst.
        public var messages: [MessageReference]
        /// How long their texts are kept with the case; nil: as long as usual.
        public var keep: Duration?
        /// Who gave the command for it; nil when nobody did, whoever's message it came of.
        public var moderator: UserID?

        /// The case lists what the decision does to the user as its deeds.
        public init(
            by: String, user: UserID, fragment: String? = nil, reason: String? = nil,
            messages: [MessageReference] = [], keep: Duration? = nil, moderator: UserID? = nil
        ) {
            self.by = by
            self.user = user
            self.fragment = fragment
            self.reason = reason
            self.messages = messages
            self.keep = keep
            self.moderator = moderator
        }
    }

    /// One message into the event's own channel; nothing when the event has no channel.
    public static func send(_ text: String, about event: ChatEvent) -> Decision {
        guard let place = event.place else { return .nothing }
        var decision = Decision()
        decision.actions = [ChatAction(.send(Outgoing(text)), in: place)]
        decision.answers = 1
        return decision
    }

    /// An answer to the event's message; nothing when the event has none.
    public static func reply(_ text: String, to event: ChatEvent) -> Decision {
        guard let place = event.place, let message = event.message else { return .nothing }
        var decision = Decision()
        decision.actions = [ChatAction(.reply(Outgoing(text), to: MessageReference(message)), in: place)]
        decision.answers = 1
        return decision
    }
}

extension ChatEvent {
    /// Where it happened.
    public var place: Place? {
        channel.map { Place(account: account, channel: $0.id.text) }
    }
}

/// What a handler put off: a step of a rule, with the values it will need. It is stored with the decision and comes
/// back, through a restart too, as `resumed` to the handler that owns it.
public struct Continuation: Sendable, Codable, Equatable {
    /// The rule or plugin it belongs to.
    public var owner: String
    /// Which step comes next, in the owner's own terms.
    public var step: String
    /// What the step will need; it is stored, so keep it small.
    public var values: [String: String]
    /// When it comes back; nil when it waits for the result of the action it is attached to.
    public var due: Timestamp?
    /// The event it began with and the place it happened in; the engine fills these in.
    public var event: String
    /// The place it happened in; nil when it was in none.
    public var place: Place?
    /// The realm of the event, by its name.
    public var realm: String
    /// The cases that what comes of it belongs to; the engine fills these in.
    package var cases: [String]?

    /// Without `due` it belongs behind an action, as its `then`.
    public init(owner: String, step: String, values: [String: String] = [:], due: Timestamp? = nil) {
        self.owner = owner
        self.step = step
        self.values = values
        self.due = due
        event = ""
        place = nil
        realm = ""
        cases = nil
    }
}

/// Which remembered thing: whose it is, what it is called, and about whom.
public struct MemoryKey: Sendable, Hashable {
    /// The rule or plugin that remembers; nobody else sees it.
    public var owner: String
    /// What it is called, in the owner's own terms.
    public var name: String
    /// About whom it is remembered.
    public var subject: Subject

    /// `owner` is the name of the handler, or of the rule.
    public init(owner: String, name: String, subject: Subject) {
        self.owner = owner
        self.name = name
        self.subject = subject
    }

    /// About whom something is remembered. Each has a value of its own under the same name.
    public enum Subject: Sendable, Hashable {
        /// One user of a realm, in all its channels.
        case user(UserID)
        /// One channel, whoever is in it.
        case channel(ChannelID)
        /// One value for everything the owner sees.
        case all
    }
}

/// A remembered value.
public enum MemoryValue: Sendable, Codable, Equatable {
    /// A count, or a moment in milliseconds.
    case number(Int64)
    /// Text in the owner's own format.
    case text(String)
    /// Moments, oldest first: when a cooldown or `once` was claimed.
    case times([Timestamp])
}

/// A change to what is remembered. It is durable before any action of its decision goes out.
public enum MemoryChange: Sendable {
    /// Notes a moment, keeping the last `most`; forgotten `keep` after it (nil: never).
    case claim(MemoryKey, at: Timestamp, most: Int, keep: Duration?)
    /// Adds to a number, which starts at 0 and is forgotten `keep` after the last change (nil: never).
    case add(MemoryKey, Int64, keep: Duration?)
    /// Puts a value in place of what was there; forgotten `keep` after it (nil: never).
    case set(MemoryKey, MemoryValue, keep: Duration?)
    /// As if it had never been remembered.
    case forget(MemoryKey)
}
