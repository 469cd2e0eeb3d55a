internal import Chat
internal import JSON

/// A channel as answers describe it.
struct SendbirdListing: Sendable {
    var url: String
    var kind: SendbirdRoom.Kind
    var name: String
    var data: String?
    var count: Int64?
    var operators: Set<String>
    var members: [Member]
    var isSuper: Bool
    var isPublic: Bool
    var isDistinct: Bool
    var isFrozen: Bool
    var isHidden: Bool
    /// `joined`, `invited` or `none`; of group channels.
    var state: String?
    var role: String?
    var unread: Int64?
    var unreadMentions: Int64?
    var last: SeenMessage?
    var read: [String: Int64]
    var delivered: [String: Int64]

    /// Some answers have parts under `channel`.
    init?(_ node: JSONNode, kind: SendbirdRoom.Kind, reading: SendbirdReading) {
        func part(_ name: String) -> JSONNode? {
            node[name].flatMap { $0.isNull ? nil : $0 } ?? node["channel"]?[name]
        }
        guard let url = part("channel_url")?.words else { return nil }
        self.url = url
        self.kind = kind
        name = part("name")?.string ?? ""
        data = part("data")?.words
        var operators = Set(
            (part("operators")?.elements).map { $0.compactMap { reading.user($0)?.text } } ?? [])
        members =
            (part("members")?.elements).map { list in
                list.filter { $0["state"]?.equals("invited") != true }.compactMap { reading.member($0) }
            } ?? []
        for member in members where member.roles.contains("operator") { operators.insert(member.user.text) }
        self.operators = operators
        let joined = part("joined_member_count")?.number
        count = kind == .open ? part("participant_count")?.number : joined ?? part("member_count")?.number
        isSuper = part("is_super")?.isOn == true
        isPublic = part("is_public")?.isOn == true
        isDistinct = part("is_distinct")?.isOn == true
        isFrozen = part("freeze")?.isOn == true
        isHidden = part("is_hidden")?.isOn == true
        state = part("member_state")?.words
        role = part("my_role")?.words
        unread = part("unread_message_count")?.number
        unreadMentions = part("unread_mention_count")?.number
        last = part("last_message").flatMap { reading.message($0, operators: operators) }
        read = Self.times(part("read_receipt"))
        delivered = Self.times(part("delivery_receipt"))
    }

    private static func times(_ node: JSONNode?) -> [String: Int64] {
        var times: [String: Int64] = [:]
        for (user, value) in node?.members.map({ ($0.key, $0.value.number) }) ?? [] {
            if let value { times[user] = value }
        }
        return times
    }

    func channel(in realm: Realm) -> Channel {
        Channel(
            id: realm.channel(url), title: name, memberCount: count.map { Int($0) },
            isDirect: kind == .group && isDistinct && !isSuper && (count ?? Int64(members.count)) <= 2,
            attributes: data)
    }
}

extension SendbirdBook {
    /// Begins with a channel, or takes in how it is described now. True when that is something new.
    @discardableResult
    mutating func describe(
        _ listing: SendbirdListing, mark: SendbirdRoom.Mark, changed: Int64
    ) -> Bool {
        let channel = listing.channel(in: realm)
        let before = rooms[listing.url]
        var room =
            before
            ?? SendbirdRoom(channel: channel, kind: listing.kind, realm: realm, mark: mark, changed: changed)
        room.channel = channel
        if room.countedAt > 0, let count = before?.channel.memberCount { room.channel.memberCount = count }
        if !listing.operators.isEmpty || listing.kind == .open { room.operators = listing.operators }
        if listing.role == "operator" { room.operators.insert(own.text) }
        room.isSuper = listing.isSuper
        room.isFrozen = listing.isFrozen
        if listing.kind == .group, !listing.members.isEmpty {
            room.roster = Dictionary(
                listing.members.map { ($0.user.text, $0) }, uniquingKeysWith: { $1 })
            room.isRosterWhole = !listing.isSuper && room.roster.count == Int(listing.count ?? -1)
        }
        for (user, time) in listing.read where time > room.read[user, default: 0] { room.read[user] = time }
        for (user, time) in listing.delivered where time > room.delivered[user, default: 0] {
            room.delivered[user] = time
        }
        if let unread = listing.unread { room.unread = unread }
        rooms[listing.url] = room
        guard let before else { return true }
        return before.channel.title != room.channel.title
            || before.channel.attributes != room.channel.attributes || before.operators != room.operators
            || before.isFrozen != room.isFrozen
    }

    /// Members whom the list has and we did not know, and the other way round: who came and went while we were away.
    func comings(_ listing: SendbirdListing) -> (joined: [Member], left: [Member]) {
        guard let room = rooms[listing.url], room.isRosterWhole, !listing.isSuper,
            listing.members.count == Int(listing.count ?? -1)
        else { return ([], []) }
        let there = Set(listing.members.map(\.user.text))
        return (
            listing.members.filter { room.roster[$0.user.text] == nil },
            room.roster.values.filter { !there.contains($0.user.text) }.sorted { $0.user.text < $1.user.text }
        )
    }
}
