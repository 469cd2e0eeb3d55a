internal import Chat
internal import JSON

/// A room that we are to be in.
struct Errand: Sendable {
    enum Reason: Sendable {
        /// It stands in `config.yaml` under that name.
        case configured(String)
        /// It is a ban list of that name.
        case list(String)
        case invited
        /// It took the place of another.
        case follows(String)
    }

    /// An id or an alias.
    var room: String
    var reason: Reason
    /// Servers that know it.
    var via: [String] = []
    var due: Timestamp
    var backoff: Backoff
    /// Why the last try failed.
    var failure: String?
}

extension MatrixService {
    // MARK: The rooms in the configuration

    /// Sees to it that we are in each of them; one that takes longer is tried again beside everything else.
    func joinConfigured() async {
        for name in channelNames.sorted() where name.hasPrefix("#") && !settings.joins.contains(name) {
            if let id = try? await find(alias: name) { book?.configure(id, as: name) }
        }
        let rooms =
            settings.joins.map { ($0, Errand.Reason.configured($0)) }
            + (settings.policies ?? [:]).sorted { $0.key < $1.key }.map { ($0.value, .list($0.key)) }
        for (name, reason) in rooms {
            add(Errand(room: name, reason: reason, due: clock.now(), backoff: joinBackoff))
            await attempt(name, within: timing.request)
        }
    }

    private var joinBackoff: Backoff { Backoff(first: timing.firstJoinPause, most: timing.longestJoinPause) }

    private func add(_ errand: Errand) {
        guard errands[errand.room] == nil else { return }
        errands[errand.room] = errand
        errandBell.ring()
    }

    /// Joins what could not be joined at once, until cancelled. A room of another server can take minutes, and the
    /// others do not wait for it.
    func runErrands() async throws {
        try await withThrowingDiscardingTaskGroup { group in
            while true {
                try Task.checkCancellation()
                guard let next = errands.values.min(by: { $0.due < $1.due }) else {
                    try await errandBell.wait()
                    continue
                }
                let pause = next.due - clock.now()
                // Whatever comes meanwhile is looked at soon.
                if pause > .zero { try await clock.sleep(min(pause, .seconds(1))) }
                guard isUp, clock.now() >= next.due, errands[next.room]?.due == next.due else {
                    if pause <= .zero { try await clock.sleep(.milliseconds(100)) }
                    continue
                }
                // Until it is known what became of this try.
                errands[next.room]?.due = .never
                group.addTask { await self.attempt(next.room, within: self.timing.join) }
            }
        }
    }

    /// One try. What fails stays to be done.
    private func attempt(_ room: String, within limit: Duration) async {
        guard var errand = errands[room] else { return }
        do throws(MatrixFailure) {
            let id = try await join(errand, within: limit)
            errands[room] = nil
            if case .configured(let name) = errand.reason { book?.configure(id, as: name) }
            if case .list(let name) = errand.reason {
                book?.follow(id, as: name)
                if book?.rooms[id] != nil { await readList(in: id) }
            }
            if case .invited = errand.reason { log.info("joined \(id) after an invitation") }
            if case .follows(let old) = errand.reason {
                log.info("\(name(of: old)) goes on in \(id)")
                if let name = book?.configured[old] { book?.configure(id, as: name) }
            }
        } catch {
            let pause = errand.backoff.next(random: clock.random())
            let words = "\(room) cannot be joined: \(error.reason)"
            // An invitation can be withdrawn; the others are ours to be in.
            if case .invited = errand.reason, error.isFinal {
                errands[room] = nil
                return log.warning(words)
            }
            errand.due = clock.now() + max(pause, error.answer?.retryAfter ?? .zero)
            errand.failure = error.reason
            errands[room] = errand
            if error.isFinal {
                log.error("\(words); it is tried again")
            } else {
                log.warning("\(words); it is tried again")
            }
        }
    }

    private func join(_ errand: Errand, within limit: Duration) async throws(MatrixFailure) -> String {
        var room = errand.room
        if !room.hasPrefix("!") {
            room = try await findOrCreate(alias(of: room), errand.reason)
        }
        if book?.rooms[room] != nil { return room }
        return try await join(room, via: errand.via, within: limit)
    }

