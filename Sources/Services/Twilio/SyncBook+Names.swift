internal import Chat

/// What people are called. Twilio keeps that in a Sync map a user, so it is looked up when somebody first says or does
/// something, and the first hundred maps are followed.
struct Profiles {
    /// Names by identity, of those who have one and were looked up.
    var names: [String: String] = [:]
    /// Those who were looked up, with or without a name.
    var read: Set<String> = []
    /// The maps of those who were not.
    var unread: [Fingerprint: String] = [:]
    /// Those who are being looked up.
    var pending: Set<String> = []
    /// For whom of them events wait, and until when.
    var awaited: [String: Timestamp] = [:]
    /// Whose maps are followed, by their number in the role of the object.
    var followed: [String] = []

    static let mostPending = 16
    static let mostFollowed = 100
    /// How long events wait for a name.
    var patience = TwilioTiming().name
    /// In a crowd nobody waits: the names come a moment later.
    static let crowd = 32
}

extension SyncBook {
    /// Puts a member into a channel, by their name if that is known.
    @discardableResult
    mutating func enter(_ entry: RosterEntry, into channel: Int) -> RosterEntry {
        var entry = entry
        let identity = entry.member.user.text
        if let name = profiles.names[identity] {
            entry.member.name = name
        } else if let map = entry.profile, entry.member.user != own, !profiles.pending.contains(identity),
            !profiles.read.contains(identity)
        {
            profiles.unread[Fingerprint(identity)] = map
        }
        channels[channel].set(entry)
        return entry
    }

    /// Asks for the name of somebody whose event is next.
    mutating func wonder(about user: UserID) {
        let mark = Fingerprint(user.text)
        guard let map = profiles.unread[mark], profiles.pending.count < Profiles.mostPending else { return }
        profiles.unread[mark] = nil
        profiles.pending.insert(user.text)
        if eventCount < Profiles.crowd { profiles.awaited[user.text] = now + profiles.patience }
        news.append(.nameless(user.text, map: map))
    }

    /// The answer; nil for no name.
    mutating func call(_ identity: String, _ name: String?) {
        stopWaiting(for: identity)
        profiles.read.insert(identity)
        let known = profiles.names[identity]
        profiles.names[identity] = name
        guard name != known else { return }
        let user = realm.user(identity)
        for place in channelPlaces.values { channels[place].call(user, name ?? identity) }
        rename(user, name ?? identity)
    }

    /// Whoever could not be looked up is looked up another time.
    mutating func giveUp(on identity: String, map: String) {
        stopWaiting(for: identity)
        profiles.unread[Fingerprint(identity)] = map
    }

    private mutating func stopWaiting(for identity: String) {
        profiles.pending.remove(identity)
        profiles.awaited[identity] = nil
    }

    /// Names that take too long are not waited for.
    mutating func endHolding(at now: Timestamp) {
        guard !profiles.awaited.isEmpty else { return }
        profiles.awaited = profiles.awaited.filter { now < $0.value }
    }

    /// Follows the map of somebody's name, for the first hundred.
    mutating func follow(_ identity: String, map sid: String, from mark: Int64) {
        guard profiles.followed.count < Profiles.mostFollowed, !profiles.followed.contains(identity) else {
            return
        }
        profiles.followed.append(identity)
        _ = read(sid, as: .profile(profiles.followed.count - 1), from: mark)
    }
}

extension ChatEvent.Kind {
    /// The same with another name for a user.
    func calling(_ user: UserID, _ name: String) -> ChatEvent.Kind {
        func named(_ member: Member) -> Member {
            guard member.user == user else { return member }
            var member = member
            member.name = name
            return member
        }
        func named(_ message: Message) -> Message {
            guard message.author.user == user else { return message }
            var message = message
            message.author.name = name
            return message
        }
        return switch self {
        case .messageAdded(let message): .messageAdded(named(message))
        case .messageEdited(let message): .messageEdited(named(message))
        case .messageDeleted(let message): .messageDeleted(named(message))
        case .memberJoined(let member): .memberJoined(named(member))
        case .memberLeft(let member): .memberLeft(named(member))
        case .memberUpdated(let member): .memberUpdated(named(member))
        case .typingStarted(let member): .typingStarted(named(member))
        case .typingEnded(let member): .typingEnded(named(member))
        case .readHorizonMoved(let member, let index): .readHorizonMoved(named(member), to: index)
        default: self
        }
    }
}
