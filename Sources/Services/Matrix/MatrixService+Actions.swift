package import Chat
internal import JSON

extension MatrixService {
    /// What Matrix can do.
    package static let abilities = Abilities(
        events: [
            .messageAdded, .messageEdited, .messageDeleted, .memberJoined, .memberLeft, .memberUpdated,
            .memberInvited, .memberBanned, .memberMuted, .reactionAdded, .reactionRemoved, .channelAdded,
            .channelUpdated, .channelFrozen, .policyAdded, .policyRemoved, .started, .serviceUp, .serviceDown,
        ],
        actions: [
            "send", "reply", "dm", "delete", "kick", "ban", "unban", "mute", "unmute", "react", "invite",
            "join",
            "leave", "create", "title", "topic", "acl",
        ],
        // An event has 65,536 bytes, and the text stands in it twice, once of them escaped.
        textLimit: .init(16 * 1024, .bytes))

    package nonisolated var abilities: Abilities { settings.abilities }

    package func perform(_ action: ChatAction, key: ActionKey) async throws(ChatServiceError) -> Receipt {
        guard isUp, book != nil else { throw .unreachable("\(account) is not connected") }
        do {
            return try await done(action, key: key)
        } catch let failure as MatrixFailure {
            if case .foreign(let why, _) = failure, foreignComplaint.raise(at: clock.now()) != nil {
                log.warning("\(action.plainWord) waits: \(why)")
            }
            let error = Self.error(failure, repeatsFreely: action.repeatsFreely)
            if case .rejected(let why) = error { throw .rejected(refusal(of: action, why, failure)) }
            throw error
        } catch let error as ChatServiceError {
            throw error
        } catch {
            throw .unknownOutcome("\(error)")
        }
    }

    /// What a failed request means for the action it was part of.
    static func error(_ failure: MatrixFailure, repeatsFreely: Bool) -> ChatServiceError {
        switch failure {
        case .silent(let why, let mayHaveArrived), .foreign(let why, let mayHaveArrived):
            return mayHaveArrived && !repeatsFreely ? .unknownOutcome(why) : .unreachable(why)
        case .noToken(let login):
            return login.reaction == .never
                ? .unauthorized(login.description) : .unreachable(login.description)
        case .refused(let answer):
            if answer.isLimit { return .rateLimited(after: answer.retryAfter, answer.reason) }
            return .answered(
                answer.status, answer.reason, retryAfter: answer.retryAfter, repeatsFreely: repeatsFreely)
        }
    }

    private func done(_ action: ChatAction, key: ActionKey) async throws -> Receipt {
        switch action.verb {
        case .createChannel(let title, let attributes):
            let name = action.place.channel
            var alias = name.hasPrefix("#") ? String(name.dropFirst().prefix { $0 != ":" }) : name
            if name.hasPrefix("!") { alias = "" }
            let topic = attributes.flatMap { (try? JSON(parsing: $0))?["topic"]?.string }
            let id = try await create(
                alias: alias.isEmpty ? nil : alias, title: title, topic: topic,
                mark: ["key": .string(key.text)])
            return Receipt(channel: id)
        case .joinChannel:
            let name = action.place.channel
            let id = try await join(
                name.hasPrefix("!") ? name : alias(of: name), within: timing.join)
            return Receipt(channel: id)
        case .direct(let outgoing, let user): return try await direct(outgoing, to: user, key: key)
        default: return try await done(action, key: key, in: try await room(of: action.place))
        }
    }

    private func done(_ action: ChatAction, key: ActionKey, in room: String) async throws -> Receipt {
        let own = book?.own.text ?? ""
        switch action.verb {
        case .send(let outgoing): return try await send(outgoing, to: room, key: key)
        case .reply(let outgoing, let message):
            return try await send(outgoing, to: room, replyTo: message.id, key: key)
        case .editMessage(let message, let text):
            return try await edit(message, text, in: room, key: key)
        case .deleteMessage(let message): return try await redact(message, in: room, key: key)
        case .react(let emoji, let message): return try await react(emoji, to: message, in: room, key: key)
        case .addMember(let user):
            try await unless(user, in: room, isAlready: ["join", "invite"]) {
                () async throws(MatrixFailure) in
                _ = try await succeed(.post("rooms", room, "invite", body: ["user_id": .string(user)]))
            }
        case .removeMember(let user):
            return try await remove(user, "kick", from: room, reason: nil)
        case .ban(let user, _, let reason):
            return try await remove(user, "ban", from: room, reason: reason)
        case .unban(let user):
            try await unless(user, in: room, isAlready: ["join", "invite", "leave", "knock", nil]) {
                () async throws(MatrixFailure) in
                _ = try await succeed(.post("rooms", room, "unban", body: ["user_id": .string(user)]))
            }
        case .mute(let user, _, _): try await setMuted(true, user, in: room)
        case .unmute(let user): try await setMuted(false, user, in: room)
        case .leaveChannel: _ = try await succeed(.post("rooms", room, "leave"))
        case .setChannelTitle(let title):
            _ = try await succeed(
                .put("rooms", room, "state", "m.room.name", "", body: ["name": .string(title)]))
        case .setChannelTopic(let topic):
            _ = try await succeed(
                .put("rooms", room, "state", "m.room.topic", "", body: ["topic": .string(topic)]))
        case .typing:
            let now = clock.now()
            if let until = typingUntil[room], now < until { break }
            _ = try await succeed(
                .put("rooms", room, "typing", own, body: ["typing": true, "timeout": 6000]))
            typingUntil[room] = now + .seconds(4)
        case .advanceReadHorizon:
            guard let newest = book?.rooms[room]?.newest else { break }
            _ = try await succeed(.post("rooms", room, "receipt", "m.read", newest))
        case .denyServers, .admitServers:
            try await changeServers(action.verb, in: room)
        case .destroyChannel: throw ChatServiceError.rejected("rooms cannot be destroyed on Matrix; leave it")
        case .setChannelAttributes, .setMessageAttributes, .setMemberAttributes:
            throw ChatServiceError.rejected("Matrix has no such attributes")
        case .slowMode, .lock, .unlock:
            throw ChatServiceError.rejected("Matrix has nothing of the kind; steward does it in its place")
        case .createChannel, .joinChannel, .direct: break
        }
        return Receipt(channel: room)
    }

