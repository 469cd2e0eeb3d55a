package import Chat
internal import JSON

extension TwilioService {
    /// What Twilio can do, and what is made of what it has.
    package static let abilities = Abilities(
        events: [
            .messageAdded, .messageEdited, .messageDeleted, .memberJoined, .memberLeft, .memberUpdated,
            .channelAdded, .channelUpdated, .channelDeleted, .typingStarted, .typingEnded, .readHorizonMoved,
            .started, .serviceUp, .serviceDown,
        ],
        actions: [
            "send", "reply", "dm", "delete", "kick", "react", "invite", "join", "leave", "create", "title",
        ],
        textLimit: .init(32 * 1024, .bytes),
        // Twilio has no threads, and notifies whoever is in a channel or nobody.
        wishes: [])

    package nonisolated var abilities: Abilities { Self.abilities }

    package func perform(_ action: ChatAction, key: ActionKey) async throws(ChatServiceError) -> Receipt {
        guard let connection else { throw .unreachable("\(account) is not connected") }
        do {
            return try await perform(action, key: key, on: connection)
        } catch let failure as RequestFailure {
            throw Self.error(failure, repeatsFreely: action.repeatsFreely)
        } catch let error as ChatServiceError {
            throw error
        } catch {
            throw .unknownOutcome("\(error)")
        }
    }

    /// What a failed request means for the action it was part of.
    static func error(_ failure: RequestFailure, repeatsFreely: Bool) -> ChatServiceError {
        switch failure {
        case .notConnected(let why): return .unreachable(why)
        case .unknown(let why): return .unknownOutcome(why)
        case .refused(let status, let pause):
            return switch status.code {
            case 401, 403: .unauthorized("the token was refused: \(status)")
            default: .rateLimited(after: pause ?? .seconds(1), status.description)
            }
        case .answered(let answer):
            if answer.status == 429 { return .rateLimited(after: answer.retryAfter, answer.reason) }
            return .answered(
                answer.status, answer.reason, retryAfter: answer.retryAfter, repeatsFreely: repeatsFreely)
        }
    }

    private func perform(
        _ action: ChatAction, key: ActionKey, on connection: TwilsockConnection
    ) async throws -> Receipt {
        switch action.verb {
        case .createChannel(let title, let attributes):
            return try await createChannel(
                named: action.place.channel, title: title, attributes: attributes, key: key, on: connection)
        case .direct(let outgoing, let user):
            let sid: String
            do {
                sid = try await directChannel(with: user, on: connection)
            } catch let failure as RequestFailure where outgoing.isSkippable && failure.isRefusal {
                log.debug("no direct message to \(user): \(failure.reason)")
                return Receipt()
            }
            return try await send(outgoing, key: key, replyTo: nil, to: sid, on: connection)
        default: break
        }
        let sid = try await channelSID(of: action.place, on: connection)
        switch action.verb {
        case .send(let outgoing):
            return try await send(outgoing, key: key, replyTo: nil, to: sid, on: connection)
        case .reply(let outgoing, let message):
            return try await send(outgoing, key: key, replyTo: message.id, to: sid, on: connection)
        case .editMessage(let message, let text):
            return try await write(
                .post(link(to: message, in: sid), ["body": .string(text)]), message, to: sid, on: connection)
        case .deleteMessage(let message):
            return try await write(
                .delete(link(to: message, in: sid)), message, to: sid, goneIsFine: true, inTurn: false,
                on: connection)
        case .setMessageAttributes(let message, let attributes):
            return try await write(
                .post(link(to: message, in: sid), ["attributes": .string(attributes)]), message, to: sid,
                on: connection)
        case .react(let emoji, let message):
            return try await react(emoji, to: message, in: sid, on: connection)
        case .addMember(let user):
            try await turn(sid) { () async throws(RequestFailure) in
                try await addParticipant(user, to: sid, on: connection)
            }
            return Receipt(channel: sid)
        case .removeMember(let user):
            let url = "\(link(to: sid))/Participants/\(user.percentEncoded)"
            let answer = try await turn(sid) { () async throws(RequestFailure) in
                try await change(.delete(url), on: connection)
            }
            guard answer.isFine || answer.status == 404 else { throw RequestFailure.answered(answer) }
            return Receipt(channel: sid, tookOut: answer.isFine)
        case .setMemberAttributes(let user, let attributes):
            return try await setAttributes(attributes, of: user, in: sid, on: connection)
        case .setChannelAttributes(let attributes):
            return try await write(
                .post(link(to: sid), ["attributes": .string(attributes)]), nil, to: sid, on: connection)
        case .setChannelTitle(let title):
            return try await write(
                .post(link(to: sid), ["friendly_name": .string(title)]), nil, to: sid, on: connection)
        case .joinChannel:
            try await turn(sid) { () async throws(RequestFailure) in
                try await addParticipant(settings.identity, to: sid, on: connection)
            }
            return Receipt(channel: sid)
        case .leaveChannel:
            let url = "\(link(to: sid))/Participants/\(settings.identity.percentEncoded)"
            return try await write(.delete(url), nil, to: sid, goneIsFine: true, on: connection)
        case .setChannelTopic:
            throw ChatServiceError.rejected(
                "channels have no topic on Twilio; it can be kept in their attributes")
        case .denyServers, .admitServers:
            throw ChatServiceError.rejected("people of Twilio come from no servers")
        case .destroyChannel:
            return try await write(.delete(link(to: sid)), nil, to: sid, goneIsFine: true, on: connection)
        case .advanceReadHorizon(let index):
            let name = settings.isChat ? "last_consumed_message_index" : "last_read_message_index"
            let url = "\(configuration?.myConversations ?? "")/\(sid.percentEncoded)"
            return try await write(
                .post(url, .object(JSONObject([(key: name, value: .int(index))]))), nil, to: sid,
                on: connection)
        case .typing:
            return try await sayTyping(in: sid, on: connection)
        case .direct, .createChannel:
            return Receipt()
        case .mute, .unmute, .ban, .unban, .slowMode, .lock, .unlock:
            throw ChatServiceError.rejected("Twilio has nothing of the kind; steward does it in its place")
        }
    }

