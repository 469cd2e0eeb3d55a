internal import Chat
internal import JSON

extension SendbirdTurn {
    func users(_ path: [String], _ world: inout World) throws -> SendbirdAnswer {
        guard let name = path.first else {
            switch request.method {
            case "GET": return try list(world)
            case "POST": return try create(&world)
            default: throw nothingHere
            }
        }
        // Users may look at anybody, and at what is theirs.
        let isOwn = request.isService || name == actor
        if path.count == 1, request.method == "GET" {
            guard let person = world.users[name]?.person else {
                throw SendbirdRefusal(400201, "There is no such user.")
            }
            return answer(person)
        }
        guard isOwn else { throw SendbirdRefusal.notAuthorized }
        guard world.users[name] != nil else { throw SendbirdRefusal(400201, "There is no user \"\(name)\".") }
        if request.method != "GET" { try takeRate() }
        switch (request.method, path.dropFirst().first) {
        case ("PUT", nil): return try edit(name, &world)
        case ("DELETE", nil): return try delete(name, &world)
        case (_, "token"): return try token(name, &world)
        case (_, "my_group_channels"): return try mine(Array(path.dropFirst(2)), of: name, &world)
        case ("PUT", "mark_as_read_all"):
            let wanted = request.names("channel_urls")
            for membership in world.memberships(of: name) where membership.status == .joined {
                guard let channel = world.channels[membership.channel], !channel.profile.traits.isOpen,
                    wanted?.contains(channel.profile.url) ?? true
                else { continue }
                _ = try world.readAll(channel.sid, as: name, at: now)
            }
            return .nothing
        case ("GET", "unread_message_count"):
            let count = world.unreadMessages(of: name)
            return SendbirdAnswer { $0.member("unread_count", count) }
        case ("GET", "unread_channel_count"):
            let count = joined(name, world).count { world.unread(in: $0, for: name) > 0 }
            return SendbirdAnswer { $0.member("unread_count", count) }
        case (_, "block"): return try block(Array(path.dropFirst(2)), by: name, &world)
        case ("GET", "ban"): return try sentences("banned_channels", of: name, world) { $0.bans[name] }
        case ("GET", "mute"): return try sentences("muted_channels", of: name, world) { $0.mutes[name] }
        case (_, "metadata"): return try metadata(of: name, &world)
        default: throw nothingHere
        }
    }

    private func answer(_ person: Person, withTokens: Bool = false) -> SendbirdAnswer {
        SendbirdAnswer { writer in
            SendbirdShapes.user(person, .http, &writer)
            guard request.isService else { return }
            writer.member("access_token", withTokens ? door.keys.accessToken(of: person) ?? "" : "")
            writer.array("session_tokens") { _ in }
        }
    }

    private func list(_ world: World) throws -> SendbirdAnswer {
        let wanted = (request.parameter("user_ids") ?? "").split(separator: ",").map(String.init)
        let prefix = request.parameter("nickname_startswith") ?? ""
        let people = world.users.values.map(\.person).filter { person in
            (wanted.isEmpty || wanted.contains(person.identity))
                && (prefix.isEmpty || SendbirdShapes.nickname(person).hasPrefix(prefix))
        }.sorted { ($0.created, $0.identity) < ($1.created, $1.identity) }
        let page = try SendbirdPage(request, count: people.count)
        return SendbirdAnswer { writer in
            writer.array("users") { writer in
                for person in people[page.items] { writer.object { SendbirdShapes.user(person, .http, &$0) } }
            }
            writer.member("next", page.next)
        }
    }

    private func create(_ world: inout World) throws -> SendbirdAnswer {
        guard request.isService else { throw SendbirdRefusal.notAuthorized }
        try takeRate()
        let name = try request.need("user_id")
        guard name.unicodeScalars.count <= 80 else {
            throw SendbirdRefusal(400305, "\"user_id\" is too long.")
        }
        guard world.users[name] == nil else {
            throw SendbirdRefusal(400202, "The user \"\(name)\" exists already.")
        }
        try world.user(name, at: now)
        try change(name, &world)
        return answer(try world.person(name), withTokens: request.fields["issue_access_token"]?.bool ?? false)
    }

    private func edit(_ name: String, _ world: inout World) throws -> SendbirdAnswer {
        try change(name, &world)
        var answer = answer(
            try world.person(name), withTokens: request.fields["issue_access_token"]?.bool ?? false)
        if request.isService, request.fields["is_active"] == false { answer.revoked = [(name, 400300)] }
        return answer
    }

