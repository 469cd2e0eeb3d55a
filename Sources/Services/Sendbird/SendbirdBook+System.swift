internal import Chat
internal import JSON

extension SendbirdBook {
    /// A system event. Source of the categories: the behaviour of Sendbird's clients.
    mutating func readSystem(_ node: JSONNode, in url: String) {
        let at = node["ts"]?.number ?? now.milliseconds
        let data = node["data"]
        func count(_ name: String) -> Int64? { (node[name] ?? data?[name])?.number }
        rooms[url]?.count(
            count("joined_member_count") ?? count("member_count") ?? count("participant_count"), at: at)
        let category = node["cat"]?.number ?? 0
        switch category {
        case 10000: for user in Self.users(data) { joined(user, in: url, at: at) }
        case 10102: for user in Self.users(data) { joined(user, in: url, at: at) }
        case 10001, 10103: for user in Self.users(data) { left(user, in: url, at: at) }
        case 10020: invited(data, in: url, at: at)
        case 10002: setOperators(data?["operators"], in: url, at: at)
        case 10201: for user in Self.users(data) { muted(user, in: url, at: at) }
        case 10200: for user in Self.users(data) { unmuted(user, in: url, at: at) }
        case 10601: for user in Self.users(data) { banned(user, in: url, at: at) }
        case 10701, 10700:
            let isFrozen = data?["freeze"]?.bool ?? (category == 10701)
            rooms[url]?.isFrozen = isFrozen
            lasting(isFrozen ? .channelFrozen : .channelUpdated, "\(category)-\(at)", at, in: url)
        case 10900: typingStarted(data, in: url, at: at)
        case 10901: typingEnded(data, in: url, at: at)
        case 11000: news.append(.changed(url, at: Timestamp(milliseconds: at)))
        case 11100, 11200: lasting(.channelUpdated, "\(category)-\(at)", at, in: url)
        case 12000:
            flush(url)
            tell(
                SendbirdHappening(
                    kind: .channelDeleted, id: "12000-\(at)", at: Timestamp(milliseconds: at), order: .lasting
                ),
                in: url)
            news.append(.left(url))
            close(url)
        default: break
        }
    }

    /// Users of an event: a list of them, or one.
    private static func users(_ data: JSONNode?) -> [JSONNode] {
        guard let data else { return [] }
        if let users = data["users"], users.kind == .array { return Array(users.elements) }
        return [data]
    }

    mutating func lasting(
        _ kind: ChatEvent.Kind, _ id: String, _ at: Int64, in url: String, by: UserID? = nil
    ) {
        happen(
            SendbirdHappening(
                kind: kind, id: id, at: Timestamp(milliseconds: at), order: .lasting, by: by), in: url)
    }

    // MARK: Coming and going

    private mutating func joined(_ node: JSONNode, in url: String, at moment: Int64) {
        guard let member = member(node, in: url) else { return }
        rooms[url]?.roster[member.user.text] = member
        banned[Who(channel: url, user: member.user.text)] = nil
        lasting(
            .memberJoined(member), "joined-\(moment)-\(member.user)", moment, in: url,
            by: reading.user(node["inviter"]))
    }

    private mutating func left(_ node: JSONNode, in url: String, at moment: Int64) {
        guard let member = member(node, in: url) else { return }
        let who = Who(channel: url, user: member.user.text)
        gone(member, in: url)
        // Whether a ban is told as leaving, too, is not known; once is enough.
        if let until = banned[who], until > now { return }
        lasting(.memberLeft(member), "left-\(moment)-\(member.user)", moment, in: url)
        if member.user == own { leaveOurselves(url) }
    }

    private mutating func banned(_ node: JSONNode, in url: String, at moment: Int64) {
        guard let member = member(node, in: url) else { return }
        gone(member, in: url)
        banned[Who(channel: url, user: member.user.text)] = now + .seconds(30)
        lasting(.memberBanned(member), "banned-\(moment)-\(member.user)", moment, in: url)
        if member.user == own { leaveOurselves(url) }
    }

