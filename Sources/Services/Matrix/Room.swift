internal import Chat
internal import JSON

/// A room we are in, as far as it is known.
struct Room {
    private(set) var channel: Channel
    private let own: UserID
    /// The name it has in `config.yaml`.
    private var configured: String?
    private(set) var people: [String: Member] = [:]
    private(set) var levels: PowerLevels?
    private(set) var creation = RoomCreation()
    private(set) var isEncrypted = false
    /// The room that took its place.
    private(set) var replacement: Replacement?
    /// Rules of a ban list, by kind and key.
    private(set) var rules: [String: PolicyRule] = [:]
    private var name = ""
    private var alias: String?
    private var heroes: [String] = []
    private var direct: Bool
    /// The last event that somebody sent.
    var newest: String?
    /// Those who are typing.
    var typing: Set<String> = []

    struct Replacement: Equatable {
        var room: String
        /// Who said so; their server knows the room.
        var sender: String
    }

    init(id: ChannelID, own: UserID, configured: String?, isDirect: Bool) {
        channel = Channel(id: id, uniqueName: configured, isDirect: isDirect)
        self.own = own
        self.configured = configured
        direct = isDirect
    }

    var id: String { channel.id.text }

    // MARK: People

    /// The member of that id, or a stranger, as we are told of members only when they do something.
    func member(_ user: UserID, isBot: Bool) -> Member {
        people[user.text]
            ?? Member(user: user, name: user.localpart, roles: roles(of: user.text), isBot: isBot)
    }

    mutating func know(_ member: Member) { people[member.user.text] = member }

    mutating func forget(_ user: String) { people[user] = nil }

    /// What somebody may do, as a number; creators are above all others in rooms of version 12 and later.
    func level(of user: String) -> Int64 {
        if creation.creatorsAreEndless, creation.creators.contains(user) { return PowerLevels.endless }
        guard let levels else { return creation.creators.first == user ? 100 : 0 }
        return levels.level(of: user)
    }

    /// The words for that: `power 50`, or `creator`.
    func roles(of user: String) -> [String] {
        let level = level(of: user)
        // Nearly all people have none, and need no list of them.
        if level == 0 { return [] }
        return level == PowerLevels.endless ? ["creator", "power \(level)"] : ["power \(level)"]
    }

    /// The levels that hold, also where there is no event that says so.
    var effectiveLevels: PowerLevels { levels ?? PowerLevels(creator: creation.creators.first) }

    /// Takes the new levels; those known people who stand elsewhere now.
    mutating func set(_ levels: PowerLevels) -> [Member] {
        self.levels = levels
        var changed: [Member] = []
        for (user, member) in people {
            let roles = roles(of: user)
            guard roles != member.roles else { continue }
            var member = member
            member.roles = roles
            people[user] = member
            changed.append(member)
        }
        return changed.sorted { $0.user.text < $1.user.text }
    }

    // MARK: What it is called

    /// Gives it the name it has in `config.yaml`.
    mutating func call(_ name: String) {
        configured = name
        describe()
    }

    mutating func set(name: String) {
        self.name = name
        describe()
    }

    mutating func set(topic: String) {
        let attributes = topic.isEmpty ? nil : JSON.object(["topic": .string(topic)]).description
        // Compared before it is written: a channel that has not changed is shared between events.
        if channel.attributes != attributes { channel.attributes = attributes }
    }

    mutating func set(alias: String?) {
        self.alias = alias
        describe()
    }

    mutating func set(heroes: [String]) {
        self.heroes = heroes.filter { $0 != own.text }
        describe()
    }

    mutating func set(memberCount: Int) {
        if channel.memberCount != memberCount { channel.memberCount = memberCount }
    }

    mutating func set(isDirect: Bool) {
        direct = isDirect
        describe()
    }

    mutating func set(_ creation: RoomCreation) {
        self.creation = creation
        describe()
    }

    mutating func encrypt() { isEncrypted = true }

    mutating func replace(by replacement: Replacement) { self.replacement = replacement }

    /// Takes an entry of a ban list; gives the one that was in its place.
    mutating func set(_ rule: PolicyRule) -> PolicyRule? {
        let place = "\(rule.kind.rawValue) \(rule.key)"
        let before = rules[place]
        rules[place] = rule.isBan ? rule : nil
        return before
    }

    /// Whether it is a conversation of two.
    var isDirect: Bool { direct || creation.direct != nil }

    private mutating func describe() {
        let others = heroes.map { people[$0]?.name ?? localpart(of: $0) }.joined(separator: ", ")
        let title = [name, isDirect ? others : alias ?? others].first { !$0.isEmpty } ?? ""
        let uniqueName = configured ?? alias
        if channel.title != title { channel.title = title }
        if channel.uniqueName != uniqueName { channel.uniqueName = uniqueName }
        if channel.isDirect != isDirect { channel.isDirect = isDirect }
    }
}

/// The part of a user id before the colon, without the sign.
func localpart(of user: String) -> String {
    guard user.hasPrefix("@") else { return user }
    let name = user.dropFirst().prefix { $0 != ":" }
    return name.isEmpty ? user : String(name)
}

extension UserID {
    var localpart: String { Services.localpart(of: text) }
}
