internal import Chat
internal import JSON

extension TwilioTurn {
    /// `/Conversations/CH…/Messages/…`.
    func messages(
        _ path: [String], in channel: Channel, _ request: TwilioRequest, _ world: inout World
    ) throws(WorldError) -> TwilioAnswer {
        guard let name = path.first else {
            return request.method == "POST"
                ? try send(to: channel.sid, request, &world) : notThatWay(request)
        }
        guard let sid = SID(name) else { throw .noSuchMessage }
        if path.count > 1 {
            guard path[1] == "Receipts", request.method == "GET" else { return nothingHere(request) }
            guard channel.message(sid) != nil else { throw .noSuchMessage }
            return .json { writer in
                writer.array("delivery_receipts") { _ in }
                links.meta("delivery_receipts", size: 50, previous: nil, next: nil, &writer)
            }
        }
        switch request.method {
        case "GET":
            guard channel.member(of: identity) != nil || world.admins.contains(identity) else {
                throw .notMember
            }
            guard let message = channel.message(sid) else { throw .noSuchMessage }
            return .json { links.message(message, in: channel.sid, &$0) }
        case "POST":
            if let tooFast = tooFast(channel.sid) { return tooFast }
            return try edit(sid, in: channel.sid, request, &world)
        case "DELETE":
            if let tooFast = tooFast(channel.sid) { return tooFast }
            try world.delete(sid, in: channel.sid, as: identity, at: now)
            return TwilioAnswer(204)
        default: return notThatWay(request)
        }
    }

    private func send(
        to channel: SID, _ request: TwilioRequest, _ world: inout World
    ) throws(WorldError) -> TwilioAnswer {
        if let tooFast = tooFast(channel) { return tooFast }
        var medias: [Media] = []
        for sid in try mediaSIDs(request) {
            guard let media = SID(sid).flatMap({ world.medias[$0] }) else { throw .noSuchMedia }
            medias.append(media)
        }
        let content = try Message.Content(
            body: request.text("body"), subject: request.text("subject"),
            attributes: request.attributes() ?? "{}", medias: medias, contentSID: request.text("content_sid"))
        let message = try world.post(content, in: channel, as: identity, at: now)
        return .json(201) { links.message(message, in: channel, &$0) }
    }

    /// `media_sids` of Conversations, `media_sid` of Programmable Chat.
    private func mediaSIDs(_ request: TwilioRequest) throws(WorldError) -> [String] {
        if let one = try request.text("media_sid") { return [one] }
        guard let list = request.json["media_sids"], !list.isNull else { return [] }
        guard let sids = list.array?.map(\.string), !sids.contains(nil) else {
            throw .invalid("media_sids must be a list of SIDs")
        }
        return sids.compactMap(\.self)
    }

    private func edit(
        _ sid: SID, in channel: SID, _ request: TwilioRequest, _ world: inout World
    ) throws(WorldError) -> TwilioAnswer {
        let (body, subject, attributes) = try (
            request.text("body"), request.text("subject"), request.attributes()
        )
        let message = try world.edit(sid, in: channel, as: identity, at: now) { content in
            if let body { content.body = body }
            if let subject { content.subject = subject }
            if let attributes {
                content.attributes = attributes
                content.traits.data = nil
            }
        }
        return .json { links.message(message, in: channel, &$0) }
    }
}
