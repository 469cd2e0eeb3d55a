package import Chat
internal import JSON

/// A channel as a list shows it.
package struct SendbirdChannel: Sendable {
    package var channel: Channel
    /// An open channel, which everybody may enter, and no group channel.
    package var isOpen: Bool
    /// We are in it.
    package var isJoined: Bool
    package var isFrozen: Bool
    package var isHidden: Bool
    package var unread: Int?
    package var lastMessage: Message?
}

/// A page of a list, and the way to the next.
package struct SendbirdPage<Element: Sendable>: Sendable {
    package var elements: [Element]
    /// Nil at the end.
    package var next: String?
    package var hasNext: Bool { next != nil }
}

extension SendbirdService {
    // MARK: Lists

    /// A page of our group channels, those with the newest message first. `after` is the page before's `next`.
    package func groupChannels(
        after token: String? = nil, count: Int = 15
    ) async throws(ChatServiceError) -> SendbirdPage<SendbirdChannel> {
        try await asking { () async throws(SendbirdFailure) in
            let page = try await groupPage(
                token: token ?? "", limit: min(max(count, 1), 100), hidden: "unhidden_only")
            return SendbirdPage(elements: page.listings.compactMap(describe), next: page.next)
        }
    }

    /// A page of the application's open channels.
    package func openChannels(
        after token: String? = nil, count: Int = 15
    ) async throws(ChatServiceError) -> SendbirdPage<SendbirdChannel> {
        try await asking { () async throws(SendbirdFailure) in
            let answer = try await fetch(
                "/open_channels",
                [
                    ("token", token ?? ""), ("limit", "\(min(max(count, 1), 100))"), ("show_frozen", "true"),
                    ("show_metadata", "true"),
                ])
            let next = answer["next"]?.string.flatMap { $0.isEmpty ? nil : $0 }
            return SendbirdPage(elements: listings(answer, .open).compactMap(describe), next: next)
        }
    }

    private func describe(_ listing: SendbirdListing) -> SendbirdChannel? {
        guard let book else { return nil }
        return SendbirdChannel(
            channel: listing.channel(in: book.realm), isOpen: listing.kind == .open,
            isJoined: listing.kind == .open ? entered.contains(listing.url) : listing.state != "invited",
            isFrozen: listing.isFrozen, isHidden: listing.isHidden, unread: listing.unread.map { Int($0) },
            lastMessage: listing.last?.message)
    }

    /// A page of messages, oldest first: the newest, or those before `earlier`, which the page after gave as `next`.
    package func messages(
        in url: String, before earlier: String? = nil, count: Int = 50
    ) async throws(ChatServiceError) -> SendbirdPage<Message> {
        let place = try place(url)
        return try await asking { () async throws(SendbirdFailure) in
            // A moment, and the messages of it that were given already: several can share one.
            let parts = earlier?.split(separator: "/") ?? []
            var moment = parts.first.flatMap { Int64($0) } ?? Self.endOfTime
            var known = Set(parts.dropFirst().compactMap { Int64($0) })
            let count = min(max(count, 1), 100)
            var found: [SeenMessage] = []
            var isMore = true
            while found.count < count, isMore {
                let limit = min(count + known.count, 200)
                let page = try await messages(
                    in: url, place.kind, around: moment, before: limit, after: 0, inclusive: true)
                isMore = page.count >= limit
                let fresh = page.messages.filter { known.insert($0.id).inserted }
                found = fresh + found
                let oldest = page.messages.first?.at.milliseconds ?? moment
                // All of that moment are known, or more than can be asked for.
                moment = fresh.isEmpty && isMore ? min(oldest, moment - 1) : oldest
            }
            found.sort { ($0.at, $0.id) < ($1.at, $1.id) }
            let given = found.suffix(count)
            isMore = isMore || found.count > count
            guard isMore, let oldest = given.first else {
                return SendbirdPage(elements: given.map(\.message), next: nil)
            }
            let same = given.filter { $0.at == oldest.at }.map { "/\($0.id)" }.joined()
            // Those of an earlier page may be of the same moment.
            let before =
                parts.first.flatMap { Int64($0) } == oldest.at.milliseconds
                ? parts.dropFirst().map { "/\($0)" }.joined() : ""
            return SendbirdPage(
                elements: given.map(\.message), next: "\(oldest.at.milliseconds)\(same)\(before)")
        }
    }

    // MARK: One to one

    /// The channel of us and that user, made when it is missing; the same each time.
    package func directChannel(to user: String) async throws(ChatServiceError) -> String {
        guard user != own else { throw .rejected("a direct message to ourselves") }
        return try await asking { () async throws(SendbirdFailure) in
            let url = try await directChannel(with: user)
            if book?.rooms[url] == nil { book?.want(url, .group) }
            bell.ring()
            return url
        }
    }

    /// How many others have not read a message; nil where it is not known who is in its channel.
    package func unreadCount(of message: MessageReference, in url: String) -> Int? {
        guard let room = book?.rooms[url], let id = Int64(message.id), let seen = room.recent[id] else {
            return nil
        }
        return room.unreadCount(ofMessageAt: seen.at.milliseconds, by: seen.message.author.user.text)
    }

    /// Messages that we have not read: in one channel, or everywhere.
    package func unread(in url: String? = nil) -> Int? {
        guard let url else { return book?.unread.map { Int($0.count) } }
        return book?.rooms[url]?.unread.map { Int($0) }
    }

