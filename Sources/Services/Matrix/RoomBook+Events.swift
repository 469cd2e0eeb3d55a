internal import Chat

extension RoomBook {
    /// Takes an event that is no news: only what it says of the room's state counts.
    mutating func apply(_ event: RoomEvent, in room: String) {
        switch event.content {
        case .member(let user, let membership):
            guard let known = rooms[room] else { return }
            if membership.kind == .join {
                let member = member(user, name: membership.name, in: known)
                change(room) { $0.know(member) }
            } else {
                change(room) { $0.forget(user) }
            }
        case .powerLevels(let levels, _):
            change(room) { _ = $0.set(levels) }
            changedPowers.insert(room)
        case .name(let name): change(room) { $0.set(name: name) }
        case .topic(let topic): change(room) { $0.set(topic: topic) }
        case .alias(let alias): change(room) { $0.set(alias: alias) }
        case .tombstone(let next):
            change(room) { $0.replace(by: Room.Replacement(room: next, sender: event.sender)) }
        case .encryption: change(room) { $0.encrypt() }
        case .created(let creation):
            change(room) { $0.set(creation) }
            changedPowers.insert(room)
        case .policy(let rule, _): change(room) { _ = $0.set(rule) }
        case .message, .edit, .encrypted, .reaction, .redaction, .other: break
        }
    }

    /// Takes an event that is news; gives what it means.
    mutating func take(_ event: RoomEvent, in room: String) -> [Told] {
        let told = meaning(of: event, in: room)
        remember(event, in: room)
        note(newest: event.id, in: room)
        return told
    }

    private mutating func meaning(of event: RoomEvent, in room: String) -> [Told] {
        switch event.content {
        case .message(let message):
            let kind = ChatEvent.Kind.messageAdded(chat(message, id: event.id, by: event.sender, in: room))
            return [make(kind, event, in: room)].compactMap(\.self)
        case .edit(let original, let message):
            // Whoever edits what is not theirs has edited nothing.
            guard let known = recent[original], known.sender == event.sender, known.room == room,
                case .message(let thread) = known.content
            else { return [] }
            var edited = message
            edited.thread = thread
            let kind = ChatEvent.Kind.messageEdited(chat(edited, id: original, by: event.sender, in: room))
            return [make(kind, event, in: room)].compactMap(\.self)
        case .reaction(let target, let key):
            let reaction = Reaction(
                by: member(event.sender, in: room), to: MessageReference(id: target), key: key)
            return [make(.reactionAdded(reaction), event, in: room)].compactMap(\.self)
        case .redaction(let target):
            return [redacted(target, by: event, in: room)].compactMap(\.self)
        case .member(let user, let membership):
            return [changed(user, membership, event, in: room)].compactMap(\.self)
        case .powerLevels(let levels, let before): return changed(levels, before, event, in: room)
        case .name, .topic, .alias:
            // What is known of the room may be newer than the event.
            apply(event, in: room)
            return event.isChange ? [make(.channelUpdated, event, in: room)].compactMap(\.self) : []
        case .tombstone(let next):
            apply(event, in: room)
            tell(.upgraded(room, to: next, sender: event.sender))
            return [make(.channelUpdated, event, in: room)].compactMap(\.self)
        case .encryption:
            if rooms[room]?.isEncrypted == false { tell(.encrypted(room)) }
            apply(event, in: room)
            return []
        case .created:
            apply(event, in: room)
            return []
        case .policy(let rule, let before): return changed(rule, before, event, in: room)
        case .encrypted, .other: return []
        }
    }

    private func chat(_ message: RoomMessage, id: String, by sender: String, in room: String) -> Message {
        var made = Message(
            id: id, author: member(sender, in: room), text: message.text,
            attributes: message.type == "m.text" ? nil : Self.attributes(of: message.type),
            attachments: message.attachment.map { [$0] } ?? [], replyTo: message.replyTo)
        // An answer to one may be answered by another, without end.
        if message.isNotice, !heedsNotices { made.isNotice = true }
        return made
    }

    /// What kind of message it is, for those that are no plain text.
    private static func attributes(of type: String) -> String? {
        switch type {
        case "m.notice": #"{"msgtype":"m.notice"}"#
        case "m.emote": #"{"msgtype":"m.emote"}"#
        case "m.image": #"{"msgtype":"m.image"}"#
        default: nil
        }
    }

    private func redacted(_ target: String, by event: RoomEvent, in room: String) -> Told? {
        guard let known = recent[target], known.room == room else { return nil }
        let author = member(known.sender, in: room)
        let by = event.sender == known.sender ? nil : event.sender
        switch known.content {
        case .message:
            return make(
                .messageDeleted(Message(id: target, author: author, text: "")), event, in: room, by: by)
        case .reaction(let message, let key):
            let reaction = Reaction(by: author, to: MessageReference(id: message), key: key)
            return make(.reactionRemoved(reaction), event, in: room, by: by)
        case .edit, .other: return nil
        }
    }

    // MARK: People

