package import Chat

/// Events as they are kept in the store, for replays: many to a row, in few bytes.
package enum EventCoding {
    /// One row's body; what steward itself says is left out.
    package static func body(of events: [ChatEvent]) -> [UInt8] {
        var writer = RowWriter()
        for event in events { write(event, to: &writer) }
        return writer.bytes
    }

    /// As far as the bytes can be read.
    package static func events(in body: [UInt8], realms: Identities) -> [ChatEvent] {
        var reader = RowReader(body)
        var events: [ChatEvent] = []
        while !reader.isAtEnd, let event = read(&reader, realms) { events.append(event) }
        return events
    }

    /// A row's body without what that user did.
    static func rewriting(_ body: [UInt8], without user: UserID, realms: Identities) -> Rewriting {
        let events = events(in: body, realms: realms)
        let others = events.filter { $0.member?.user != user }
        if others.count == events.count { return .stays }
        return others.isEmpty ? .goes : .becomes(Self.body(of: others))
    }

    private static func write(_ event: ChatEvent, to writer: inout RowWriter) {
        guard let name = event.name, event.isFromOutside else { return }
        writer.number(Int64(name.number))
        writer.text(event.id)
        writer.text(event.account)
        writer.text(event.realm.name)
        writer.number(event.sentAt.milliseconds)
        writer.number(event.channel == nil ? 0 : event.channel?.isDirect == true ? 2 : 1)
        if let channel = event.channel {
            writer.text(channel.id.text)
            writer.bytes(channel.uniqueName.map { Array($0.utf8) })
            writer.text(channel.title)
            writer.number(Int64(channel.memberCount ?? -1))
        }
        let isBot = event.member?.isBot == true
        let member: Int64 =
            event.member == nil ? 0 : (isBot ? 2 : 1) + (event.message?.isNotice == true ? 2 : 0)
        writer.number(member + (event.by == nil ? 0 : Self.hasDoer))
        if let by = event.by { writer.text(by.text) }
        if let member = event.member {
            writer.text(member.user.text)
            writer.text(member.name)
            writer.count(member.roles.count)
            for role in member.roles { writer.text(role) }
        }
        if let policy = event.policy {
            writer.text(policy.list)
            writer.text(policy.subject.rawValue)
            writer.text(policy.entity)
            writer.bytes(policy.reason.map { Array($0.utf8) })
        }
        if let reaction = event.reaction {
            writer.text(reaction.message.id)
            writer.number(reaction.message.index ?? -1)
            writer.text(reaction.key)
        }
        guard let message = event.message else { return }
        writer.text(message.id)
        writer.number(message.index ?? -1)
        writer.text(message.text)
        writer.bytes(message.replyTo.map { Array($0.utf8) })
        writer.attachments(message.attachments)
    }

    private static func read(_ reader: inout RowReader, _ realms: Identities) -> ChatEvent? {
        guard let number = reader.number(),
            let name = EventName.allCases.first(where: { $0.number == number }),
            let id = reader.text(), let account = reader.text(), let realmName = reader.text(),
            let at = reader.number(), let hasChannel = reader.number()
        else { return nil }
        let realm = realms.realm(realmName)
        var event = ChatEvent(
            id: id, account: account, realm: realm, sentAt: Timestamp(milliseconds: at), kind: .channelUpdated
        )
        if hasChannel != 0 {
            guard let id = reader.text(), let unique = reader.bytesOrNil(), let title = reader.text(),
                let count = reader.number()
            else { return nil }
            event.channel = Channel(
                id: realm.channel(id), uniqueName: unique.map { String(decoding: $0, as: UTF8.self) },
                title: title,
                memberCount: count < 0 ? nil : Int(count), isDirect: hasChannel == 2)
        }
        guard var hasMember = reader.number() else { return nil }
        if hasMember >= Self.hasDoer {
            guard let by = reader.text() else { return nil }
            event.by = realm.user(by)
            hasMember -= Self.hasDoer
        }
        var member: Member?
        if hasMember != 0 {
            guard let user = reader.text(), let name = reader.text(), let count = reader.count() else {
                return nil
            }
            var roles: [String] = []
            for _ in 0..<count {
                guard let role = reader.text() else { return nil }
                roles.append(role)
            }
            member = Member(
                user: realm.user(user), name: name, roles: roles, isBot: hasMember == 2 || hasMember == 4)
        }
        var message: Message?
        if let member, [.messageAdded, .messageEdited, .messageDeleted].contains(name) {
            message = self.message(&reader, by: member)
            guard message != nil else { return nil }
            if hasMember > 2 { message?.isNotice = true }
        }
        var reaction: Reaction?
        if let member, name == .reactionAdded || name == .reactionRemoved {
            guard let id = reader.text(), let index = reader.number(), let key = reader.text() else {
                return nil
            }
            reaction = Reaction(
                by: member, to: MessageReference(id: id, index: index < 0 ? nil : index), key: key)
        }
        if name == .policyAdded || name == .policyRemoved {
            guard let policy = policy(&reader) else { return nil }
            event.kind = name == .policyAdded ? .policyAdded(policy) : .policyRemoved(policy)
            return event
        }
        guard let kind = ChatEvent.Kind(name, member: member, message: message, reaction: reaction) else {
            return nil
        }
        event.kind = kind
        return event
    }

    /// Added to what says whether there is a member, when who did it is named.
    private static let hasDoer: Int64 = 8

    private static func policy(_ reader: inout RowReader) -> Policy? {
        guard let list = reader.text(), let word = reader.text(),
            let subject = Policy.Subject(rawValue: word),
            let entity = reader.text(), let reason = reader.bytesOrNil()
        else { return nil }
        return Policy(
            list: list, subject: subject, entity: entity,
            reason: reason.map { String(decoding: $0, as: UTF8.self) })
    }

    private static func message(_ reader: inout RowReader, by author: Member) -> Message? {
        guard let id = reader.text(), let index = reader.number(), let text = reader.text(),
            let replyTo = reader.bytesOrNil(), let attachments = reader.attachments()
        else { return nil }
        return Message(
            id: id, index: index < 0 ? nil : index, author: author, text: text, attachments: attachments,
            replyTo: replyTo.map { String(decoding: $0, as: UTF8.self) })
    }
}

