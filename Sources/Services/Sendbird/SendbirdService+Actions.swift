package import Chat
internal import JSON

extension SendbirdService {
    /// What Sendbird can do, and what is made of what it has.
    package static let abilities = Abilities(
        events: [
            .messageAdded, .messageEdited, .messageDeleted, .memberJoined, .memberLeft, .memberUpdated,
            .memberInvited, .memberBanned, .memberMuted, .reactionAdded, .reactionRemoved, .channelAdded,
            .channelUpdated, .channelDeleted, .channelFrozen, .typingStarted, .typingEnded,
            .readHorizonMoved, .delivered, .started, .serviceUp, .serviceDown,
        ],
        actions: [
            "send", "reply", "dm", "delete", "kick", "react", "mute", "unmute", "ban", "unban", "lock",
            "unlock",
        ],
        textLimit: .init(5000, .codePoints))

    package nonisolated var abilities: Abilities { Self.abilities }

    package func perform(_ action: ChatAction, key: ActionKey) async throws(ChatServiceError) -> Receipt {
        guard let connection else { throw .unreachable("\(account) is not connected") }
        do {
            return try await perform(action, key: key, on: connection)
        } catch let failure as SendbirdFailure {
            throw failure.asError(repeatsFreely: action.repeatsFreely)
        } catch let error as ChatServiceError {
            throw error
        } catch {
            throw .unknownOutcome("\(error)")
        }
    }

    private func perform(
        _ action: ChatAction, key: ActionKey, on connection: SendbirdConnection
    ) async throws -> Receipt {
        let url = action.place.channel
        switch action.verb {
        case .send(let outgoing):
            return try await say(outgoing, key: key, replyTo: nil, to: place(url), on: connection)
        case .reply(let outgoing, let message):
            return try await say(outgoing, key: key, replyTo: message, to: place(url), on: connection)
        case .direct(let outgoing, let user):
            guard user != own else { throw ChatServiceError.rejected("a direct message to ourselves") }
            let channel: String
            do {
                channel = try await directChannel(with: user)
            } catch {
                guard outgoing.isSkippable, error.isRefusal else { throw error }
                log.debug("no direct message to \(user): \(error.reason)")
                return Receipt()
            }
            return try await say(
                outgoing, key: key, replyTo: nil, to: (channel, .group), skips: outgoing.isSkippable,
                on: connection)
        case .editMessage(let message, let text):
            return try await change(message, ["message": .string(text)], in: place(url), on: connection)
        case .setMessageAttributes(let message, let data):
            return try await change(message, ["data": .string(data)], in: place(url), on: connection)
        case .deleteMessage(let message):
            let path = "\(try path(url))/messages/\(message.id.percentEncoded)"
            try await moderate(SendbirdRequest("DELETE", path), goneIsFine: true)
            return Receipt(message: message, channel: url)
        case .react(let key, let message):
            let path = "\(try path(url))/messages/\(message.id.percentEncoded)/reactions"
            _ = try await request(
                SendbirdRequest("POST", path, ["user_id": .string(own), "reaction": .string(key)]))
            return Receipt(message: message, channel: url)
        case .typing: return try await sayTyping(true, in: place(url), on: connection)
        case .advanceReadHorizon: return try await markRead(place(url), on: connection)
        default: break
        }
        if let receipt = try await moderate(action, url) { return receipt }
        return try await arrange(action, url, key: key)
    }

    // MARK: Moderation

    private func moderate(_ action: ChatAction, _ url: String) async throws -> Receipt? {
        switch action.verb {
        case .mute(let user, let until, let reason):
            try await punish("mute", user, until, reason, in: url)
        case .ban(let user, let until, let reason):
            let isIn = isMember(user, of: url)
            try await punish("ban", user, until, reason, in: url)
            return Receipt(channel: url, tookOut: isIn)
        case .unmute(let user): try await lift("mute", user, in: url)
        case .unban(let user): try await lift("ban", user, in: url)
        case .removeMember(let user):
            let isIn = isMember(user, of: url)
            try await remove(user, from: url)
            return Receipt(channel: url, tookOut: isIn)
        case .lock: try await moderate(SendbirdRequest("PUT", "\(try path(url))/freeze", ["freeze": true]))
        case .unlock: try await moderate(SendbirdRequest("PUT", "\(try path(url))/freeze", ["freeze": false]))
        default: return nil
        }
        return Receipt(channel: url)
    }

    /// With the Platform API's key where there is one, so that it is done where we are no operator, too.
    private func moderate(_ request: SendbirdRequest, goneIsFine: Bool = false) async throws(SendbirdFailure)
    {
        var request = request
        if settings.apiToken != nil { request.credential = .platform }
        do {
            _ = try await self.request(request)
        } catch {
            guard goneIsFine, case .refused(let refusal) = error, refusal.isMissing || refusal.status == 404
            else {
                throw error
            }
        }
    }

    /// It may have run out by itself: then it is lifted, whatever the service says to that.
    private func lift(_ what: String, _ user: String, in url: String) async throws {
        let path = "\(try path(url))/\(what)/\(user.percentEncoded)"
        do throws(SendbirdFailure) {
            try await moderate(SendbirdRequest("DELETE", path), goneIsFine: true)
        } catch {
            guard error.isRefusal, error.code != 400108, what == "mute" else { throw error }
            let credential: SendbirdRequest.Credential = settings.apiToken == nil ? .session : .platform
            let mute = try? await request(SendbirdRequest("GET", path, credential: credential))
            guard mute?["is_muted"]?.bool == false else { throw error }
        }
    }

    /// Nil when it is not known. Nobody is in an open channel so that they could be put back: people enter it.
    private func isMember(_ user: String, of url: String) -> Bool? {
        guard let room = book?.rooms[url] else { return nil }
        if room.kind == .open { return false }
        return room.roster[user] != nil ? true : room.isRosterWhole ? false : nil
    }

