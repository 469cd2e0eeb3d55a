internal import Chat
internal import JSON

/// How Sendbird's clients are shown users, channels and what is said there.
struct SendbirdShapes {
    let world: World
    /// Where files are: `http://127.0.0.1:8080`.
    let base: String
    /// Who looks; the service itself sees a channel as nobody's.
    var identity = World.service
    var now = Timestamp.now

    // MARK: Users

    /// How a user is written: one way on the socket, and another over HTTP.
    enum Form { case socket, http }

    static func nickname(_ person: Person) -> String { person.friendlyName ?? person.identity }

    static func user(_ person: Person, _ form: Form = .http, _ writer: inout JSONWriter) {
        switch form {
        case .socket:
            writer.member("guest_id", person.identity)
            // A number of its own, as everything has one.
            writer.member("id", Int64(person.sid.low & 0x7fff_ffff))
            writer.member("name", nickname(person))
            writer.member("image", person.profileURL)
        case .http:
            writer.member("user_id", person.identity)
            writer.member("nickname", nickname(person))
            writer.member("profile_url", person.profileURL)
        }
        writer.object("metadata") { for (key, value) in person.metadata { $0.member(key, value) } }
        writer.member("is_active", person.isActive)
        writer.member("require_auth_for_profile_image", false)
        guard form == .http else { return }
        writer.member("is_online", person.isOnline)
        writer.member("last_seen_at", person.isOnline ? 0 : person.lastSeen?.milliseconds ?? -1)
        writer.member("friend_discovery_key", "")
        writer.array("preferred_languages") { _ in }
        writer.member("created_at", person.created.milliseconds / 1000)
        writer.member("has_ever_logged_in", person.isOnline || person.lastSeen != nil)
    }

    func user(named identity: String, _ form: Form = .http, _ writer: inout JSONWriter) {
        if let person = world.users[identity]?.person { Self.user(person, form, &writer) }
    }

    /// A member, or somebody who was asked in.
    func member(_ identity: String, in channel: Channel, _ writer: inout JSONWriter) {
        guard let person = world.users[identity]?.person else { return }
        let member = channel.member(of: identity)
        Self.user(person, .http, &writer)
        writer.member(
            "state", member != nil ? "joined" : channel.invited[identity] != nil ? "invited" : "none")
        writer.member("role", isOperator(identity, channel) ? "operator" : "none")
        let mute = channel.mutes[identity].flatMap { $0.holds(at: now) ? $0 : nil }
        writer.member("is_muted", mute != nil)
        if let mute {
            writer.member("muted_end_at", mute.end?.milliseconds ?? -1)
            writer.member("muted_description", mute.why)
        }
        writer.member(
            "is_blocked_by_me", world.users[self.identity]?.person.blocked.contains(identity) ?? false)
        writer.member("is_blocking_me", person.blocked.contains(self.identity))
        if let member { writer.member("joined_ts", member.joined.milliseconds / 1000) }
    }

    func isOperator(_ identity: String, _ channel: Channel) -> Bool {
        channel.operators.contains(identity) || channel.member(of: identity)?.role == .channelAdmin
    }

    // MARK: Channels

    static func type(_ profile: Channel.Profile) -> String { profile.traits.isOpen ? "open" : "group" }

    static func name(_ profile: Channel.Profile) -> String {
        profile.friendlyName ?? profile.uniqueName ?? ""
    }

    static func number(_ profile: Channel.Profile) -> Int64 { profile.number + 1 }

    private func base(_ channel: Channel, _ writer: inout JSONWriter) {
        let profile = channel.profile
        let traits = profile.traits
        writer.member("channel_url", profile.url)
        writer.member("name", Self.name(profile))
        writer.member("cover_url", traits.coverURL)
        writer.member("data", traits.data ?? (profile.attributes == "{}" ? "" : profile.attributes))
        writer.member("custom_type", traits.customType)
        writer.member("created_at", profile.created.milliseconds / 1000)
        writer.member("freeze", traits.isFrozen)
        writer.member("is_ephemeral", false)
        writer.member("max_length_message", world.limits.bodyBytes)
        writer.object("metadata") { for (key, value) in traits.metadata { $0.member(key, value) } }
        writer.array("pinned_message_ids") { _ in }
        writer.array("operators") { writer in
            for person in world.operators(of: channel) { writer.object { Self.user(person, .http, &$0) } }
        }
    }

    func channel(_ channel: Channel, _ writer: inout JSONWriter) {
        if channel.profile.traits.isOpen { open(channel, &writer) } else { group(channel, &writer) }
    }

    private func open(_ channel: Channel, _ writer: inout JSONWriter) {
        base(channel, &writer)
        writer.member("id", Self.number(channel.profile))
        writer.member("is_dynamic_partitioned", false)
        writer.member("participant_count", channel.members.count)
    }

