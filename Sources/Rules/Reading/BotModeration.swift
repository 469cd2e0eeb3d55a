internal import Chat

/// What people earn by strikes: steps, each of which fires when somebody's points reach it.
struct BotLadder: Sendable {
    var name: Placed<String>
    /// Nil: points stay.
    var forgive: StrikeLedger.Forgiveness?
    var steps: [BotLadderStep] = []
}

/// What happens at so many points.
struct BotLadderStep: Sendable {
    var points: Placed<Int64>
    var steps: [BotStep]
}

/// A state that all rules share; there is one at a time.
struct BotMode: Sendable {
    var name: Placed<String>
    /// The one that there is when no other was entered.
    var isDefault = false
    var clearsAfter: Duration?
    var announceTo: [Placed<String>] = []
}

/// That a mode begins or ends, as the event of a rule.
struct BotModeEvent: Sendable {
    enum Kind: String, Sendable { case entered, left }

    var kind: Kind
    var mode: Placed<String>
}

/// That somebody's points reach a number, as the event of a rule.
struct BotStrikeEvent: Sendable {
    var spot: Spot
    var ladder: Placed<String>?
    /// Any strike, unless given.
    var total: Bounds<Int64>?
}

/// How many points somebody must have, as it is written.
struct BotStrikes: Sendable {
    var spot: Spot
    var ladder: Placed<String>?
    var total: Bounds<Int64>?
}

/// Which mode there must be, as it is written.
struct BotModeTest: Sendable {
    var modes: [Placed<String>] = []
    var notModes: [Placed<String>] = []
}

/// What a moderation action says beside a message's text.
struct BotDeed: Sendable {
    /// A time that is written, or that a value gives.
    enum Length: Sendable {
        case fixed(Duration)
        case made(Template)
        case none
    }

    enum Include: String, Sendable, CaseIterable { case message, matched, history }

    /// Whom it is about; nil: the event's own member.
    var user: Template?
    var time: Length?
    var reason: Template?
    var places: [Placed<String>] = []
    /// Nil: 1.
    var points: Template?
    var ladder: Placed<String>?
    /// Of the permit, or of the mode.
    var name: Placed<String>?
    var include: [Include] = []
    /// `delete`: all messages that made up the rate.
    var isBurst = false
    /// `delete`: so many of the latest messages.
    var last: Template?
    var keepCopy: Duration?
    /// `each`: the list.
    var list: Placed<TemplatePath>?
    /// `confirm`: how long an answer is waited for.
    var within = Duration.seconds(30)
    /// `undo`: the case.
    var caseName: Template?
    /// `create`: who is asked in.
    var guests: [Placed<TemplatePath>] = []
    /// `acl`: servers, and ban lists with servers in them.
    var denied: [Template] = []
    var allowed: [Template] = []
    var policyLists: [Placed<String>] = []

    /// All that is printed in it.
    var templates: [Template] {
        var all = [user, reason, points, last, caseName].compactMap(\.self) + denied + allowed
        if case .made(let template)? = time { all.append(template) }
        return all
    }
}

extension BotStep.Verb {
    /// They are against somebody.
    var punishes: Bool {
        switch self {
        case .strike, .mute, .kick, .ban: true
        default: false
        }
    }

    /// What makes a rule a guard.
    var guards: Bool {
        switch self {
        case .delete, .warn, .strike, .mute, .kick, .ban, .slowmode, .lock, .enterMode, .acl: true
        default: false
        }
    }

    /// Whether the action may be one word without anything behind it.
    var standsAlone: Bool {
        switch self {
        case .delete, .stop, .strike, .mute, .unmute, .kick, .ban, .unban, .lock, .unlock, .report,
            .leaveMode, .leave:
            true
        default: false
        }
    }

    /// What an account must be able to do for it; nil when it is steward's own affair.
    var ability: String? {
        switch self {
        case .stop, .log, .count, .reset, .choose, .each, .strike, .permit, .enterMode, .leaveMode, .undo: nil
        case .relay, .report: "send"
        case .warn, .confirm: "reply"
        default: rawValue
        }
    }
}

extension BotStep {
    /// The same step at another place of a rule.
    func moved(from old: String, to new: String) -> BotStep {
        var step = self
        step.path = new + path.dropFirst(old.count)
        step.branches = branches.map { branch in
            var branch = branch
            branch.path = new + branch.path.dropFirst(old.count)
            branch.steps = branch.steps.map { $0.moved(from: old, to: new) }
            return branch
        }
        return step
    }
}
