package import Chat
internal import JSON

extension MatrixService {
    /// What our power lets us do in each room, and which rooms of the configuration we cannot use.
    package func rights() async -> [ChannelRights] {
        guard let book else { return [] }
        let served = book.rooms.values.filter { room in
            !book.isOnlyList(room.id) && room.replacement.map { book.rooms[$0.room] == nil } ?? true
        }
        let known = served.map { rights(in: $0, own: book.own.text) } + missing(book.realm)
        return known.sorted {
            ($0.channel.title, $0.channel.id.text) < ($1.channel.title, $1.channel.id.text)
        }
    }

    package nonisolated func denied(in channel: ChannelID) -> Set<String> {
        denials.withLock { $0[channel.text] } ?? []
    }

    /// Takes note of what is denied in rooms where that may have changed.
    func noteDenials(_ rooms: [Room], own: String) {
        let new = rooms.map { ($0.id, Set($0.denied(to: own).keys)) }
        denials.withLock { $0.merge(new) { $1 } }
    }

    private func rights(in room: Room, own: String) -> ChannelRights {
        let denied = room.denied(to: own)
        var rights = ChannelRights(
            channel: room.channel,
            roles: room.roles(of: own).filter { $0 != "power \(PowerLevels.endless)" },
            allowed: Set(room.effectiveLevels.neededByAction.keys).subtracting(denied.keys),
            denied: Set(denied.keys))
        // Who has none is shown that, where more is needed.
        if rights.roles.isEmpty, !denied.isEmpty { rights.roles = ["power \(room.level(of: own))"] }
        rights.needed = denied.mapValues { "power \($0)" }
        if room.isEncrypted {
            rights.denied.formUnion(["send", "reply"])
            rights.problem =
                "is encrypted: steward can read nothing there and writes nothing; \(Self.unencrypted)"
        }
        return rights
    }

    static let unencrypted = "use a room without encryption"

    /// Rooms of the configuration that could not be joined so far.
    private func missing(_ realm: Realm) -> [ChannelRights] {
        errands.values.compactMap { errand in
            guard let why = errand.failure else { return nil }
            let name: String
            switch errand.reason {
            case .configured(let configured): name = configured
            case .list(let list): name = "\(errand.room) (the ban list \"\(list)\")"
            case .invited, .follows: return nil
            }
            var rights = ChannelRights(
                channel: Channel(id: realm.channel(errand.room), uniqueName: name), roles: [])
            rights.problem = "cannot be joined: \(why)"
            return rights
        }
    }

    /// What a refused action says to people: what was to be done to whom and where, and what power it takes.
    func refusal(of action: ChatAction, _ why: String, _ failure: MatrixFailure) -> String {
        let room = book?.room(named: action.place.channel)
        let user = action.verb.user.map { " \($0)" } ?? ""
        let what = "\(action.plainWord)\(user) in \(room.map { name(of: $0.id) } ?? action.place.channel)"
        guard failure.answer?.code == "M_FORBIDDEN", let room, let own = book?.own.text else {
            return "\(what): \(why)"
        }
        let level = room.level(of: own)
        let levels = room.effectiveLevels
        let word = ["reply": "send", "edit": "send", "add": "invite"][action.plainWord] ?? action.plainWord
        if let needed = levels.neededByAction[word], level < needed {
            return
                "\(what) needs power \(needed), steward has \(level) - give it that in the room's settings (\(why))"
        }
        // Nobody moderates those who stand as high as they do.
        if ["kick", "ban", "mute", "unmute"].contains(word), let other = action.verb.user,
            room.level(of: other) >= level
        {
            let power =
                room.level(of: other) == PowerLevels.endless ? "all power" : "power \(room.level(of: other))"
            return "\(what): they have \(power) and steward has \(level), which must be more (\(why))"
        }
        return "\(what): \(why)"
    }
}

extension Room {
    /// What the power of a user does not suffice for, by the names that rules use, and what it takes.
    func denied(to user: String) -> [String: Int64] {
        let level = level(of: user)
        return effectiveLevels.neededByAction.filter { level < $0.value }
    }
}

extension PowerLevels {
    /// The least power that each action needs, by the names that rules use.
    var neededByAction: [String: Int64] {
        let muting = needed(forState: "m.room.power_levels")
        let banning = max(ban, kick)
        return [
            "delete": max(redact, needed(forEvent: "m.room.redaction")), "kick": kick, "ban": banning,
            "unban": banning, "mute": muting, "unmute": muting, "react": needed(forEvent: "m.reaction"),
            "send": neededToWrite, "invite": invite, "acl": needed(forState: "m.room.server_acl"),
            "title": needed(forState: "m.room.name"), "topic": needed(forState: "m.room.topic"),
        ]
    }
}

extension ChatAction.Verb {
    /// Whom it is done to.
    fileprivate var user: String? {
        switch self {
        case .direct(_, let user), .addMember(let user), .removeMember(let user), .mute(let user, _, _),
            .unmute(let user), .ban(let user, _, _), .unban(let user):
            user
        default: nil
        }
    }
}
