internal import Chat
internal import JSON

extension SendbirdTurn {
    func messages(_ path: [String], in channel: Channel, _ world: inout World) throws -> SendbirdAnswer {
        try checkMayRead(channel)
        switch (request.method, path.first, path.count) {
        case ("GET", nil, _): return try around(channel, world)
        case ("POST", nil, _): return try send(to: channel, &world)
        case ("GET", "changelogs", 1): return try changes(of: channel, world)
        case ("GET", "total_count", 1):
            return SendbirdAnswer { $0.member("total", channel.messageCount) }
        case ("PUT", "mark_as_read", 1):
            _ = try world.readAll(channel.sid, as: try request.user(), at: now)
            return .nothing
        default: break
        }
        guard let message = path.first.flatMap({ Int64($0) }).flatMap({ channel.message(numbered: $0) })
        else {
            throw SendbirdRefusal(400201, "There is no such message.")
        }
        if path.count == 2, path[1] == "reactions" { return try react(to: message, in: channel, &world) }
        guard path.count == 1 else { throw nothingHere }
        switch request.method {
        case "GET": return answer(message, in: channel.profile, world)
        case "PUT":
            guard request.isService || message.author == actor else {
                throw WorldError.notAllowed(.editAnyMessage)
            }
            let change = try SendbirdContent.Change(request.fields)
            let new = try world.edit(message.sid, in: channel.sid, as: actor, at: now) {
                change.apply(to: &$0)
            }
            return answer(new, in: channel.profile, world)
        case "DELETE":
            try world.delete(message.sid, in: channel.sid, as: actor, at: now)
            return .nothing
        default: throw nothingHere
        }
    }

    /// Messages of open channels are for all, those of others for their members.
    private func checkMayRead(_ channel: Channel) throws {
        guard request.isService || channel.profile.traits.isOpen || channel.member(of: actor) != nil else {
            throw WorldError.notMember
        }
        guard channel.bans[actor]?.holds(at: now) != true else { throw WorldError.banned }
    }

    private func answer(_ message: Message, in profile: Channel.Profile, _ world: World) -> SendbirdAnswer {
        let shapes = shapes(world)
        return SendbirdAnswer { shapes.message(message, in: profile, &$0) }
    }

    /// Messages before and after a time or a message.
    private func around(_ channel: Channel, _ world: World) throws -> SendbirdAnswer {
        let before = try request.limit("prev_limit", usual: 15, most: 200)
        let after = try request.limit("next_limit", usual: 0, most: 200)
        let time: Int64
        if let number = try request.number("message_id") {
            guard let message = channel.message(numbered: number) else { throw SendbirdRefusal.notFound }
            time = message.posted.milliseconds
        } else {
            guard let given = try request.number("message_ts") else {
                throw SendbirdRefusal.missing("message_ts")
            }
            time = given
        }
        let cleared = channel.member(of: actor)?.clearedAt ?? Timestamp(milliseconds: 0)
        let filter = try messageFilter()
        let wanted = { (message: Message) in message.posted >= cleared && filter(message) }
        let messages = channel.messages
        let from = messages.position(of: time) { $0.posted.milliseconds }
        let to = time == .max ? messages.count : messages.position(of: time + 1) { $0.posted.milliseconds }
        var found: [Message] = []
        var place = from
        while place > 0, found.count < before {
            place -= 1
            if wanted(messages[place]) { found.append(messages[place]) }
        }
        found.reverse()
        if request.flag("include") ?? false {
            for place in from..<to where wanted(messages[place]) { found.append(messages[place]) }
        }
        var later: [Message] = []
        place = to
        while place < messages.count, later.count < after {
            if wanted(messages[place]) { later.append(messages[place]) }
            place += 1
        }
        found += later
        let hasNext = (place..<messages.count).contains { wanted(messages[$0]) }
        if request.flag("reverse") ?? false { found.reverse() }
        let shapes = shapes(world)
        return SendbirdAnswer { writer in
            writer.array("messages") { writer in
                for message in found {
                    writer.object { shapes.message(message, in: channel.profile, &$0) }
                }
            }
            writer.member("has_next", hasNext)
            writer.member("is_continuous_messages", true)
        }
    }

    private func messageFilter() throws -> (Message) -> Bool {
        let kind = request.parameter("message_type") ?? ""
        let types = request.parameter("custom_types") ?? request.parameter("custom_type") ?? ""
        let senders = (request.parameter("sender_ids") ?? request.parameter("sender_id") ?? "")
            .split(separator: ",").map(String.init)
        return { message in
            if !kind.isEmpty, SendbirdShapes.command(message) != kind { return false }
            if !types.isEmpty, types != "*",
                !types.split(separator: ",").contains(Substring(message.content.traits.customType))
            {
                return false
            }
            return senders.isEmpty || senders.contains(message.author)
        }
    }