    private mutating func changed(
        _ user: String, _ membership: Membership, _ event: RoomEvent, in room: String
    ) -> Told? {
        guard let known = rooms[room] else { return nil }
        let (before, oldName, oldAvatar): (Membership.Kind?, String?, String?) =
            switch membership.before {
            case .nothing: (nil, nil, nil)
            case .was(let kind, let name, let avatar): (kind, name, avatar)
            // Only who is known not to have been there has joined.
            case .unknown: (known.people[user] != nil || membership.kind == .join ? .join : nil, nil, nil)
            }
        let name = membership.name ?? (membership.kind == .join ? nil : known.people[user]?.name ?? oldName)
        let member = member(user, name: name, in: known)
        let by = event.sender == user ? nil : event.sender
        apply(event, in: room)
        switch (before, membership.kind) {
        case (.join, .join):
            // A new name or picture, or nothing at all, and in no case somebody new.
            let isChange =
                membership.before == .unknown || membership.name != oldName
                || membership.avatar != oldAvatar
            return isChange ? make(.memberUpdated(member), event, in: room) : nil
        case (_, .join): return make(.memberJoined(member), event, in: room)
        case (.join, .leave): return make(.memberLeft(member), event, in: room, by: by)
        case (.ban, .ban), (.invite, .invite): return nil
        case (_, .ban): return make(.memberBanned(member), event, in: room, by: by)
        case (_, .invite): return make(.memberInvited(member), event, in: room, by: by)
        // A refused or withdrawn invitation or knock, or the end of a ban.
        case (_, .leave), (_, .knock): return nil
        }
    }

    private mutating func changed(
        _ levels: PowerLevels, _ before: PowerLevels?, _ event: RoomEvent, in room: String
    ) -> [Told] {
        guard let known = rooms[room] else { return [] }
        // What is known of the room may be newer than the event.
        let old = before ?? known.effectiveLevels
        apply(event, in: room)
        var told: [Told] = []
        let users = Set(old.users.keys).union(levels.users.keys).filter {
            old.level(of: $0) != levels.level(of: $0)
        }
        for user in users.sorted().prefix(Self.mostChangedAtOnce) {
            let member = member(user, in: room)
            let isMuted =
                levels.level(of: user) < levels.neededToWrite && old.level(of: user) >= old.neededToWrite
            let kind = isMuted ? ChatEvent.Kind.memberMuted(member) : .memberUpdated(member)
            told += [
                make(kind, event, in: room, part: "/\(user)", by: event.sender == user ? nil : event.sender)
            ]
            .compactMap(\.self)
        }
        if levels.neededToWrite > levels.usersDefault, old.neededToWrite <= old.usersDefault {
            told += [make(.channelFrozen, event, in: room, part: "/frozen", by: event.sender)].compactMap(
                \.self)
        }
        return told
    }

    /// People whose power changed in one event, of whom steward is told.
    private static let mostChangedAtOnce = 100

    // MARK: Ban lists

    private mutating func changed(
        _ rule: PolicyRule, _ told: PolicyRule?, _ event: RoomEvent, in room: String
    ) -> [Told] {
        // Any room may have such rules; only those that somebody chose to follow count.
        guard let list = lists[room] else { return [] }
        var before: PolicyRule?
        change(room) { before = $0.set(rule) }
        // What is known of the list may be newer than the event.
        before = told ?? before
        changedLists.insert(room)
        let (old, new) = (before?.policy(of: list), rule.policy(of: list))
        guard old != new else { return [] }
        return [
            old.flatMap { make(.policyRemoved($0), event, in: room, part: "/removed", by: event.sender) },
            new.flatMap { make(.policyAdded($0), event, in: room, by: event.sender) },
        ].compactMap(\.self)
    }

    // MARK: What passes

    /// Typing and receipts, which the server does not give again.
    mutating func takePassing(_ update: SyncAnswer.JoinedRoom, at now: Timestamp) -> [Told] {
        guard let channel = rooms[update.id]?.channel else { return [] }
        func passing(_ kind: ChatEvent.Kind, _ id: String) -> Told {
            Told(
                event: ChatEvent(
                    id: id, account: account, realm: realm, channel: channel, sentAt: now, kind: kind),
                source: nil)
        }
        var told: [Told] = []
        if let typing = update.typing.map(Set.init) {
            let before = rooms[update.id]?.typing ?? []
            for user in typing.subtracting(before).sorted() {
                told.append(
                    passing(
                        .typingStarted(member(user, in: update.id)), "typing/\(user)/\(now.milliseconds)"))
            }
            for user in before.subtracting(typing).sorted() {
                told.append(
                    passing(.typingEnded(member(user, in: update.id)), "typed/\(user)/\(now.milliseconds)"))
            }
            change(update.id) { $0.typing = typing }
        }
        for receipt in update.receipts {
            told.append(
                passing(
                    .readHorizonMoved(member(receipt.user, in: update.id), to: receipt.at),
                    "read/\(receipt.user)/\(receipt.event)"))
        }
        return told
    }
}
