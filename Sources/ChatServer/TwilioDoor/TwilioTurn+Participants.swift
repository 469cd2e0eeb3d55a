internal import Chat
internal import JSON

extension TwilioTurn {
    /// `/Conversations/CH…/Participants/…`.
    func participants(
        _ path: [String], in channel: Channel, _ request: TwilioRequest, _ world: inout World
    ) throws(WorldError) -> TwilioAnswer {
        guard let name = path.first else {
            switch request.method {
            case "GET": return list(channel, request)
            case "POST": return try add(to: channel.sid, request, &world)
            default: return notThatWay(request)
            }
        }
        guard path.count == 1 else { return nothingHere(request) }
        // Anybody may be called like a SID, so the identity comes second.
        guard let member = SID(name).flatMap({ channel.members[$0] }) ?? channel.member(of: name) else {
            throw .noSuchMember
        }
        switch request.method {
        case "GET": return .json { links.participant(member, in: channel.sid, &$0) }
        case "POST":
            if let tooFast = tooFast(channel.sid) { return tooFast }
            let edited = try world.editMember(
                member.sid, in: channel.sid, attributes: request.attributes(), role: role(request),
                as: identity, at: now)
            return .json { links.participant(edited, in: channel.sid, &$0) }
        case "DELETE":
            if let tooFast = tooFast(channel.sid) { return tooFast }
            try world.remove(member.sid, from: channel.sid, as: identity, at: now)
            return TwilioAnswer(204)
        default: return notThatWay(request)
        }
    }

    private func list(_ channel: Channel, _ request: TwilioRequest) -> TwilioAnswer {
        let roster = channel.roster
        guard let page = Page(request, count: roster.count, size: 50) else { return badPage() }
        return .json { writer in
            links.meta("participants", size: page.size, previous: page.previous, next: page.next, &writer)
            writer.array("participants") { writer in
                for member in roster[page.range] {
                    writer.object { links.participant(member, in: channel.sid, &$0) }
                }
            }
        }
    }

    private func add(
        to channel: SID, _ request: TwilioRequest, _ world: inout World
    ) throws(WorldError) -> TwilioAnswer {
        if let tooFast = tooFast(channel) { return tooFast }
        if let binding = request.json["messaging_binding"], !binding.isNull {
            throw .invalid("this server has no messaging bindings: only members with an identity")
        }
        guard let joining = try request.text("identity"), !joining.isEmpty else {
            throw .invalid("identity is missing")
        }
        let member = try world.join(
            channel, joining, attributes: request.attributes() ?? "{}", role: role(request), as: identity,
            at: now)
        return .json(201) { links.participant(member, in: channel, &$0) }
    }

    private func role(_ request: TwilioRequest) throws(WorldError) -> Role? {
        guard let text = try request.text("role_sid") else { return nil }
        guard let role = SID(text).flatMap(Role.init(sid:)) else {
            throw .invalid("there is no role \(text)")
        }
        return role
    }
}
