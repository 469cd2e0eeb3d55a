internal import Chat
internal import JSON

// How things of the world are written in the store: JSON objects, one a row.

private func row(_ fields: (inout JSONWriter) -> Void) -> [UInt8] {
    var writer = JSONWriter()
    writer.object { fields(&$0) }
    return writer.bytes
}

extension JSON {
    fileprivate func sid(_ key: String) -> SID? { self[key]?.string.flatMap { SID($0) } }
    fileprivate func time(_ key: String) -> Timestamp? { self[key]?.int.map { Timestamp(milliseconds: $0) } }
    fileprivate func role(_ key: String) -> Role? { self[key]?.string.flatMap(Role.init(rawValue:)) }
}

extension ServiceNames {
    var record: [UInt8] {
        row { writer in
            writer.member("account", account.text)
            writer.member("service", service.text)
            writer.member("messaging", messagingService.text)
            writer.member("key", key.text)
            writer.member("secret", secret)
        }
    }

    init?(record: [UInt8]) {
        guard let record = try? JSON(parsing: record), let account = record.sid("account"),
            let service = record.sid("service"), let messaging = record.sid("messaging"),
            let key = record.sid("key"), let secret = record["secret"]?.string
        else { return nil }
        self.init(account: account, service: service, messagingService: messaging, key: key, secret: secret)
    }
}

extension Message {
    var record: [UInt8] {
        row { writer in
            writer.member("sid", sid.text)
            writer.member("index", index)
            writer.member("author", author)
            writer.member("member", member.text)
            writer.member("posted", posted.milliseconds)
            writer.member("body", orNull: content.body)
            if let subject = content.subject { writer.member("subject", subject) }
            if content.attributes != "{}" { writer.member("attributes", content.attributes) }
            if let contentSID = content.contentSID { writer.member("content", contentSID) }
            if let key = content.key { writer.member("key", key) }
            writer.member("number", number)
            if content.traits != MessageTraits() { writer.object("traits") { content.traits.write(&$0) } }
            if !content.medias.isEmpty {
                writer.array("medias") { writer in
                    for media in content.medias { writer.object { media.write(&$0) } }
                }
            }
            writer.member("updated", updated.milliseconds)
            if let updatedBy { writer.member("updatedBy", updatedBy) }
            if isEdited { writer.member("edited", true) }
            writer.member("added", addedEvent)
            writer.member("last", lastEvent)
        }
    }

    convenience init?(record: JSON) {
        guard let sid = record.sid("sid"), let index = record["index"]?.int,
            let author = record["author"]?.string, let member = record.sid("member"),
            let posted = record.time("posted"), let updated = record.time("updated"),
            let added = record["added"]?.int, let last = record["last"]?.int
        else { return nil }
        var content = Content(
            body: record["body"]?.string, subject: record["subject"]?.string,
            attributes: record["attributes"]?.string ?? "{}",
            medias: (record["medias"]?.array ?? []).compactMap(Media.init(record:)),
            contentSID: record["content"]?.string, key: record["key"]?.string)
        if let traits = record["traits"] { content.traits = MessageTraits(record: traits) }
        self.init(
            sid: sid, index: index, number: record["number"]?.int ?? 0, author: author, member: member,
            posted: posted, content: content,
            updated: updated, updatedBy: record["updatedBy"]?.string,
            isEdited: record["edited"]?.bool ?? false, addedEvent: added, lastEvent: last)
    }
}

extension Media {
    var record: [UInt8] { row { write(&$0) } }

    fileprivate func write(_ writer: inout JSONWriter) {
        writer.member("sid", sid.text)
        writer.member("category", category)
        if let filename { writer.member("filename", filename) }
        writer.member("type", contentType)
        writer.member("size", size)
        writer.member("author", author)
        writer.member("uploaded", uploaded.milliseconds)
    }

    init?(record: JSON) {
        guard let sid = record.sid("sid"), let category = record["category"]?.string,
            let type = record["type"]?.string, let size = record["size"]?.int,
            let author = record["author"]?.string, let uploaded = record.time("uploaded")
        else { return nil }
        self.init(
            sid: sid, category: category, filename: record["filename"]?.string, contentType: type,
            size: Int(size), author: author, uploaded: uploaded)
    }
}

