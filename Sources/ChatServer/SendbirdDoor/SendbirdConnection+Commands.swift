internal import Chat
internal import JSON
internal import WebSocket

/// What clients say on the socket.
extension SendbirdConnection {
    func take(_ code: String, _ fields: JSON) {
        let request = fields["req_id"].flatMap { $0.isNull ? nil : $0 }
        if code == "PING" {
            guard !door.faults.take(.noPong, for: identity) else { return }
            let now = Timestamp.now.milliseconds
            return say("PONG") { writer in
                writer.member("ts", now)
                writer.member("sts", now)
            }
        }
        guard identity != "" else { return refuse(request, SendbirdRefusal(900010, "Log in first.")) }
        switch code {
        case "LOGI": renew(request ?? "", fields)
        case "MESG", "FILE", "MEDI", "FEDI", "ENTR", "EXIT", "READ", "TPST", "TPEN", "MACK":
            perform(code, request, fields)
        default: refuse(request, SendbirdRefusal(400930, "There is no command \"\(code)\"."))
        }
    }

    private func perform(_ code: String, _ request: JSON?, _ fields: JSON) {
        let identity = identity
        let url = fields["channel_url"]?.string ?? ""
        let isPost = code == "MESG" || code == "FILE"
        if isPost, door.faults.take(.cutBeforePost, for: identity) { return socket.kill() }
        let fault = door.faults.take(for: identity) { fault -> SendbirdRefusal? in
            if case .refuse(_, let code, _) = fault {
                SendbirdRefusal(code, "refused for a test")
            } else {
                nil
            }
        }
        if let fault { return refuse(request, fault, in: url) }
        if !["TPST", "TPEN"].contains(code), let trouble = door.hall.trouble {
            return refuse(request, SendbirdRefusal(500901, trouble), in: url)
        }
        let isCut = isPost && door.faults.take(.cutAfterPost, for: identity)
        let isMute = isPost && door.faults.take(.noReply, for: identity)
        let now = Timestamp.now
        door.hall.take { world in
            do throws(SendbirdRefusal) {
                let channel = try self.channel(url, world)
                let outcome: Hall.Outcome?
                do throws(WorldError) {
                    outcome = try self.carryOut(
                        code, isMute ? Self.unanswered : request, fields, channel, &world, at: now)
                } catch {
                    throw SendbirdRefusal(error, onSocket: true)
                }
                // Cut here and not below: the events of the change must not arrive either.
                if isCut { state.withLock { $0.isSilent = true } }
                return { audience in
                    if isCut { return self.socket.kill() }
                    outcome?(&audience)
                }
            } catch {
                return { _ in self.refuse(request, error, in: url) }
            }
        }
    }

    private func channel(_ url: String, _ world: World) throws(SendbirdRefusal) -> Channel {
        guard let channel = world.channelURLs[url].flatMap({ world.channels[$0] }),
            world.mayKnow(channel, identity)
        else { throw SendbirdRefusal(900500, "There is no channel \"\(url)\".") }
        return channel
    }