    private func punish(
        _ what: String, _ user: String, _ until: Timestamp?, _ reason: String?, in url: String
    ) async throws {
        let seconds = Self.seconds(until: until, from: clock.now())
        var body: JSONObject = ["user_id": .string(user), "seconds": .int(seconds)]
        if let reason, !reason.isEmpty { body["description"] = .string(String(reason.prefix(250))) }
        try await moderate(SendbirdRequest("POST", "\(try path(url))/\(what)", .object(body)))
    }

    /// At least one, as 0 and less mean something else there; -1 is for ever.
    private static func seconds(until end: Timestamp?, from now: Timestamp) -> Int64 {
        guard let end, end < .never else { return -1 }
        return max((end - now).milliseconds + 999, 1000) / 1000
    }

    /// Out, and free to come back. Clients have a ban only; the Platform API can take members of group channels out.
    private func remove(_ user: String, from url: String) async throws {
        guard settings.apiToken != nil, book?.rooms[url]?.kind == .group else {
            let body: JSON = ["user_id": .string(user), "seconds": 1, "description": "removed"]
            try await moderate(SendbirdRequest("POST", "\(try path(url))/ban", body))
            let now = clock.now()
            kicked = kicked.filter { $0.value > now }
            kicked["\(url) \(user)"] = now + .milliseconds(1100)
            return
        }
        let body: JSON = [
            "user_ids": [.string(user)], "should_leave_all": false, "reason": "channel_operator_removed",
        ]
        try await moderate(SendbirdRequest("PUT", "\(try path(url))/leave", body), goneIsFine: true)
    }

    // MARK: Channels

    private func arrange(_ action: ChatAction, _ url: String, key: ActionKey) async throws -> Receipt {
        switch action.verb {
        case .addMember(let user):
            guard try place(url).kind == .group else {
                throw ChatServiceError.rejected("nobody can be added to an open channel of Sendbird")
            }
            // Whom we kicked is banned for a moment.
            if let end = kicked["\(url) \(user)"], end > clock.now() {
                try await clock.sleep(end - clock.now())
            }
            try await write(
                "POST", "\(path(url))/invite", ["user_ids": [.string(user)], "inviter_id": .string(own)])
        case .setChannelTitle(let title): try await write("PUT", path(url), ["name": .string(title)])
        case .setChannelAttributes(let data): try await write("PUT", path(url), ["data": .string(data)])
        case .destroyChannel: try await moderate(SendbirdRequest("DELETE", path(url)), goneIsFine: true)
        case .joinChannel:
            guard let inbox else { throw ChatServiceError.unreachable("\(account) is not connected") }
            try await enter(url, mayCreate: false, inbox)
        case .leaveChannel: try await leave(url)
        case .createChannel(let title, let data):
            // Named after the action, so that it is made once.
            let name = url.isEmpty ? Self.name(key) : url
            guard let listing = try await createOpen(name, title: title, data: data), let inbox else {
                throw ChatServiceError.unknownOutcome("an answer that is no channel")
            }
            try await enter(listing.url, mayCreate: false, inbox)
            return Receipt(channel: listing.url)
        case .setChannelTopic:
            throw ChatServiceError.rejected(
                "channels have no topic on Sendbird; it can be kept in their attributes")
        case .setMemberAttributes:
            throw ChatServiceError.rejected("members have no attributes on Sendbird")
        default:
            throw ChatServiceError.rejected("Sendbird has nothing of the kind; steward does it in its place")
        }
        return Receipt(channel: url)
    }

    private func write(_ method: String, _ path: String, _ body: JSON) async throws(SendbirdFailure) {
        _ = try await request(SendbirdRequest(method, path, body))
    }

    private func leave(_ url: String) async throws {
        guard try place(url).kind == .open else {
            return try await write("PUT", "\(path(url))/leave", ["user_id": .string(own)])
        }
        guard let connection else { throw SendbirdFailure.notConnected("not connected") }
        _ = try await command("EXIT", ["channel_url": .string(url)], bucket: .other, on: connection)
        entered.remove(url)
        book?.close(url)
    }

    /// The name of a channel that an action makes.
    static func name(_ key: ActionKey) -> String { "steward_\(key.text)" }

    /// The channel of us and one other; the same pair always has the same one.
    func directChannel(with user: String) async throws(SendbirdFailure) -> String {
        if let known = directs[user] { return known }
        let answer = try await request(
            SendbirdRequest(
                "POST", "/group_channels", ["user_ids": [.string(own), .string(user)], "is_distinct": true]))
        guard let url = answer["channel_url"]?.string ?? answer["channel"]?["channel_url"]?.string else {
            throw .unknown("an answer that is no channel")
        }
        directs[user] = url
        return url
    }

    /// A channel we are in.
    func place(_ url: String) throws(ChatServiceError) -> (url: String, kind: SendbirdRoom.Kind) {
        guard let room = book?.rooms[url] else {
            // Those that direct messages go to may not have been heard of yet.
            if directs.values.contains(url) { return (url, .group) }
            guard isComplete else { throw .unreachable("not all channels of \(account) are known yet") }
            throw .rejected("\(account) is not in a channel \"\(url)\"")
        }
        return (url, room.kind)
    }

    func path(_ url: String) throws(ChatServiceError) -> String {
        "/\(try place(url).kind.path)/\(url.percentEncoded)"
    }
}

extension SendbirdFailure {
    /// The service understood and does not want it; asking again is of no use.
    var isRefusal: Bool {
        guard case .refused(let refusal) = self else { return false }
        return !refusal.mayPass && !refusal.isAboutSession
    }
}
