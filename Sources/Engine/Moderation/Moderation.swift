internal import Chat

/// What of a decision may happen to people, and what steward does itself because the service has nothing of the kind.
///
/// Its rows are in memory like those of rules, so they are durable with the decision, and it keeps nothing itself but who
/// we are.
struct Moderation: Sendable {
    let ceilings: Ceilings
    /// The name of the channel where staff are told that a ceiling is reached.
    let reportTo: String?
    private var own: [String: (user: UserID, realm: Realm)] = [:]
    private let denied: @Sendable (String, ChannelID) -> Set<String>

    /// `denied` says which actions of its service an account may not do in a channel.
    init(
        _ ceilings: Ceilings, reportTo: String?,
        denied: @escaping @Sendable (_ account: String, ChannelID) -> Set<String>
    ) {
        self.ceilings = ceilings
        self.reportTo = reportTo
        self.denied = denied
    }

    mutating func know(_ account: String, as user: UserID, in realm: Realm) {
        own[account] = (user, realm)
    }

    /// What came of the moderation in a decision, before anything is sent.
    struct Ruling {
        /// By the action's index: what it is settled with here; actions that are not in it go to their service.
        var settled: [Int: ActionOutcome] = [:]
        var withheld: [Ceilings.Kind: Int] = [:]
    }

    /// Settles what is steward's own to do, adds what has to be remembered for it, and withholds what is over a ceiling or
    /// against ourselves. Worth nothing when memory misses something afterwards.
    func settle(
        _ decision: inout Decision, _ event: ChatEvent, in situation: Situation, _ memory: Memory
    ) -> Ruling {
        guard decision.actions.contains(where: \.isModeration) else { return Ruling() }
        var settling = Settling(
            moderation: self, event: event, situation: situation, memory: memory, changes: decision.changes)
        for (index, action) in decision.actions.enumerated() where action.isModeration {
            if let outcome = settling.settle(action) { settling.ruling.settled[index] = outcome }
        }
        decision.changes = settling.changes + settling.countChanges
        decision.later += settling.later
        decision.actions += settling.reports
        decision.notes += settling.notes
        return settling.ruling
    }

    /// Where an action of ours is, in the terms of its service. The channel may be called by its name.
    fileprivate func channel(
        _ place: Place, _ event: ChatEvent, _ memory: Memory
    ) -> (ChannelID, Realm)? {
        if place == event.place, let channel = event.channel { return (channel.id, event.realm) }
        let realm = place.account == event.account ? event.realm : own[place.account]?.realm
        guard let realm else { return nil }
        if let channel = event.channel, place.account == event.account, channel.uniqueName == place.channel {
            return (channel.id, realm)
        }
        if case .text(let id)? = memory.value(of: Self.nameKey(place)) { return (realm.channel(id), realm) }
        return (realm.channel(place.channel), realm)
    }

    /// Where the id of a channel is remembered that goes by a name, too.
    static func nameKey(_ place: Place) -> MemoryKey {
        MemoryKey(owner: "steward.channels", name: place.description, subject: .all)
    }

    /// Whether a mute is by deleting there, because the service may not be asked for it.
    fileprivate func mutesByDeleting(_ account: String, in channel: ChannelID) -> Bool {
        let denied = denied(account, channel)
        return denied.contains("mute") && !denied.contains("delete")
    }

    /// We ourselves, on whichever account, and whoever owns us are never punished.
    fileprivate func protection(
        of user: UserID, _ account: String, _ event: ChatEvent, _ situation: Situation
    ) -> String? {
        if user == situation.own || own.values.contains(where: { $0.user == user }) {
            return "steward never acts against itself"
        }
        let owns =
            situation.directory.roles["owner"]?.users.contains("\(account):\(user.text)") == true
            || event.member.map {
                $0.user == user && situation.directory.hasRole("owner", $0, account: account)
            } == true
        return owns ? "steward never acts against its owner" : nil
    }
}

