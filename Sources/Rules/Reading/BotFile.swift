internal import Chat

/// What a bot's file says, as Swift values; names are not looked up yet.
struct BotFile: Sendable {
    var name: String
    var version: Placed<String>?
    /// Constants for templates.
    var vars: [String: String] = [:]
    var varSpots: [String: Spot] = [:]
    var lists: [BotList] = []
    var windows: [BotWindow] = []
    var groups: [BotGroup] = []
    var counters: [BotCounter] = []
    var ladders: [BotLadder] = []
    var modes: [BotMode] = []
    var exempt: Exempt?
    /// Where reports go that do not say so.
    var reportTo: [Placed<String>] = []
    var commands = BotCommands()
    var rules: [BotRule] = []
    /// Those that see all rules.
    var tests: [BotTest] = []
    /// Names that stand in tests.
    var testRules: [Placed<String>] = []
    var testRoles: [Placed<String>] = []
    var testChannels: [Placed<String>] = []
    var testCounters: [(name: Placed<String>, hasSubject: Bool)] = []
    var testModes: [Placed<String>] = []
    var testLadders: [Placed<String>] = []
    var testPolicies: [Placed<String>] = []

    init(name: String) {
        self.name = name
    }
}

/// Words under one name, written out or in a file of their own.
struct BotList: Sendable {
    var name: Placed<String>
    var words: [Placed<String>] = []
    var file: Placed<String>?
}

/// Answer rules of which only one may answer, or all.
struct BotGroup: Sendable {
    enum Pick: String, Sendable, CaseIterable { case first, all }

    var name: Placed<String>
    var pick = Pick.first
}

/// Something that is counted, and for whom.
struct BotCounter: Sendable {
    enum Per: String, Sendable, CaseIterable { case user, channel, all }

    var name: Placed<String>
    var per = Per.all
    /// How long after its last change it is forgotten; nil for never.
    var keep: Duration?
}

/// A rule: one event, conditions that must all hold, actions in order.
struct BotRule: Sendable {
    var id: Placed<String>
    var about: String?
    var when: [Placed<EventName>] = []
    var modeEvents: [BotModeEvent] = []
    var strikeEvents: [BotStrikeEvent] = []
    /// Set when people call the rule by a word; `when` is `messageAdded` then.
    var command: BotCommand?
    /// Values of its own, each may use those before it.
    var vars: [BotVariable] = []
    var places: [Placed<String>] = []
    var notPlaces: [Placed<String>] = []
    var condition: Placed<BotCondition>?
    var steps: [BotStep] = []
    var stage: Placed<Stage>?
    var group: Placed<String>?
    var continues: Placed<Bool>?
    var also: Placed<Bool>?
    var cooldown: Cooldown?
    var once: Cooldown.Per?
    /// Once in each span that its windows are open, not once for ever.
    var isOncePerWindow = false
    /// How long events are collected before the rule acts on all of them.
    var batch: Placed<Duration>?
    /// Bounds of arguments, as they are written.
    var limits: [(argument: Placed<String>, bounds: Placed<String>)] = []
    var exempt: Exempt?
    var run = Run.live
    var matching: [Placed<String>] = []
    var notMatching: [Placed<String>] = []
    var tests: [BotTest] = []
    var was: Placed<String>?
    var breaker = BotBreaker.usual
    /// What decides when it applies, in one text; equal for rules that apply to the same events.
    var signature = ""
    /// Keys that were written, whether or not they could be read.
    var written: Set<String> = []

    init(id: Placed<String>) {
        self.id = id
    }

    enum Run: String, Sendable, CaseIterable { case live, dry, disabled }
}

/// A value of a rule's own.
struct BotVariable: Sendable {
    var name: Placed<String>
    var template: Template
}

/// How often a rule may act.
struct Cooldown: Sendable, Equatable {
    enum Per: String, Sendable, CaseIterable { case user, channel, rule }

    var most = 1
    var time: Duration
    var per: Per
}

/// Whom a rule leaves alone.
struct Exempt: Sendable {
    var roles: [Placed<String>] = []
    var users: [Placed<String>] = []
    /// Nil: as usual, bots are not looked at unless a condition asks for them.
    var bots: Bool?
}

/// A condition as it is written.
indirect enum BotCondition: Sendable {
    case text(BotText)
    case user(BotUser)
    case count(BotMeasure)
    case links(BotLinks)
    case mentions(BotMentions)
    case caps(BotCaps)
    case time(BotTime)
    case check(BotCheck)
    case rate(BotRate)
    case mode(BotModeTest)
    case reaction(BotReactions)
    case by(BotDoer)
    case policy(BotPolicies)
    case plugin(BotPlugin)
    case all([BotCondition])
    case any([BotCondition])
    case not(BotCondition)
}

