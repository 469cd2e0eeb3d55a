internal import Chat
internal import YAML

/// A rule ready to be asked.
final class Rule: Sendable {
    let source: BotRule
    let id: String
    /// In the order in which rules are asked, from 0.
    let number: Int
    let file: String
    let stage: Stage
    let events: Set<EventName>
    /// Which of the rule set's scopes it has: the channels it looks at.
    let scope: Int
    let condition: Condition?
    /// Without it the rule looks at people only.
    let seesBots: Bool
    /// Nil: nobody is left alone.
    let exemptRoles: [String]
    let exemptUsers: Set<String>
    /// Counts against the answers of an event.
    let isCounted: Bool
    let group: String?
    /// Whether it may take the message away.
    let removes: Bool
    /// A guard that sees a message again each time it changes, and says something about it.
    let warnsOnce: Bool
    /// Names under which its memory may be: its own and its former one.
    let owners: [String]
    let vars: [String: String]
    let counters: [String: Counter]
    let ladders: [String: Ladder]
    let modes: Modes
    /// Whom nobody may punish by name.
    let protection: Exempt
    /// Whom its locks and slow mode leave alone; nil: as usual.
    let spares: ChatAction.Spared?
    /// The modes that it is there for: it enters them, waits for them or asks for them.
    let ownModes: Set<String>
    /// Where staff read.
    let reportTo: [String]
    /// It punishes somebody, changes a mode or reports, which a burst of messages earns once.
    let actsOnce: Bool
    let usesBurst: Bool
    /// Whether its actions need to know more than the event: what matched, and what was before.
    let looksCloser: Bool
    /// The windows that its conditions ask for.
    let windows: [NamedWindow]
    /// Whether a template wants to know how long they are open.
    let wantsWindow: Bool
    /// Whether a template prints what is remembered.
    let asksMemory: Bool
    /// Nil: people do not call it.
    let command: Command?
    /// The conditions of the branches of `choose`, by path.
    let branches: [String: Condition]
    /// Lists what people may call; no file has this rule.
    let isHelp: Bool
    /// Whether a template wants the groups of the expression that matched.
    let wantsGroups: Bool
    /// Whether a template wants what the rate has counted.
    let wantsRate: Bool
    let regexProbes: [Int32]

    init(_ draft: RuleDraft) {
        source = draft.source
        id = draft.source.id.value
        number = draft.number
        file = draft.file.name
        stage = draft.stage
        events = Set(draft.source.when.map(\.value))
        scope = draft.scope
        condition = draft.condition
        let exempt = draft.source.exempt ?? (draft.stage == .guard ? draft.file.exempt ?? .usual : Exempt())
        seesBots = exempt.bots == false || draft.condition?.asksForBots == true
        exemptRoles = exempt.roles.map(\.value)
        exemptUsers = Set(exempt.users.map(\.value))
        let talks = draft.source.allSteps.contains { step in
            step.verb == .reply || step.verb == .dm || step.verb == .send && step.message.to.isEmpty
        }
        // What is said about a whole batch is no answer to any one event.
        let answers = talks && draft.source.batch == nil || draft.isHelp
        isCounted = draft.stage == .answer && answers && draft.source.also?.value != true
        group = draft.source.group?.value
        removes = draft.source.allSteps.contains { $0.verb == .delete }
        actsOnce =
            draft.stage == .guard && draft.source.command == nil
            && draft.source.allSteps.contains { step in
                step.verb.punishes || step.verb == .report || step.verb == .enterMode || step.verb == .lock
                    || step.verb == .slowmode || step.deed.isBurst
            }
        warnsOnce =
            draft.stage == .guard && events.contains(.messageEdited) && !actsOnce
            && draft.source.allSteps.contains {
                $0.verb == .warn || $0.verb == .reply || $0.verb == .dm || $0.verb == .send
            }
        counters = draft.counters
        ladders = draft.ladders
        modes = draft.modes
        let named = draft.source.exempt.flatMap { $0.roles.isEmpty && $0.users.isEmpty ? nil : $0 }
        protection = named ?? draft.file.exempt ?? .usual
        spares = protection.spared
        ownModes = Set(
            draft.source.allSteps.filter { $0.verb == .enterMode }.compactMap(\.deed.name?.value)
                + draft.source.modeEvents.filter { $0.kind == .entered }.map(\.mode.value)
                + (draft.condition?.modes ?? []))
        reportTo = draft.file.reportTo.map(\.value)
        looksCloser = draft.stage == .guard || draft.source.allSteps.contains { $0.verb == .report }
        usesBurst = draft.source.allSteps.contains { $0.deed.isBurst }
        windows = draft.windows
        wantsWindow = draft.wantsWindow
        asksMemory = draft.asksMemory
        command = draft.source.command.map { Command($0, draft.file.commands) }
        branches = draft.branches
        isHelp = draft.isHelp
        owners = [draft.source.id.value] + (draft.source.was.map { [$0.value] } ?? [])
        vars = draft.file.vars
        wantsGroups = draft.wantsGroups
        wantsRate = draft.wantsRate
        regexProbes = draft.regexProbes
    }

    /// Its own and those of its branches.
    var conditions: [Condition] { [condition].compactMap(\.self) + branches.values }

    /// Where it stands, such as `bots/02-faq.yaml:7`.
    var place: String { isHelp ? "built in" : "\(file):\(source.id.spot.place.line)" }

    /// It waits for yes or no.
    var asksBack: Bool { source.steps.contains { $0.verb == .confirm } }

    var exemptsSome: Bool { !exemptRoles.isEmpty || !exemptUsers.isEmpty }

    /// Whether the rule leaves this member alone.
    func exempts(_ member: Member, account: String, _ directory: Directory) -> Bool {
        if !exemptUsers.isEmpty,
            exemptUsers.contains(member.user.text) || exemptUsers.contains("\(account):\(member.user.text)")
        {
            return true
        }
        return exemptRoles.contains { directory.hasRole($0, member, account: account) }
    }
}

/// What a rule is made from.
struct RuleDraft {
    var source: BotRule
    var file: BotFile
    var number: Int
    var stage: Stage
    var scope = 0
    var condition: Condition?
    var wantsGroups = false
    var wantsRate = false
    var regexProbes: [Int32] = []
    var branches: [String: Condition] = [:]
    var counters: [String: Counter] = [:]
    var ladders: [String: Ladder] = [:]
    var modes = Modes()
    var windows: [NamedWindow] = []
    var wantsWindow = false
    var isHelp = false
    var asksMemory = false
}

extension Exempt {
    /// Those who keep order are not punished.
    static let usual = Exempt(
        roles: Rule.rolesOfOrder.map { Placed($0, at: Spot(file: "", place: .start)) }, users: [], bots: nil)

    /// For an action; nil when it is the usual.
    fileprivate var spared: ChatAction.Spared? {
        let (roles, users) = (roles.map(\.value), users.map(\.value))
        if roles == Rule.rolesOfOrder, users.isEmpty, bots != false { return nil }
        return ChatAction.Spared(roles: roles, users: users, bots: bots != false)
    }
}

extension Rule {
    /// Roles that exist whether or not `config.yaml` says who has them.
    static let rolesOfOrder = ["moderator", "admin"]
}

extension BotRule {
    /// What its actions make it.
    var derivedStage: Stage {
        let verbs = Set(allSteps.map(\.verb))
        if verbs.contains(where: \.guards) { return .guard }
        let lookingOn: Set<BotStep.Verb> = [.log, .count, .reset, .choose, .report, .each]
        return !verbs.isEmpty && verbs.isSubset(of: lookingOn) ? .observe : .answer
    }
}