    private func group(_ channel: Channel, _ writer: inout JSONWriter) {
        base(channel, &writer)
        // Older clients read the same things one level further in.
        writer.object("channel") { base(channel, &$0) }
        let profile = channel.profile
        writer.member("channel_id", Self.number(profile))
        writer.member("is_distinct", profile.traits.isDistinct)
        writer.member("is_super", profile.traits.isSuper)
        writer.member("is_broadcast", false)
        writer.member("is_exclusive", false)
        writer.member("is_public", !profile.isPrivate)
        writer.member("is_discoverable", !profile.isPrivate)
        writer.member("is_access_code_required", !profile.traits.accessCode.isEmpty)
        writer.array("members") { writer in
            // Large ones are read by page.
            for name in people(of: channel).prefix(100) {
                writer.object { member(name, in: channel, &$0) }
            }
        }
        writer.member("member_count", channel.members.count + channel.invited.count)
        writer.member("joined_member_count", channel.members.count)
        receipts(channel, &writer)
        writer.key("created_by")
        if let maker = world.users[profile.createdBy]?.person {
            writer.object { Self.user(maker, .http, &$0) }
        } else {
            writer.null()
        }
        writer.member("message_survival_seconds", -1)
        writer.member("count_preference", "all")
        writer.member("push_trigger_option", "default")
        writer.member("ts_message_offset", channel.member(of: identity)?.clearedAt?.milliseconds ?? 0)
        mine(channel, &writer)
    }

    private func receipts(_ channel: Channel, _ writer: inout JSONWriter) {
        writer.object("read_receipt") { writer in
            for member in channel.roster {
                writer.member(member.identity, world.readTime(of: member, in: channel).milliseconds)
            }
        }
        writer.object("delivery_receipt") { writer in
            for member in channel.roster {
                writer.member(
                    member.identity,
                    max(
                        member.deliveredAt?.milliseconds ?? 0,
                        world.readTime(of: member, in: channel).milliseconds)
                )
            }
        }
        writer.key("last_message")
        if channel.messages.isEmpty {
            writer.null()
        } else {
            let last = channel.messages[channel.messages.count - 1]
            writer.object { message(last, in: channel.profile, &$0) }
        }
    }

    /// What the one who looks sees of it.
    private func mine(_ channel: Channel, _ writer: inout JSONWriter) {
        guard identity != World.service else { return }
        let me = channel.member(of: identity)
        let membership = world.users[identity]?.memberships[channel.sid]
        let mute = channel.mutes[identity].map { $0.holds(at: now) } ?? false
        let hidden = membership?.hidden
        writer.member("unread_message_count", world.unread(in: channel, for: identity))
        writer.member("unread_mention_count", mentions(of: identity, in: channel))
        writer.member(
            "user_last_read", me.map { world.readTime(of: $0, in: channel).milliseconds } ?? 0)
        writer.member(
            "member_state", me != nil ? "joined" : channel.invited[identity] != nil ? "invited" : "none")
        writer.member("my_role", isOperator(identity, channel) ? "operator" : "none")
        writer.member("is_muted", mute)
        writer.member("is_hidden", hidden != nil)
        writer.member(
            "hidden_state",
            hidden == nil
                ? "unhidden"
                : hidden?.isUntilNews == true ? "hidden_allow_auto_unhide" : "hidden_prevent_auto_unhide")
        if let inviter = channel.inviters[identity] ?? me?.inviter {
            writer.object("inviter") { user(named: inviter, .http, &$0) }
        }
        if channel.invited[identity] != nil, let membership {
            writer.member("invited_at", membership.created.milliseconds)
        }
        if let me { writer.member("joined_ts", me.joined.milliseconds / 1000) }
    }

    private func mentions(of identity: String, in channel: Channel) -> Int {
        guard let me = channel.member(of: identity) else { return 0 }
        let start = channel.messages.position(of: (me.lastRead ?? -1) &+ 1, by: \.index)
        return (start..<max(start, channel.messages.count)).count { place in
            let message = channel.messages[place]
            let traits = message.content.traits
            return message.author != identity && (traits.mentionsAll || traits.mentioned.contains(identity))
        }
    }

    /// Members in the order in which they came, and then those who were asked in.
    func people(of channel: Channel) -> [String] {
        channel.roster.map(\.identity) + channel.invited.keys.sorted()
    }

    // MARK: Sentences

    func sentence(_ sentence: Sentence, of identity: String, _ writer: inout JSONWriter) {
        writer.object("user") { user(named: identity, .http, &$0) }
        Self.times(sentence, at: now, &writer)
    }

    static func times(_ sentence: Sentence, at now: Timestamp, _ writer: inout JSONWriter) {
        writer.member("start_at", sentence.start.milliseconds)
        writer.member("end_at", sentence.end?.milliseconds ?? -1)
        writer.member(
            "remaining_duration", sentence.end.map { max(0, ($0 - now).milliseconds) } ?? -1)
        writer.member("description", sentence.why)
    }
}