    /// The room's id; of one that was upgraded that of the newest.
    private func room(of place: Place) async throws -> String {
        if let known = book?.room(named: place.channel) { return known.id }
        if place.channel.hasPrefix("!") { return place.channel }
        if let id = try await find(alias: alias(of: place.channel)) { return book?.room(named: id)?.id ?? id }
        throw ChatServiceError.rejected("there is no room \"\(place.channel)\" in \(account)")
    }

    // MARK: Members

    private func remove(_ user: String, _ how: String, from room: String, reason: String?) async throws
        -> Receipt
    {
        let isIn = await isMember(user, of: room)
        var body: JSONObject = ["user_id": .string(user)]
        if let reason { body["reason"] = .string(reason) }
        let gone: [String?] = how == "kick" ? ["leave", "ban", nil] : ["ban"]
        let isDone = try await unless(user, in: room, isAlready: gone) { () async throws(MatrixFailure) in
            _ = try await succeed(.post("rooms", room, how, body: .object(body)))
        }
        return Receipt(channel: room, tookOut: isDone ? isIn : false)
    }

    /// Nil when it cannot be learnt now. Of members who have done nothing yet we are not told: the server is asked.
    private func isMember(_ user: String, of room: String) async -> Bool? {
        if book?.rooms[room]?.people[user] != nil { return true }
        do throws(MatrixFailure) {
            return try await membership(of: user, in: room) == "join"
        } catch {
            return nil
        }
    }

    /// What is so already needs not be done, though the server says no to it; false when it was so.
    @discardableResult
    private func unless(
        _ user: String, in room: String, isAlready wanted: [String?],
        _ body: () async throws(MatrixFailure) -> Void
    ) async throws -> Bool {
        do throws(MatrixFailure) {
            try await body()
            return true
        } catch {
            guard let answer = error.answer, answer.status == 403 || answer.status == 400,
                let membership = try? await membership(of: user, in: room), wanted.contains(membership)
            else { throw error }
            return false
        }
    }

    /// Takes or gives back the right to write. What they could do before is kept in the same event.
    private func setMuted(_ isMuted: Bool, _ user: String, in room: String) async throws {
        guard user != book?.own.text else { throw ChatServiceError.rejected("we do not mute ourselves") }
        try await turn("power \(room)") { () async throws(MatrixFailure) in
            let answer = try await ask(.get("rooms", room, "state", "m.room.power_levels", ""))
            guard answer.isFine || answer.status == 404 else { throw .refused(answer) }
            var levels = MutedLevels(answer.isFine ? answer.json.object ?? [:] : [:])
            guard isMuted ? levels.mute(user) : levels.unmute(user) else { return }
            _ = try await succeed(
                .put("rooms", room, "state", "m.room.power_levels", "", body: .object(levels.content)))
        }
    }

    private func changeServers(_ verb: ChatAction.Verb, in room: String) async throws {
        try await turn("acl \(room)") { () async throws(MatrixFailure) in
            let answer = try await ask(.get("rooms", room, "state", "m.room.server_acl", ""))
            guard answer.isFine || answer.status == 404 else { throw .refused(answer) }
            var rules = ServerRules(answer.isFine ? answer.json.object : nil)
            let isChanged =
                switch verb {
                case .denyServers(let servers): rules.deny(servers, own: ownServer)
                case .admitServers(let servers): rules.admit(servers)
                default: false
                }
            guard isChanged else { return }
            _ = try await succeed(
                .put("rooms", room, "state", "m.room.server_acl", "", body: .object(rules.content)))
        }
    }
}
