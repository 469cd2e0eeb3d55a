internal import Chat
internal import JSON

extension BrowserConnection {
    /// What a person asks for. It is answered when it is stored: with `done` and the order's number, or with `error`
    /// and the reason.
    func perform(_ verb: String, _ order: JSON) {
        if !BrowserTurn.looks.contains(verb), let trouble = door.hall.trouble {
            return refuse(order, trouble, isForNow: true)
        }
        let turn = BrowserTurn(identity: identity, rates: door.rates, now: .now)
        door.hall.take { world in
            let result: Result<BrowserTurn.Answer, WorldError>
            do throws(WorldError) {
                result = .success(try turn.answer(verb, order, &world))
            } catch {
                result = .failure(error)
            }
            return { audience in
                switch result {
                case .success(let answer):
                    self.say(answer.text)
                    if let (typing, hearers) = answer.typing { audience.tell(typing, to: hearers) }
                case .failure(let error): self.refuse(order, "\(error)", isForNow: error == .tooFast)
                }
            }
        }
    }
}

/// One order of a person, carried out in the world.
struct BrowserTurn {
    let identity: String
    let rates: WriteRates
    let now: Timestamp

    /// What changes nothing that is stored.
    static let looks: Set<String> = ["look", "page", "people", "typing"]

    struct Answer: Sendable {
        var text: [UInt8]
        var typing: (Typing, hearers: [String])?
    }

    func answer(_ verb: String, _ order: JSON, _ world: inout World) throws(WorldError) -> Answer {
        if verb == "create" { return try create(order, &world) }
        if verb == "people" { return people(order, world) }
        let channel = try world.channel(order["channel"]?.string ?? "", for: identity)
        let shapes = BrowserShapes(identity: identity)
        switch verb {
        case "look": return done(order) { $0.object("channel") { shapes.channel(channel, world, &$0) } }
        case "page": return try page(order, channel)
        case "typing":
            guard channel.member(of: identity) != nil else { throw .notMember }
            var answer = done(order)
            answer.typing = (
                Typing(channel: channel.sid, identity: identity), Array(channel.memberByIdentity.keys)
            )
            return answer
        default: break
        }
        // Before the rate: who asks whether a message has arrived must not be sent away.
        if verb == "say", let key = try key(order),
            let message = world.posted(key, in: channel.sid, by: identity)
        {
            return said(message, order)
        }
        guard rates.take(channel.sid, at: now) == nil else { throw .tooFast }
        if verb == "say" {
            let content = try Message.Content(body: text(order), key: key(order))
            return said(try world.post(content, in: channel.sid, as: identity, at: now), order)
        }
        try change(verb, order, channel.sid, &world)
        return done(order) { $0.member("channel", channel.sid.text) }
    }

    private func change(
        _ verb: String, _ order: JSON, _ channel: SID, _ world: inout World
    ) throws(WorldError) {
        switch verb {
        case "join": _ = try world.join(channel, identity, as: identity, at: now)
        case "leave":
            guard let member = world.channels[channel]?.member(of: identity) else { throw .notMember }
            try world.remove(member.sid, from: channel, as: identity, at: now)
        case "destroy": try world.deleteChannel(channel, as: identity, at: now)
        case "add": _ = try world.join(channel, name(order), as: identity, at: now)
        case "remove":
            guard let member = try world.channels[channel]?.member(of: name(order)) else {
                throw .noSuchMember
            }
            try world.remove(member.sid, from: channel, as: identity, at: now)
        case "edit":
            let text = try text(order)
            _ = try world.edit(message(order), in: channel, as: identity, at: now) { $0.body = text }
        case "delete": try world.delete(message(order), in: channel, as: identity, at: now)
        case "react": try react(order, channel, &world)
        case "read":
            guard let index = order["index"]?.int else { throw .invalid("index is missing") }
            let last = world.channels[channel]?.member(of: identity)?.lastRead ?? -1
            // Another page of the same person may have read further.
            if index > last { _ = try world.setRead(index, in: channel, as: identity, at: now) }
        default: throw .invalid("there is no \"\(verb)\"")
        }
    }

    private func done(_ order: JSON, _ more: (inout JSONWriter) -> Void = { _ in }) -> Answer {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("on", "done")
            if let number = order["n"]?.int { writer.member("n", number) }
            more(&writer)
        }
        return Answer(text: writer.bytes)
    }

    private func text(_ order: JSON) throws(WorldError) -> String {
        guard let text = order["text"]?.string, text.contains(where: { !$0.isWhitespace }) else {
            throw .invalid("a message needs some text")
        }
        return text
    }

    /// What the page calls the message; with it, a message that is sent again is posted once.
    private func key(_ order: JSON) throws(WorldError) -> String? {
        guard let value = order["key"], !value.isNull else { return nil }
        guard let key = value.string, (1...64).contains(key.utf8.count) else {
            throw .invalid("a message's key has 1 to 64 bytes")
        }
        return key
    }

    private func said(_ message: Message, _ order: JSON) -> Answer {
        done(order) { $0.member("index", message.index) }
    }

    private func name(_ order: JSON) throws(WorldError) -> String {
        guard let name = order["name"]?.string, BrowserConnection.isName(name) else {
            throw .invalid(BrowserConnection.whatNamesAre)
        }
        return name
    }

    /// Everybody who has ever been here, for whoever adds people to a channel.
    private func people(_ order: JSON, _ world: World) -> Answer {
        done(order) { writer in
            writer.array("people") { writer in
                for name in world.users.keys.sorted().prefix(1000) { writer.value(name) }
            }
        }
    }

    private func message(_ order: JSON) throws(WorldError) -> SID {
        guard let sid = order["message"]?.string.flatMap({ SID($0) }) else { throw .noSuchMessage }
        return sid
    }

    /// A channel with this name, which its maker joins at once.
    private func create(_ order: JSON, _ world: inout World) throws(WorldError) -> Answer {
        guard let name = order["name"]?.string, name.contains(where: { !$0.isWhitespace }) else {
            throw .invalid("a channel needs a name")
        }
        guard BrowserConnection.isPlain(name) else {
            throw .invalid("a channel's name has no line breaks and no invisible marks")
        }
        let channel = try world.createChannel(
            friendlyName: name, isPrivate: order["private"]?.bool ?? false, as: identity, at: now)
        _ = try world.join(channel.sid, identity, as: identity, at: now)
        return done(order) { $0.member("channel", channel.sid.text) }
    }

    /// The newest messages, or those before an index, oldest first.
    private func page(_ order: JSON, _ channel: Channel) throws(WorldError) -> Answer {
        guard channel.member(of: identity) != nil else { throw .notMember }
        let messages = channel.messages
        let before = order["before"]?.int
        let end = before.map { messages.position(of: $0, by: \.index) } ?? messages.count
        let start = max(0, end - 50)
        return done(order) { writer in
            writer.member("channel", channel.sid.text)
            writer.member("more", start > 0)
            writer.array("messages") { writer in
                for place in start..<end { writer.object { BrowserShapes.message(messages[place], &$0) } }
            }
        }
    }

    /// Adds one's reaction, or takes it back.
    private func react(_ order: JSON, _ channel: SID, _ world: inout World) throws(WorldError) {
        guard let reaction = order["reaction"]?.string, (1...8).contains(reaction.count) else {
            throw .invalid("that is no reaction")
        }
        _ = try world.react(reaction, nil, to: message(order), in: channel, as: identity, at: now)
    }
}