/// What a text must be like; everything that is given must hold.
struct BotText: Sendable {
    enum Match: String, Sendable, CaseIterable { case word, anywhere, prefix, suffix }
    enum Field: String, Sendable, CaseIterable {
        case body
        case userName = "user.name"
        case attachmentNames = "attachments.name"
        case attachmentTypes = "attachments.type"
        case userID = "user.id"
        case channelTitle = "channel.title"

        /// Whether an event has no more than one text of it.
        var isOne: Bool { self != .attachmentNames && self != .attachmentTypes }
    }
    enum Skip: String, Sendable, CaseIterable { case links, code, quotes }

    struct Near: Sendable {
        var words: [Placed<String>] = []
        var edits = 1
        var spot: Spot
    }

    var spot: Spot
    /// Whether `match` stands there.
    var isMatchWritten = false
    var any: [Placed<String>]?
    var all: [Placed<String>]?
    var none: [Placed<String>]?
    var equals: [Placed<String>]?
    var starts: [Placed<String>]?
    var ends: [Placed<String>]?
    var regexes: [Placed<String>]?
    var near: Near?
    var match = Match.word
    /// Nil: `plain` for words, the original text for regular expressions.
    var fold: Placed<String>?
    var fields: [Field] = [.body]
    var skip: Set<Skip> = [.links, .code, .quotes]
    /// The words test whole names of users, for `user: {name: …}`.
    var isEmpty: Bool {
        any == nil && all == nil && none == nil && equals == nil && starts == nil && ends == nil
            && regexes == nil
            && near == nil
    }
}

/// What the event's member must be like; everything that is given must hold.
struct BotUser: Sendable {
    var spot: Spot
    var firstTime: Bool?
    var bot: Bool?
    var roles: [Placed<String>]?
    var notRoles: [Placed<String>]?
    var memberFor: Bounds<Duration>?
    var away: Bounds<Duration>?
    var messages: Bounds<Int64>?
    var name: BotText?
    var ids: [Placed<String>]?
    var isNot: Placed<TemplatePath>?
    var strikes: BotStrikes?
    var permits: [Placed<String>]?
    var notPermits: [Placed<String>]?
    var leftBy: LeftBy?

    /// Why somebody is gone, as far as steward knows.
    enum LeftBy: String, Sendable, CaseIterable { case choice, removal }
}

/// An action of a rule and its place in it.
struct BotStep: Sendable {
    enum Verb: String, Sendable, CaseIterable {
        case reply, send, dm, delete, warn, relay, react, stop, log, count, reset, choose
        case strike, mute, unmute, kick, ban, unban, slowmode, lock, unlock, permit, report, each, confirm,
            undo, invite, join, leave, create, title, topic, acl
        case enterMode = "enter_mode"
        case leaveMode = "leave_mode"
    }

    var verb: Verb
    var spot: Spot
    /// Such as `do[1]`; part of what identifies the action.
    var path: String
    var message = BotMessage()
    /// What `count` adds to, and what `reset` forgets.
    var counts: [BotCount] = []
    /// In a box, so that a step without one is as easily handed on as before.
    var deed: BotDeed {
        get { box?.deed ?? BotDeed() }
        set { box = DeedBox(newValue) }
    }
    private var box: DeedBox?
    /// What `choose` chooses from; what `each` does; what a strike leads to, one for each step of its ladder.
    var branches: [BotBranch] = []
    /// It stands in a ladder, which rules of any event use.
    var isOfLadder = false

    private final class DeedBox: Sendable {
        let deed: BotDeed

        init(_ deed: BotDeed) { self.deed = deed }
    }

    init(verb: Verb, spot: Spot, path: String) {
        self.verb = verb
        self.spot = spot
        self.path = path
    }

    /// The step and all that its branches hold.
    var andBelow: [BotStep] { [self] + branches.flatMap { $0.steps.flatMap(\.andBelow) } }
}

/// A counter that an action changes.
struct BotCount: Sendable {
    var counter: Placed<String>
    /// Whose it is; nil for the event's own user or channel.
    var subject: Template?
    var by: Int64 = 1
}

/// One way that `choose` may go.
struct BotBranch: Sendable {
    /// Nil: always.
    var condition: Placed<BotCondition>?
    var steps: [BotStep] = []
    var spot: Spot
    var path: String
    var written: Set<String> = []
    /// Of a ladder's step: how many points lead to it.
    var points: Int64 = 0
}

/// What an action says, where, and to whom.
struct BotMessage: Sendable {
    var text: Template?
    var to: [Placed<String>] = []
    var mention: [Placed<TemplatePath>] = []
    var thread = false
    var silent = false
    /// False: what is too long is cut.
    var splits = true
    var isWarning = false
    var deleteAfter: Duration?
    var quote = false
    var footer: Template?
    /// Nothing, when the member cannot be written to.
    var skipsIfClosed = false
}

extension BotRule {
    /// Its actions and those of their branches.
    var allSteps: [BotStep] { steps.flatMap(\.andBelow) }
}
