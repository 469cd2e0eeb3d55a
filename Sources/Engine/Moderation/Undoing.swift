internal import Chat

/// What undoes a case: from the case and what is still known of it to what is to be done, and what is to be said.
struct Undoing {
    var decision = Decision()
    private var restored: [String] = []
    private var lost: [String] = []
    /// What holds on, for it is not this case's.
    private var kept: [String] = []
    private let found: Case
    /// Those that hold.
    private let others: [Case]
    /// Those that were undone while this one held.
    private let undone: [Case]
    private let isLate: Bool
    private let path: String
    private let now: Timestamp
    private let realm: Realm
    private let abilities: Abilities
    private let value: (MemoryKey) -> MemoryValue?

    /// `others` are the person's cases, by which what holds on is named. `value` reads what is remembered. `evidence`: nil when it
    /// is gone or cannot be opened. `late`: the key of a kick or ban that came to its end after the case was undone; nothing else
    /// is undone then.
    init(
        _ found: Case, besides others: [Case] = [], late: String? = nil, evidence: Evidence?, realm: Realm,
        abilities: Abilities, at now: Timestamp, value: @escaping (MemoryKey) -> MemoryValue?
    ) {
        self.found = found
        self.others = others.filter { $0.name != found.name && $0.undone == nil }
        undone = others.filter { other in
            other.name != found.name && other.undone.map { found.at <= $0.at } == true
        }
        isLate = late != nil
        path = late.map { "undo/\($0)" } ?? "undo"
        self.now = now
        self.realm = realm
        self.abilities = abilities
        self.value = value
        if let late {
            for deed in found.deeds where deed.key == late { bringBack(deed) }
            return
        }
        for deed in found.deeds where deed.state != .failed { lift(deed) }
        leaveChannels()
        takeBackStrikes(of: realm.user(found.user))
        postAgain(evidence, abilities.textLimit)
    }

    /// Such as `ana unmuted, strikes taken back; not restored: 1 text that is not kept any more`.
    var words: String {
        let all = restored + kept
        let done = all.isEmpty ? "nothing was left to restore" : all.joined(separator: ", ")
        return lost.isEmpty ? done : "\(done); not restored: \(lost.joined(separator: ", "))"
    }

    private mutating func lift(_ deed: Case.Deed) {
        // What has ended by itself is over.
        if let until = deed.until, until <= now { return }
        let name = name(deed)
        switch (deed.action, deed.user) {
        case ("mute", let user?):
            guard takesBack(.mute, user, deed, "\(name) is still muted") else { return }
            act(.unmute(user: user), deed, "\(name) unmuted")
        case ("ban", let user?):
            guard takesBack(.ban, user, deed, "\(name) is still banned") else { return }
            act(.unban(user: user), deed, "\(name) unbanned")
            bringBack(deed)
        case ("kick", _?): bringBack(deed)
        case ("lock", _):
            guard takesBack(.lock, nil, deed, "the channel is still locked") else { return }
            act(.unlock, deed, "the channel unlocked")
        case ("slowmode", _):
            guard takesBack(.slowmode, nil, deed, "slow mode is still asked for") else { return }
            act(.slowMode(nil), deed, "slow mode ended")
        default: break
        }
    }

    /// Only somebody whom it took out: nobody is put where they never were.
    private mutating func bringBack(_ deed: Case.Deed) {
        guard let user = deed.user else { return }
        let name = name(deed)
        let isKick = deed.action == "kick"
        if isKick || isLate, staysOut(user, name, deed) { return }
        let deeds = found.deeds.filter { isRemoval($0, of: user, in: deed.place) }
        let before = undone.filter { other in
            !other.deeds.contains { $0.action == "add" && $0.user == user && $0.place == deed.place }
        }.flatMap(\.deeds).filter { isRemoval($0, of: user, in: deed.place) }
        if (deeds + before).contains(where: { $0.tookOut == true }) {
            act(.addMember(user: user), deed, isKick ? "\(name) brought back" : nil)
        } else if deeds.contains(where: { $0.state == .asked }) {
            // How it ends is told later.
            if isKick { restored.append("\(name) brought back if they were in the channel") }
        } else if deeds.contains(where: { $0.tookOut == nil }) {
            let words = "\(name) in the channel, as nobody knows whether they were in it"
            if !lost.contains(words) { lost.append(words) }
        } else if isKick {
            keep("\(name) was not in the channel")
        }
    }

