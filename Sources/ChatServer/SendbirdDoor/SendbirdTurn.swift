internal import Chat
internal import JSON

/// One request carried out in the world.
struct SendbirdTurn {
    let request: SendbirdRequest
    let door: SendbirdDoor
    let now: Timestamp

    var actor: String { request.actor }

    func answer(_ world: inout World) throws(SendbirdRefusal) -> SendbirdAnswer {
        let rest = Array(request.path.dropFirst())
        do {
            switch request.path.first {
            case "open_channels": return try channels(rest, isOpen: true, &world)
            case "group_channels": return try channels(rest, isOpen: false, &world)
            case "users": return try users(rest, &world)
            case "applications": return try application(rest, &world)
            case "report": return .nothing
            default: throw nothingHere
            }
        } catch let error as WorldError {
            throw SendbirdRefusal(error, onSocket: false)
        } catch let error as SendbirdRefusal {
            throw error
        } catch {
            throw SendbirdRefusal(500901, "\(error)", status: 500)
        }
    }

    var nothingHere: SendbirdRefusal {
        .init(
            400930, "There is no \(request.method) /v3/\(request.path.joined(separator: "/")).", status: 404)
    }

    func shapes(_ world: World) -> SendbirdShapes {
        SendbirdShapes(world: world, base: request.base, identity: actor, now: now)
    }

    /// Changes take part in the limit of writes.
    func takeRate(_ place: SID? = nil) throws {
        let place = place ?? door.issuer.names.service
        guard let wait = door.rates.take(place, at: now) else { return }
        let seconds = Int(max(1, (wait.milliseconds + 999) / 1000))
        throw SendbirdRefusal(500910, "Too many requests.", status: 429, retryAfter: seconds)
    }

    // MARK: Channels

    private func channels(_ path: [String], isOpen: Bool, _ world: inout World) throws -> SendbirdAnswer {
        guard let url = path.first else {
            switch request.method {
            case "GET": return try list(isOpen: isOpen, world)
            case "POST": return try create(isOpen: isOpen, &world)
            default: throw nothingHere
            }
        }
        guard let sid = world.channelURLs[url], let channel = world.channels[sid],
            channel.profile.traits.isOpen == isOpen, world.mayKnow(channel, actor)
        else { throw SendbirdRefusal(400201, "There is no channel \"\(url)\".") }
        if request.method != "GET" { try takeRate(sid) }
        let rest = Array(path.dropFirst(2))
        switch path.dropFirst().first {
        case nil: return try self.channel(channel, &world)
        case "messages": return try messages(rest, in: channel, &world)
        case "messages_gap":
            return SendbirdAnswer { writer in
                writer.member("is_huge_gap", false)
                writer.array("prev_messages") { _ in }
                writer.array("next_messages") { _ in }
                writer.member("prev_hasmore", false)
                writer.member("next_hasmore", false)
            }
        case "ban", "mute", "freeze", "operators": return try moderation(path[1], rest, in: channel, &world)
        case "metadata": return try metadata(rest, of: channel, &world)
        default: return try membership(path[1], rest, in: channel, &world)
        }
    }

    private func list(isOpen: Bool, _ world: World) throws -> SendbirdAnswer {
        let wanted = try filter()
        var channels = world.channels.values.filter { channel in
            channel.profile.traits.isOpen == isOpen && wanted(channel)
                && (request.isService || isOpen || !channel.profile.isPrivate)
                && world.mayKnow(channel, actor)
        }.sorted { $0.profile.number < $1.profile.number }
        if request.flag("show_frozen") == false { channels.removeAll { $0.profile.traits.isFrozen } }
        return try page(of: channels, world)
    }

    func page(of channels: [Channel], _ world: World) throws -> SendbirdAnswer {
        let page = try SendbirdPage(request, count: channels.count, usual: 20)
        let shapes = shapes(world)
        return SendbirdAnswer { writer in
            writer.array("channels") { writer in
                for channel in channels[page.items] { writer.object { shapes.channel(channel, &$0) } }
            }
            writer.member("next", page.next)
            writer.member("ts", now.milliseconds)
        }
    }

    /// What the query says of names, addresses and kinds.
    func filter() throws -> (Channel) -> Bool {
        let (name, url) = (request.parameter("name_contains"), request.parameter("url_contains"))
        let types = request.parameter("custom_type") ?? request.parameter("custom_types")
        let urls = request.parameter("channel_urls").map { Set($0.split(separator: ",").map(String.init)) }
        return { channel in
            let profile = channel.profile
            if let urls, !urls.isEmpty, !urls.contains(profile.url) { return false }
            if let name, !name.isEmpty,
                !SendbirdShapes.name(profile).lowercased().contains(name.lowercased())
            {
                return false
            }
            if let url, !url.isEmpty, !profile.url.contains(url) { return false }
            if let types, !types.isEmpty, types != "*",
                !types.split(separator: ",").contains(Substring(profile.traits.customType))
            {
                return false
            }
            return true
        }
    }

    private func channel(_ channel: Channel, _ world: inout World) throws -> SendbirdAnswer {
        switch request.method {
        case "GET": break
        case "PUT": try edit(channel, &world)
        case "DELETE":
            try world.deleteChannel(channel.sid, as: actor, at: now)
            return .nothing
        default: throw nothingHere
        }
        return answer(channel.sid, world)
    }

    /// The channel as it is now.
    func answer(_ sid: SID, _ world: World, isCreated: Bool? = nil) -> SendbirdAnswer {
        guard let channel = world.channels[sid] else { return .nothing }
        let shapes = shapes(world)
        return SendbirdAnswer { writer in
            shapes.channel(channel, &writer)
            if let isCreated { writer.member("is_created", isCreated) }
        }
    }

