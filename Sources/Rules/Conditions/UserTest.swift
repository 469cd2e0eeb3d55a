internal import Chat

/// What the event's member must be like.
final class UserTest: Sendable {
    let firstTime: Bool?
    let bot: Bool?
    let roles: [String]?
    let notRoles: [String]?
    let memberFor: Bounds<Duration>?
    let away: Bounds<Duration>?
    let messages: Bounds<Int64>?
    let ids: Set<String>?
    let isNot: TemplatePath?
    let strikes: (total: Bounds<Int64>, ladder: Ladder)?
    let permits: [String]?
    let notPermits: [String]?
    let leftBy: BotUser.LeftBy?

    init(_ user: BotUser, ladder: Ladder? = nil) {
        firstTime = user.firstTime
        bot = user.bot
        roles = user.roles?.map(\.value)
        notRoles = user.notRoles?.map(\.value)
        memberFor = user.memberFor
        away = user.away
        messages = user.messages
        ids = user.ids.map { Set($0.map(\.value)) }
        isNot = user.isNot?.value
        strikes = ladder.flatMap { ladder in user.strikes?.total.map { ($0, ladder) } }
        permits = user.permits?.map(\.value)
        notPermits = user.notPermits?.map(\.value)
        leftBy = user.leftBy
    }

    /// The thresholds without which it cannot hold.
    var triggers: [Trigger] {
        [
            messages.flatMap { Trigger(.messages, Span($0)) },
            memberFor.flatMap { Trigger(.memberFor, Span($0)) },
            away.flatMap { Trigger(.away, Span($0)) },
            firstTime.map { $0 ? .least(.firstTime, 1) : .most(.firstTime, 0) },
        ].compactMap(\.self)
    }

    var asksMemory: Bool {
        firstTime != nil || messages != nil || memberFor != nil || away != nil || asksModeration
    }

    private var asksModeration: Bool {
        strikes != nil || permits != nil || notPermits != nil || leftBy != nil
    }

    enum Objection: Equatable {
        case nobody, firstTime(Bool), bot(Bool), messages(String), memberFor(String), away(String), id
        case role([String]), hasRole(String), isNot(String)
        case strikes(Int64, of: String, not: String), permit([String]), hasPermit(String)
        case leftBy(BotUser.LeftBy)
    }

    /// What does not hold; nil when all does. `value` gives the value that must name somebody else.
    func objection(
        _ event: ChatEvent, _ look: EventLook, _ situation: Situation,
        value: (TemplatePath) -> TemplateValue
    ) -> Objection? {
        // What costs least is asked first; the member is only copied when more is asked.
        guard let isBot = look.isBot else { return .nobody }
        if let bot, isBot != bot { return .bot(bot) }
        if let firstTime, (situation.facts.firstSeen == nil) != firstTime { return .firstTime(firstTime) }
        if let messages, !messages.contains(situation.facts.messages) { return .messages(messages.text) }
        if let memberFor, situation.memberFor(event).map(memberFor.contains) != true {
            return .memberFor(memberFor.text)
        }
        if let away, situation.away(event).map(away.contains) != true { return .away(away.text) }
        if asksModeration, let user = look.user, let objection = objection(user, event, situation) {
            return objection
        }
        if ids == nil, roles == nil, notRoles == nil, isNot == nil { return nil }
        guard let member = event.member else { return .nobody }
        if let ids, !ids.contains(member.user.text), !ids.contains("\(event.account):\(member.user.text)") {
            return .id
        }
        let directory = situation.directory
        if let roles, !roles.contains(where: { directory.hasRole($0, member, account: event.account) }) {
            return .role(roles)
        }
        if let notRoles,
            let role = notRoles.first(where: { directory.hasRole($0, member, account: event.account) })
        {
            return .hasRole(role)
        }
        if let isNot, Self.names(value(isNot).plain, member) { return .isNot(isNot.text) }
        return nil
    }

    private func objection(_ user: UserID, _ event: ChatEvent, _ situation: Situation) -> Objection? {
        let memory = situation.memory
        if let strikes {
            let ledger = StrikeLedger(
                memory.value(of: StrikeLedger.key(ladder: strikes.ladder.name, user: user)))
            let total = ledger.total(at: situation.now, forgive: strikes.ladder.forgive)
            if !strikes.total.contains(total) {
                return .strikes(total, of: strikes.ladder.name, not: strikes.total.text)
            }
        }
        func has(_ permit: String) -> Bool { memory.value(of: .permit(permit, of: user)) != nil }
        if let permits, !permits.contains(where: has) { return .permit(permits) }
        if let notPermits, let permit = notPermits.first(where: has) { return .hasPermit(permit) }
        if let leftBy {
            let wasRemoved = event.by != nil || memory.value(of: .removal(of: user)) != nil
            if wasRemoved != (leftBy == .removal) { return .leftBy(leftBy) }
        }
        return nil
    }

    private static func names(_ text: String, _ member: Member) -> Bool {
        let name = People.bare(text).lowercased()
        return name == member.name.lowercased() || name == member.user.text.lowercased()
    }
}

extension MemoryKey {
    /// What somebody may do for a while; all rules share it.
    static func permit(_ what: String, of user: UserID) -> MemoryKey {
        MemoryKey(owner: "steward", name: "permit.\(what)", subject: .user(user))
    }

    /// That steward removed somebody just now.
    static func removal(of user: UserID) -> MemoryKey {
        MemoryKey(owner: "steward", name: "removed", subject: .user(user))
    }
}