    private func isRemoval(_ deed: Case.Deed, of user: String, in place: Place) -> Bool {
        (deed.action == "kick" || deed.action == "ban") && deed.user == user && deed.place == place
            && deed.state != .failed
    }

    private func name(_ deed: Case.Deed) -> String {
        deed.user == found.user ? found.userName : deed.user ?? ""
    }

    /// Takes out of what is remembered what the case brought; says whether nothing else holds, so that it can be lifted.
    private mutating func takesBack(
        _ kind: Punishment.Kind, _ user: String?, _ deed: Case.Deed, _ words: String
    ) -> Bool {
        guard deed.place.account == found.place.account else { return true }
        let channel = channel(of: deed.place)
        let key =
            user.map { Punishment.key(kind, of: realm.user($0), in: channel) }
            ?? Punishment.key(kind, in: channel)
        guard let held = Punishment(value(key)), !held.isOver(at: now) else { return true }
        guard let rest = Punishment(held.all.filter { !isOurs($0, deed) }, at: now) else { return true }
        keep("\(words) by \(names(of: rest))")
        guard rest != held else { return false }
        decision.changes.append(.set(key, rest.value, keep: Punishments.keep(rest, from: now)))
        // A service that has its own is told of the end that holds now.
        let verb: ChatAction.Verb? =
            switch (kind, user) {
            case (.mute, let user?) where !rest.isNative: held.isNative ? .unmute(user: user) : nil
            case (.mute, let user?): .mute(user: user, until: rest.until, reason: rest.reason)
            case (.ban, let user?): .ban(user: user, until: rest.until, reason: rest.reason)
            case (.lock, nil): .lock(until: rest.until, reason: rest.reason)
            default: nil
            }
        if let verb, rest.until != held.until || rest.isNative != held.isNative,
            abilities.actions.contains(kind.rawValue)
        {
            decision.actions.append(
                ChatAction(
                    verb, in: deed.place, by: Punishment.owner, path: Punishments.path + kind.rawValue))
        }
        return false
    }

    /// The cases that brought it, or the rules where there are none.
    private func names(of punishment: Punishment) -> String {
        var names: [String] = []
        for one in punishment.all {
            let known = others.first { $0.rule == one.by && $0.event == one.event }
            let name = known?.name ?? one.by
            if !names.contains(name) { names.append(name) }
        }
        return names.joined(separator: ", ")
    }

    private mutating func keep(_ note: String) {
        if !kept.contains(note) { kept.append(note) }
    }

    /// Whom somebody else banned meanwhile, or kicked again, is not brought back.
    private mutating func staysOut(_ user: String, _ name: String, _ deed: Case.Deed) -> Bool {
        let key = Punishment.key(.ban, of: realm.user(user), in: channel(of: deed.place))
        let own = found.deeds.first { $0.action == "ban" && $0.place == deed.place } ?? deed
        if let held = Punishment(value(key)),
            let rest = Punishment(held.all.filter { !isOurs($0, own) }, at: now)
        {
            keep("\(name) is still banned by \(names(of: rest))")
            return true
        }
        let again = others.filter { other in
            other.number > found.number
                && other.deeds.contains {
                    $0.action == "kick" && $0.user == user && $0.place == deed.place && $0.state != .failed
                }
        }
        guard !again.isEmpty else { return false }
        keep("\(name) is still out by \(again.map(\.name).joined(separator: ", "))")
        return true
    }

    /// A lock or slow mode that came with it is about everybody there.
    private mutating func leaveChannels() {
        for place in [found.place] + found.deeds.map(\.place) where !place.channel.isEmpty {
            for (kind, words) in [
                (Punishment.Kind.lock, "stays locked: \"unlock\" opens it"),
                (.slowmode, "stays slow: \"slowmode: none\" ends that"),
            ] where !found.deeds.contains(where: { $0.action == kind.rawValue && $0.place == place }) {
                guard let held = Punishment(value(Punishment.key(kind, in: channel(of: place)))),
                    !held.isOver(at: now),
                    held.all.contains(where: { $0.by == found.rule && $0.event == found.event })
                else { continue }
                keep("\(place == found.place ? found.channelName ?? place.channel : place.channel) \(words)")
            }
        }
    }

