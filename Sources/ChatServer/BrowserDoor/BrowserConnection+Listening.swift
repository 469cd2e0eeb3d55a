internal import Chat
internal import JSON

extension BrowserConnection: Listener {
    var identity: String { state.withLock { $0.identity } }

    /// Every event of the world comes here; what this person may not see goes no further.
    func hear(_ telling: Telling, version: Int) {
        let event = telling.event
        if case .membership(let membership) = event.event.subject {
            guard event.identity == identity else { return }
            return hear(membership, event.event.kind)
        }
        guard maySee(event), let text = Self.text(telling) else { return }
        say(text)
    }

    private func maySee(_ event: WorldEvent) -> Bool {
        let isMember = state.withLock { $0.joined.contains(event.feed.owner) }
        switch event.feed.topic {
        case .messages, .affairs: return isMember
        case .channel, .roster: return isMember || !event.isPrivate
        case .person: return true
        case .memberships: return false
        }
    }

    private func hear(_ membership: Membership, _ kind: FeedEvent.Kind) {
        let isJoined = kind != .removed && membership.status == .joined
        let isFresh = state.withLock { state in
            guard isJoined else {
                state.joined.remove(membership.channel)
                return false
            }
            return state.joined.insert(membership.channel).inserted
        }
        say { writer in
            writer.member("on", "mine")
            writer.member("channel", membership.channel.text)
            writer.member("joined", isJoined)
            writer.member("fresh", isFresh)
            writer.member("read", orNull: membership.lastRead)
        }
    }

    func hear(_ typing: Typing) {
        guard !typing.isOver else { return }
        say { writer in
            writer.member("on", "typing")
            writer.member("channel", typing.channel.text)
            writer.member("name", typing.identity)
        }
    }

    func hear(trouble: String?) {
        say { writer in
            writer.member("on", "trouble")
            writer.member("text", orNull: trouble)
        }
    }

    /// Pages subscribe to nothing.
    func lose(_ feed: FeedID, version: Int) {}

    private static func text(_ telling: Telling) -> [UInt8]? {
        let text = telling.form(0) { event in
            var writer = JSONWriter()
            write(event, &writer)
            return writer.bytes
        }
        return text.isEmpty ? nil : text
    }

    /// Nothing is written for what no page shows.
    private static func write(_ world: WorldEvent, _ writer: inout JSONWriter) {
        let event = world.event
        switch event.subject {
        case .channel(let profile):
            if event.kind == .ended { return gone(profile.sid, &writer) }
            // Each message renews the profile as well; pages count those themselves.
            guard profile.updated == event.at else { return }
            writer.object { writer in
                writer.member("on", "channel")
                writer.object("channel") { BrowserShapes.profile(profile, &$0) }
            }
        case .message(let message): self.message(message, world, &writer)
        case .member(let member):
            guard event.kind != .updated else { return }
            writer.object { writer in
                writer.member("on", event.kind == .removed ? "left" : "joined")
                writer.member("channel", world.feed.owner.text)
                writer.object("member") { BrowserShapes.member(member, &$0) }
            }
        case .person(let person, .reachability):
            writer.object { writer in
                writer.member("on", "presence")
                writer.member("name", person.identity)
                writer.member("online", person.isOnline)
            }
        case .happening(let happening): notice(happening, world, &writer)
        case .person, .membership, .nothing: break
        }
    }

    /// What the page has no place for is said in words.
    private static func notice(_ happening: Happening, _ world: WorldEvent, _ writer: inout JSONWriter) {
        let text: String
        switch happening {
        case .muted(let person, _): text = "\(person.identity) was muted."
        case .unmuted(let person): text = "\(person.identity) may write again."
        case .banned(let person, _): text = "\(person.identity) was banned."
        case .frozen(true): text = "The channel is frozen: only those who rule it may write."
        case .frozen(false): text = "The channel is open again."
        default: return
        }
        writer.object { writer in
            writer.member("on", "notice")
            writer.member("channel", world.feed.owner.text)
            writer.member("text", text)
        }
    }

    private static func gone(_ channel: SID, _ writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("on", "gone")
            writer.member("channel", channel.text)
        }
    }

    private static func message(_ message: Message, _ world: WorldEvent, _ writer: inout JSONWriter) {
        writer.object { writer in
            switch world.event.kind {
            case .added: writer.member("on", "message")
            case .updated: writer.member("on", "edited")
            case .removed, .ended: writer.member("on", "deleted")
            }
            writer.member("channel", world.feed.owner.text)
            writer.object("message") { BrowserShapes.message(message, &$0) }
        }
    }
}