    /// Does what is asked and says what follows when it is stored. Acks of messages go out with their events.
    private func carryOut(
        _ code: String, _ request: JSON?, _ fields: JSON, _ channel: Channel, _ world: inout World,
        at now: Timestamp
    ) throws(WorldError) -> Hall.Outcome? {
        let sid = channel.sid
        switch code {
        case "MESG", "FILE":
            guard channel.member(of: identity) != nil else { throw .notMember }
            guard door.rates.take(sid, at: now) == nil else { throw .tooFast }
            let content = try SendbirdContent(fields, isFile: code == "FILE", world).content
            let message = try world.post(content, in: sid, as: identity, at: now)
            expect(request, FeedID(topic: .messages, owner: sid), message.lastEvent)
            return nil
        case "MEDI", "FEDI":
            guard let number = fields["msg_id"]?.int ?? fields["msg_id"]?.string.flatMap({ Int64($0) }),
                let old = channel.message(numbered: number)
            else { throw .noSuchMessage }
            guard old.author == identity else { throw .notAllowed(.editAnyMessage) }
            let change = try SendbirdContent.Change(fields)
            let message = try world.edit(old.sid, in: sid, as: identity, at: now) { change.apply(to: &$0) }
            expect(request, FeedID(topic: .messages, owner: sid), message.lastEvent)
            return nil
        case "READ":
            guard !channel.profile.traits.isOpen else {
                throw .invalid("open channels are not marked as read")
            }
            let member = try world.readAll(sid, as: identity, at: now)
            expect(request, FeedID(topic: .roster, owner: sid), member.lastEvent)
            return nil
        case "MACK":
            if !channel.profile.traits.isOpen { try world.deliver(in: sid, to: identity, at: now) }
            return nil
        case "TPST", "TPEN":
            guard channel.member(of: identity) != nil, !channel.profile.traits.isOpen else { return nil }
            let typing = Typing(channel: sid, identity: identity, isOver: code == "TPEN")
            let hearers = Array(channel.memberByIdentity.keys)
            return { audience in audience.tell(typing, to: hearers) }
        case "ENTR": return try enter(channel, request, &world, at: now)
        case "EXIT": return exit(channel, request, &world)
        default: return nil
        }
    }

    /// The event with this number is the answer to the command with that one.
    private func expect(_ request: JSON?, _ feed: FeedID, _ event: Int64) {
        state.withLock { $0.awaited[feed, default: [:]][event] = request ?? "" }
    }

    /// In place of the number of a command that gets no answer, for tests.
    static let unanswered = JSON.bool(false)

    // MARK: Open channels

    private func enter(
        _ channel: Channel, _ request: JSON?, _ world: inout World, at now: Timestamp
    ) throws(WorldError) -> Hall.Outcome? {
        guard channel.profile.traits.isOpen else { throw .invalid("only open channels are entered") }
        let sid = channel.sid
        if channel.member(of: identity) == nil {
            _ = try world.join(sid, identity, isVisiting: true, as: identity, at: now)
        } else if channel.bans[identity]?.holds(at: now) == true {
            throw .banned
        }
        state.withLock { _ = $0.present.insert(sid) }
        let count = world.channels[sid]?.members.count ?? 0
        return { _ in
            self.state.withLock { _ = $0.entered.insert(sid) }
            self.say("ENTR") { writer in
                if let request { writer.member("req_id", request) }
                writer.member("channel_url", channel.profile.url)
                writer.member("channel_type", "open")
                writer.member("participant_count", count)
                writer.member("enter_ts", now.milliseconds)
                writer.member("edge_ts", now.milliseconds)
                writer.member("subchannel_id", "0")
            }
        }
    }

    private func exit(_ channel: Channel, _ request: JSON?, _ world: inout World) -> Hall.Outcome? {
        let sid = channel.sid
        forsake(sid, &world)
        let count = world.channels[sid]?.members.count ?? 0
        let now = Timestamp.now.milliseconds
        return { _ in
            self.state.withLock { _ = $0.entered.remove(sid) }
            self.say("EXIT") { writer in
                if let request { writer.member("req_id", request) }
                writer.member("channel_url", channel.profile.url)
                writer.member("channel_type", "open")
                writer.member("participant_count", count)
                writer.member("edge_ts", now)
                writer.member("subchannel_id", "0")
            }
        }
    }

    /// Out of all open channels, as the connection is over.
    func leaveAll(_ world: inout World) {
        for sid in state.withLock({ $0.present }) { forsake(sid, &world) }
    }

    /// Out of an open channel, unless the user is there by another connection or for good.
    private func forsake(_ sid: SID, _ world: inout World) {
        state.withLock { _ = $0.present.remove(sid) }
        let isElsewhere = door.connections.of(identity).contains { other in
            other !== self && other.state.withLock { $0.present.contains(sid) }
        }
        guard !isElsewhere, let member = world.channels[sid]?.member(of: identity), member.isVisiting else {
            return
        }
        try? world.remove(member.sid, from: sid, as: World.service, at: .now)
    }
}
