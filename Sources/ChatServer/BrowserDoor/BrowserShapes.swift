internal import Chat
internal import JSON

/// How the page is shown channels, people and messages.
struct BrowserShapes {
    let identity: String

    /// `pass` is what this name's page shows when it comes back.
    func welcome(_ world: World, pass: String? = nil) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("on", "welcome")
            writer.member("me", identity)
            if let pass { writer.member("pass", pass) }
            writer.array("channels") { writer in
                for channel in world.visibleChannels(for: identity) {
                    writer.object { self.channel(channel, world, &$0) }
                }
            }
        }
        return writer.bytes
    }

    func channel(_ channel: Channel, _ world: World, _ writer: inout JSONWriter) {
        let me = channel.member(of: identity)
        // A channel without a name is called by who else is in it, and so is one that is named after all of them.
        let people = channel.roster.map(\.identity)
        let others = people.filter { $0 != identity }
        var profile = channel.profile
        if profile.isPrivate, !others.isEmpty,
            profile.friendlyName == people.sorted().joined(separator: ", ")
        {
            profile.friendlyName = others.joined(separator: ", ")
        }
        Self.profile(
            profile, or: others.isEmpty ? "unnamed channel" : others.joined(separator: ", "), &writer)
        writer.member("joined", me != nil)
        writer.member("read", orNull: me?.lastRead)
        writer.member("next", channel.nextIndex)
        writer.member("unread", channel.unread(after: me?.lastRead ?? -1) ?? 0)
        writer.member("mayDelete", world.allows(.deleteConversation, identity, in: channel))
        writer.member("mayAdd", world.allows(.addParticipant, identity, in: channel))
        writer.member("mayRemove", world.allows(.removeParticipant, identity, in: channel))
        writer.member("mayModerate", world.allows(.deleteAnyMessage, identity, in: channel))
        writer.array("members") { writer in
            for member in channel.roster {
                writer.object { writer in
                    Self.member(member, &writer)
                    writer.member("online", world.users[member.identity]?.person.isOnline ?? false)
                }
            }
        }
    }

    static func profile(_ profile: Channel.Profile, or fallback: String? = nil, _ writer: inout JSONWriter) {
        writer.member("sid", profile.sid.text)
        let name = [profile.friendlyName, profile.uniqueName].compactMap(\.self).first { !$0.isEmpty }
        if let name = name ?? fallback { writer.member("name", name) }
        writer.member("private", profile.isPrivate)
        // What tells channels of the same name apart.
        writer.member("unique", orNull: profile.uniqueName)
        writer.member("creator", profile.createdBy)
        writer.member("created", profile.created.milliseconds)
    }

    static func member(_ member: Member, _ writer: inout JSONWriter) {
        writer.member("name", member.identity)
        writer.member("admin", member.role == .channelAdmin)
    }

    static func message(_ message: Message, _ writer: inout JSONWriter) {
        writer.member("sid", message.sid.text)
        writer.member("index", message.index)
        writer.member("author", message.author)
        writer.member("text", message.content.body ?? "")
        writer.member("at", message.posted.milliseconds)
        writer.member("edited", message.isEdited)
        if let key = message.content.key { writer.member("key", key) }
        let attributes = message.content.attributes
        if attributes != "{}", let reactions = (try? JSON(parsing: attributes))?["reactions"],
            reactions.object != nil
        {
            writer.member("reactions", reactions)
        }
        guard !message.content.medias.isEmpty else { return }
        writer.array("files") { writer in
            for media in message.content.medias { writer.value(media.filename ?? media.contentType) }
        }
    }
}