    private func change(_ name: String, _ world: inout World) throws {
        let fields = request.fields
        if let nickname = fields["nickname"]?.string, !nickname.isEmpty {
            _ = try world.editUser(name, friendlyName: nickname, as: actor, at: now)
        }
        try world.editTraits(of: name, at: now) { person in
            if let url = fields["profile_url"]?.string { person.profileURL = url }
            if let metadata = fields["metadata"]?.object {
                for (key, value) in metadata { person.metadata[key] = value.string ?? value.description }
            }
            guard request.isService else { return }
            if let active = fields["is_active"]?.bool { person.isActive = active }
            if fields["issue_access_token"] == true { person.accessSerial += 1 }
        }
    }

    private func delete(_ name: String, _ world: inout World) throws -> SendbirdAnswer {
        guard request.isService else { throw SendbirdRefusal.notAuthorized }
        world.forget(name, at: now)
        var answer = SendbirdAnswer.nothing
        answer.revoked = [(name, 400301)]
        return answer
    }

    /// Session tokens: `POST` gives one, `DELETE` takes all back.
    private func token(_ name: String, _ world: inout World) throws -> SendbirdAnswer {
        guard request.isService else { throw SendbirdRefusal.notAuthorized }
        switch request.method {
        case "POST":
            try world.editTraits(of: name, at: now) { $0.sessionSerial = max(1, $0.sessionSerial) }
            let asked = request.fields["expires_at"]?.int
            let end = asked.map { Timestamp(milliseconds: $0) } ?? now + .seconds(7 * 24 * 3600)
            guard end > now else { throw SendbirdRefusal(400111, "\"expires_at\" is over already.") }
            let token = door.keys.sessionToken(of: try world.person(name), until: end)
            return SendbirdAnswer { writer in
                writer.member("user_id", name)
                writer.member("token", token)
                writer.member("expires_at", end.milliseconds)
            }
        case "DELETE":
            try world.editTraits(of: name, at: now) { $0.sessionSerial += 1 }
            var answer = SendbirdAnswer.nothing
            answer.revoked = [(name, 400310)]
            return answer
        default: throw nothingHere
        }
    }

    // MARK: Their channels

    func joined(_ name: String, _ world: World) -> [Channel] {
        world.memberships(of: name).compactMap { world.channels[$0.channel] }.filter { channel in
            !channel.profile.traits.isOpen && channel.member(of: name) != nil
        }
    }

    private func mine(_ path: [String], of name: String, _ world: inout World) throws -> SendbirdAnswer {
        switch (request.method, path.first) {
        case ("GET", nil): return try page(of: mine(name, world), world)
        case ("GET", "changelogs"): return try changes(of: name, world)
        case ("PUT", "leave"):
            for channel in joined(name, world) {
                guard let member = channel.member(of: name) else { continue }
                try world.remove(member.sid, from: channel.sid, as: World.service, at: now)
            }
            return .nothing
        default: throw nothingHere
        }
    }

    private func mine(_ name: String, _ world: World) throws -> [Channel] {
        let wanted = try filter()
        let (state, hidden) = (request.parameter("member_state_filter"), request.parameter("hidden_mode"))
        let showsEmpty = request.flag("show_empty") ?? true
        let (distinct, mode) = (request.parameter("distinct_mode"), request.parameter("public_mode"))
        let isUnread = request.parameter("unread_filter") == "unread_message"
        var found: [Channel] = []
        for membership in world.memberships(of: name) {
            guard let channel = world.channels[membership.channel], !channel.profile.traits.isOpen,
                wanted(channel)
            else { continue }
            let isInvited = membership.status == .invited
            switch state {
            case "joined_only", "joined": guard !isInvited else { continue }
            case "invited_only", "invited": guard isInvited else { continue }
            default: break
            }
            switch hidden {
            case "all": break
            case "hidden_only", "hidden": guard membership.hidden != nil else { continue }
            default: guard membership.hidden == nil else { continue }
            }
            if distinct == "distinct", !channel.profile.traits.isDistinct { continue }
            if distinct == "nondistinct", channel.profile.traits.isDistinct { continue }
            if mode == "public", channel.profile.isPrivate { continue }
            if mode == "private", !channel.profile.isPrivate { continue }
            if !showsEmpty, channel.messages.isEmpty { continue }
            if isUnread, world.unread(in: channel, for: name) == 0 { continue }
            found.append(channel)
        }
        switch request.parameter("order") {
        case "chronological": found.sort { $0.profile.number > $1.profile.number }
        case "channel_name_alphabetical":
            found.sort {
                (SendbirdShapes.name($0.profile), $0.profile.number)
                    < (SendbirdShapes.name($1.profile), $1.profile.number)
            }
        default:
            func time(_ channel: Channel) -> Timestamp {
                channel.profile.lastMessage?.at ?? channel.profile.created
            }
            found.sort { (time($0), $0.profile.number) > (time($1), $1.profile.number) }
        }
        return found
    }

