internal import Chat
internal import JSON

/// Who is in a channel, who comes, goes and is asked in.
extension SendbirdTurn {
    func membership(
        _ verb: String, _ path: [String], in channel: Channel, _ world: inout World
    ) throws -> SendbirdAnswer {
        let sid = channel.sid
        switch (request.method, verb) {
        case ("GET", "members"), ("GET", "participants"): return try people(path, in: channel, world)
        case ("POST", "invite"): try invite(to: channel, &world)
        case ("PUT", "accept"):
            let user = try request.user()
            guard channel.invited[user] != nil else {
                throw SendbirdRefusal(400201, "There is no invitation.")
            }
            _ = try world.join(sid, user, invitedBy: nil, at: now)
        case ("PUT", "decline"):
            let user = try request.user()
            try world.forgetInvite(of: user, to: sid, as: user, at: now)
            return .nothing
        case ("PUT", "join"): try join(channel, &world)
        case ("PUT", "leave"): return try leave(channel, &world)
        case ("PUT", "hide"), ("DELETE", "hide"):
            let isUntilNews = request.fields["allow_auto_unhide"]?.bool ?? true
            let hidden = request.method == "PUT" ? Membership.Hidden(isUntilNews: isUntilNews) : nil
            try world.hide(hidden, sid, as: try subject(), at: now)
            return .nothing
        case ("PUT", "reset_user_history"):
            let all = request.isService && request.fields["reset_all"]?.bool == true
            for name in all ? channel.roster.map(\.identity) : [try subject()] {
                try world.clear(sid, for: name, at: now)
            }
            return SendbirdAnswer { $0.member("ts_message_offset", now.milliseconds) }
        case ("POST", "typing"), ("DELETE", "typing"):
            guard request.isService else { throw SendbirdRefusal.notAuthorized }
            var answer = SendbirdAnswer.nothing
            for name in request.names("user_ids") ?? [] where channel.member(of: name) != nil {
                answer.typing.append(
                    (
                        Typing(channel: sid, identity: name, isOver: request.method == "DELETE"),
                        Array(channel.memberByIdentity.keys)
                    ))
            }
            return answer
        default: throw nothingHere
        }
        return answer(sid, world)
    }

    /// The user in the body or in the query; of clients, themselves.
    private func subject() throws -> String {
        guard request.isService else { return actor }
        return try request.parameter("user_id") ?? request.need("user_id")
    }

    private func people(_ path: [String], in channel: Channel, _ world: World) throws -> SendbirdAnswer {
        let shapes = shapes(world)
        if let name = path.first {
            let state =
                channel.member(of: name) != nil ? "joined" : channel.invited[name] != nil ? "invited" : "none"
            return SendbirdAnswer { writer in
                writer.member("is_member", state != "none")
                writer.member("state", state)
            }
        }
        guard
            request.isService || channel.profile.traits.isOpen || channel.member(of: actor) != nil
                || !channel.profile.isPrivate
        else { throw WorldError.notMember }
        let isOpen = channel.profile.traits.isOpen
        var names = isOpen ? channel.roster.map(\.identity) : shapes.people(of: channel)
        switch request.parameter("operator_filter") {
        case "operator": names.removeAll { !shapes.isOperator($0, channel) }
        case "nonoperator": names.removeAll { shapes.isOperator($0, channel) }
        default: break
        }
        let isMuted = { (name: String) in channel.mutes[name]?.holds(at: now) == true }
        switch request.parameter("muted_member_filter") {
        case "muted": names.removeAll { !isMuted($0) }
        case "unmuted": names.removeAll(where: isMuted)
        default: break
        }
        switch request.parameter("member_state_filter") {
        case "joined_only", "joined": names.removeAll { channel.member(of: $0) == nil }
        case "invited_only", "invited": names.removeAll { channel.invited[$0] == nil }
        default: break
        }
        if request.parameter("order") == "member_nickname_alphabetical" { names.sort() }
        let page = try SendbirdPage(request, count: names.count)
        return SendbirdAnswer { writer in
            writer.array(isOpen ? "participants" : "members") { writer in
                for name in names[page.items] { writer.object { shapes.member(name, in: channel, &$0) } }
            }
            writer.member("next", page.next)
        }
    }

    /// Users come in at once unless they or the application want to be asked.
    private func invite(to channel: Channel, _ world: inout World) throws {
        let inviter = request.isService ? request.text("inviter_id") : actor
        if !request.isService, channel.member(of: actor) == nil { throw WorldError.notMember }
        guard let names = request.people(), !names.isEmpty else {
            throw SendbirdRefusal.missing("user_ids")
        }
        let waits = request.fields["auto_accept"]?.bool == false
        let status = request.fields["invitation_status"]
        for name in names {
            guard world.users[name] != nil else {
                throw SendbirdRefusal(400201, "There is no user \"\(name)\".")
            }
            guard channel.member(of: name) == nil else { continue }
            let isAsked = waits || status?[name]?.string.map { $0 != "joined" } ?? false
            if isAsked || !door.settings.sendbird.acceptsInvitations {
                _ = try world.invite(name, to: channel.sid, invitedBy: inviter, at: now)
            } else {
                _ = try world.join(channel.sid, name, invitedBy: inviter, at: now)
            }
        }
    }

    private func join(_ channel: Channel, _ world: inout World) throws {
        let user = try request.user()
        guard !channel.profile.traits.isOpen else { throw nothingHere }
        guard channel.member(of: user) == nil else { return }
        if !channel.profile.traits.accessCode.isEmpty, !request.isService {
            guard request.text("access_code") == channel.profile.traits.accessCode else {
                throw SendbirdRefusal.notAuthorized
            }
        }
        // Nobody joins what is not public unless they were asked in.
        guard !channel.profile.isPrivate || request.isService || channel.invited[user] != nil else {
            throw SendbirdRefusal.notAuthorized
        }
        _ = try world.join(channel.sid, user, as: user, at: now)
    }

    /// Users leave; the service takes others out, which is how somebody is kicked.
    private func leave(_ channel: Channel, _ world: inout World) throws -> SendbirdAnswer {
        var names = [actor]
        if request.isService {
            let all = request.fields["should_leave_all"]?.bool ?? false
            names = all ? channel.roster.map(\.identity) : request.names("user_ids") ?? []
            if !all, names.isEmpty { names = [try request.need("user_id")] }
        }
        for name in names {
            if let member = world.channels[channel.sid]?.member(of: name) {
                try world.remove(
                    member.sid, from: channel.sid, as: request.isService ? World.service : name, at: now)
            } else if channel.invited[name] != nil {
                try world.forgetInvite(of: name, to: channel.sid, as: name, at: now)
            } else if !request.isService {
                throw WorldError.notMember
            }
        }
        return .nothing
    }
}

extension World {
    /// Any member of a group channel brings others in.
    mutating func join(
        _ sid: SID, _ identity: String, invitedBy inviter: String?, at now: Timestamp
    ) throws(WorldError) -> Member {
        if let inviter, identity != inviter { channels[sid]?.inviters[identity] = inviter }
        return try join(sid, identity, isVisiting: false, as: Self.service, at: now)
    }

    mutating func invite(
        _ identity: String, to sid: SID, invitedBy inviter: String?, at now: Timestamp
    ) throws(WorldError) -> SID {
        if let inviter { channels[sid]?.inviters[identity] = inviter }
        return try invite(identity, to: sid, as: Self.service, at: now)
    }
}
