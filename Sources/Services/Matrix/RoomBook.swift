internal import Chat

/// All rooms we are in, and how events of theirs become events of chats. No network and no clock of its own.
struct RoomBook {
    let account: String
    let realm: Realm
    let own: UserID
    let bots: BotNames
    let heedsNotices: Bool
    /// Names from `config.yaml` by room id.
    var configured: [String: String] = [:]
    /// Names of ban lists by room id.
    private(set) var lists: [String: String] = [:]
    var changedLists: Set<String> = []
    /// Rooms in which somebody may do other things than before.
    var changedPowers: Set<String> = []
    /// Users by the rooms of direct messages with them.
    private(set) var direct: [String: String] = [:]
    private(set) var rooms: [String: Room] = [:]
    private(set) var recent = RecentEvents()
    /// What somebody has to see to.
    private(set) var news: [News] = []
    /// Members that look the same in several rooms are one and the same.
    private var shared: [String: Member] = [:]

    enum News: Equatable {
        case joined(String)
        case left(String, by: String?)
        case upgraded(String, to: String, sender: String)
        case encrypted(String)
    }

    /// An event for steward, and what in the room it came of.
    struct Told {
        var event: ChatEvent
        /// Nil for what the server does not give again.
        var source: String?
    }

    init(account: String, realm: Realm, own: UserID, bots: BotNames, heedsNotices: Bool) {
        self.account = account
        self.realm = realm
        self.own = own
        self.bots = bots
        self.heedsNotices = heedsNotices
    }

    mutating func takeNews() -> [News] {
        defer { news = [] }
        return news
    }

    /// The room of that id, alias or configured name; of one that was upgraded the newest.
    func room(named name: String) -> Room? {
        var found = rooms[name] ?? rooms.values.first { $0.channel.uniqueName == name }
        var steps = 0
        while steps < 20, let next = found?.replacement.flatMap({ rooms[$0.room] }) {
            found = next
            steps += 1
        }
        return found
    }

    // MARK: Beginning

    /// Takes the state of all rooms, of which nothing is new.
    mutating func begin(with answer: SyncAnswer) {
        if let direct = answer.direct { set(direct: direct) }
        for update in answer.joined {
            open(update.id)
            for event in update.state + update.timeline { apply(event, in: update.id) }
            describe(update)
        }
        for room in rooms.values where room.isEncrypted { news.append(.encrypted(room.id)) }
        for room in rooms.values {
            guard let next = room.replacement else { continue }
            news.append(.upgraded(room.id, to: next.room, sender: next.sender))
        }
    }

    mutating func set(direct table: [String: [String]]) {
        direct = [:]
        for (user, rooms) in table {
            for room in rooms { direct[room] = user }
        }
        for id in rooms.keys { rooms[id]?.set(isDirect: direct[id] != nil) }
    }

    mutating func open(_ id: String) {
        guard rooms[id] == nil else { return }
        rooms[id] = Room(
            id: realm.channel(id), own: own, configured: configured[id], isDirect: direct[id] != nil)
    }

    /// Puts a name from `config.yaml` on a room that is known already.
    mutating func configure(_ id: String, as name: String) {
        configured[id] = name
        rooms[id]?.call(name)
    }

    private mutating func describe(_ update: SyncAnswer.JoinedRoom) {
        if let heroes = update.heroes { rooms[update.id]?.set(heroes: heroes) }
        if let count = update.memberCount { rooms[update.id]?.set(memberCount: count) }
    }

    // MARK: What is new

    /// Events that others are about and that nobody remembers: edits and redactions count only for what they fit.
    func unknownTargets(of events: [RoomEvent]) -> [String] {
        var here: Set<String> = []
        var unknown: [String] = []
        for event in events {
            here.insert(event.id)
            switch event.content {
            case .edit(let target, _), .redaction(let target):
                if recent[target] == nil, here.insert(target).inserted { unknown.append(target) }
            default: break
            }
        }
        return unknown
    }

    /// Remembers an event that was looked up.
    mutating func remember(_ event: RoomEvent, in room: String) {
        recent.add(
            event.id, RecentEvents.Known(room: room, sender: event.sender, content: .init(event.content)))
    }

    /// Whether it was told already.
    func isKnown(_ id: String) -> Bool { recent[id] != nil }

    /// Takes what happened in a room; `gap` is what came before its timeline and did not fit. What was done up to and
    /// including the event `done` is only taken note of.
    mutating func take(
        _ update: SyncAnswer.JoinedRoom, gap: [RoomEvent], after done: String?, at now: Timestamp
    ) -> [Told] {
        let isNew = rooms[update.id] == nil
        open(update.id)
        for event in update.state { apply(event, in: update.id) }
        describe(update)
        let events = gap + update.timeline
        var isPresent = wasPresent(before: events, state: update.state, isNew: isNew)
        var isDone = done.map { done in events.contains { $0.id == done } } ?? false
        // Up to the end of a room all that was said in it counts, also where its end is known already.
        var hasEnd = events.contains { $0.isTombstone }
        var told: [Told] = []
        for event in events {
            if isKnown(event.id) { continue }
            let wasDone = isDone
            if event.id == done { isDone = false }
            if event.isTombstone { hasEnd = false }
            if case .member(own.text, let membership) = event.content {
                let wasPresent = isPresent
                isPresent = membership.kind == .join
                if isPresent, !wasPresent, !wasDone,
                    let added = make(.channelAdded, event, in: update.id, part: "/added")
                {
                    told.append(added)
                }
            }
            let kinds = take(event, in: update.id)
            // What was before we were there is history.
            guard isPresent, !wasDone, hasEnd || !isOver(update.id) else { continue }
            told += kinds
        }
        if isNew { news.append(.joined(update.id)) }
        if !isOver(update.id) { told += takePassing(update, at: now) }
        // What is said about a list is no affair of rules, unless they are to be in the room, too.
        if isOnlyList(update.id) { told.removeAll { $0.event.policy == nil } }
        return told
    }

