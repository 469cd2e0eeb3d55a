package import Chat

extension World {
    /// The user with this identity, made when they are not yet known.
    @discardableResult
    package mutating func user(_ identity: String, at now: Timestamp) throws(WorldError) -> Person {
        if let user = users[identity] { return user.person }
        guard !identity.isEmpty else { throw .invalid("an identity is missing") }
        try check(identity, "the identity", limit: limits.nameLength)
        let person = Person(
            sid: .fresh(.user), identity: identity, role: roleEverywhere(of: identity), created: now,
            updated: now)
        let user = User(person: person, membershipFeed: Feed(.map, at: now), personFeed: Feed(.map, at: now))
        users[identity] = user
        identities[person.sid] = identity
        feeds[user.membershipFeed.sid] = FeedID(topic: .memberships, owner: person.sid)
        feeds[user.personFeed.sid] = FeedID(topic: .person, owner: person.sid)
        note(.user(user.record))
        return person
    }

    /// Why nobody may take this name without a proof that it is theirs.
    enum Reservation: Sendable {
        case admin
        case program
        case role

        /// Who has the name.
        var words: String {
            switch self {
            case .admin: "an admin of this server"
            case .program: "a program that logs in with a token"
            case .role: "somebody with a role here"
            }
        }
    }

    func reservation(of name: String) -> Reservation? {
        let folded = Self.folded(name)
        if admins.contains(where: { Self.folded($0) == folded }) { return .admin }
        if programs.contains(folded) { return .program }
        return keptBack.contains(folded) ? .role : nil
    }

    /// Names that look the same but for their case.
    static func folded(_ name: String) -> String {
        String(String.UnicodeScalarView(name.unicodeScalars.filter { $0 != "\u{200D}" })).lowercased()
    }

    /// Notes that `identity` has logged in with a token.
    mutating func noteProgram(_ identity: String) {
        guard let user = users[identity], !user.person.isProgram else { return }
        users[identity]?.person.isProgram = true
        programs.insert(Self.folded(identity))
        if let record = users[identity]?.record { note(.user(record)) }
    }

    package mutating func editUser(
        _ identity: String, friendlyName: String? = nil, attributes: String? = nil, as editor: String,
        at now: Timestamp
    ) throws(WorldError) -> Person {
        guard users[identity] != nil else { throw .noSuchUser }
        let permission: Permission = identity == editor ? .editOwnUserInfo : .editAnyUserInfo
        guard roleEverywhere(of: editor).permissions.contains(permission) else {
            throw .notAllowed(permission)
        }
        if let friendlyName {
            try check(friendlyName, "the friendly name", limit: limits.nameLength)
            change(identity, .friendlyName, at: now) { $0.friendlyName = friendlyName }
        }
        if let attributes {
            try checkAttributes(attributes, limit: limits.attributesBytes)
            change(identity, .attributes, at: now) { $0.attributes = attributes }
        }
        return try person(identity)
    }

    /// Nothing happens when that is known already.
    mutating func setOnline(_ isOnline: Bool, _ identity: String, at now: Timestamp) {
        guard let user = users[identity], user.person.isOnline != isOnline else { return }
        change(identity, .reachability, at: now) { $0.isOnline = isOnline }
    }

    private mutating func change(
        _ identity: String, _ key: PersonKey, at now: Timestamp, _ edit: (inout Person) -> Void
    ) {
        // Taken out while it changes, so that its log is not copied.
        guard var user = users.removeValue(forKey: identity) else { return }
        edit(&user.person)
        user.person.updated = now
        let event = user.personFeed.add(
            .updated, .person(user.person, key), at: now, keeping: limits.mapEvents)
        user.personEvents[key] = event.id
        users[identity] = user
        publish(event, of: FeedID(topic: .person, owner: user.person.sid), known: user.personFeed)
        note(.user(user.record))
    }

    /// Changes what `identity` sees of a channel and tells them; `nil` takes it away.
    mutating func setMembership(
        of identity: String, in channel: SID, at now: Timestamp, _ change: (inout Membership?) -> Void
    ) {
        // Taken out while it changes, so that its log is not copied.
        guard var user = users.removeValue(forKey: identity) else { return }
        defer { users[identity] = user }
        let before = user.memberships[channel]
        var after = before
        change(&after)
        let isPrivate = channels[channel]?.profile.isPrivate ?? false
        let event: FeedEvent
        if var membership = after {
            membership.updated = now
            membership.lastEvent = user.membershipFeed.lastEvent + 1
            event = user.membershipFeed.add(
                before == nil ? .added : .updated, .membership(membership), at: now, keeping: limits.mapEvents
            )
            user.memberships[channel] = membership
            note(.membership(owner: user.person.sid, membership))
        } else if let before {
            event = user.membershipFeed.add(.removed, .membership(before), at: now, keeping: limits.mapEvents)
            user.memberships[channel] = nil
            note(.noMembership(owner: user.person.sid, channel: channel))
        } else {
            return
        }
        publish(
            event, of: FeedID(topic: .memberships, owner: user.person.sid), known: user.membershipFeed,
            isPrivate: isPrivate)
        note(.user(user.record))
    }

    func check(_ text: String, _ what: String, limit: Int) throws(WorldError) {
        // Bytes are quick to count, and no text has more characters than bytes.
        guard text.utf8.count <= limit || text.unicodeScalars.count <= limit else {
            throw .tooLong(what, limit: limit)
        }
    }

    func checkAttributes(_ text: String, limit: Int) throws(WorldError) {
        guard text.utf8.count <= limit else { throw .tooLong("the attributes text", limit: limit) }
    }
}
