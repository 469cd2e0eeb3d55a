internal import Chat
internal import JSON

extension TwilioTurn {
    /// `/Conversations/…`.
    func conversations(
        _ path: [String], _ request: TwilioRequest, _ world: inout World
    ) throws(WorldError) -> TwilioAnswer {
        guard let name = path.first else {
            switch request.method {
            case "GET": return list(request, world)
            case "POST": return try create(request, &world)
            default: return notThatWay(request)
            }
        }
        let channel = try world.channel(name, for: identity)
        switch path.count > 1 ? path[1] : nil {
        case nil: return try conversation(channel, request, &world)
        case "Messages": return try messages(Array(path[2...]), in: channel, request, &world)
        case "Participants": return try participants(Array(path[2...]), in: channel, request, &world)
        case "Invites": return try invites(Array(path[2...]), in: channel, request, &world)
        default: return nothingHere(request)
        }
    }

    /// Programmable Chat lists all public channels; Conversations only those one is in.
    private func list(_ request: TwilioRequest, _ world: World) -> TwilioAnswer {
        let channels =
            links.version == "v1"
            ? world.publicChannels
            : world.memberships(of: identity).compactMap { world.channels[$0.channel] }
        guard let page = Page(request, count: channels.count, size: 100) else { return badPage() }
        return .json { writer in
            links.meta("conversations", size: page.size, previous: page.previous, next: page.next, &writer)
            writer.array("conversations") { writer in
                for channel in channels[page.range] { writer.object { links.conversation(channel, &$0) } }
            }
        }
    }

    func badPage() -> TwilioAnswer { .refusal(400, code: 20001, "PageToken or PageSize is invalid") }

    private func create(_ request: TwilioRequest, _ world: inout World) throws(WorldError) -> TwilioAnswer {
        if let tooFast = tooFast() { return tooFast }
        let (type, access) = try (request.text("type"), request.text("access"))
        let kind = type ?? access ?? "public"
        guard kind == "public" || kind == "private" else {
            throw .invalid("\"\(kind)\" is no type of a channel: use public or private")
        }
        let channel = try world.createChannel(
            friendlyName: request.text("friendly_name"), uniqueName: request.text("unique_name"),
            attributes: request.attributes() ?? "{}", isPrivate: kind == "private", as: identity, at: now)
        return .json(201) { links.conversation(channel, &$0) }
    }

    private func conversation(
        _ channel: Channel, _ request: TwilioRequest, _ world: inout World
    ) throws(WorldError) -> TwilioAnswer {
        switch request.method {
        case "GET": return .json { links.conversation(channel, &$0) }
        case "POST":
            if let tooFast = tooFast(channel.sid) { return tooFast }
            let edited = try world.editChannel(
                channel.sid, friendlyName: request.text("friendly_name"),
                uniqueName: request.text("unique_name"), attributes: request.attributes(), as: identity,
                at: now)
            return .json { links.conversation(edited, &$0) }
        case "DELETE":
            if let tooFast = tooFast() { return tooFast }
            try world.deleteChannel(channel.sid, as: identity, at: now)
            return TwilioAnswer(204)
        default: return notThatWay(request)
        }
    }

    /// `/Invites` of Programmable Chat.
    private func invites(
        _ path: [String], in channel: Channel, _ request: TwilioRequest, _ world: inout World
    ) throws(WorldError) -> TwilioAnswer {
        switch (request.method, path.first) {
        case ("POST", nil):
            if let tooFast = tooFast(channel.sid) { return tooFast }
            guard let invited = try request.text("identity"), !invited.isEmpty else {
                throw .invalid("identity is missing")
            }
            let sid = try world.invite(invited, to: channel.sid, as: identity, at: now)
            return .json(201) { writer in
                writer.member("account_sid", links.names.account.text)
                writer.member("chat_service_sid", links.names.service.text)
                writer.member("conversation_sid", channel.sid.text)
                writer.member("sid", sid.text)
                writer.member("identity", invited)
                writer.member("created_by", identity)
                writer.member("date_created", now.text)
                writer.member("date_updated", now.text)
                writer.member("url", "\(links.conversation(channel.sid))/Invites/\(sid)")
            }
        case ("DELETE", let name?):
            if let tooFast = tooFast(channel.sid) { return tooFast }
            let invited = SID(name).flatMap { sid in channel.invited.first { $0.value == sid }?.key } ?? name
            try world.forgetInvite(of: invited, to: channel.sid, as: identity, at: now)
            return TwilioAnswer(204)
        default: return notThatWay(request)
        }
    }
}
