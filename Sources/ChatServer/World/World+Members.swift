package import Chat

extension World {
    /// Brings `identity` in: themselves, or somebody who may add others does it.
    package mutating func join(
        _ sid: SID, _ identity: String, attributes: String = "{}", role: Role? = nil, as actor: String,
        at now: Timestamp
    ) throws(WorldError) -> Member {
        try join(
            sid, identity, attributes: attributes, role: role, isVisiting: false, as: actor, at: now)
    }

    mutating func join(
        _ sid: SID, _ identity: String, attributes: String = "{}", role: Role? = nil, isVisiting: Bool,
        as actor: String, at now: Timestamp
    ) throws(WorldError) -> Member {
        guard let channel = channels[sid] else { throw .noSuchChannel }
        guard channel.memberByIdentity[identity] == nil else { throw .alreadyMember }
        if identity == actor {
            guard roleEverywhere(of: actor).permissions.contains(.joinConversation), mayKnow(channel, actor)
            else { throw .notAllowed(.joinConversation) }
        } else {
            try require(.addParticipant, of: actor, in: channel)
        }
        guard channel.bans[identity]?.holds(at: now) != true else { throw .banned }
        try checkAttributes(attributes, limit: limits.attributesBytes)
        let given = try self.role(role, in: channel, for: identity, as: actor)
        guard channel.members.count < limits.members else { throw .tooMany("members", limit: limits.members) }
        let person = try user(identity, at: now)
        guard (users[identity]?.memberships.count ?? 0) < limits.channelsOfUser else {
            throw .tooMany("channels of \(identity)", limit: limits.channelsOfUser)
        }
        var member = Member(
            sid: .fresh(.member), identity: identity, user: person.sid, joined: now, role: given,
            attributes: attributes, updated: now)
        member.addedEvent = channel.rosterFeed.lastEvent + 1
        member.inviter = identity == actor || actor == Self.service ? channel.inviters[identity] : actor
        member.isVisiting = isVisiting
        channels[sid]?.invited[identity] = nil
        channels[sid]?.inviters[identity] = nil
        channels[sid]?.memberByIdentity[identity] = member.sid
        member = tellRoster(sid, .added, member, at: now)
        setMembership(of: identity, in: sid, at: now) { membership in
            var joined = membership ?? Membership(channel: sid, status: .joined, created: now, updated: now)
            joined.status = .joined
            joined.member = member.sid
            membership = joined
        }
        noteChannel(sid)
        return member
    }

    /// Asks `identity` in; they see the channel and may join it.
    package mutating func invite(
        _ identity: String, to sid: SID, as actor: String, at now: Timestamp
    ) throws(WorldError) -> SID {
        guard let channel = channels[sid] else { throw .noSuchChannel }
        try require(.addParticipant, of: actor, in: channel)
        guard channel.memberByIdentity[identity] == nil else { throw .alreadyMember }
        if let invite = channel.invited[identity] { return invite }
        try user(identity, at: now)
        let invite = SID.fresh(.invite)
        channels[sid]?.invited[identity] = invite
        if actor != Self.service { channels[sid]?.inviters[identity] = actor }
        setMembership(of: identity, in: sid, at: now) {
            $0 = Membership(channel: sid, status: .invited, created: now, updated: now)
        }
        noteChannel(sid)
        if let person = users[identity]?.person {
            let inviter = channels[sid]?.inviters[identity].flatMap { users[$0]?.person }
            tell(.invited([person], by: inviter), of: sid, at: now)
        }
        return invite
    }

    /// Takes an invitation back, or declines it.
    package mutating func forgetInvite(
        of identity: String, to sid: SID, as actor: String, at now: Timestamp
    ) throws(WorldError) {
        guard let channel = channels[sid] else { throw .noSuchChannel }
        guard channel.invited[identity] != nil else { throw .noSuchMember }
        if identity != actor { try require(.addParticipant, of: actor, in: channel) }
        if let person = users[identity]?.person {
            let inviter = channel.inviters[identity].flatMap { users[$0]?.person }
            tell(.declined(person, inviter: inviter), of: sid, at: now)
        }
        channels[sid]?.invited[identity] = nil
        channels[sid]?.inviters[identity] = nil
        setMembership(of: identity, in: sid, at: now) { $0 = nil }
        noteChannel(sid)
    }