/// One decision on its way through.
private struct Settling {
    let moderation: Moderation
    let event: ChatEvent
    let situation: Situation
    let memory: Memory
    var changes: [MemoryChange]
    var ruling = Moderation.Ruling()
    var later: [Continuation] = []
    var reports: [ChatAction] = []
    var notes: [Decision.Note] = []
    private var begun: [MemoryKey: Punishment] = [:]
    private var lifted: Set<MemoryKey> = []
    private var counts: [MemoryKey: CeilingCount] = [:]
    private var changed: [MemoryKey: Duration] = [:]

    init(
        moderation: Moderation, event: ChatEvent, situation: Situation, memory: Memory,
        changes: [MemoryChange]
    ) {
        self.moderation = moderation
        self.event = event
        self.situation = situation
        self.memory = memory
        self.changes = changes
    }

    var countChanges: [MemoryChange] {
        changed.compactMap { key, time in counts[key].map { .set(key, $0.value, keep: time + time / 10) } }
    }

    /// Nil: it goes to its service.
    mutating func settle(_ action: ChatAction) -> ActionOutcome? {
        let isHolding = action.by == Punishment.owner && action.path.hasPrefix(Punishments.path)
        guard let (channel, realm) = moderation.channel(action.place, event, memory) else {
            return .failed("\(action.place.account) has not logged in yet")
        }
        if case .deleteMessage = action.verb {
            // What we said for a while only is ours to take back.
            if action.path.hasSuffix(".delete_after") { return nil }
            return take(.deletions, .channel(channel), action)
        }
        if isHolding { return nil }
        switch action.verb {
        case .removeMember(let user):
            return spare(realm.user(user), action) ?? take(.kicks, .all, action)
        case .ban(let user, let until, let reason):
            let user = realm.user(user)
            if let refusal = spare(user, action) ?? take(.bans, .all, action) { return refusal }
            begin(
                .ban, Punishment.key(.ban, of: user, in: channel), until, reason, action, user, channel, realm
            )
            // Where there is no ban, whoever is banned is at least removed.
            return nil
        case .mute(let user, let until, let reason):
            let user = realm.user(user)
            if let refusal = spare(user, action) { return refusal }
            let byDeleting = moderation.mutesByDeleting(action.place.account, in: channel)
            begin(
                .mute, Punishment.key(.mute, of: user, in: channel), until, reason, action, user, channel,
                realm, byDeleting: byDeleting)
            return byDeleting ? .done(Receipt(channel: action.place.channel)) : done("mute", action)
        case .lock(let until, let reason):
            begin(.lock, Punishment.key(.lock, in: channel), until, reason, action, nil, channel, realm)
            return done("lock", action)
        case .slowMode(let interval):
            let key = Punishment.key(.slowmode, in: channel)
            guard let interval, interval > .zero else {
                changes.append(.forget(key))
                return done("slowmode", action)
            }
            let slow = Punishment(
                until: nil, at: situation.now, by: action.by, interval: interval, event: event.id,
                spares: action.spares)
            changes.append(.set(key, slow.value, keep: nil))
            return done("slowmode", action)
        case .unmute(let user):
            lift(Punishment.key(.mute, of: realm.user(user), in: channel))
            return done("unmute", action)
        case .unban(let user):
            lift(Punishment.key(.ban, of: realm.user(user), in: channel))
            return done("unban", action)
        case .unlock:
            lift(Punishment.key(.lock, in: channel))
            return done("unlock", action)
        default: return nil
        }
    }

    /// Done by remembering it, unless the service has it.
    private func done(_ name: String, _ action: ChatAction) -> ActionOutcome? {
        let abilities =
            action.place.account == event.account
            ? situation.abilities : situation.directory.accounts[action.place.account]?.abilities
        return abilities?.actions.contains(name) == true ? nil : .done(Receipt(channel: action.place.channel))
    }