    // MARK: What has changed

    /// Edits and deletions since a time, or since the last answer.
    private func changes(of channel: Channel, _ world: World) throws -> SendbirdAnswer {
        let log = channel.messageFeed.log
        var place = 0
        if let token = request.parameter("token"), !token.isEmpty {
            guard let event = Int64(token, radix: 36) else {
                throw SendbirdRefusal(400109, "The page token is not valid.")
            }
            place = event == .max ? log.count : log.position(of: event + 1, by: \.id)
        } else {
            guard let since = try request.number("change_ts") else {
                throw SendbirdRefusal.missing("change_ts")
            }
            place = log.position(of: since) { $0.at.milliseconds }
        }
        let most = 100
        var (updated, deleted): ([Int64: Message], [Int64: Timestamp]) = ([:], [:])
        while place < log.count, updated.count + deleted.count < most {
            let event = log[place]
            place += 1
            guard case .message(let message) = event.subject, message.number > 0 else { continue }
            switch event.kind {
            case .updated: updated[message.number] = channel.message(numbered: message.number)
            case .removed:
                updated[message.number] = nil
                deleted[message.number] = event.at
            case .added, .ended: break
            }
        }
        let last = place > 0 ? log[place - 1].id : channel.messageFeed.lastEvent
        let shapes = shapes(world)
        return SendbirdAnswer { writer in
            writer.array("updated") { writer in
                for (_, message) in updated.sorted(by: { $0.key < $1.key }) {
                    writer.object { shapes.message(message, in: channel.profile, &$0) }
                }
            }
            writer.array("deleted") { writer in
                for (number, at) in deleted.sorted(by: { $0.key < $1.key }) {
                    writer.object { writer in
                        writer.member("message_id", number)
                        writer.member("deleted_at", at.milliseconds)
                    }
                }
            }
            writer.member("has_more", place < log.count)
            writer.member("next", String(max(last, 0), radix: 36))
        }
    }

    // MARK: Writing

    private func send(to channel: Channel, _ world: inout World) throws -> SendbirdAnswer {
        let type = request.text("message_type") ?? "MESG"
        guard ["MESG", "FILE", "ADMM"].contains(type) else {
            throw SendbirdRefusal(400111, "\"\(type)\" is no type of a message.")
        }
        guard request.isService || type != "ADMM" else { throw SendbirdRefusal.notAuthorized }
        var content = try SendbirdContent(request.fields, isFile: type == "FILE", world).content
        content.traits.isAdmin = type == "ADMM"
        let author = type == "ADMM" ? nil : try request.user()
        if let name = author, world.users[name] == nil {
            throw SendbirdRefusal(400201, "There is no user \"\(name)\".")
        }
        // A program that sends a message again gets the one that it sent before.
        if request.isService, let again = request.text("dedup_id"), !again.isEmpty {
            content.key = "dedup \(again)"
            let old = channel.messages.last { $0.content.key == content.key }
            if let old { return answer(old, in: channel.profile, world) }
        }
        let message: Message
        if request.isService {
            if let author, !channel.profile.traits.isOpen, channel.member(of: author) == nil {
                throw WorldError.notMember
            }
            message = try world.announce(content, in: channel.sid, for: author, at: now)
        } else {
            message = try world.post(content, in: channel.sid, as: actor, at: now)
        }
        return answer(message, in: channel.profile, world)
    }

    private func react(to message: Message, in channel: Channel, _ world: inout World) throws
        -> SendbirdAnswer
    {
        let isThere = request.method == "POST"
        guard isThere || request.method == "DELETE" else {
            let reactions = message.reactions
            return SendbirdAnswer { writer in
                writer.array("reactions") { writer in
                    for (key, people) in reactions {
                        writer.object { writer in
                            writer.member("key", key)
                            writer.member("user_ids", people)
                        }
                    }
                }
            }
        }
        guard let reaction = request.text("reaction") ?? request.parameter("reaction") else {
            throw SendbirdRefusal.missing("reaction")
        }
        let user = request.isService ? try request.parameter("user_id") ?? request.need("user_id") : actor
        let new = try world.react(reaction, isThere, to: message.sid, in: channel.sid, as: user, at: now)
        return SendbirdAnswer { writer in
            writer.member("reaction", reaction)
            writer.member("user_id", user)
            writer.member("operation", isThere ? "add" : "delete")
            writer.member("success", true)
            writer.member("msg_id", new.number)
            writer.member("updated_at", new.updated.milliseconds)
        }
    }
}