    /// Whether we were in the room before the first of these.
    private func wasPresent(before events: [RoomEvent], state: [RoomEvent], isNew: Bool) -> Bool {
        for event in events {
            guard case .member(own.text, let membership) = event.content else { continue }
            if case .was(let before, _, _) = membership.before { return before == .join }
            return membership.before == .unknown && !isNew
        }
        guard isNew else { return true }
        return state.contains { event in
            guard case .member(own.text, let membership) = event.content else { return false }
            return membership.kind == .join
        }
    }

    /// A room whose place another has taken is silent, once we are in that.
    private func isOver(_ id: String) -> Bool {
        rooms[id]?.replacement.map { rooms[$0.room] != nil } ?? false
    }

    /// We are not in it any more.
    mutating func leave(_ id: String, _ events: [RoomEvent]) -> [Told] {
        guard rooms[id] != nil else { return [] }
        let end = events.last { event in
            guard case .member(own.text, let membership) = event.content else { return false }
            return membership.kind == .leave || membership.kind == .ban
        }
        var told: [Told] = []
        if let end { told = take(end, in: id) }
        rooms[id] = nil
        let by = end.flatMap { $0.sender == own.text ? nil : $0.sender }
        news.append(.left(id, by: by))
        return told
    }

    // MARK: Members and events

    /// Everybody by the name they go by there.
    mutating func member(_ user: String, name: String?, in room: Room) -> Member {
        let name = name.flatMap { $0.isEmpty ? nil : $0 } ?? localpart(of: user)
        let roles = room.roles(of: user)
        if let known = shared[user], known.name == name, known.roles == roles { return known }
        let member = Member(user: realm.user(user), name: name, roles: roles, isBot: bots.contains(user))
        if shared.count >= 100_000 { shared = [:] }
        shared[user] = member
        return member
    }

    /// Whoever did something in a room.
    func member(_ user: String, in room: String) -> Member {
        if let member = rooms[room]?.people[user] { return member }
        let id = realm.user(user)
        return rooms[room]?.member(id, isBot: bots.contains(user)) ?? Member(user: id, name: id.localpart)
    }

    mutating func note(newest id: String, in room: String) { rooms[room]?.newest = id }

    /// Changes a room that is there.
    mutating func change(_ room: String, _ body: (inout Room) -> Void) {
        guard var found = rooms.removeValue(forKey: room) else { return }
        body(&found)
        rooms[room] = found
    }

    /// Rooms in which powers have changed.
    mutating func takeChangedPowers() -> [Room] {
        defer { changedPowers = [] }
        return changedPowers.compactMap { rooms[$0] }
    }

    // MARK: Ban lists

    /// The room is a ban list from now on.
    mutating func follow(_ room: String, as list: String) { lists[room] = list }

    /// Takes all that stands in a ban list now.
    mutating func read(_ events: [RoomEvent], ofList room: String) {
        for event in events {
            if case .policy(let rule, _) = event.content { change(room) { _ = $0.set(rule) } }
        }
        changedLists.insert(room)
    }

    /// A room that we are in for its list alone.
    func isOnlyList(_ id: String) -> Bool { lists[id] != nil && configured[id] == nil }

    /// What stands in the lists that have changed, by their names.
    mutating func takeChangedLists() -> [String: [Policy]] {
        defer { changedLists = [] }
        return changedLists.reduce(into: [:]) { found, id in
            guard let list = lists[id], let room = rooms[id] else { return }
            found[list] = room.rules.sorted { $0.key < $1.key }.compactMap { $0.value.policy(of: list) }
        }
    }

    mutating func tell(_ item: News) { news.append(item) }

    func make(
        _ kind: ChatEvent.Kind, _ event: RoomEvent, in room: String, part suffix: String = "",
        by: String? = nil
    ) -> Told? {
        guard let channel = rooms[room]?.channel else { return nil }
        var made = ChatEvent(
            id: event.id + suffix, account: account, realm: realm, channel: channel, sentAt: event.at,
            kind: kind)
        if let by { made.by = realm.user(by) }
        return Told(event: made, source: event.id)
    }
}

extension RecentEvents.Content {
    init(_ content: RoomEvent.Content) {
        self =
            switch content {
            case .message(let message): .message(thread: message.thread)
            case .edit(let original, _): .edit(of: original)
            case .reaction(let target, let key): .reaction(to: target, key: key)
            case .encrypted, .other("m.room.message"), .other("m.sticker"), .other("m.room.encrypted"):
                .message(thread: nil)
            default: .other
            }
    }
}

extension RoomEvent {
    fileprivate var isTombstone: Bool {
        if case .tombstone = content { true } else { false }
    }
}