    // MARK: Sending

    private func send(
        _ outgoing: Outgoing, key: ActionKey, replyTo: String?, to sid: String,
        on connection: TwilsockConnection
    ) async throws -> Receipt {
        var media: [JSON] = []
        for file in outgoing.attachments { media.append(.string(try await upload(file))) }
        let mark = MessageMark(key: key.text, replyTo: replyTo)
        var body = JSONObject()
        body["body"] = .string(outgoing.text)
        body["attributes"] = .string(mark.added(to: outgoing.attributes))
        if !media.isEmpty { body["media_sids"] = .array(media) }
        let request = UpstreamRequest.post("\(link(to: sid))/Messages", .object(body))
        let answer = try await turn(sid) { () async throws(RequestFailure) in
            try await change(request, on: connection)
        }
        guard answer.isFine else { throw RequestFailure.answered(answer) }
        let message = answer.json
        guard let id = message["sid"]?.string else {
            throw ChatServiceError.unknownOutcome("an answer without sid")
        }
        return Receipt(message: MessageReference(id: id, index: message["index"]?.int), channel: sid)
    }

    /// One write after the other in a channel, and no more a second than Twilio allows.
    private func turn<Result>(
        _ sid: String, _ body: () async throws(RequestFailure) -> Result
    ) async throws(RequestFailure) -> Result {
        if !lanes.take(sid) { await withCheckedContinuation { lanes.wait(sid, $0) } }
        defer { lanes.leave(sid)?.resume() }
        return try await paced(sid, body)
    }

    private func paced<Result>(
        _ sid: String, _ body: () async throws(RequestFailure) -> Result
    ) async throws(RequestFailure) -> Result {
        let wait = paces[sid, default: Pace(perSecond: Self.writesPerSecond)].next(at: clock.now())
        if wait > .zero, (try? await clock.sleep(wait)) == nil { throw .notConnected("cancelled") }
        return try await body()
    }

    /// In one conversation. Source: Twilio's documentation of limits.
    private static let writesPerSecond = 30

    private func write(
        _ request: UpstreamRequest, _ message: MessageReference?, to sid: String, goneIsFine: Bool = false,
        inTurn: Bool = true, on connection: TwilsockConnection
    ) async throws -> Receipt {
        let body = { () async throws(RequestFailure) in try await self.change(request, on: connection) }
        let answer = inTurn ? try await turn(sid, body) : try await paced(sid, body)
        guard answer.isFine || (goneIsFine && answer.status == 404) else {
            throw RequestFailure.answered(answer)
        }
        return Receipt(message: message, channel: sid)
    }