    private func edit(_ channel: Channel, _ world: inout World) throws {
        let fields = request.fields
        if let name = fields["name"]?.string {
            _ = try world.editChannel(channel.sid, friendlyName: name, as: actor, at: now)
        }
        try world.editChannelTraits(channel.sid, as: actor, at: now) { $0.take(fields) }
        if let names = request.names("operator_ids") ?? request.names("operators") {
            try world.setOperators(nil, to: false, in: channel.sid, as: actor, at: now)
            try world.setOperators(names, to: true, in: channel.sid, as: actor, at: now)
        }
    }

    private func create(isOpen: Bool, _ world: inout World) throws -> SendbirdAnswer {
        try takeRate()
        let fields = request.fields
        var people = request.people() ?? []
        if !request.isService, !isOpen, !people.contains(actor) { people.insert(actor, at: 0) }
        if !isOpen {
            for name in people where world.users[name] == nil {
                throw SendbirdRefusal(400201, "There is no user \"\(name)\".")
            }
        }
        let isDistinct = fields["is_distinct"]?.bool ?? false
        if isDistinct, let found = distinct(Set(people), world) {
            return answer(found.sid, world, isCreated: false)
        }
        var traits = ChannelTraits()
        traits.isOpen = isOpen
        traits.isDistinct = isDistinct
        traits.isSuper = fields["is_super"]?.bool ?? false
        traits.accessCode = fields["access_code"]?.string ?? ""
        traits.take(fields)
        let isPublic = isOpen || fields["is_public"]?.bool ?? false
        let asked = fields["channel_url"]?.string ?? ""
        let url = asked.isEmpty ? Self.freshURL(isOpen: isOpen, world) : asked
        let name = fields["name"]?.string ?? ""
        let inviter = request.isService ? fields["inviter_id"]?.string : actor
        let channel = try world.createChannel(
            friendlyName: name, uniqueName: world.isFree(asked) ? asked : nil, url: url, traits: traits,
            isPrivate: !isPublic, as: World.service, at: now)
        let sid = channel.sid
        let operators = request.names("operator_ids") ?? request.names("operators") ?? []
        for name in operators where world.users[name] == nil {
            throw SendbirdRefusal(400201, "There is no user \"\(name)\".")
        }
        if !operators.isEmpty {
            try world.setOperators(operators, to: true, in: sid, as: World.service, at: now)
        }
        for person in people where !isOpen {
            let by = person == inviter ? World.service : inviter
            _ = try world.join(sid, person, invitedBy: by == World.service ? nil : by, at: now)
        }
        return answer(sid, world, isCreated: true)
    }

    private func distinct(_ people: Set<String>, _ world: World) -> Channel? {
        world.channels.values.filter { channel in
            channel.profile.traits.isDistinct
                && Set(channel.memberByIdentity.keys).union(channel.invited.keys) == people
        }.min { $0.profile.number < $1.profile.number }
    }

    private static func freshURL(isOpen: Bool, _ world: World) -> String {
        let tail = String(SID.fresh(.channel).text.suffix(32))
        return "sendbird_\(isOpen ? "open" : "group")_channel_\(world.nextChannel + 1)_\(tail)"
    }

    // MARK: Metadata

    private func metadata(_ path: [String], of channel: Channel, _ world: inout World) throws
        -> SendbirdAnswer
    {
        var metadata = channel.profile.traits.metadata
        let given = request.fields["metadata"]?.object ?? JSONObject()
        var values = Dictionary(given.map { ($0.key, $0.value.string ?? "") }) { first, _ in first }
        if let key = path.first, let value = request.text("value") { values[key] = value }
        var (created, updated, deleted): ([String: String], [String: String], [String]) = ([:], [:], [])
        switch request.method {
        case "GET":
            let keys = request.parameter("keys")?.split(separator: ",").map(String.init) ?? path
            let found = keys.isEmpty ? metadata : metadata.filter { keys.contains($0.key) }
            return SendbirdAnswer { writer in for (key, value) in found { writer.member(key, value) } }
        case "POST", "PUT":
            let mayCreate = request.method == "POST" || request.fields["upsert"]?.bool ?? false
            for (key, value) in values {
                if metadata[key] != nil, request.method == "POST" {
                    throw SendbirdRefusal(400202, "\"\(key)\" exists already.")
                }
                if metadata[key] == nil { guard mayCreate else { continue } }
                if metadata[key] == nil { created[key] = value } else { updated[key] = value }
                metadata[key] = value
            }
        case "DELETE":
            deleted = path.first.map { metadata[$0] == nil ? [] : [$0] } ?? metadata.keys.sorted()
            for key in deleted { metadata[key] = nil }
        default: throw nothingHere
        }
        let after = metadata
        try world.editChannelTraits(channel.sid, as: actor, at: now) { $0.metadata = after }
        world.tell(.metadata(created: created, updated: updated, deleted: deleted), of: channel.sid, at: now)
        return SendbirdAnswer { writer in for (key, value) in after { writer.member(key, value) } }
    }
}

extension ChannelTraits {
    /// What a request says of a channel besides its name.
    mutating func take(_ fields: JSON) {
        if let cover = fields["cover_url"]?.string { coverURL = cover }
        if let text = fields["data"]?.string { data = text }
        if let type = fields["custom_type"]?.string { customType = type }
        if let code = fields["access_code"]?.string { accessCode = code }
    }
}
