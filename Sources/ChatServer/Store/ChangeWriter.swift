internal import Chat
internal import SQLite

/// Writes changes as rows. A channel or user that changes many times in one go is written once, at the end.
struct ChangeWriter {
    let connection: Connection
    private var channels: [SID: Channel.Record] = [:]
    private var users: [SID: User.Record] = [:]
    private var forgotten: [FeedID: Int64] = [:]

    init(connection: Connection) {
        self.connection = connection
    }

    mutating func write(_ change: WorldChange) throws {
        switch change {
        case .user(let user): users[user.person.sid] = user
        case .noUser(let user):
            users[user] = nil
            for sql in [
                "DELETE FROM users WHERE sid = ?", "DELETE FROM memberships WHERE owner = ?",
                "DELETE FROM events WHERE owner = ? AND topic IN (3, 4)",
            ] {
                try connection.run(sql, [.text(user.text)])
            }
        case .channel(let channel): channels[channel.profile.sid] = channel
        case .membership(let owner, let membership):
            try connection.run(
                "INSERT OR REPLACE INTO memberships VALUES (?, ?, ?)",
                [.text(owner.text), .text(membership.channel.text), .blob(membership.record)])
        case .noMembership(let owner, let channel):
            try connection.run(
                "DELETE FROM memberships WHERE owner = ? AND channel = ?",
                [.text(owner.text), .text(channel.text)])
        case .noChannel(let channel): try remove(channel)
        case .member(let channel, let member):
            try connection.run(
                "INSERT OR REPLACE INTO members VALUES (?, ?, ?)",
                [.text(member.sid.text), .text(channel.text), .blob(member.record)])
        case .noMember(let member):
            try connection.run("DELETE FROM members WHERE sid = ?", [.text(member.text)])
        case .message(let channel, let message):
            try connection.run(
                "INSERT OR REPLACE INTO messages VALUES (?, ?, ?)",
                [.text(channel.text), .int(message.index), .blob(message.record)])
        case .noMessage(let channel, let index):
            try connection.run(
                "DELETE FROM messages WHERE channel = ? AND place = ?", [.text(channel.text), .int(index)])
        case .event(let feed, let event): try write(event, of: feed)
        case .noEvents(let feed, let below): forgotten[feed] = below
        case .name(let name, let value):
            try connection.run("INSERT OR REPLACE INTO names VALUES (?, ?)", [.text(name), .blob(value)])
        case .noMedia(let media):
            try connection.run("DELETE FROM media WHERE sid = ?", [.text(media.text)])
        case .media(let media, let content):
            try connection.run(
                "INSERT OR REPLACE INTO media VALUES (?, ?, ?)",
                [.text(media.sid.text), .blob(media.record), .blob(content)])
        }
    }

    func finish() throws {
        for (sid, user) in users {
            try connection.run(
                "INSERT OR REPLACE INTO users VALUES (?, ?)", [.text(sid.text), .blob(user.record)])
        }
        for (sid, channel) in channels {
            try connection.run(
                "INSERT OR REPLACE INTO channels VALUES (?, ?)", [.text(sid.text), .blob(channel.record)])
        }
        for (feed, below) in forgotten {
            try connection.run(
                "DELETE FROM events WHERE topic = ? AND owner = ? AND id < ?",
                [SQLValue(feed.topic.rawValue), .text(feed.owner.text), .int(below)])
        }
    }

    private func write(_ event: FeedEvent, of feed: FeedID) throws {
        var place: Int64?
        var record: [UInt8]?
        switch event.subject {
        // The channel's row is its last event.
        case .channel, .happening, .nothing: return
        case .message(let message):
            place = message.index
            if event.kind == .removed { record = message.record }
        case .member(let member): record = member.record
        case .membership(let membership): record = membership.record
        case .person(let person, let key): record = person.record(changed: key)
        }
        try connection.run(
            "INSERT OR REPLACE INTO events VALUES (?, ?, ?, ?, ?, ?, ?)",
            [
                SQLValue(feed.topic.rawValue), .text(feed.owner.text), .int(event.id),
                SQLValue(event.kind.rawValue), .int(event.at.milliseconds), SQLValue(place), SQLValue(record),
            ])
    }

    private mutating func remove(_ channel: SID) throws {
        channels[channel] = nil
        let sid = SQLValue.text(channel.text)
        for sql in [
            "DELETE FROM channels WHERE sid = ?", "DELETE FROM members WHERE channel = ?",
            "DELETE FROM messages WHERE channel = ?",
            "DELETE FROM events WHERE owner = ?1 AND topic IN (0, 1, 2)",
        ] {
            try connection.run(sql, [sid])
        }
    }
}