    private func channel(of place: Place) -> ChannelID {
        if case .text(let id)? = value(Moderation.nameKey(place)) { return realm.channel(id) }
        return realm.channel(place.channel)
    }

    /// Whether the case brought it.
    private func isOurs(_ punishment: Punishment, _ deed: Case.Deed) -> Bool {
        guard punishment.by == found.rule else { return false }
        if punishment.event == found.event { return true }
        let isNoted = punishment.event != nil && punishment.until == nil
        return !isNoted && punishment.until == deed.until
    }

    private mutating func act(_ verb: ChatAction.Verb, _ deed: Case.Deed, _ words: String? = nil) {
        let isThere = decision.actions.contains { $0.verb == verb && $0.place == deed.place }
        guard !isThere else { return }
        decision.actions.append(
            ChatAction(verb, in: deed.place, path: "\(path)[\(decision.actions.count)]"))
        if let words, !restored.contains(words) { restored.append(words) }
    }

    private mutating func takeBackStrikes(of user: UserID) {
        var points: Int64 = 0
        for strike in found.strikes {
            let key = MemoryKey(owner: MemoryKey.casesFiled.owner, name: strike.name, subject: .user(user))
            var ledger = StrikeLedger(value(key))
            let given = ledger.entries.filter { $0.event == found.event && $0.by == found.rule }
            guard ledger.remove(event: found.event, by: found.rule) else { continue }
            points += given.reduce(0) { $0 + $1.points }
            decision.changes.append(
                ledger.entries.isEmpty
                    ? .forget(key)
                    : .set(key, .text(ledger.text), keep: strike.keep.map { .milliseconds($0) }))
        }
        if points > 0 {
            restored.append("\(points) \(points == 1 ? "strike" : "strikes") of \(found.userName) taken back")
        }
    }

    /// Removed texts with their authors' names, several to a message.
    private mutating func postAgain(_ evidence: Evidence?, _ limit: Abilities.TextLimit) {
        let removed = found.deeds.filter { $0.action == "delete" && $0.state != .failed }
        guard !removed.isEmpty else { return }
        var parts: [(place: Place, name: String, texts: [String])] = []
        var (posted, unknown) = (0, 0)
        for deed in removed {
            let line = evidence?.messages.first { $0.id == deed.message?.id }
            guard let text = line?.text, !text.isEmpty else {
                unknown += 1
                continue
            }
            let name = line?.name ?? found.userName
            let last = parts.last
            if let last, last.place == deed.place, last.name == name,
                Self.text(name, last.texts + [text]).fits(limit)
            {
                parts[parts.count - 1].texts.append(text)
            } else if parts.count < Self.mostPosts {
                // One that fitted by itself may not with the name before it.
                parts.append(
                    (
                        deed.place, name,
                        [
                            Self.text(name, [text]).fits(limit)
                                ? text : text.cut(to: limit, less: name.utf8.count + 16)
                        ]
                    ))
            } else {
                lost.append("more texts than \(Self.mostPosts) messages hold")
                break
            }
            posted += 1
        }
        for part in parts {
            decision.actions.append(
                ChatAction(
                    .send(Outgoing(Self.text(part.name, part.texts))), in: part.place,
                    path: "\(path)[\(decision.actions.count)]"))
        }
        if posted > 0 {
            restored.append("\(posted) \(posted == 1 ? "message" : "messages") posted again")
        }
        if unknown > 0 {
            lost.append("\(unknown) \(unknown == 1 ? "text" : "texts") not kept, or not any more")
        }
    }

    private static let mostPosts = 5

    private static func text(_ name: String, _ texts: [String]) -> String {
        "\(name) wrote:" + (texts.count == 1 ? " " : "\n") + texts.joined(separator: "\n")
    }
}

extension String {
    fileprivate func fits(_ limit: Abilities.TextLimit) -> Bool {
        switch limit.unit {
        case .bytes: utf8.count <= limit.count
        case .codePoints: unicodeScalars.count <= limit.count
        case .utf16: utf16.count <= limit.count
        }
    }

    /// As much as fits with so many bytes to spare.
    fileprivate func cut(to limit: Abilities.TextLimit, less: Int) -> String {
        var rest = limit
        rest.count = max(0, limit.count - less)
        var text = self
        while !text.fits(rest), !text.isEmpty { text.removeLast(max(1, text.count / 16)) }
        return text
    }
}
