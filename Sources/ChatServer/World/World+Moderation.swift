internal import Chat

/// Keeping order: who may not write, who may not be here, and who sees to it.
extension World {
    /// Tells something that happens in a channel, in its place among all that happens there.
    mutating func tell(_ happening: Happening, of sid: SID, at now: Timestamp) {
        guard let channel = channels[sid] else { return }
        let event = FeedEvent(id: 0, kind: .updated, at: now, subject: .happening(happening))
        publish(
            event, of: FeedID(topic: .affairs, owner: sid), known: channel.feed,
            isPrivate: channel.profile.isPrivate)
    }

    /// Who rules a channel, members and others.
    func operators(of channel: Channel) -> [Person] {
        let ruling = channel.roster.filter { $0.role == .channelAdmin }.map(\.identity)
        return Set(ruling + channel.operators).sorted().compactMap { users[$0]?.person }
    }

    mutating func tellOperators(of sid: SID, at now: Timestamp) {
        guard let channel = channels[sid] else { return }
        tell(.operators(operators(of: channel)), of: sid, at: now)
    }

    /// Makes users rulers of the channel, or takes that from them; nil takes it from all.
    mutating func setOperators(
        _ identities: [String]?, to isOperator: Bool, in sid: SID, as actor: String, at now: Timestamp
    ) throws(WorldError) {
        guard let channel = channels[sid] else { throw .noSuchChannel }
        try require(.editAnyParticipantAttributes, of: actor, in: channel)
        let identities = identities ?? operators(of: channel).map(\.identity)
        for identity in identities { try user(identity, at: now) }
        for identity in identities {
            if isOperator {
                channels[sid]?.operators.insert(identity)
            } else {
                channels[sid]?.operators.remove(identity)
            }
            guard var member = channels[sid]?.member(of: identity), !admins.contains(identity) else {
                continue
            }
            member.role = isOperator ? .channelAdmin : .channelUser
            tellRoster(sid, .updated, member, at: now)
        }
        noteChannel(sid)
        tellOperators(of: sid, at: now)
    }

    mutating func mute(
        _ identity: String, until end: Timestamp?, why: String, in sid: SID, as actor: String,
        at now: Timestamp
    ) throws(WorldError) -> Sentence {
        try sentence(identity, Sentence(start: now, end: end, why: why), \.mutes, in: sid, as: actor) {
            .muted($0, $1)
        }
    }

    mutating func unmute(_ identity: String, in sid: SID, as actor: String, at now: Timestamp)
        throws(WorldError)
    {
        try release(identity, \.mutes, "muted", in: sid, as: actor, at: now) { .unmuted($0) }
    }

    /// Takes somebody out and keeps them out.
    mutating func ban(
        _ identity: String, until end: Timestamp?, why: String, in sid: SID, as actor: String,
        at now: Timestamp
    ) throws(WorldError) -> Sentence {
        // Told while they still hear what happens here.
        let sentence = try sentence(
            identity, Sentence(start: now, end: end, why: why), \.bans, in: sid, as: actor
        ) { .banned($0, $1) }
        if channels[sid]?.invited[identity] != nil {
            try forgetInvite(of: identity, to: sid, as: Self.service, at: now)
        }
        if let member = channels[sid]?.member(of: identity) {
            try remove(member.sid, from: sid, as: Self.service, at: now)
        }
        return sentence
    }

    mutating func unban(_ identity: String, in sid: SID, as actor: String, at now: Timestamp)
        throws(WorldError)
    {
        try release(identity, \.bans, "banned", in: sid, as: actor, at: now) { .unbanned($0) }
    }

    private mutating func sentence(
        _ identity: String, _ sentence: Sentence, _ list: WritableKeyPath<Channel, [String: Sentence]>,
        in sid: SID, as actor: String, _ happening: (Person, Sentence) -> Happening
    ) throws(WorldError) -> Sentence {
        let person = try judged(identity, in: sid, by: actor)
        channels[sid]?[keyPath: list][identity] = sentence
        noteChannel(sid)
        tell(happening(person, sentence), of: sid, at: sentence.start)
        return sentence
    }

    private mutating func release(
        _ identity: String, _ list: WritableKeyPath<Channel, [String: Sentence]>, _ what: String,
        in sid: SID, as actor: String, at now: Timestamp, _ happening: (Person) -> Happening
    ) throws(WorldError) {
        let person = try judged(identity, in: sid, by: actor)
        guard channels[sid]?[keyPath: list].removeValue(forKey: identity) != nil else {
            throw .invalid("\(identity) is not \(what)")
        }
        noteChannel(sid)
        tell(happening(person), of: sid, at: now)
    }

    private func judged(_ identity: String, in sid: SID, by actor: String) throws(WorldError) -> Person {
        guard let channel = channels[sid] else { throw .noSuchChannel }
        try require(.removeParticipant, of: actor, in: channel)
        return try person(identity)
    }

    /// From now on only those who rule the channel may write there, or all again.
    mutating func freeze(_ isFrozen: Bool, _ sid: SID, as actor: String, at now: Timestamp)
        throws(WorldError)
    {
        guard let channel = channels[sid] else { throw .noSuchChannel }
        try require(.editConversationAttributes, of: actor, in: channel)
        guard channel.profile.traits.isFrozen != isFrozen else { return }
        changeProfile(sid, at: now) { profile in
            profile.traits.isFrozen = isFrozen
            profile.updated = now
        }
        tell(.frozen(isFrozen), of: sid, at: now)
    }

    /// In a channel of two, nothing reaches somebody from whom they have blocked.
    func checkBlocks(in channel: Channel, of author: String) throws(WorldError) {
        guard channel.profile.isPrivate, channel.members.count == 2,
            let other = channel.memberByIdentity.keys.first(where: { $0 != author })
        else { return }
        if users[other]?.person.blocked.contains(author) == true { throw .blocked }
    }
}