    /// Takes a member out: themselves, or somebody who may remove others does it.
    package mutating func remove(
        _ member: SID, from sid: SID, as actor: String, at now: Timestamp
    ) throws(WorldError) {
        guard let channel = channels[sid] else { throw .noSuchChannel }
        guard let leaving = channel.members[member] else { throw .noSuchMember }
        if leaving.identity == actor {
            try require(.leaveConversation, of: actor, in: channel)
        } else {
            try require(.removeParticipant, of: actor, in: channel)
        }
        channels[sid]?.memberByIdentity[leaving.identity] = nil
        tellRoster(sid, .removed, leaving, at: now)
        setMembership(of: leaving.identity, in: sid, at: now) { $0 = nil }
    }

    package mutating func editMember(
        _ member: SID, in sid: SID, attributes: String? = nil, role: Role? = nil, as actor: String,
        at now: Timestamp
    ) throws(WorldError) -> Member {
        guard let channel = channels[sid] else { throw .noSuchChannel }
        guard var edited = channel.members[member] else { throw .noSuchMember }
        if let attributes {
            try require(
                edited.identity == actor ? .editOwnParticipantAttributes : .editAnyParticipantAttributes,
                of: actor, in: channel)
            try checkAttributes(attributes, limit: limits.attributesBytes)
            edited.attributes = attributes
        }
        guard let role else { return tellRoster(sid, .updated, edited, at: now) }
        let before = edited.role
        edited.role = try self.role(role, in: channel, for: edited.identity, as: actor)
        let told = tellRoster(sid, .updated, edited, at: now)
        if told.role != before { tellOperators(of: sid, at: now) }
        return told
    }

    /// Changes what a member is told by, without others being told.
    mutating func note(_ member: Member, in sid: SID) {
        channels[sid]?.members[member.sid] = member
        note(.member(channel: sid, member))
    }

    /// How far `identity` has read; nil forgets it. Returns what is left unread.
    package mutating func setRead(
        _ index: Int64?, in sid: SID, as identity: String, at now: Timestamp
    ) throws(WorldError) -> Int64? {
        guard channels[sid] != nil else { throw .noSuchChannel }
        guard var member = channels[sid]?.member(of: identity) else { throw .notMember }
        if let index, index < -1 || index >= channels[sid]?.nextIndex ?? 0 {
            throw .invalid("the channel has no message \(index)")
        }
        member.lastRead = index
        member.lastReadAt = index == nil ? nil : now
        tellRoster(sid, .updated, member, at: now)
        setMembership(of: identity, in: sid, at: now) { $0?.lastRead = index }
        return channels[sid]?.unread(after: index)
    }

    package mutating func setNotificationLevel(
        _ level: String, in sid: SID, as identity: String, at now: Timestamp
    ) throws(WorldError) {
        guard let channel = channels[sid] else { throw .noSuchChannel }
        guard level == "default" || level == "muted" else {
            throw .invalid("\"\(level)\" is no notification level: use default or muted")
        }
        guard channel.member(of: identity) != nil else { throw .notMember }
        setMembership(of: identity, in: sid, at: now) { $0?.notificationLevel = level }
    }

    /// The role a member gets: what was asked for if that is allowed, else what is due.
    private func role(
        _ asked: Role?, in channel: Channel, for identity: String, as actor: String
    ) throws(WorldError) -> Role {
        let due: Role =
            admins.contains(identity) || channel.profile.createdBy == identity
                || channel.operators.contains(identity) ? .channelAdmin : .channelUser
        guard let asked, asked != due else { return due }
        guard asked.isOfChannel else { throw .invalid("\(asked.rawValue) is no role of a channel") }
        try require(.editAnyParticipantAttributes, of: actor, in: channel)
        return asked
    }

    @discardableResult
    mutating func tellRoster(
        _ sid: SID, _ kind: FeedEvent.Kind, _ member: Member, at now: Timestamp
    ) -> Member {
        guard var feed = channels[sid]?.rosterFeed, let isPrivate = channels[sid]?.profile.isPrivate else {
            return member
        }
        var member = member
        if kind != .removed {
            member.updated = now
            member.lastEvent = feed.lastEvent + 1
        }
        channels[sid]?.rosterFeed.log = Trail()
        let event = feed.add(kind, .member(member), at: now, keeping: limits.mapEvents)
        channels[sid]?.rosterFeed = feed
        channels[sid]?.members[member.sid] = kind == .removed ? nil : member
        publish(event, of: FeedID(topic: .roster, owner: sid), known: feed, isPrivate: isPrivate)
        note(kind == .removed ? .noMember(member.sid) : .member(channel: sid, member))
        noteChannel(sid)
        return member
    }
}
