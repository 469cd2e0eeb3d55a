internal import Chat
internal import JSON

/// An event as a webhook tells it.
struct SendbirdHookEvent {
    private let event: WorldEvent
    private let hook: SendbirdHook
    private let world: World
    private let application: String
    private(set) var body: [UInt8] = []

    /// Nil for what no webhook tells, and for what this one does not want.
    init?(_ event: WorldEvent, hook: SendbirdHook, world: World, application: String) {
        self.event = event
        self.hook = hook
        self.world = world
        self.application = application
        guard let category else { return nil }
        let name = category.contains(":") ? category : "\(kind)_channel:\(category)"
        guard hook.wants(name) else { return nil }
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("category", name)
            details(&writer)
            if !category.contains(":") { channel(&writer) }
            writer.member("app_id", application)
        }
        // Slashes are escaped, as the service does it: the signature is of these bytes and no others.
        body = writer.bytes.flatMap { $0 == UInt8(ascii: "/") ? [UInt8(ascii: "\\"), $0] : [$0] }
    }

    private var kind: String { event.profile?.traits.isOpen == true ? "open" : "group" }
    private var at: Int64 { event.event.at.milliseconds }

    /// Without the kind of channel, unless it is no channel's.
    private var category: String? {
        guard event.feed.topic == .affairs || event.profile != nil else { return nil }
        switch event.event.subject {
        case .message(let message):
            switch event.event.kind {
            case .added: return "message_send"
            case .updated:
                guard let reacted = message.reacted else { return "message_update" }
                return reacted.isThere ? "reaction_add" : "reaction_delete"
            case .removed: return "message_delete"
            case .ended: return nil
            }
        case .member(let member):
            switch event.event.kind {
            case .added: return kind == "open" ? "enter" : "join"
            case .removed: return kind == "open" ? "exit" : "leave"
            case .updated:
                return kind == "group" && member.lastReadAt == event.event.at ? "message_read" : nil
            case .ended: return nil
            }
        case .channel(let profile):
            guard event.event.kind == .updated, profile.updated == event.event.at else { return nil }
            if profile.lastMessage == nil, profile.created == profile.updated, event.event.id == 0 {
                return "create"
            }
            return kind == "group" ? "changed" : nil
        case .happening(let happening): return category(of: happening)
        case .membership, .person, .nothing: return nil
        }
    }

    private func category(of happening: Happening) -> String? {
        switch happening {
        case .invited: "invite"
        case .declined: "decline_invite"
        case .frozen: kind == "group" ? "freeze_unfreeze" : nil
        case .gone: "remove"
        case .blocked(_, _, let isBlocked): isBlocked ? "user:block" : "user:unblock"
        case .muted, .unmuted, .banned, .unbanned, .operators, .delivered, .metadata, .hidden: nil
        }
    }

    private func details(_ writer: inout JSONWriter) {
        switch event.event.subject {
        case .message(let message): details(message, &writer)
        case .member(let member): details(member, &writer)
        case .channel(let profile):
            if category == "create" {
                writer.member("created_at", at)
                user("inviter", world.users[profile.createdBy]?.person, &writer)
            } else {
                writer.member("changed_at", at)
                writer.array("changes") { _ in }
            }
        case .happening(let happening): details(happening, &writer)
        case .membership, .person, .nothing: break
        }
    }

    private func details(_ happening: Happening, _ writer: inout JSONWriter) {
        switch happening {
        case .invited(let people, let inviter):
            writer.member("invited_at", at)
            user("inviter", inviter, &writer)
            users("invitees", people, &writer)
        case .declined(let person, let inviter):
            writer.member("declined_invite_at", at)
            user("inviter", inviter, &writer)
            users("users", [person], &writer)
        case .frozen(let isFrozen):
            writer.member("freeze", isFrozen)
            writer.member("changed_at", at)
        case .gone: writer.member("removed_at", at)
        case .blocked(let person, let by, _):
            user("blocker", by, &writer)
            user("blockee", person, &writer)
        default: break
        }
    }

    private func details(_ member: Member, _ writer: inout JSONWriter) {
        let person = world.users[member.identity]?.person
        switch category {
        case "enter", "exit":
            user("user", person, &writer)
            writer.member(category == "enter" ? "entered_at" : "exited_at", at)
        case "message_read":
            let channel = world.channels[event.feed.owner]
            writer.array("read_updates") { writer in
                writer.object { writer in
                    writer.member("user_id", member.identity)
                    writer.member("read_ts", at)
                    writer.member(
                        "channel_unread_message_count",
                        channel.map { world.unread(in: $0, for: member.identity) } ?? 0)
                    writer.member("total_unread_message_count", world.unreadMessages(of: member.identity))
                }
            }
        default:
            writer.member(category == "join" ? "joined_at" : "left_at", at)
            writer.array("users") { writer in
                guard let person else { return }
                writer.object { writer in
                    Self.user(person, &writer)
                    user("inviter", member.inviter.flatMap { world.users[$0]?.person }, &writer)
                }
            }
        }
    }

    private func details(_ message: Message, _ writer: inout JSONWriter) {
        let traits = message.content.traits
        if !traits.isAdmin { user("sender", world.users[message.author]?.person, &writer) }
        if let reacted = message.reacted {
            writer.member("reaction", reacted.reaction)
            writer.member("user_id", reacted.by)
        }
        writer.member("silent", traits.isSilent)
        writer.member("custom_type", traits.customType)
        writer.member("mention_type", traits.mentionsAll ? "channel" : "users")
        users("mentioned_users", traits.mentioned.compactMap { world.users[$0]?.person }, &writer)
        let type = SendbirdShapes.command(message)
        writer.member("type", type)
        writer.object("payload") { writer in
            writer.member("message_id", message.number)
            writer.member("created_at", message.posted.milliseconds)
            writer.member("custom_type", traits.customType)
            writer.member("data", SendbirdShapes.data(message))
            if type == "FILE" {
                file(message, &writer)
            } else {
                writer.member("message", message.content.body ?? "")
                writer.object("translations") { _ in }
            }
        }
        if category == "message_update" { writer.object("changes") { $0.member("updated_at", at) } }
        writer.member("sdk", "API")
    }

    private func file(_ message: Message, _ writer: inout JSONWriter) {
        let link = message.content.traits.link
        let media = message.content.medias.first
        writer.member("url", link?.url ?? media.map { "/v3/files/\($0.sid)" } ?? "")
        writer.member("filename", link?.name ?? media?.filename ?? "")
        writer.member("content_type", link?.type ?? media?.contentType ?? "")
        writer.member("content_size", link?.size ?? media.map { Int64($0.size) } ?? 0)
    }

    private func channel(_ writer: inout JSONWriter) {
        guard let profile = event.profile else { return }
        if hook.includesMembers, !profile.traits.isSuper, let channel = world.channels[profile.sid] {
            users("members", channel.roster.compactMap { world.users[$0.identity]?.person }, &writer)
        } else {
            writer.array("members") { _ in }
        }
        writer.object("channel") { writer in
            writer.member("name", SendbirdShapes.name(profile))
            writer.member("channel_url", profile.url)
            writer.member("custom_type", profile.traits.customType)
            writer.member("is_distinct", profile.traits.isDistinct)
            writer.member("is_public", !profile.isPrivate)
            writer.member("is_super", profile.traits.isSuper)
            writer.member("is_ephemeral", false)
            writer.member("is_discoverable", !profile.isPrivate)
            writer.member("data", profile.traits.data ?? "")
        }
    }

    private static func user(_ person: Person, _ writer: inout JSONWriter) {
        writer.member("user_id", person.identity)
        writer.member("nickname", SendbirdShapes.nickname(person))
        writer.member("profile_url", person.profileURL)
        writer.object("metadata") { for (key, value) in person.metadata { $0.member(key, value) } }
    }

    private func user(_ key: String, _ person: Person?, _ writer: inout JSONWriter) {
        if let person { writer.object(key) { Self.user(person, &$0) } }
    }

    private func users(_ key: String, _ people: [Person], _ writer: inout JSONWriter) {
        writer.array(key) { writer in for person in people { writer.object { Self.user(person, &$0) } } }
    }
}
