internal import Chat

/// What is out of sight, read and delivered, and who has blocked whom.
extension World {
    /// All that is there has been read. Answers the member as they are then.
    mutating func readAll(_ sid: SID, as identity: String, at now: Timestamp) throws(WorldError) -> Member {
        guard let channel = channels[sid] else { throw .noSuchChannel }
        _ = try setRead(channel.nextIndex - 1, in: sid, as: identity, at: now)
        guard let member = channels[sid]?.member(of: identity) else { throw .notMember }
        return member
    }

    /// Until when `member` has read: the time of the last message that they have seen.
    func readTime(of member: Member, in channel: Channel) -> Timestamp {
        guard let last = member.lastRead, let at = member.lastReadAt else {
            return Timestamp(milliseconds: 0)
        }
        if last >= channel.nextIndex - 1 { return at }
        return channel.message(at: last)?.posted ?? at
    }

    /// How many messages of others `identity` has not read.
    func unread(in channel: Channel, for identity: String) -> Int {
        guard let member = channel.member(of: identity) else { return 0 }
        let start = channel.messages.position(of: (member.lastRead ?? -1) &+ 1, by: \.index)
        return (start..<max(start, channel.messages.count)).count { place in
            let message = channel.messages[place]
            return message.author != identity && !message.content.traits.isSilent
                && message.posted >= member.joined
        }
    }

    /// From now on the user sees only what is said from now on.
    mutating func clear(_ sid: SID, for identity: String, at now: Timestamp) throws(WorldError) {
        _ = try readAll(sid, as: identity, at: now)
        guard var member = channels[sid]?.member(of: identity) else { throw .notMember }
        member.clearedAt = now
        note(member, in: sid)
    }

    mutating func deliver(in sid: SID, to identity: String, at now: Timestamp) throws(WorldError) {
        guard let channel = channels[sid] else { throw .noSuchChannel }
        guard var member = channel.member(of: identity) else { throw .notMember }
        member.deliveredAt = now
        note(member, in: sid)
        if let person = users[identity]?.person { tell(.delivered(person, at: now), of: sid, at: now) }
    }

    /// Puts a channel out of its user's sight, or back.
    mutating func hide(
        _ hidden: Membership.Hidden?, _ sid: SID, as identity: String, at now: Timestamp
    ) throws(WorldError) {
        guard let membership = users[identity]?.memberships[sid] else { throw .notMember }
        guard membership.hidden != hidden else { return }
        setMembership(of: identity, in: sid, at: now) { $0?.hidden = hidden }
        if let person = users[identity]?.person { tell(.hidden(person, hidden), of: sid, at: now) }
    }

    /// A message brings a hidden channel back, where that was asked for.
    mutating func unhideAll(_ sid: SID, at now: Timestamp) {
        for identity in channels[sid]?.memberByIdentity.keys.sorted() ?? []
        where users[identity]?.memberships[sid]?.hidden?.isUntilNews == true {
            try? hide(nil, sid, as: identity, at: now)
        }
    }

    /// Whoever was here by a connection is not any more: nobody is connected to a server that has just started.
    mutating func dismissVisitors(at now: Timestamp) {
        for channel in channels.values where channel.profile.traits.isOpen {
            for member in channel.members.values where member.isVisiting {
                try? remove(member.sid, from: channel.sid, as: Self.service, at: now)
            }
        }
    }

    mutating func editChannelTraits(
        _ sid: SID, as editor: String, at now: Timestamp, _ edit: (inout ChannelTraits) -> Void
    ) throws(WorldError) {
        guard let channel = channels[sid] else { throw .noSuchChannel }
        try require(.editConversationAttributes, of: editor, in: channel)
        var traits = channel.profile.traits
        edit(&traits)
        guard traits != channel.profile.traits else { return }
        changeProfile(sid, at: now) { profile in
            profile.traits = traits
            profile.updated = now
        }
    }

    /// What only some clients know of a user; told to nobody.
    mutating func editTraits(
        of identity: String, at now: Timestamp, _ edit: (inout Person) -> Void
    ) throws(WorldError) {
        guard var person = users[identity]?.person else { throw .noSuchUser }
        edit(&person)
        person.updated = now
        users[identity]?.person = person
        if let record = users[identity]?.record { note(.user(record)) }
    }
}

extension World {
    /// Whether nothing of `target` reaches the user in channels of two.
    mutating func block(_ target: String, _ isBlocked: Bool, by identity: String, at now: Timestamp) {
        guard let person = users[target]?.person, let blocker = users[identity]?.person else { return }
        try? editTraits(of: identity, at: now) { person in
            if isBlocked { person.blocked.insert(target) } else { person.blocked.remove(target) }
        }
        // Told where both are, so that it has a place among what happens there.
        let event = FeedEvent(
            id: 0, kind: .updated, at: now, subject: .happening(.blocked(person, by: blocker, isBlocked)))
        if let feed = users[identity]?.personFeed {
            publish(event, of: FeedID(topic: .affairs, owner: blocker.sid), known: feed)
        }
    }

    /// The user is not known any more; what they wrote stays.
    mutating func forget(_ identity: String, at now: Timestamp) {
        guard let user = users[identity] else { return }
        for channel in user.memberships.keys.sorted(by: { $0.text < $1.text }) {
            if let member = channels[channel]?.member(of: identity) {
                try? remove(member.sid, from: channel, as: Self.service, at: now)
            }
            try? forgetInvite(of: identity, to: channel, as: Self.service, at: now)
        }
        users[identity] = nil
        identities[user.person.sid] = nil
        feeds[user.membershipFeed.sid] = nil
        feeds[user.personFeed.sid] = nil
        programs.remove(Self.folded(identity))
        note(.noUser(user.person.sid))
    }
}
