internal import Chat
internal import JSON

/// How Sendbird's clients are told of what happens.
enum SendbirdEvents {
    // MARK: Messages

    static func message(
        _ message: Message, _ event: WorldEvent, _ profile: Channel.Profile, _ shapes: SendbirdShapes,
        request: JSON? = nil
    ) -> [UInt8] {
        switch event.event.kind {
        case .added:
            return SendbirdFrame.make(SendbirdShapes.command(message)) {
                shapes.frame(message, in: profile, request: request, &$0)
            }
        case .updated:
            if let reacted = message.reacted { return reaction(reacted, message, profile) }
            return SendbirdFrame.make(SendbirdShapes.command(message, edited: true)) { writer in
                shapes.frame(message, in: profile, request: request, &writer)
                writer.object("old_values") { writer in
                    writer.member("mention_type", "users")
                    writer.array("mentioned_user_ids") { _ in }
                }
            }
        case .removed, .ended:
            return SendbirdFrame.make("DELM") { writer in
                place(profile, &writer)
                writer.member("msg_id", message.number)
                writer.member("ts", event.event.at.milliseconds)
                writer.member("silent", false)
                writer.member("message_created_at", message.posted.milliseconds)
            }
        }
    }

    private static func reaction(
        _ reacted: Message.Reacted, _ message: Message, _ profile: Channel.Profile
    ) -> [UInt8] {
        SendbirdFrame.make("MRCT") { writer in
            place(profile, &writer)
            writer.member("msg_id", message.number)
            writer.member("reaction", reacted.reaction)
            writer.member("user_id", reacted.by)
            writer.member("updated_at", message.updated.milliseconds)
            writer.member("operation", reacted.isThere ? "ADD" : "DELETE")
        }
    }

    /// The same command from a minute before, for tests.
    static func aged(_ frame: [UInt8]) -> [UInt8] {
        let commands = SendbirdFrame.read(frame).compactMap(\.self)
        guard let (code, fields) = commands.first, var object = fields.object, let time = object["ts"]?.int
        else { return frame }
        object["ts"] = .int(time - 60_000)
        return Array(code.utf8) + JSON.object(object).bytes() + [10]
    }

    // MARK: Members

    static func read(
        _ member: Member, _ event: WorldEvent, _ profile: Channel.Profile, _ world: World, request: JSON
    ) -> [UInt8] {
        let time = world.channels[profile.sid].map { world.readTime(of: member, in: $0) } ?? event.event.at
        return SendbirdFrame.make("READ") { writer in
            place(profile, &writer)
            writer.member("channel_id", SendbirdShapes.number(profile))
            writer.member("ts", time.milliseconds)
            writer.member("sts", event.event.at.milliseconds)
            if let person = world.users[member.identity]?.person {
                writer.object("user") { SendbirdShapes.user(person, .socket, &$0) }
            }
            writer.member("req_id", request)
            guard request != "" else { return }
            // How much is left is for the reader only.
            writer.object("unread_cnt") { writer in
                writer.member("all", world.unreadMessages(of: member.identity))
                writer.member("feed", 0)
                writer.object("custom_types") { _ in }
                writer.member("ts", event.event.at.milliseconds)
            }
        }
    }

    static func member(
        _ member: Member, _ event: WorldEvent, _ profile: Channel.Profile, _ world: World
    ) -> [UInt8] {
        let isGone = event.event.kind == .removed
        let isOpen = profile.traits.isOpen
        let category = isOpen ? (isGone ? 10103 : 10102) : (isGone ? 10001 : 10000)
        guard let person = world.users[member.identity]?.person else { return [] }
        return system(category, event) { writer in
            writer.object("data") { writer in
                if isOpen || isGone {
                    SendbirdShapes.user(person, .http, &writer)
                } else {
                    writer.array("users") { writer in
                        writer.object { writer in
                            SendbirdShapes.user(person, .http, &writer)
                            writer.member("state", "joined")
                            if let inviter = member.inviter.flatMap({ world.users[$0]?.person }) {
                                writer.object("inviter") { SendbirdShapes.user(inviter, .http, &$0) }
                            }
                        }
                    }
                }
                if isOpen {
                    writer.member("participant_count", event.joined)
                    writer.member("edge_ts", event.event.at.milliseconds)
                } else {
                    counts(event, &writer)
                }
            }
        }
    }

    /// How many there are, in place of who comes and goes.
    static func count(_ event: WorldEvent, _ profile: Channel.Profile) -> [UInt8] {
        SendbirdFrame.make("MCNT") { writer in
            writer.array("group_channels") { writer in
                guard !profile.traits.isOpen else { return }
                writer.object { writer in
                    writer.member("channel_url", profile.url)
                    counts(event, &writer)
                    writer.member("ts", event.event.at.milliseconds)
                }
            }
            writer.array("open_channels") { writer in
                guard profile.traits.isOpen else { return }
                writer.object { writer in
                    writer.member("channel_url", profile.url)
                    writer.member("participant_count", event.joined)
                    writer.member("ts", event.event.at.milliseconds)
                }
            }
        }
    }