extension Member {
    var record: [UInt8] {
        row { writer in
            writer.member("sid", sid.text)
            writer.member("identity", identity)
            writer.member("user", user.text)
            writer.member("joined", joined.milliseconds)
            writer.member("role", role.rawValue)
            writer.member("attributes", attributes)
            if let lastRead { writer.member("read", lastRead) }
            if let lastReadAt { writer.member("readAt", lastReadAt.milliseconds) }
            if let deliveredAt { writer.member("deliveredAt", deliveredAt.milliseconds) }
            if let clearedAt { writer.member("clearedAt", clearedAt.milliseconds) }
            if let inviter { writer.member("inviter", inviter) }
            if isVisiting { writer.member("visiting", true) }
            writer.member("updated", updated.milliseconds)
            writer.member("added", addedEvent)
            writer.member("last", lastEvent)
        }
    }

    init?(record: JSON) {
        guard let sid = record.sid("sid"), let identity = record["identity"]?.string,
            let user = record.sid("user"), let joined = record.time("joined"), let role = record.role("role"),
            let attributes = record["attributes"]?.string, let updated = record.time("updated")
        else { return nil }
        self.init(
            sid: sid, identity: identity, user: user, joined: joined, role: role, attributes: attributes,
            lastRead: record["read"]?.int, lastReadAt: record.time("readAt"),
            deliveredAt: record.time("deliveredAt"), clearedAt: record.time("clearedAt"),
            inviter: record["inviter"]?.string,
            isVisiting: record["visiting"]?.bool ?? false, updated: updated,
            addedEvent: record["added"]?.int ?? -1, lastEvent: record["last"]?.int ?? -1)
    }
}

extension Membership {
    var record: [UInt8] {
        row { writer in
            writer.member("channel", channel.text)
            writer.member("status", status.rawValue)
            if let member { writer.member("member", member.text) }
            writer.member("level", notificationLevel)
            if let hidden { writer.member("hiddenUntilNews", hidden.isUntilNews) }
            if let lastRead { writer.member("read", lastRead) }
            writer.member("created", created.milliseconds)
            writer.member("updated", updated.milliseconds)
            writer.member("last", lastEvent)
        }
    }

    init?(record: JSON) {
        guard let channel = record.sid("channel"),
            let status = record["status"]?.string.flatMap(Status.init(rawValue:)),
            let created = record.time("created"), let updated = record.time("updated")
        else { return nil }
        self.init(
            channel: channel, status: status, member: record.sid("member"),
            notificationLevel: record["level"]?.string ?? "default", lastRead: record["read"]?.int,
            hidden: record["hiddenUntilNews"]?.bool.map { Hidden(isUntilNews: $0) },
            created: created, updated: updated, lastEvent: record["last"]?.int ?? -1)
    }
}

extension Person {
    /// With the key of the person's feed that changed.
    func record(changed key: PersonKey) -> [UInt8] {
        row { writer in
            write(&writer)
            writer.member("changed", key.rawValue)
        }
    }

    fileprivate func write(_ writer: inout JSONWriter) {
        writer.member("sid", sid.text)
        writer.member("identity", identity)
        if let friendlyName { writer.member("friendlyName", friendlyName) }
        writer.member("attributes", attributes)
        writer.member("online", isOnline)
        writer.member("role", role.rawValue)
        if isProgram { writer.member("program", true) }
        writeTraits(&writer)
        writer.member("created", created.milliseconds)
        writer.member("updated", updated.milliseconds)
    }

    init?(record: JSON) {
        guard let sid = record.sid("sid"), let identity = record["identity"]?.string,
            let attributes = record["attributes"]?.string, let role = record.role("role"),
            let created = record.time("created"), let updated = record.time("updated")
        else { return nil }
        self.init(
            sid: sid, identity: identity, friendlyName: record["friendlyName"]?.string,
            attributes: attributes, isOnline: record["online"]?.bool ?? false, role: role,
            isProgram: record["program"]?.bool ?? false, created: created, updated: updated)
        readTraits(record)
    }
}

