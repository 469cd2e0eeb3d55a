internal import Chat
internal import JSON

/// How Sync shows feeds, their items and their events.
enum SyncShapes {
    /// Looks like the hexadecimal number after the event's.
    static func revision(_ lastEvent: Int64) -> String { String(lastEvent + 1, radix: 16) }

    static func descriptor(
        _ id: FeedID, _ feed: Feed, name: String, links: TwilioLinks, _ writer: inout JSONWriter
    ) {
        let url = links.feed(id, feed.sid)
        writer.member("sid", feed.sid.text)
        writer.member("unique_name", name)
        writer.member("service_sid", links.names.service.text)
        writer.member("account_sid", links.names.account.text)
        writer.member("url", url)
        writer.member("revision", revision(feed.lastEvent))
        writer.member("last_event_id", feed.lastEvent)
        writer.member("date_created", feed.created.text)
        writer.member("date_updated", feed.updated.text)
        writer.member("date_expires", orNull: String?.none)
        writer.member("created_by", "system")
        writer.object("links") { writer in
            if id.topic != .channel { writer.member("items", url + "/Items") }
        }
    }

    /// One item of a list or a map.
    struct Item {
        enum Key { case index(Int64), key(String) }

        let key: Key
        let subject: FeedEvent.Subject
        let created: Timestamp
        let updated: Timestamp
        let lastEvent: Int64
        let createdBy: String
    }

    static func item(
        _ item: Item, of id: FeedID, _ sid: SID, links: TwilioLinks, _ writer: inout JSONWriter
    ) {
        let url = links.feed(id, sid)
        switch item.key {
        case .index(let index):
            writer.member("index", index)
            writer.member("list_sid", sid.text)
            writer.member("url", "\(url)/Items/\(index)")
        case .key(let key):
            writer.member("key", key)
            writer.member("map_sid", sid.text)
            writer.member("url", "\(url)/Items/\(percentEncoded(key))")
        }
        writer.member("revision", revision(item.lastEvent))
        writer.member("last_event_id", item.lastEvent)
        writer.member("date_created", item.created.text)
        writer.member("date_updated", item.updated.text)
        writer.member("date_expires", orNull: String?.none)
        writer.member("created_by", item.createdBy)
        writer.object("data") { data(item.subject, &$0) }
    }

    static func data(_ subject: FeedEvent.Subject, _ writer: inout JSONWriter) {
        switch subject {
        case .message(let message): self.message(message, &writer)
        case .member(let member): self.member(member, &writer)
        case .membership(let membership): self.membership(membership, &writer)
        case .channel(let profile): channel(profile, &writer)
        case .person(let person, let key): self.person(person, key, &writer)
        case .happening, .nothing: break
        }
    }

    private static func message(_ message: Message, _ writer: inout JSONWriter) {
        let content = message.content
        writer.member("sid", message.sid.text)
        writer.member("type", content.medias.isEmpty ? "text" : "media")
        writer.member("author", message.author)
        writer.member("memberSid", message.member.text)
        writer.member("text", orNull: content.body)
        writer.member("subject", orNull: content.subject)
        writer.member("attributes", content.attributes)
        writer.member("timestamp", message.posted.text)
        writer.member("dateUpdated", message.updated.text)
        writer.member("lastUpdatedBy", orNull: message.updatedBy)
        writer.member("contentSid", orNull: content.contentSID)
        if let first = content.medias.first {
            writer.array("medias") { for media in content.medias { $0.object { self.media(media, &$0) } } }
            // Clients older than lists of files read this one.
            writer.object("media") { media(first, &$0) }
        }
        writer.member("channelMetadata", false)
    }

    private static func media(_ media: Media, _ writer: inout JSONWriter) {
        writer.member("sid", media.sid.text)
        writer.member("category", media.category)
        writer.member("filename", orNull: media.filename)
        writer.member("contentType", media.contentType)
        writer.member("size", media.size)
    }

    private static func member(_ member: Member, _ writer: inout JSONWriter) {
        writer.member("identity", member.identity)
        writer.member("type", "chat")
        writer.member("userInfo", "\(member.user).info")
        writer.member("roleSid", member.role.sid.text)
        writer.member("attributes", member.attributes)
        writer.member("dateCreated", member.joined.text)
        writer.member("dateUpdated", member.updated.text)
        writer.member("lastConsumedMessageIndex", orNull: member.lastRead)
        writer.member("lastConsumptionTimestamp", orNull: member.lastReadAt?.text)
        writer.object("bindings") { _ in }
    }

    private static func membership(_ membership: Membership, _ writer: inout JSONWriter) {
        writer.member("status", membership.status.rawValue)
        writer.member("channel", "\(membership.channel).channel")
        writer.member("notificationLevel", membership.notificationLevel)
        writer.member("lastConsumedMessageIndex", orNull: membership.lastRead)
    }

    private static func channel(_ profile: Channel.Profile, _ writer: inout JSONWriter) {
        writer.member("friendlyName", orNull: profile.friendlyName)
        writer.member("uniqueName", orNull: profile.uniqueName)
        writer.member("attributes", profile.attributes)
        writer.member("type", profile.isPrivate ? "private" : "public")
        writer.member("createdBy", profile.createdBy)
        writer.member("dateCreated", profile.created.text)
        writer.member("dateUpdated", profile.updated.text)
        writer.member("messages", "\(profile.sid).messages")
        writer.member("roster", "\(profile.sid).roster")
        writer.object("state") { writer in
            writer.member("current", "active")
            writer.member("dateUpdated", profile.created.text)
        }
        if let last = profile.lastMessage {
            writer.object("lastMessage") { writer in
                writer.member("index", last.index)
                writer.member("timestamp", last.at.text)
            }
        }
        writer.object("bindings") { _ in }
    }

    private static func person(_ person: Person, _ key: PersonKey, _ writer: inout JSONWriter) {
        switch key {
        case .friendlyName: writer.member("value", orNull: person.friendlyName)
        case .attributes: writer.member("value", person.attributes)
        case .reachability:
            writer.member("online", person.isOnline)
            writer.member("notifiable", false)
        }
    }
}