    /// Takes a group channel out of our list, until somebody says something there, or back into it.
    package func hide(_ url: String, _ isHidden: Bool = true) async throws(ChatServiceError) {
        let path = try path(url) + "/hide"
        let body: JSON = [
            "user_id": .string(own), "hide_previous_messages": false, "allow_auto_unhide": true,
        ]
        try await asking { () async throws(SendbirdFailure) in
            _ = try await request(
                SendbirdRequest(
                    isHidden ? "PUT" : "DELETE", path, isHidden ? body : ["user_id": .string(own)]))
        }
    }

    /// Says that we have stopped typing.
    package func stopTyping(in url: String) async throws(ChatServiceError) {
        guard let connection else { throw .unreachable("\(account) is not connected") }
        let place = try place(url)
        do {
            _ = try await sayTyping(false, in: place, on: connection)
        } catch {
            throw .unreachable("\(error)")
        }
    }

    /// Sends a file that is somewhere already.
    package func send(
        link: String, name: String, contentType: String, size: Int64, to url: String, key: ActionKey
    ) async throws(ChatServiceError) -> Receipt {
        guard let connection else { throw .unreachable("\(account) is not connected") }
        let place = try place(url)
        return try await asking { () async throws(SendbirdFailure) in
            let answer = try await command(
                "FILE",
                [
                    "channel_url": .string(place.url), "url": .string(link), "name": .string(name),
                    "type": .string(contentType), "size": .int(size), "mention_type": "users",
                    "mentioned_user_ids": [],
                ], id: Self.requestID(key, 0), bucket: .send, on: connection)
            let id = answer["msg_id"]?.int
            return Receipt(message: id.map { MessageReference(id: "\($0)", index: $0) }, channel: url)
        }
    }

    private func asking<Result>(
        _ body: () async throws(SendbirdFailure) -> Result
    ) async throws(ChatServiceError) -> Result {
        guard connection != nil, book != nil else { throw .unreachable("\(account) is not connected") }
        do {
            return try await body()
        } catch {
            throw error.asError(repeatsFreely: true)
        }
    }

    // MARK: Unknown outcomes

    /// Looks for the message that the action's commands sent, or the channel it made.
    package func find(
        _ action: ChatAction, key: ActionKey, since: Timestamp
    ) async throws(ChatServiceError) -> Receipt? {
        // A connection that is not complete may hide what an older one has brought about.
        guard connection != nil, isComplete else { throw .unreachable("\(account) is not connected") }
        let outgoing: Outgoing
        var place: Destination
        switch action.verb {
        case .createChannel:
            let name = action.place.channel.isEmpty ? Self.name(key) : action.place.channel
            return try await asking { () async throws(SendbirdFailure) in
                try await channel(name, .open).map { Receipt(channel: $0.url) }
            }
        case .direct(let said, let user):
            outgoing = said
            let url = try await asking { () async throws(SendbirdFailure) in
                try await directChannel(with: user)
            }
            place = (url, .group)
        case .send(let said), .reply(let said, _):
            outgoing = said
            place = try self.place(action.place.channel)
        default: return nil
        }
        return try await asking { () async throws(SendbirdFailure) in
            try await find(outgoing, key: key, in: place, since: since)
        }
    }

    /// Backwards from the newest, until it is older than the action can be.
    private func find(
        _ outgoing: Outgoing, key: ActionKey, in place: Destination, since: Timestamp
    ) async throws(SendbirdFailure) -> Receipt? {
        let wanted = Dictionary(
            uniqueKeysWithValues: Self.parts(outgoing).map { (Self.requestID(key, $0), $0) })
        var found: [Int: MessageReference] = [:]
        var moment = Self.endOfTime
        let oldest = since - .seconds(120)
        var known: Set<Int64> = []
        for _ in 0..<50 where found.count < wanted.count {
            let page = try await messages(
                in: place.url, place.kind, around: moment, before: 100, after: 0, inclusive: true)
            for seen in page.messages {
                guard let part = seen.request.flatMap({ wanted[$0] }) else { continue }
                found[part] = MessageReference(id: "\(seen.id)", index: seen.id)
            }
            let isNew = page.messages.contains { known.insert($0.id).inserted }
            guard let first = page.messages.first, page.count >= 100, first.at >= oldest else { break }
            moment = isNew ? first.at.milliseconds : first.at.milliseconds - 1
        }
        if found.count == wanted.count {
            return Receipt(message: found.max { $0.key < $1.key }?.value, channel: place.url)
        }
        // The rest is sent, and no more than that.
        for (part, message) in found { sentParts[Self.requestID(key, part)] = message }
        return nil
    }

    // MARK: Rights

    /// What each of our channels lets us do.
    package func rights() async -> [ChannelRights] {
        guard let book else { return [] }
        return book.rooms.values.map { room in
            var channel = room.channel
            if channel.isDirect, let other = room.roster.values.first(where: { $0.user != book.own }) {
                channel.title = other.name
            }
            let isOperator = room.isOperator(book.own.text)
            var rights = ChannelRights(channel: channel, roles: isOperator ? ["operator"] : [])
            if isOperator || settings.apiToken != nil {
                rights.allowed = Self.rightsOfOperators
            } else {
                rights.denied = Self.rightsOfOperators
            }
            return rights
        }.sorted { ($0.channel.title, $0.channel.id.text) < ($1.channel.title, $1.channel.id.text) }
    }

    private static let rightsOfOperators: Set = [
        "delete", "kick", "mute", "unmute", "ban", "unban", "lock", "unlock",
    ]
}