    private func link(to message: MessageReference, in sid: String) -> String {
        "\(link(to: sid))/Messages/\(message.id.percentEncoded)"
    }

    // MARK: Channels

    private func channelSID(of place: Place, on connection: TwilsockConnection) async throws -> String {
        if let known = reader.book?.channel(named: place.channel) { return known.channel.id.text }
        if let found = try await find(place.channel, on: connection) { return found.sid }
        throw ChatServiceError.rejected("there is no channel \"\(place.channel)\" in \(account)")
    }

    /// The channel of us and one other; made when it is missing.
    private func directChannel(with user: String, on connection: TwilsockConnection) async throws -> String {
        guard let own = configuration?.identity else { throw ChatServiceError.unreachable("not connected") }
        guard user != own else { throw ChatServiceError.rejected("a direct message to ourselves") }
        let name = DirectChannel.name(own, user)
        if let known = reader.book?.channel(named: name), known.member(user) != nil {
            return known.channel.id.text
        }
        let listing = try await create(
            uniqueName: name, title: [own, user].sorted().joined(separator: ", "), attributes: nil,
            isPublic: false, on: connection)
        try await join(listing.sid, on: connection)
        try await addParticipant(user, to: listing.sid, on: connection)
        return listing.sid
    }

    private func createChannel(
        named name: String, title: String, attributes: String?, key: ActionKey,
        on connection: TwilsockConnection
    ) async throws -> Receipt {
        let marked = MessageMark(key: key.text, replyTo: nil).added(to: attributes)
        let listing = try await create(
            uniqueName: name.isEmpty ? nil : name, title: title, attributes: marked, isPublic: true,
            on: connection)
        try await join(listing.sid, on: connection)
        return Receipt(channel: listing.sid)
    }

    private func setAttributes(
        _ attributes: String, of user: String, in sid: String, on connection: TwilsockConnection
    ) async throws -> Receipt {
        guard
            let entry = reader.book?.channel(sid)?.roster.values.first(where: { $0.member.user.text == user })
        else { throw ChatServiceError.rejected("\"\(user)\" is not in the channel") }
        let url = "\(link(to: sid))/Participants/\(entry.key.percentEncoded)"
        return try await write(
            .post(url, ["attributes": .string(attributes)]), nil, to: sid, on: connection)
    }

    // MARK: Reactions and typing

    /// Twilio has no reactions: they are noted in the message's attributes, as `{"reactions":{"👍":["ana"]}}`.
    private func react(
        _ emoji: String, to message: MessageReference, in sid: String, on connection: TwilsockConnection
    ) async throws -> Receipt {
        guard let own = configuration?.identity else { throw ChatServiceError.unreachable("not connected") }
        guard let item = try await item(of: message, in: sid, on: connection) else {
            throw ChatServiceError.rejected("there is no such message any more")
        }
        let text = item["data"]?["attributes"]?.string ?? "{}"
        var attributes = (try? JSON(parsing: text))?.object ?? JSONObject()
        var reactions = attributes["reactions"]?.object ?? JSONObject()
        var users = reactions[emoji]?.array ?? []
        guard !users.contains(.string(own)) else { return Receipt(message: message, channel: sid) }
        users.append(.string(own))
        reactions[emoji] = .array(users)
        attributes["reactions"] = .object(reactions)
        return try await write(
            .post(
                link(to: message, in: sid), ["attributes": .string(JSON.object(attributes).description)]),
            message, to: sid, on: connection)
    }

    private func sayTyping(in sid: String, on connection: TwilsockConnection) async throws -> Receipt {
        let now = clock.now()
        // The server forgets it after a while by itself; more often is not wanted.
        if let until = typingUntil[sid], now < until { return Receipt(channel: sid) }
        let request = UpstreamRequest(
            method: "POST", url: configuration?.typing ?? "",
            contentType: "application/x-www-form-urlencoded",
            body: Array("ChannelSid=\(sid.percentEncoded)".utf8))
        let answer = try await exchange(request, on: connection)
        guard answer.isFine else { throw RequestFailure.answered(answer) }
        typingUntil[sid] = now + .seconds(max(answer.json["typing_timeout"]?.int ?? 5, 1))
        return Receipt(channel: sid)
    }
}