    private mutating func gone(_ member: Member, in url: String) {
        rooms[url]?.roster[member.user.text] = nil
        rooms[url]?.read[member.user.text] = nil
        typing[Who(channel: url, user: member.user.text)] = nil
        mutes[Who(channel: url, user: member.user.text)] = nil
    }

    /// What waits there cannot be read any more; what came is told.
    private mutating func leaveOurselves(_ url: String) {
        flush(url)
        news.append(.left(url))
        close(url)
    }

    private mutating func flush(_ url: String) {
        let held = rooms[url]?.held ?? []
        rooms[url]?.held = []
        for happening in held { tell(happening, in: url) }
    }

    private mutating func invited(_ data: JSONNode?, in url: String, at moment: Int64) {
        let inviter = reading.user(data?["inviter"])
        for node in data?["invitees"].map({ Array($0.elements) }) ?? [] {
            guard let member = member(node, in: url) else { continue }
            if member.user == own {
                news.append(.invited(url))
            } else {
                lasting(
                    .memberInvited(member), "invited-\(moment)-\(member.user)", moment, in: url, by: inviter)
            }
        }
    }

    private mutating func setOperators(_ list: JSONNode?, in url: String, at moment: Int64) {
        guard let list, list.kind == .array, let room = rooms[url] else { return }
        var members: [String: Member] = [:]
        for node in list.elements {
            guard let member = reading.member(node, isOperator: true) else { continue }
            members[member.user.text] = member
        }
        let before = room.operators
        rooms[url]?.operators = Set(members.keys)
        for id in before.symmetricDifference(members.keys).sorted() {
            var member = members[id] ?? room.roster[id] ?? reading.member(id)
            member.roles = members[id] == nil ? [] : ["operator"]
            if room.roster[id] != nil { rooms[url]?.roster[id] = member }
            lasting(.memberUpdated(member), "role-\(moment)-\(id)", moment, in: url)
        }
    }

    // MARK: Mutes

    private mutating func muted(_ node: JSONNode, in url: String, at moment: Int64) {
        guard let member = member(node, in: url) else { return }
        let who = Who(channel: url, user: member.user.text)
        // What is left of it does not depend on whose clock is right.
        let left =
            node["remaining_duration"]?.number.flatMap { $0 > 0 ? $0 : nil }
            ?? node["end_at"]?.number.flatMap { $0 > moment ? $0 - moment : nil }
        mutes[who] = left.map { (member, now + .milliseconds($0)) }
        lasting(.memberMuted(member), "muted-\(moment)-\(member.user)", moment, in: url)
    }

    private mutating func unmuted(_ node: JSONNode, in url: String, at moment: Int64) {
        guard let member = member(node, in: url) else { return }
        mutes[Who(channel: url, user: member.user.text)] = nil
        lasting(.memberUpdated(member), "unmuted-\(moment)-\(member.user)", moment, in: url)
    }

    // MARK: Typing

    private mutating func typingStarted(_ node: JSONNode?, in url: String, at moment: Int64) {
        guard let member = member(node, in: url), member.user != own else { return }
        let who = Who(channel: url, user: member.user.text)
        let isNew = typing.updateValue((member, now + typingTime), forKey: who) == nil
        if isNew { passing(.typingStarted(member), "typing-\(moment)-\(member.user)", moment, in: url) }
    }

    private mutating func typingEnded(_ node: JSONNode?, in url: String, at moment: Int64) {
        guard let member = member(node, in: url),
            typing.removeValue(forKey: Who(channel: url, user: member.user.text)) != nil
        else { return }
        passing(.typingEnded(member), "typed-\(moment)-\(member.user)", moment, in: url)
    }

    private mutating func passing(_ kind: ChatEvent.Kind, _ id: String, _ at: Int64, in url: String) {
        happen(
            SendbirdHappening(kind: kind, id: id, at: Timestamp(milliseconds: at), order: .passing), in: url)
    }
}
