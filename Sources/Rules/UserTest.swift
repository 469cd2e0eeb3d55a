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

    init(_ user: BotUser) {
        firstTime = user.firstTime
        bot = user.bot
        roles = user.roles?.map(\.value)
        notRoles = user.notRoles?.map(\.value)
        memberFor = user.memberFor
        away = user.away
        messages = user.messages
        ids = user.ids.map { Set($0.map(\.value)) }
        isNot = user.isNot?.value
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

    var asksMemory: Bool { firstTime != nil || messages != nil || memberFor != nil || away != nil }

    enum Objection: Equatable {
        case nobody, firstTime(Bool), bot(Bool), messages(String), memberFor(String), away(String), id
        case role([String]), hasRole(String), isNot(String)
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

    private static func names(_ text: String, _ member: Member) -> Bool {
        let name = People.bare(text).lowercased()
        return name == member.name.lowercased() || name == member.user.text.lowercased()
    }
}
