internal import Chat
internal import JSON
internal import WebSocket

extension SendbirdConnection: Listener {
    /// Every event of the world comes here; what this client may not see goes no further.
    func hear(_ telling: Telling, version: Int) {
        let event = telling.event
        switch event.event.subject {
        case .membership(let membership):
            if event.identity == identity { note(membership, event.event.kind) }
        case .message(let message): hear(message, telling)
        case .member(let member): hear(member, telling)
        case .happening(let happening): hear(happening, telling)
        case .channel(let profile):
            // Each message renews the profile as well, and so does making it.
            guard event.event.kind == .updated, profile.updated == event.event.at,
                profile.created != profile.updated, sees(event)
            else { return }
            say(telling.form(300) { SendbirdEvents.system(11000, $0) { $0.object("data") { _ in } } })
        case .person, .nothing: break
        }
    }

    /// Pages of the same name prove who they are in their own way.
    func giveUpName() {
        guard state.withLock({ $0.session?.isProven == false }) else { return }
        warn(400302, in: 0)
        outbox.finish()
    }

    func hear(_ typing: Typing) {
        let channel: Channel.Profile? = door.hall.look { world in world.channels[typing.channel]?.profile }
        guard let channel, !channel.traits.isOpen,
            let person = door.hall.look({ $0.users[typing.identity]?.person })
        else { return }
        say(
            SendbirdEvents.system(
                typing.isOver ? 10901 : 10900, of: channel, at: .now,
                { writer in writer.object("data") { SendbirdShapes.user(person, .http, &$0) } }))
    }

    /// Sendbird's clients subscribe to nothing.
    func lose(_ feed: FeedID, version: Int) {}

    private func note(_ membership: Membership, _ kind: FeedEvent.Kind) {
        let isJoined = kind != .removed && membership.status == .joined
        state.withLock { state in
            if isJoined {
                state.joined.insert(membership.channel)
            } else {
                state.joined.remove(membership.channel)
                state.entered.remove(membership.channel)
                state.present.remove(membership.channel)
            }
        }
    }

    /// Members hear what happens in a group channel, and whoever has entered what happens in an open one.
    private func sees(_ event: WorldEvent) -> Bool {
        guard let profile = event.profile else { return false }
        return state.withLock { state in
            profile.traits.isOpen ? state.entered.contains(profile.sid) : state.joined.contains(profile.sid)
        }
    }

    /// The number of the command whose answer this event is; nil when it is nobody's or somebody else's.
    private func request(of event: WorldEvent) -> JSON? {
        state.withLock { state in
            guard let request = state.awaited[event.feed]?.removeValue(forKey: event.event.id) else {
                return nil
            }
            if state.awaited[event.feed]?.isEmpty == true { state.awaited[event.feed] = nil }
            return request
        }
    }

    // MARK: Messages

    private func hear(_ message: Message, _ telling: Telling) {
        let event = telling.event
        if let request = request(of: event) { return acknowledge(message, event, request) }
        guard sees(event) else { return }
        // Names that its author's connections gave a message, and addresses of files, are not the same for all.
        let isPlain = message.author != identity && message.content.medias.isEmpty
        let frame =
            isPlain
            ? telling.form(200) { self.frame(message, $0) } : self.frame(message, event)
        switch event.event.kind {
        case .added: sayMessage(frame)
        case .updated, .removed: say(frame)
        case .ended: break
        }
    }

    private func frame(_ message: Message, _ event: WorldEvent) -> [UInt8] {
        guard let profile = event.profile else { return [] }
        return door.hall.look { world in
            let shapes = SendbirdShapes(
                world: world, base: base, identity: message.author == identity ? identity : "")
            return SendbirdEvents.message(message, event, profile, shapes)
        }
    }

    private func acknowledge(_ message: Message, _ event: WorldEvent, _ request: JSON) {
        guard request != Self.unanswered, let profile = event.profile else { return }
        let frame = door.hall.look { world in
            SendbirdEvents.message(
                message, event, profile, SendbirdShapes(world: world, base: base, identity: identity),
                request: request)
        }
        let delay = door.faults.take(for: identity) { fault -> Duration? in
            if case .delayReply(let delay) = fault { delay } else { nil }
        }
        guard let delay else { return say(frame) }
        // Only for tests: the writer must not wait, and the reply goes nowhere if the connection ends first.
        Task {
            try? await Task.sleep(for: delay)
            say(frame)
        }
    }

    /// Events of messages are those that tests lose, double and mix up.
    private func sayMessage(_ frame: [UInt8]) {
        if let heldBack = state.withLock({ $0.heldBack }) {
            state.withLock { $0.heldBack = nil }
            say(frame)
            return say(heldBack)
        }
        let identity = identity
        if door.faults.take(.lose, for: identity) { return }
        if door.faults.take(.misorder, for: identity) { return state.withLock { $0.heldBack = frame } }
        say(door.faults.take(.oldTime, for: identity) ? SendbirdEvents.aged(frame) : frame)
        if door.faults.take(.duplicate, for: identity) { say(frame) }
    }

    // MARK: Members

    private func hear(_ member: Member, _ telling: Telling) {
        let event = telling.event
        guard let profile = event.profile else { return }
        let isMe = member.identity == identity
        if event.event.kind == .updated {
            let request = request(of: event)
            guard member.lastReadAt == event.event.at, !profile.traits.isOpen, sees(event) else { return }
            return say(
                door.hall.look { SendbirdEvents.read(member, event, profile, $0, request: request ?? "") })
        }
        // Who comes is no member yet when that is told.
        guard sees(event) || (isMe && !profile.traits.isOpen) else { return }
        if event.joined > door.settings.sendbird.crowd, !isMe {
            return say(telling.form(301) { SendbirdEvents.count($0, profile) })
        }
        say(
            telling.form(302) { event in
                self.door.hall.look { SendbirdEvents.member(member, event, profile, $0) }
            })
    }

    // MARK: Other happenings

    private func hear(_ happening: Happening, _ telling: Telling) {
        let event = telling.event
        switch happening {
        case .hidden(let person, let hidden):
            guard person.identity == identity else { return }
            say(SendbirdEvents.hidden(hidden, event))
        case .blocked(let person, let by, let isBlocked):
            guard person.identity == identity || by.identity == identity else { return }
            say(SendbirdEvents.blocked(person, by: by, isBlocked, at: event.event.at))
        case .invited(let people, _):
            guard sees(event) || people.contains(where: { $0.identity == identity }) else { return }
            say(telling.form(303) { SendbirdEvents.happening(happening, $0) })
        case .declined(let person, _):
            guard sees(event) || person.identity == identity else { return }
            say(telling.form(303) { SendbirdEvents.happening(happening, $0) })
        case .unbanned(let person):
            guard sees(event) || person.identity == identity else { return }
            say(telling.form(303) { SendbirdEvents.happening(happening, $0) })
        default:
            guard sees(event) else { return }
            say(telling.form(303) { SendbirdEvents.happening(happening, $0) })
        }
    }
}