    /// Joins a room by id or alias; gives its id.
    func join(
        _ room: String, via: [String] = [], within limit: Duration? = nil
    ) async throws(MatrixFailure) -> String {
        var request = MatrixRequest.post("join", room)
        // Servers before version 1.12 of the specification know the other name only.
        request.query = via.flatMap { [("via", $0), ("server_name", $0)] }
        request.timeout = limit
        let answer = try await succeed(request)
        return answer.json["room_id"]?.string ?? room
    }

    // MARK: Names

    /// A name without more than itself is an alias on our own server.
    func alias(of name: String) -> String {
        name.hasPrefix("#") ? name : "#\(name):\(ownServer)"
    }

    /// The part of our id after the first colon.
    var ownServer: String {
        guard let own = book?.own.text, let colon = own.firstIndex(of: ":") else { return "" }
        return String(own[own.index(after: colon)...])
    }

    /// The room of an alias; nil when there is none.
    func find(alias: String) async throws(MatrixFailure) -> String? {
        do throws(MatrixFailure) {
            return try await succeed(.get("directory", "room", alias)).json["room_id"]?.string
        } catch {
            if error.answer?.status == 404 { return nil }
            throw error
        }
    }

    private func findOrCreate(
        _ alias: String, _ reason: Errand.Reason
    ) async throws(MatrixFailure) -> String {
        if let found = try await find(alias: alias) { return found }
        let name = alias.dropFirst().prefix { $0 != ":" }
        guard case .configured = reason, alias == "#\(name):\(ownServer)" else {
            // There is nothing to be made on another's server, and a list that is not there has nothing in it.
            return try await join(alias)
        }
        log.info("\(alias) is not there yet; making it")
        return try await create(alias: String(name), title: String(name), mark: [:])
    }

    /// Makes a room; one that has the alias already is as good.
    func create(
        alias: String?, title: String, topic: String? = nil, mark: JSONObject
    ) async throws(MatrixFailure) -> String {
        var body: JSONObject = ["preset": alias == nil ? "private_chat" : "public_chat"]
        if let alias { body["room_alias_name"] = .string(alias) }
        if !title.isEmpty { body["name"] = .string(title) }
        if let topic { body["topic"] = .string(topic) }
        if !mark.isEmpty { body["creation_content"] = [RoomMessage.markKey: .object(mark)] }
        let answer = try await ask(.post("createRoom", body: .object(body)))
        if answer.isFine, let id = answer.json["room_id"]?.string { return id }
        if answer.code == "M_ROOM_IN_USE", let alias,
            let found = try await find(alias: "#\(alias):\(ownServer)")
        {
            return try await join(found)
        }
        throw .refused(answer)
    }

    // MARK: News

    func seeToNews(_ invitations: [SyncAnswer.Invitation]) async {
        for item in book?.takeNews() ?? [] {
            switch item {
            case .joined(let id): await joined(id)
            case .left(let id, let by):
                encryptedRooms.remove(id)
                log.warning(by.map { "\($0) removed us from \(id)" } ?? "we left \(id)")
            case .upgraded(let old, let new, let sender):
                guard book?.rooms[new] == nil else { continue }
                let server = sender.firstIndex(of: ":").map { String(sender[sender.index(after: $0)...]) }
                add(
                    Errand(
                        room: new, reason: .follows(old), via: [server].compactMap(\.self), due: clock.now(),
                        backoff: joinBackoff))
            case .encrypted(let id): warnOfEncryption(id)
            }
        }
        for invitation in invitations { consider(invitation) }
    }

    private func joined(_ id: String) async {
        refusedInvitations.remove(id)
        if let inviter = inviters.removeValue(forKey: id) {
            do throws(MatrixFailure) {
                try await note(direct: id, with: inviter)
            } catch {
                log.debug("\(id) is not noted as a direct room: \(error.reason)")
            }
        }
        await readList(in: id)
        guard let room = book?.rooms[id] else { return }
        if room.isEncrypted { warnOfEncryption(id) }
        if let next = room.replacement { book?.tell(.upgraded(id, to: next.room, sender: next.sender)) }
    }

