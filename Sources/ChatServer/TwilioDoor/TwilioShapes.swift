internal import Chat
internal import JSON

/// How the command endpoints show channels, members, messages and users.
extension TwilioLinks {
    private func head(_ writer: inout JSONWriter) {
        writer.member("account_sid", names.account.text)
        writer.member("chat_service_sid", names.service.text)
    }

    func message(_ message: Message, in channel: SID, _ writer: inout JSONWriter) {
        head(&writer)
        writer.member("conversation_sid", channel.text)
        writer.member("sid", message.sid.text)
        writer.member("index", message.index)
        writer.member("author", message.author)
        writer.member("participant_sid", message.member.text)
        writer.member("body", orNull: message.content.body)
        if let subject = message.content.subject { writer.member("subject", subject) }
        writer.member("attributes", message.content.attributes)
        writer.key("media")
        if message.content.medias.isEmpty {
            writer.null()
        } else {
            writer.array { for media in message.content.medias { $0.object { shape(media, &$0) } } }
        }
        writer.member("content_sid", orNull: message.content.contentSID)
        writer.member("date_created", message.posted.text)
        writer.member("date_updated", message.updated.text)
        writer.member("url", "\(conversation(channel))/Messages/\(message.sid)")
        writer.object("links") { writer in
            writer.member("conversation", conversation(channel))
            writer.member("messages_receipts", "\(conversation(channel))/Messages/\(message.sid)/Receipts")
        }
    }

    func shape(_ media: Media, _ writer: inout JSONWriter) {
        writer.member("sid", media.sid.text)
        writer.member("category", media.category)
        writer.member("filename", orNull: media.filename)
        writer.member("content_type", media.contentType)
        writer.member("size", media.size)
    }

    func participant(_ member: Member, in channel: SID, _ writer: inout JSONWriter) {
        head(&writer)
        writer.member("conversation_sid", channel.text)
        writer.member("sid", member.sid.text)
        writer.member("identity", member.identity)
        writer.member("role_sid", member.role.sid.text)
        writer.member("attributes", member.attributes)
        writer.key("messaging_binding")
        writer.null()
        writer.member("last_read_message_index", orNull: member.lastRead)
        writer.member("last_read_timestamp", orNull: member.lastReadAt?.text)
        writer.member("date_created", member.joined.text)
        writer.member("date_updated", member.updated.text)
        writer.member("url", "\(conversation(channel))/Participants/\(member.sid)")
        writer.object("links") { $0.member("conversation", conversation(channel)) }
    }

    func conversation(_ channel: Channel, _ writer: inout JSONWriter) {
        head(&writer)
        writer.member("messaging_service_sid", names.messagingService.text)
        writer.member("sid", channel.sid.text)
        profile(channel, &writer)
        writer.object("state") { $0.member("current", "active") }
        writer.object("links") { links(of: channel.sid, &$0) }
        writer.member("url", conversation(channel.sid))
    }

    /// One row of a user's own list.
    func mine(_ channel: Channel, _ membership: Membership, of user: SID, _ writer: inout JSONWriter) {
        head(&writer)
        writer.member("messaging_service_sid", names.messagingService.text)
        writer.member("conversation_sid", channel.sid.text)
        writer.member("status", membership.status.rawValue)
        writer.member("notification_level", membership.notificationLevel)
        writer.member("last_read_message_index", orNull: membership.lastRead)
        writer.member("unread_messages_count", orNull: channel.unread(after: membership.lastRead))
        writer.member("user_sid", user.text)
        writer.member("participant_sid", orNull: membership.member?.text)
        profile(channel, &writer)
        writer.object("links") { writer in
            links(of: channel.sid, &writer)
            writer.member("conversation", conversation(channel.sid))
        }
        writer.member("url", "\(mine(user))/\(channel.sid)")
    }

    private func profile(_ channel: Channel, _ writer: inout JSONWriter) {
        let profile = channel.profile
        writer.member("friendly_name", orNull: profile.friendlyName)
        writer.member("unique_name", orNull: profile.uniqueName)
        writer.member("attributes", profile.attributes)
        writer.member("type", profile.isPrivate ? "private" : "public")
        writer.member("created_by", profile.createdBy)
        writer.member("date_created", profile.created.text)
        writer.member("date_updated", profile.updated.text)
        writer.member("participants_count", channel.members.count)
        writer.member("messages_count", channel.messageCount)
        writer.object("sync_objects") { writer in
            writer.member("conversation", "\(channel.sid).channel")
            writer.member("messages", "\(channel.sid).messages")
            writer.member("participants", "\(channel.sid).roster")
        }
    }

    private func links(of channel: SID, _ writer: inout JSONWriter) {
        writer.member("messages", conversation(channel) + "/Messages")
        writer.member("participants", conversation(channel) + "/Participants")
        if version == "v1" { writer.member("invites", conversation(channel) + "/Invites") }
    }

    func user(_ person: Person, _ writer: inout JSONWriter) {
        head(&writer)
        writer.member("sid", person.sid.text)
        writer.member("identity", person.identity)
        writer.member("friendly_name", orNull: person.friendlyName)
        writer.member("attributes", person.attributes)
        writer.member("role_sid", person.role.sid.text)
        writer.member("is_online", person.isOnline)
        writer.member("is_notifiable", false)
        writer.member("date_created", person.created.text)
        writer.member("date_updated", person.updated.text)
        writer.object("sync_objects") { $0.member("user_info_map", "\(person.sid).info") }
        writer.object("links") { $0.member("user_conversations", mine(person.sid)) }
        writer.member("url", user(person.sid))
    }

    /// The `meta` of a page.
    func meta(_ key: String, size: Int, previous: String?, next: String?, _ writer: inout JSONWriter) {
        writer.object("meta") { writer in
            writer.member("page_size", size)
            writer.member("previous_token", orNull: previous)
            writer.member("next_token", orNull: next)
            writer.member("key", key)
        }
    }
}

extension JSONWriter {
    mutating func member(_ key: String, orNull value: String?) {
        if let value {
            member(key, value)
        } else {
            self.key(key)
            null()
        }
    }

    mutating func member(_ key: String, orNull value: Int64?) {
        if let value {
            member(key, value)
        } else {
            self.key(key)
            null()
        }
    }
}
