internal import Chat
internal import JSON

extension SendbirdTurn {
    /// `ban`, `mute`, `freeze` and `operators` of a channel.
    func moderation(
        _ verb: String, _ path: [String], in channel: Channel, _ world: inout World
    ) throws -> SendbirdAnswer {
        let sid = channel.sid
        switch (request.method, verb, path.first) {
        case ("PUT", "freeze", nil):
            guard let isFrozen = request.fields["freeze"]?.bool else {
                throw SendbirdRefusal.missing("freeze")
            }
            try world.freeze(isFrozen, sid, as: actor, at: now)
            return answer(sid, world)
        case (_, "operators", nil): return try operators(of: channel, &world)
        case ("GET", "ban", nil): return try list("banned_list", channel.bans, world)
        case ("GET", "mute", nil): return try list("muted_list", channel.mutes, world)
        case ("GET", "ban", let name?):
            guard let ban = channel.bans[name], ban.holds(at: now) else { throw SendbirdRefusal.notFound }
            return answer(ban, of: name, world)
        case ("GET", "mute", let name?):
            let mute = channel.mutes[name].flatMap { $0.holds(at: now) ? $0 : nil }
            return SendbirdAnswer { writer in
                writer.member("is_muted", mute != nil)
                if let mute { SendbirdShapes.times(mute, at: now, &writer) }
            }
        case ("POST", "ban", nil), ("PUT", "ban", .some), ("POST", "mute", nil):
            return try sentence(verb, path.first, in: channel, &world)
        case ("DELETE", "ban", let name?):
            try world.unban(name, in: sid, as: actor, at: now)
            return .nothing
        case ("DELETE", "mute", let name?):
            try world.unmute(name, in: sid, as: actor, at: now)
            return .nothing
        default: throw nothingHere
        }
    }

    private func sentence(
        _ verb: String, _ name: String?, in channel: Channel, _ world: inout World
    ) throws -> SendbirdAnswer {
        let user = try name ?? request.need("user_id")
        guard world.users[user] != nil else { throw SendbirdRefusal(400201, "There is no user \"\(user)\".") }
        let why = request.text("description") ?? ""
        guard why.unicodeScalars.count <= 250 else { throw WorldError.tooLong("description", limit: 250) }
        let seconds = request.fields["seconds"]?.int ?? -1
        guard seconds >= -1 else { throw SendbirdRefusal(400106, "\"seconds\" must not be negative.") }
        let end = seconds < 0 ? nil : now + .seconds(min(seconds, 1_000_000_000))
        guard verb == "ban" else {
            _ = try world.mute(user, until: end, why: why, in: channel.sid, as: actor, at: now)
            return answer(channel.sid, world)
        }
        let ban = try world.ban(user, until: end, why: why, in: channel.sid, as: actor, at: now)
        return answer(ban, of: user, world)
    }

    private func answer(_ sentence: Sentence, of name: String, _ world: World) -> SendbirdAnswer {
        let shapes = shapes(world)
        return SendbirdAnswer { shapes.sentence(sentence, of: name, &$0) }
    }

    private func list(_ key: String, _ sentences: [String: Sentence], _ world: World) throws -> SendbirdAnswer
    {
        let holding = sentences.filter { $0.value.holds(at: now) }.sorted { $0.key < $1.key }
        let page = try SendbirdPage(request, count: holding.count)
        let shapes = shapes(world)
        return SendbirdAnswer { writer in
            writer.array(key) { writer in
                for (name, sentence) in holding[page.items] {
                    writer.object { writer in
                        if key == "muted_list" { shapes.user(named: name, .http, &writer) }
                        shapes.sentence(sentence, of: name, &writer)
                    }
                }
            }
            writer.member("next", page.next)
        }
    }

    private func operators(of channel: Channel, _ world: inout World) throws -> SendbirdAnswer {
        let sid = channel.sid
        switch request.method {
        case "GET":
            let people = world.operators(of: channel)
            let page = try SendbirdPage(request, count: people.count)
            return SendbirdAnswer { writer in
                writer.array("operators") { writer in
                    for person in people[page.items] {
                        writer.object { SendbirdShapes.user(person, .http, &$0) }
                    }
                }
                writer.member("next", page.next)
            }
        case "POST":
            guard let names = request.names("operator_ids") ?? request.names("operators") else {
                throw SendbirdRefusal.missing("operator_ids")
            }
            for name in names where world.users[name] == nil {
                throw SendbirdRefusal(400201, "There is no user \"\(name)\".")
            }
            try world.setOperators(names, to: true, in: sid, as: actor, at: now)
        case "DELETE":
            let all = request.flag("delete_all") ?? request.fields["delete_all"]?.bool ?? false
            let asked =
                request.names("operator_ids")
                ?? request.query.filter { $0.name == "operator_ids" }
                .flatMap { $0.value.split(separator: ",").map(String.init) }
            guard all || !asked.isEmpty else { throw SendbirdRefusal.missing("operator_ids") }
            try world.setOperators(all ? nil : asked, to: false, in: sid, as: actor, at: now)
        default: throw nothingHere
        }
        return .nothing
    }
}
