internal import Chat

/// The guard before all others: sees to it that punishments hold where the service does not, and ends them.
struct Punishments {
    let memory: Memory
    let event: ChatEvent
    let situation: Situation

    /// How long what has ended is remembered.
    static let afterglow = Duration.seconds(3600)
    /// How long its row stays: what was written before its end may be read after it.
    static func keep(_ punishment: Punishment, from now: Timestamp) -> Duration? {
        punishment.until.map { max($0 - now, .zero) + afterglow }
    }

    /// The step of a continuation that ends one.
    static let endStep = "punishment.end"
    /// How the paths of what it does begin.
    static let path = "hold."

    /// What somebody who is punished just did.
    struct Held {
        var decision = Decision()
        /// Why it was undone.
        var kind: Punishment.Kind
    }

    /// Nil when nobody is held to anything here.
    func hold() -> Held? {
        guard let place = event.place, let channel = event.channel?.id else { return nil }
        switch event.kind {
        case .memberJoined(let member): return joined(member, channel, place)
        case .messageAdded(let message):
            return wrote(message, channel, place) ?? wroteTooSoon(message, channel, place)
        case .messageEdited(let message): return wrote(message, channel, place)
        default: return nil
        }
    }

    private func joined(_ member: Member, _ channel: ChannelID, _ place: Place) -> Held? {
        let now = max(situation.now, event.sentAt)
        // Where the service keeps bans, whoever can join was let in by somebody, and that stands.
        if !isNative("ban"), let ban = punishment(Punishment.key(.ban, of: member.user, in: channel)),
            !ban.isOver(at: now)
        {
            var held = Held(kind: .ban)
            held.decision.removed = true
            held.decision.actions = [action(.removeMember(user: member.user.text), .ban, place)]
            return held
        }
        // Whoever leaves and comes back is a new member to the service.
        if isNative("mute"), let mute = punishment(Punishment.key(.mute, of: member.user, in: channel)),
            !mute.isOver(at: now), mute.isNative
        {
            var held = Held(kind: .mute)
            let verb = ChatAction.Verb.mute(user: member.user.text, until: mute.until, reason: mute.reason)
            held.decision.actions = [action(verb, .mute, place)]
            return held
        }
        return nil
    }

    private func wrote(_ message: Message, _ channel: ChannelID, _ place: Place) -> Held? {
        let user = message.author.user
        for kind in [Punishment.Kind.mute, .ban] {
            let isNative = isNative(kind.rawValue)
            if isNative, kind == .ban { continue }
            // What was written before the end is not to be seen, however late it is read.
            if let found = punishment(Punishment.key(kind, of: user, in: channel)),
                isNative ? found.deletes(at: event.sentAt) : !found.isOver(at: event.sentAt)
            {
                return removing(message, kind, place)
            }
        }
        guard case .messageAdded = event.kind, !isNative("lock"),
            let lock = punishment(Punishment.key(.lock, in: channel)), !lock.isOver(at: event.sentAt),
            !isSpared(message.author, by: lock)
        else { return nil }
        return removing(message, .lock, place)
    }

    private func wroteTooSoon(_ message: Message, _ channel: ChannelID, _ place: Place) -> Held? {
        guard !isNative("slowmode"), let slow = punishment(Punishment.key(.slowmode, in: channel)),
            let interval = slow.interval, !isSpared(message.author, by: slow)
        else { return nil }
        let key = MemoryKey(
            owner: Punishment.owner, name: "wrote:\(channel.text)", subject: .user(message.author.user))
        if case .times(let times)? = memory.value(of: key), let last = times.last,
            event.sentAt < last + interval
        {
            return removing(message, .slowmode, place)
        }
        var held = Held(kind: .slowmode)
        held.decision.changes = [.claim(key, at: event.sentAt, most: 1, keep: interval)]
        return held
    }

    private func removing(_ message: Message, _ kind: Punishment.Kind, _ place: Place) -> Held {
        var held = Held(kind: kind)
        held.decision.removed = true
        held.decision.actions = [action(.deleteMessage(MessageReference(message)), kind, place)]
        return held
    }

    private func action(_ verb: ChatAction.Verb, _ kind: Punishment.Kind, _ place: Place) -> ChatAction {
        ChatAction(verb, in: place, by: Punishment.owner, path: Self.path + kind.rawValue)
    }

    private func punishment(_ key: MemoryKey) -> Punishment? { Punishment(memory.value(of: key)) }

    private func isNative(_ action: String) -> Bool { situation.abilities.actions.contains(action) }

    /// A locked or slow channel is for those who look after it, or whom its rule leaves alone.
    private func isSpared(_ member: Member, by punishment: Punishment) -> Bool {
        let spares = punishment.spares ?? Self.usuallySpared
        if member.isBot { return spares.bots }
        let user = member.user.text
        if spares.users.contains(where: { $0 == user || $0 == "\(event.account):\(user)" }) { return true }
        return (spares.roles + ["owner"]).contains {
            situation.directory.hasRole($0, member, account: event.account)
        }
    }

    private static let usuallySpared = ChatAction.Spared(roles: ["moderator", "admin"])

    // MARK: The end

    static func isEnd(_ continuation: Continuation) -> Bool {
        continuation.owner == Punishment.owner && continuation.step == endStep
    }

    /// What follows when one comes to its end; empty when it was lifted or replaced meanwhile.
    func end(_ continuation: Continuation) -> Decision {
        var decision = Decision()
        guard let place = continuation.place, let channel = event.channel?.id,
            let kind = continuation.values["kind"].flatMap(Punishment.Kind.init)
        else { return decision }
        let user = continuation.values["user"]
        let key =
            user.map { Punishment.key(kind, of: event.realm.user($0), in: channel) }
            ?? Punishment.key(kind, in: channel)
        guard let punishment = punishment(key), punishment.until == continuation.due else { return decision }
        let whom = user.map { " of \($0)" } ?? ""
        decision.notes = [
            Decision.Note(by: punishment.by, "the \(kind.rawValue)\(whom) in \(place) is over")
        ]
        let verb: ChatAction.Verb? =
            switch (kind, user) {
            case (.mute, let user?) where isNative("mute") && punishment.isNative: .unmute(user: user)
            case (.ban, let user?) where isNative("ban"): .unban(user: user)
            case (.lock, nil) where isNative("lock"): .unlock
            default: nil
            }
        if let verb {
            decision.changes = [.forget(key)]
            decision.actions = [action(verb, kind, place)]
            // If it fails, it is the rule's failure that somebody stays punished.
            decision.actions[0].by = punishment.by
        }
        return decision
    }
}