extension FeedMark {
    fileprivate func write(_ writer: inout JSONWriter) {
        writer.member("sid", sid.text)
        writer.member("created", created.milliseconds)
        writer.member("updated", updated.milliseconds)
        writer.member("last", lastEvent)
    }

    fileprivate init?(record: JSON?) {
        guard let record, let sid = record.sid("sid"), let created = record.time("created"),
            let updated = record.time("updated"), let last = record["last"]?.int
        else { return nil }
        self.init(sid: sid, created: created, updated: updated, lastEvent: last)
    }
}

extension User.Record {
    var record: [UInt8] {
        row { writer in
            writer.object("person") { person.write(&$0) }
            writer.object("feed") { personFeed.write(&$0) }
            writer.object("memberships") { membershipFeed.write(&$0) }
            writer.object("events") { for (key, id) in personEvents { $0.member(key.rawValue, id) } }
        }
    }
}

extension User {
    init?(record: JSON) {
        guard let person = record["person"].flatMap(Person.init(record:)),
            let feed = FeedMark(record: record["feed"]),
            let memberships = FeedMark(record: record["memberships"])
        else { return nil }
        self.init(person: person, membershipFeed: Feed(memberships), personFeed: Feed(feed))
        for key in PersonKey.allCases { personEvents[key] = record["events"]?[key.rawValue]?.int }
    }
}

extension Channel.Record {
    var record: [UInt8] {
        row { writer in
            writer.member("sid", profile.sid.text)
            writer.member("number", profile.number)
            writer.member("friendlyName", orNull: profile.friendlyName)
            writer.member("uniqueName", orNull: profile.uniqueName)
            writer.member("attributes", profile.attributes)
            writer.member("private", profile.isPrivate)
            writer.member("url", profile.url)
            if profile.traits != ChannelTraits() {
                writer.object("traits") { profile.traits.write(&$0) }
            }
            writer.member("createdBy", profile.createdBy)
            writer.member("created", profile.created.milliseconds)
            writer.member("updated", profile.updated.milliseconds)
            if let last = profile.lastMessage {
                writer.member("lastIndex", last.index)
                writer.member("lastAt", last.at.milliseconds)
                writer.member("lastNumber", last.number)
            }
            writer.object("feed") { feed.write(&$0) }
            writer.object("messages") { messageFeed.write(&$0) }
            writer.object("roster") { rosterFeed.write(&$0) }
            writer.member("next", nextIndex)
            writer.member("count", messageCount)
            writer.object("invited") { for (identity, sid) in invited { $0.member(identity, sid.text) } }
            order.write(&writer)
        }
    }
}

extension Channel {
    init?(record: JSON) {
        guard let sid = record.sid("sid"), let attributes = record["attributes"]?.string,
            let createdBy = record["createdBy"]?.string, let created = record.time("created"),
            let updated = record.time("updated"), let feed = FeedMark(record: record["feed"]),
            let messages = FeedMark(record: record["messages"]),
            let roster = FeedMark(record: record["roster"]),
            let next = record["next"]?.int
        else { return nil }
        var profile = Profile(
            sid: sid, number: record["number"]?.int ?? 0, friendlyName: record["friendlyName"]?.string,
            uniqueName: record["uniqueName"]?.string,
            attributes: attributes, isPrivate: record["private"]?.bool ?? false, createdBy: createdBy,
            created: created, updated: updated)
        profile.url = record["url"]?.string ?? ""
        if let traits = record["traits"] { profile.traits = ChannelTraits(record: traits) }
        if let index = record["lastIndex"]?.int, let at = record.time("lastAt") {
            profile.lastMessage = LastMessage(
                index: index, at: at, number: record["lastNumber"]?.int ?? 0)
        }
        self.init(profile)
        self.feed = Feed(feed)
        messageFeed = Feed(messages)
        rosterFeed = Feed(roster)
        nextIndex = next
        messageCount = record["count"]?.int ?? 0
        for (identity, value) in record["invited"]?.object ?? JSONObject() {
            invited[identity] = value.string.flatMap { SID($0) }
        }
        order = Order(record: record)
    }
}
