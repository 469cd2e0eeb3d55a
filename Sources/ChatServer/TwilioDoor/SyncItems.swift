internal import Chat

/// The items of one list or map, in their order, with pages.
struct SyncItems {
    /// Which page is asked for.
    struct Query: Equatable {
        var size = 50
        var isDescending = false
        var from: String?
        var isExclusive = false
        /// Just this one.
        var only: String?
    }

    private enum Source {
        case messages(Trail<Message>)
        case sorted([(key: String, item: SyncShapes.Item)])
    }

    private let source: Source

    init(_ id: FeedID, of world: World) {
        switch id.topic {
        case .messages: source = .messages(world.channels[id.owner]?.messages ?? Trail())
        case .roster: source = Self.sorted((world.channels[id.owner]?.roster ?? []).map(Self.item))
        case .memberships:
            source = Self.sorted(world.memberships(of: world.identities[id.owner] ?? "").map(Self.item))
        case .person:
            let user = world.identities[id.owner].flatMap { world.users[$0] }
            source = Self.sorted(
                user.map { user in PersonKey.allCases.map { Self.item($0, of: user) } } ?? [])
        case .channel, .affairs: source = .sorted([])
        }
    }

    func item(_ key: String) -> SyncShapes.Item? {
        page(Query(size: 1, only: key)).items.first
    }

    /// A page, and the tokens for the ones before and after it.
    func page(_ query: Query) -> (items: [SyncShapes.Item], previous: String?, next: String?) {
        let count = self.count
        if let only = query.only {
            guard let place = position(of: only, atLeast: true), place < count, key(at: place) == only else {
                return ([], nil, nil)
            }
            return ([item(at: place)], nil, nil)
        }
        // Places are counted in the order asked for.
        var start = 0
        if let from = query.from {
            if query.isDescending {
                let above = position(of: from, atLeast: false) ?? 0
                start = count - above
                if query.isExclusive, above > 0, key(at: above - 1) == from { start += 1 }
            } else {
                start = position(of: from, atLeast: true) ?? 0
                if query.isExclusive, start < count, key(at: start) == from { start += 1 }
            }
        }
        let end = min(start + query.size, count)
        let items = (start..<max(start, end)).map { item(at: query.isDescending ? count - 1 - $0 : $0) }
        let next = end < count ? query.token(from: key(at: query.isDescending ? count - 1 - end : end)) : nil
        let before = max(0, start - query.size)
        let previous =
            start > 0 && count > 0
            ? query.token(from: key(at: query.isDescending ? count - 1 - before : before)) : nil
        return (items, previous, next)
    }

    private var count: Int {
        switch source {
        case .messages(let messages): messages.count
        case .sorted(let items): items.count
        }
    }

    /// The place of the first item that is at least, or else above, the key.
    private func position(of key: String, atLeast: Bool) -> Int? {
        switch source {
        case .messages(let messages):
            guard let index = Int64(key) else { return nil }
            return messages.position(of: atLeast ? index : index &+ 1, by: \.index)
        case .sorted(let items):
            return items.firstIndex { atLeast ? $0.key >= key : $0.key > key } ?? items.count
        }
    }

    private func key(at place: Int) -> String {
        switch source {
        case .messages(let messages): String(messages[place].index)
        case .sorted(let items): items[place].key
        }
    }

    private func item(at place: Int) -> SyncShapes.Item {
        switch source {
        case .messages(let messages): Self.item(messages[place])
        case .sorted(let items): items[place].item
        }
    }

    private static func sorted(_ items: [(key: String, item: SyncShapes.Item)]) -> Source {
        .sorted(items.sorted { $0.key < $1.key })
    }

    private static func item(_ message: Message) -> SyncShapes.Item {
        SyncShapes.Item(
            key: .index(message.index), subject: .message(message), created: message.posted,
            updated: message.updated, lastEvent: message.lastEvent, createdBy: message.author)
    }

    private static func item(_ member: Member) -> (key: String, item: SyncShapes.Item) {
        let key = member.sid.text
        return (
            key,
            SyncShapes.Item(
                key: .key(key), subject: .member(member), created: member.joined, updated: member.updated,
                lastEvent: member.lastEvent, createdBy: "system")
        )
    }

    private static func item(_ membership: Membership) -> (key: String, item: SyncShapes.Item) {
        let key = membership.channel.text
        return (
            key,
            SyncShapes.Item(
                key: .key(key), subject: .membership(membership), created: membership.created,
                updated: membership.updated, lastEvent: membership.lastEvent, createdBy: "system")
        )
    }

    private static func item(_ key: PersonKey, of user: User) -> (key: String, item: SyncShapes.Item) {
        (
            key.rawValue,
            SyncShapes.Item(
                key: .key(key.rawValue), subject: .person(user.person, key), created: user.person.created,
                updated: user.person.updated, lastEvent: user.personEvents[key] ?? -1, createdBy: "system")
        )
    }
}

extension SyncItems.Query {
    /// Nil when the request asks for what cannot be.
    init?(_ request: TwilioRequest) {
        if let token = request.parameter("PageToken") {
            // Clients send nothing else with a token, so it says all: order, size and the key to begin with.
            let parts = token.split(separator: "-", maxSplits: 3, omittingEmptySubsequences: false)
            guard parts.count == 4, parts[0] == "PT", parts[1] == "asc" || parts[1] == "desc",
                let size = Int(parts[2]), (1...1000).contains(size)
            else { return nil }
            self.init(size: size, isDescending: parts[1] == "desc", from: String(parts[3]))
            return
        }
        self.init()
        if let asked = request.parameter("PageSize") {
            guard let asked = Int(asked), (1...1000).contains(asked) else { return nil }
            size = asked
        }
        if let order = request.parameter("Order") {
            guard order == "asc" || order == "desc" else { return nil }
            isDescending = order == "desc"
        }
        from = request.parameter("From")
        isExclusive = request.parameter("Bounds") == "exclusive"
        only = request.parameter("Key") ?? request.parameter("Index")
    }

    /// A token for the page of the same kind that begins with this key.
    func token(from key: String) -> String { "PT-\(isDescending ? "desc" : "asc")-\(size)-\(key)" }
}