    private static func counts(_ event: WorldEvent, _ writer: inout JSONWriter) {
        writer.member("member_count", event.joined + event.invited)
        writer.member("joined_member_count", event.joined)
    }

    // MARK: System events

    private static func place(_ profile: Channel.Profile, _ writer: inout JSONWriter) {
        writer.member("channel_url", profile.url)
        writer.member("channel_type", SendbirdShapes.type(profile))
    }

    static func system(
        _ category: Int, of profile: Channel.Profile, at now: Timestamp, _ write: (inout JSONWriter) -> Void
    ) -> [UInt8] {
        SendbirdFrame.make("SYEV") { writer in
            writer.member("cat", category)
            place(profile, &writer)
            writer.member("channel_id", SendbirdShapes.number(profile))
            writer.member("ts", now.milliseconds)
            writer.member("is_super", profile.traits.isSuper)
            write(&writer)
            writer.member("ts_message_offset", 0)
        }
    }

    static func system(
        _ category: Int, _ event: WorldEvent, _ write: (inout JSONWriter) -> Void
    ) -> [UInt8] {
        guard let profile = event.profile else { return [] }
        return system(category, of: profile, at: event.event.at) { writer in
            if profile.traits.isOpen {
                writer.member("participant_count", event.joined)
            } else {
                counts(event, &writer)
            }
            write(&writer)
        }
    }

    static func happening(_ happening: Happening, _ event: WorldEvent) -> [UInt8] {
        let at = event.event.at
        func sentence(_ category: Int, _ person: Person, _ sentence: Sentence?) -> [UInt8] {
            system(category, event) { writer in
                writer.object("data") { writer in
                    SendbirdShapes.user(person, .http, &writer)
                    if let sentence { SendbirdShapes.times(sentence, at: at, &writer) }
                }
            }
        }
        switch happening {
        case .muted(let person, let mute): return sentence(10201, person, mute)
        case .unmuted(let person): return sentence(10200, person, nil)
        case .banned(let person, let ban): return sentence(10601, person, ban)
        case .unbanned(let person): return sentence(10600, person, nil)
        case .frozen(let isFrozen):
            return system(isFrozen ? 10701 : 10700, event) { writer in
                writer.object("data") { $0.member("freeze", isFrozen) }
            }
        case .operators(let people):
            return system(10002, event) { writer in
                writer.object("data") { list("operators", people, &$0) }
            }
        case .invited(let people, let inviter):
            return system(10020, event) { writer in
                writer.object("data") { writer in
                    user("inviter", inviter, &writer)
                    list("invitees", people, &writer)
                    writer.member("invited_at", at.milliseconds)
                    counts(event, &writer)
                }
            }
        case .declined(let person, let inviter):
            return system(10022, event) { writer in
                writer.object("data") { writer in
                    user("inviter", inviter, &writer)
                    user("invitee", person, &writer)
                }
            }
        case .metadata(let created, let updated, let deleted):
            return system(11100, event) { writer in
                writer.object("data") { writer in
                    writer.object("created") { for (key, value) in created { $0.member(key, value) } }
                    writer.object("updated") { for (key, value) in updated { $0.member(key, value) } }
                    writer.array("deleted") { for key in deleted { $0.value(key) } }
                }
            }
        case .delivered(let person, let time):
            guard let profile = event.profile else { return [] }
            return SendbirdFrame.make("DLVR") { writer in
                place(profile, &writer)
                writer.object("updated") { $0.member(person.identity, time.milliseconds) }
            }
        case .gone: return system(12000, event) { $0.object("data") { _ in } }
        case .hidden, .blocked: return []
        }
    }

    private static func user(_ key: String, _ person: Person?, _ writer: inout JSONWriter) {
        if let person { writer.object(key) { SendbirdShapes.user(person, .http, &$0) } }
    }

    private static func list(_ key: String, _ people: [Person], _ writer: inout JSONWriter) {
        writer.array(key) { writer in
            for person in people { writer.object { SendbirdShapes.user(person, .http, &$0) } }
        }
    }

    static func hidden(_ hidden: Membership.Hidden?, _ event: WorldEvent) -> [UInt8] {
        system(hidden == nil ? 13001 : 13000, event) { writer in
            writer.object("data") { writer in
                writer.member("hide_previous_messages", false)
                writer.member("allow_auto_unhide", hidden?.isUntilNews ?? true)
            }
        }
    }

    static func blocked(_ person: Person, by blocker: Person, _ isBlocked: Bool, at now: Timestamp) -> [UInt8]
    {
        SendbirdFrame.make("USEV") { writer in
            writer.member("cat", isBlocked ? 20001 : 20000)
            writer.member("ts", now.milliseconds)
            writer.object("data") { writer in
                writer.object("blocker") { SendbirdShapes.user(blocker, .http, &$0) }
                writer.object("blockee") { SendbirdShapes.user(person, .http, &$0) }
            }
        }
    }
}
