internal import Chat
internal import JSON
internal import SQLite

/// Builds the world from its rows.
struct WorldReader {
    let connection: Connection

    /// Rows that cannot be read are an error: a world with holes would be told as if it were whole.
    private struct Unreadable: Error, CustomStringConvertible {
        let what: String
        var description: String {
            "the state file has \(what) that cannot be read; move it away to start afresh"
        }
    }

    func world(from empty: World) throws -> World {
        var world = empty
        try readUsers(into: &world)
        try readChannels(into: &world)
        try connection.each("SELECT record FROM media") { row in
            guard let media = Media(record: try json(row, 0)) else { throw Unreadable(what: "a file") }
            world.medias[media.sid] = media
        }
        let hook = try connection.first("SELECT value FROM names WHERE name = 'sendbird webhook'") {
            $0.blob(0)
        }
        if let fields = hook.flatMap({ try? JSON(parsing: $0) }) {
            var hook = SendbirdHook()
            hook.take(fields)
            world.hook = hook
        }
        return world
    }

    private func json(_ row: Row, _ column: Int) throws -> JSON { try JSON(parsing: row.blob(column)) }

    private func readUsers(into world: inout World) throws {
        try connection.each("SELECT record FROM users") { row in
            guard var user = User(record: try json(row, 0)) else { throw Unreadable(what: "a user") }
            let (sid, identity) = (user.person.sid, user.person.identity)
            user.person.role = world.admins.contains(identity) ? .serviceAdmin : .serviceUser
            // Nobody is connected to a server that has just started.
            user.person.isOnline = false
            world.identities[sid] = identity
            if user.person.isProgram { world.programs.insert(World.folded(identity)) }
            world.feeds[user.membershipFeed.sid] = FeedID(topic: .memberships, owner: sid)
            world.feeds[user.personFeed.sid] = FeedID(topic: .person, owner: sid)
            user.membershipFeed.log = try log(FeedID(topic: .memberships, owner: sid)) {
                Membership(record: $0).map { .membership($0) }
            }
            user.personFeed.log = try log(FeedID(topic: .person, owner: sid)) { record in
                guard let person = Person(record: record), let key = record["changed"]?.string,
                    let key = PersonKey(rawValue: key)
                else { return nil }
                return .person(person, key)
            }
            world.users[identity] = user
        }
        try connection.each("SELECT owner, record FROM memberships") { row in
            guard let owner = SID(row.text(0)), let identity = world.identities[owner],
                let membership = Membership(record: try json(row, 1))
            else { throw Unreadable(what: "a membership") }
            world.users[identity]?.memberships[membership.channel] = membership
        }
    }

    private func readChannels(into world: inout World) throws {
        try connection.each("SELECT record FROM channels") { row in
            guard var channel = Channel(record: try json(row, 0)) else { throw Unreadable(what: "a channel") }
            let sid = channel.sid
            // What is private is the configuration's word, too; private ones stay so without it.
            if let name = channel.profile.uniqueName, world.privateChannels.contains(name) {
                channel.profile.isPrivate = true
            }
            try readMembers(of: &channel, admins: world.admins)
            try readMessages(of: &channel, keep: world.limits.keep)
            if channel.feed.lastEvent >= 0 {
                channel.feed.log.append(
                    FeedEvent(
                        id: channel.feed.lastEvent, kind: .updated, at: channel.feed.updated,
                        subject: .channel(channel.profile)))
            }
            world.feeds[channel.feed.sid] = FeedID(topic: .channel, owner: sid)
            world.feeds[channel.messageFeed.sid] = FeedID(topic: .messages, owner: sid)
            world.feeds[channel.rosterFeed.sid] = FeedID(topic: .roster, owner: sid)
            if let name = channel.profile.uniqueName { world.channelNames[name] = sid }
            if channel.profile.url.isEmpty { channel.profile.url = world.freeURL(for: channel.profile) }
            world.channelURLs[channel.profile.url] = sid
            let last = channel.messages.isEmpty ? 0 : channel.messages[channel.messages.count - 1].number
            world.nextMessage = max(
                world.nextMessage, last + 1, (channel.profile.lastMessage?.number ?? 0) + 1)
            world.nextChannel = max(world.nextChannel, channel.profile.number + 1)
            world.channels[sid] = channel
        }
    }

    private func readMembers(of channel: inout Channel, admins: Set<String>) throws {
        try connection.each("SELECT record FROM members WHERE channel = ?", [.text(channel.sid.text)]) {
            row in
            guard var member = Member(record: try json(row, 0)) else { throw Unreadable(what: "a member") }
            // Who the admins are is the configuration's word.
            if admins.contains(member.identity) { member.role = .channelAdmin }
            channel.members[member.sid] = member
            channel.memberByIdentity[member.identity] = member.sid
        }
        channel.rosterFeed.log = try log(FeedID(topic: .roster, owner: channel.sid)) {
            Member(record: $0).map { .member($0) }
        }
    }

    private func readMessages(of channel: inout Channel, keep: Int) throws {
        let sql = "SELECT record FROM messages WHERE channel = ? ORDER BY place"
        try connection.each(sql, [.text(channel.sid.text)]) { row in
            guard let message = Message(record: try json(row, 0)) else { throw Unreadable(what: "a message") }
            channel.messages.append(message)
        }
        while channel.messages.count > max(keep, 1) { _ = channel.messages.removeFirst() }
        try readMessageEvents(of: &channel)
    }

    /// An event tells of its message as it is now, or as it was when it was deleted.
    private func readMessageEvents(of channel: inout Channel) throws {
        let feed = FeedID(topic: .messages, owner: channel.sid)
        var deleted: [Int64: Message] = [:]
        var events: [FeedEvent] = []
        let sql =
            "SELECT id, kind, at, place, record FROM events WHERE topic = ? AND owner = ? ORDER BY id DESC"
        try connection.each(sql, [SQLValue(feed.topic.rawValue), .text(feed.owner.text)]) { row in
            let place = row.int(3)
            if !row.isNull(4) { deleted[place] = Message(record: try json(row, 4)) }
            guard let kind = FeedEvent.Kind(rawValue: Int(row.int(1))),
                let message = channel.message(at: place) ?? deleted[place]
            else { return }
            events.append(
                FeedEvent(
                    id: row.int(0), kind: kind, at: Timestamp(milliseconds: row.int(2)),
                    subject: .message(message)))
        }
        for event in events.reversed() { channel.messageFeed.log.append(event) }
    }

    private func log(
        _ feed: FeedID, _ subject: (JSON) -> FeedEvent.Subject?
    ) throws -> Trail<FeedEvent> {
        var log = Trail<FeedEvent>()
        let sql = "SELECT id, kind, at, record FROM events WHERE topic = ? AND owner = ? ORDER BY id"
        try connection.each(sql, [SQLValue(feed.topic.rawValue), .text(feed.owner.text)]) { row in
            guard let kind = FeedEvent.Kind(rawValue: Int(row.int(1))),
                let subject = subject(try json(row, 3))
            else { throw Unreadable(what: "an event") }
            log.append(
                FeedEvent(
                    id: row.int(0), kind: kind, at: Timestamp(milliseconds: row.int(2)), subject: subject))
        }
        return log
    }
}
