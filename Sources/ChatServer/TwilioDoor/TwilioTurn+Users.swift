internal import Chat
internal import JSON

extension TwilioTurn {
    /// `/Users/…`.
    func users(
        _ path: [String], _ request: TwilioRequest, _ world: inout World
    ) throws(WorldError) -> TwilioAnswer {
        guard let name = path.first else {
            return request.method == "GET" ? list(request, world) : notThatWay(request)
        }
        let found = SID(name).flatMap { world.identities[$0] } ?? name
        let person = try world.person(found)
        guard path.count > 1 else {
            switch request.method {
            case "GET": return .json { links.user(person, &$0) }
            case "POST":
                if let tooFast = tooFast() { return tooFast }
                let edited = try world.editUser(
                    found, friendlyName: request.text("friendly_name"), attributes: request.attributes(),
                    as: identity, at: now)
                return .json { links.user(edited, &$0) }
            default: return notThatWay(request)
            }
        }
        guard path[1] == "Conversations", path.count <= 3 else { return nothingHere(request) }
        guard found == identity else { throw .notAllowed(.editAnyUserInfo) }
        guard path.count == 3 else {
            return request.method == "GET" ? myList(person, request, world) : notThatWay(request)
        }
        return try mine(path[2], of: person, request, &world)
    }

    private func list(_ request: TwilioRequest, _ world: World) -> TwilioAnswer {
        let people = world.users.values.map(\.person).sorted {
            ($0.created, $0.identity) < ($1.created, $1.identity)
        }
        guard let page = Page(request, count: people.count, size: 50) else { return badPage() }
        return .json { writer in
            links.meta("users", size: page.size, previous: page.previous, next: page.next, &writer)
            writer.array("users") { writer in
                for person in people[page.range] { writer.object { links.user(person, &$0) } }
            }
        }
    }

    private func myList(_ person: Person, _ request: TwilioRequest, _ world: World) -> TwilioAnswer {
        let memberships = world.memberships(of: identity)
        guard let page = Page(request, count: memberships.count, size: 100) else { return badPage() }
        return .json { writer in
            links.meta("conversations", size: page.size, previous: page.previous, next: page.next, &writer)
            writer.array("conversations") { writer in
                for membership in memberships[page.range] {
                    guard let channel = world.channels[membership.channel] else { continue }
                    writer.object { links.mine(channel, membership, of: person.sid, &$0) }
                }
            }
        }
    }

    /// How one's own membership of a channel stands, and what one wants of it.
    private func mine(
        _ name: String, of person: Person, _ request: TwilioRequest, _ world: inout World
    ) throws(WorldError) -> TwilioAnswer {
        let channel = try world.channel(name, for: identity)
        switch request.method {
        case "GET": break
        case "POST":
            if let tooFast = tooFast(channel.sid) { return tooFast }
            // Conversations says read, Programmable Chat consumed.
            for key in ["last_read_message_index", "last_consumed_message_index"] {
                guard let value = request.json[key] else { continue }
                guard value.isNull || value.int != nil else {
                    throw .invalid("\(key) must be a number or null")
                }
                _ = try world.setRead(value.int, in: channel.sid, as: identity, at: now)
            }
            if let level = try request.text("notification_level") {
                try world.setNotificationLevel(level, in: channel.sid, as: identity, at: now)
            }
        default: return notThatWay(request)
        }
        guard let membership = world.users[identity]?.memberships[channel.sid] else { throw .notMember }
        return .json { links.mine(channel, membership, of: person.sid, &$0) }
    }
}