    /// Channels that changed, came or went since a time, or since the last answer.
    private func changes(of name: String, _ world: World) throws -> SendbirdAnswer {
        let token = request.parameter("token").flatMap { $0.isEmpty ? nil : Int64($0, radix: 36) }
        guard let since = try token ?? request.number("change_ts") else {
            throw SendbirdRefusal.missing("change_ts")
        }
        let updated = world.memberships(of: name).compactMap { membership -> Channel? in
            guard let channel = world.channels[membership.channel], !channel.profile.traits.isOpen else {
                return nil
            }
            let times = [
                membership.updated, channel.profile.updated,
                channel.profile.lastMessage?.at ?? membership.created,
            ]
            return times.contains { $0.milliseconds >= since } ? channel : nil
        }
        let log = world.users[name]?.membershipFeed.log
        var deleted: [String] = []
        for event in log?.elements(from: log?.position(of: since) { $0.at.milliseconds } ?? 0) ?? [] {
            guard event.kind == .removed, case .membership(let membership) = event.subject,
                world.users[name]?.memberships[membership.channel] == nil
            else { continue }
            let url = world.channels[membership.channel]?.profile.url ?? membership.channel.text
            if !deleted.contains(url) { deleted.append(url) }
        }
        let (gone, shapes) = (deleted, shapes(world))
        return SendbirdAnswer { writer in
            writer.array("updated") { writer in
                for channel in updated { writer.object { shapes.channel(channel, &$0) } }
            }
            writer.array("deleted") { writer in for url in gone { writer.value(url) } }
            writer.member("has_more", false)
            writer.member("next", String(now.milliseconds, radix: 36))
        }
    }

    // MARK: Others

    private func block(_ path: [String], by name: String, _ world: inout World) throws -> SendbirdAnswer {
        let target: String
        switch request.method {
        case "GET":
            let people = (world.users[name]?.person.blocked ?? []).sorted()
            let page = try SendbirdPage(request, count: people.count)
            let shapes = shapes(world)
            return SendbirdAnswer { writer in
                writer.array("users") { writer in
                    for name in people[page.items] { writer.object { shapes.user(named: name, .http, &$0) } }
                }
                writer.member("next", page.next)
            }
        case "POST": target = try request.need("target_id")
        case "DELETE":
            guard let name = path.first else { throw nothingHere }
            target = name
        default: throw nothingHere
        }
        guard let person = world.users[target]?.person else {
            throw SendbirdRefusal(400201, "There is no such user.")
        }
        world.block(target, request.method == "POST", by: name, at: now)
        return SendbirdAnswer { SendbirdShapes.user(person, .http, &$0) }
    }

    private func sentences(
        _ key: String, of name: String, _ world: World, _ sentence: (Channel) -> Sentence?
    ) throws -> SendbirdAnswer {
        let found = world.channels.values.compactMap { channel in
            sentence(channel).flatMap { $0.holds(at: now) ? (channel, $0) : nil }
        }.sorted { $0.0.profile.number < $1.0.profile.number }
        let page = try SendbirdPage(request, count: found.count)
        let shapes = shapes(world)
        return SendbirdAnswer { writer in
            writer.array(key) { writer in
                for (channel, sentence) in found[page.items] {
                    writer.object { writer in
                        SendbirdShapes.times(sentence, at: now, &writer)
                        writer.object("channel") { shapes.channel(channel, &$0) }
                    }
                }
            }
            writer.member("next", page.next)
        }
    }

    private func metadata(of name: String, _ world: inout World) throws -> SendbirdAnswer {
        let given = request.fields["metadata"]?.object ?? JSONObject()
        switch request.method {
        case "GET": break
        case "POST", "PUT":
            try world.editTraits(of: name, at: now) { person in
                for (key, value) in given { person.metadata[key] = value.string ?? value.description }
            }
        case "DELETE": try world.editTraits(of: name, at: now) { $0.metadata = [:] }
        default: throw nothingHere
        }
        let metadata = world.users[name]?.person.metadata ?? [:]
        return SendbirdAnswer { writer in
            if request.method == "GET" {
                for (key, value) in metadata { writer.member(key, value) }
            } else {
                writer.object("metadata") { for (key, value) in metadata { $0.member(key, value) } }
            }
        }
    }
}