extension ChatEvent.Kind {
    /// What happened, from its name and what belongs to it; nil when something is missing.
    package init?(_ name: EventName, member: Member?, message: Message?, reaction: Reaction? = nil) {
        switch (name, member, message) {
        case (.messageAdded, _, let message?): self = .messageAdded(message)
        case (.messageEdited, _, let message?): self = .messageEdited(message)
        case (.messageDeleted, _, let message?): self = .messageDeleted(message)
        case (.memberJoined, let member?, _): self = .memberJoined(member)
        case (.memberLeft, let member?, _): self = .memberLeft(member)
        case (.memberUpdated, let member?, _): self = .memberUpdated(member)
        case (.memberInvited, let member?, _): self = .memberInvited(member)
        case (.memberBanned, let member?, _): self = .memberBanned(member)
        case (.memberMuted, let member?, _): self = .memberMuted(member)
        case (.typingStarted, let member?, _): self = .typingStarted(member)
        case (.typingEnded, let member?, _): self = .typingEnded(member)
        case (.readHorizonMoved, let member?, _): self = .readHorizonMoved(member, to: nil)
        case (.delivered, let member?, _): self = .delivered(member, to: nil)
        case (.reactionAdded, _, _): if let reaction { self = .reactionAdded(reaction) } else { return nil }
        case (.reactionRemoved, _, _):
            if let reaction { self = .reactionRemoved(reaction) } else { return nil }
        case (.channelFrozen, _, _): self = .channelFrozen
        case (.channelAdded, _, _): self = .channelAdded
        case (.channelUpdated, _, _): self = .channelUpdated
        case (.channelDeleted, _, _): self = .channelDeleted
        default: return nil
        }
    }
}