    private mutating func begin(
        _ kind: Punishment.Kind, _ key: MemoryKey, _ until: Timestamp?, _ reason: String?,
        _ action: ChatAction, _ user: UserID?, _ channel: ChannelID, _ realm: Realm, byDeleting: Bool = false
    ) {
        let until = until == .never ? nil : until
        var new = Punishment(
            until: until, at: situation.now, by: action.by, reason: reason, event: event.id,
            spares: action.spares)
        new.isByDeleting = byDeleting
        let held = begun[key] ?? (lifted.contains(key) ? nil : Punishment(memory.value(of: key)))
        // Of two, the one that ends later holds: a shorter one takes nothing back.
        if held?.all.contains(new) == true { return }
        guard let punishment = Punishment((held?.all ?? []) + [new], at: situation.now) else { return }
        changes.append(
            .set(key, punishment.value, keep: Punishments.keep(punishment, from: situation.now)))
        begun[key] = punishment
        guard let until, punishment.all.contains(new) else { return }
        var end = Continuation(
            owner: Punishment.owner, step: Punishments.endStep, values: ["kind": kind.rawValue], due: until)
        end.values["user"] = user?.text
        end.event = event.id
        end.place = Place(account: action.place.account, channel: channel.text)
        end.realm = realm.name
        later.append(end)
    }

    private mutating func lift(_ key: MemoryKey) {
        changes.append(.forget(key))
        begun[key] = nil
        lifted.insert(key)
    }

    private mutating func spare(_ user: UserID, _ action: ChatAction) -> ActionOutcome? {
        guard let why = moderation.protection(of: user, action.place.account, event, situation) else {
            return nil
        }
        notes.append(Decision.Note(by: action.by, "nothing is done to \(user): \(why)", isWarning: true))
        return .failed(why)
    }

    /// Counts one; over the ceiling it is not done, and staff are told once in the ceiling's time.
    private mutating func take(
        _ kind: Ceilings.Kind, _ subject: MemorySubject, _ action: ChatAction
    ) -> ActionOutcome? {
        let ceiling = moderation.ceilings[kind]
        let key = MemoryKey(
            owner: Punishment.owner, name: "ceiling.\(kind.rawValue).\(action.place.account)",
            subject: subject)
        var count = counts[key] ?? CeilingCount(ceiling, memory.value(of: key))
        defer {
            counts[key] = count
            changed[key] = ceiling.time
        }
        if count.take(at: situation.now) { return nil }
        ruling.withheld[kind, default: 0] += 1
        let words = "the ceiling of \(ceiling.count) \(kind.rawValue) in \(ceiling.time.inShort)"
        if count.tell(at: situation.now) {
            notes.append(
                Decision.Note(
                    by: action.by, "\(words) is reached in \(action.place); what is over it is not done",
                    isWarning: true))
            report(words, kind, action)
        }
        return .failed("over \(words)")
    }

    private mutating func report(_ words: String, _ kind: Ceilings.Kind, _ action: ChatAction) {
        guard let name = moderation.reportTo else { return }
        var channel = action.place.channel
        if action.place == event.place, let title = event.channel?.title, !title.isEmpty { channel = title }
        let wanted =
            action.by == Punishment.owner
            ? "What mutes, locks and slow mode want" : "What rule \"\(action.by)\" wants"
        let text =
            "⚠️ \(words) is reached in \(channel). \(wanted) beyond it is not done. "
            + "If it is right, raise limits.\(kind.rawValue) in the configuration."
        for place in situation.directory.places(named: name, near: action.place.account) {
            reports.append(
                ChatAction(
                    .send(Outgoing(text)), in: place, by: Punishment.owner,
                    path: "ceiling.\(kind.rawValue)"))
        }
    }
}

extension Duration {
    /// Such as `10m` or `1h30m`.
    var inShort: String {
        var rest = milliseconds
        var text = ""
        for (size, unit) in [(86_400_000, "d"), (3_600_000, "h"), (60_000, "m"), (1000, "s")]
            as [(Int64, String)]
        where rest >= size {
            text += "\(rest / size)\(unit)"
            rest %= size
        }
        return text.isEmpty ? "\(rest)ms" : text
    }
}