    /// Reads what stands in a ban list, if the room is one: it may be much more than is read of all other rooms.
    private func readList(in room: String) async {
        guard let list = book?.lists[room] else { return }
        do throws(MatrixFailure) {
            var request = MatrixRequest.get("rooms", room, "state")
            request.maximumAnswer = 200 << 20
            let answer = try await succeed(request)
            let events = try? json.read(answer.body) { $0.elements.compactMap { RoomEvent($0) } }
            book?.read(events ?? [], ofList: room)
            noteLists()
            log.info("read the ban list \(list): \(policies.policies(of: list).count) entries")
        } catch {
            log.error("the ban list \(list) cannot be read: \(error.reason)")
        }
    }

    /// Hands on the ban lists that have changed.
    func noteLists() {
        for (list, entries) in book?.takeChangedLists() ?? [:] { policies.set(entries, of: list) }
    }

    private func warnOfEncryption(_ id: String) {
        guard encryptedRooms.insert(id).inserted else { return }
        log.error(
            "\(name(of: id)) is encrypted: steward can read nothing there and writes nothing; \(Self.unencrypted)"
        )
    }

    private func consider(_ invitation: SyncAnswer.Invitation) {
        guard book?.rooms[invitation.room] == nil else { return }
        let what = invitation.name.map { "\"\($0.prefix(80))\" (\(invitation.room))" } ?? invitation.room
        guard BotNames(settings.invites ?? []).contains(invitation.sender) else {
            if refusedInvitations.insert(invitation.room).inserted {
                log.warning(
                    "\(invitation.sender) invites us to \(what), and is not under \"invites\"; it is left alone"
                )
            }
            return
        }
        log.info("\(invitation.sender) invites us to \(what)")
        if invitation.isDirect { inviters[invitation.room] = invitation.sender }
        let server = invitation.sender.firstIndex(of: ":").map {
            String(invitation.sender[invitation.sender.index(after: $0)...])
        }
        add(
            Errand(
                room: invitation.room, reason: .invited, via: [server].compactMap(\.self), due: clock.now(),
                backoff: joinBackoff))
    }

    // MARK: Direct rooms

    /// The room of us and one other; made when there is none in which we can write.
    func directRoom(with user: String, key: ActionKey) async throws(MatrixFailure) -> String {
        try await turn("direct") { () async throws(MatrixFailure) in
            let known = (book?.rooms.values.map(\.self) ?? []).filter {
                ($0.creation.direct == user || book?.direct[$0.id] == user) && !$0.isEncrypted
                    && $0.replacement == nil
            }
            for room in known.sorted(by: { $0.id < $1.id }) {
                let membership = try await membership(of: user, in: room.id)
                if membership == "join" || membership == "invite" { return room.id }
            }
            let body: JSON = [
                "preset": "trusted_private_chat", "is_direct": true, "invite": [.string(user)],
                "creation_content": [
                    RoomMessage.markKey: ["direct": .string(user), "key": .string(key.text)]
                ],
            ]
            let answer = try await succeed(.post("createRoom", body: body))
            guard let id = answer.json["room_id"]?.string else { throw .refused(answer) }
            try await note(direct: id, with: user)
            return id
        }
    }

    /// `join`, `invite`, …; nil when the server knows none.
    func membership(of user: String, in room: String) async throws(MatrixFailure) -> String? {
        do throws(MatrixFailure) {
            let answer = try await succeed(.get("rooms", room, "state", "m.room.member", user))
            return answer.json["membership"]?.string
        } catch {
            if error.answer?.status == 404 || error.answer?.status == 403 { return nil }
            throw error
        }
    }

    /// Writes down that a room is for direct messages, as clients do. Source: client-server specification, "Direct
    /// Messaging".
    private func note(direct room: String, with user: String) async throws(MatrixFailure) {
        guard let own = book?.own.text else { return }
        try await turn("m.direct") { () async throws(MatrixFailure) in
            var table = JSONObject()
            do throws(MatrixFailure) {
                let answer = try await succeed(.get("user", own, "account_data", "m.direct"))
                table = answer.json.object ?? table
            } catch {
                guard error.answer?.status == 404 else { throw error }
            }
            var rooms = table[user]?.array ?? []
            guard !rooms.contains(.string(room)) else { return }
            rooms.append(.string(room))
            table[user] = .array(rooms)
            _ = try await succeed(.put("user", own, "account_data", "m.direct", body: .object(table)))
        }
    }
}
