internal import Chat
internal import JSON

extension SendbirdService {
    /// Waits for the welcome, reads what has to be read, and sees to what comes up, until the connection is over.
    func serve(_ connection: SendbirdConnection, _ inbox: any Inbox) async throws {
        while login.at == nil { try await bell.wait() }
        await identify(inbox)
        try await openEverything(inbox)
        while true {
            try await seeToNews(inbox)
            try await fillGaps(inbox)
            await handOver()
            if !isComplete,
                book?.rooms.values.allSatisfy({ $0.phase == .live || $0.phase == .behind }) == true
            {
                standing.isComplete = true
                report(.up, to: inbox)
            }
            try await bell.wait()
        }
    }

    /// Who we are. As somebody else than before nothing of the old counts.
    private func identify(_ inbox: any Inbox) async {
        let name = login.user ?? settings.user
        if name != settings.user {
            log.warning("logged in as \"\(name)\", where \"\(settings.user)\" is configured")
        }
        guard book?.own.text != name else { return }
        let realm = tools.identities.realm(settings.app.lowercased())
        let own = realm.user(name)
        await inbox.identified(as: own, in: realm)
        book = SendbirdBook(account: account, realm: realm, own: own, bots: settings.bots ?? [])
        book?.typingTime = timing.typing
        entered = []
        later = []
        standing.behindUntil = nil
    }

    /// After each log-in: the channels we are in, those we are to be in, and what was missed in them.
    private func openEverything(_ inbox: any Inbox) async throws {
        for url in book?.rooms.keys.map({ $0 }) ?? [] where book?.rooms[url]?.phase != .behind {
            book?.rooms[url]?.phase = .wanting
        }
        let mine = try await myChannels()
        var there: Set<String> = []
        for listing in mine {
            there.insert(listing.url)
            if listing.state == "invited" {
                await accept(listing.url)
                guard let listing = try await group(listing.url) else { continue }
                try await open(listing, inbox)
            } else {
                try await open(listing, inbox)
            }
        }
        for room in book?.rooms.values.filter({ $0.kind == .group && !there.contains($0.url) }) ?? [] {
            // We were taken out while we were away; or the list was shuffled while its pages were turned.
            if let listing = try await group(room.url), listing.state ?? "joined" == "joined" {
                try await open(listing, inbox)
            } else {
                lose(room.url)
            }
        }
        for url in entered.sorted() where !settings.joins.contains(url) {
            await tryToEnter(url, mayCreate: false, inbox)
        }
        for name in settings.joins { await tryToEnter(name, mayCreate: true, inbox) }
    }

    /// All pages of the list of group channels that we have to do with.
    private func myChannels() async throws(SendbirdFailure) -> [SendbirdListing] {
        var all: [SendbirdListing] = []
        var token = ""
        // Nobody is in so many; a server that never ends its list must not keep us.
        for _ in 0..<1000 {
            let page = try await groupPage(token: token, limit: 100, order: "chronological")
            all += page.listings
            guard let next = page.next else { break }
            token = next
        }
        return all
    }

    /// A page of our group channels. Nil as the next one is the end.
    func groupPage(
        token: String, limit: Int, order: String = "latest_last_message", hidden: String = "all"
    ) async throws(SendbirdFailure) -> (listings: [SendbirdListing], next: String?) {
        let answer = try await fetch(
            "/users/\(own.percentEncoded)/my_group_channels",
            [("token", token), ("limit", "\(limit)"), ("order", order)] + Self.flags + [
                ("show_empty", "true"), ("member_state_filter", "all"), ("super_mode", "all"),
                ("public_mode", "all"), ("unread_filter", "all"), ("hidden_mode", hidden),
                ("distinct_mode", "all"),
            ])
        return (listings(answer, .group), answer["next"]?.string.flatMap { $0.isEmpty ? nil : $0 })
    }

    private static let flags = [
        ("show_member", "true"), ("show_read_receipt", "true"), ("show_delivery_receipt", "true"),
    ]

    func listings(_ answer: JSON, _ kind: SendbirdRoom.Kind) -> [SendbirdListing] {
        (answer["channels"]?.array ?? []).compactMap { listing($0, kind) }
    }

    func listing(_ answer: JSON, _ kind: SendbirdRoom.Kind) -> SendbirdListing? {
        guard let book else { return nil }
        return try? json.read(answer.bytes()) { SendbirdListing($0, kind: kind, reading: book.reading) }
    }

    /// Who we are there.
    var own: String { book?.own.text ?? login.user ?? settings.user }

    /// A group channel as it is now; nil when there is none, or we may not see it.
    func group(_ url: String) async throws(SendbirdFailure) -> SendbirdListing? {
        try await channel(url, .group)
    }

    func channel(_ url: String, _ kind: SendbirdRoom.Kind) async throws(SendbirdFailure) -> SendbirdListing? {
        do {
            let flags = kind == .group ? Self.flags : []
            return listing(try await fetch("/\(kind.path)/\(url.percentEncoded)", flags), kind)
        } catch {
            guard case .refused(let refusal) = error, !refusal.isAboutSession, !refusal.mayPass else {
                throw error
            }
            return nil
        }
    }

    // MARK: Opening channels

    /// Takes a channel in. Where it was read before it is read on from there; else what was said in it so far is history.
    func open(_ listing: SendbirdListing, _ inbox: any Inbox) async throws {
        guard let realm = book?.realm else { return }
        if book?.rooms[listing.url] != nil {
            tellComings(listing)
            book?.describe(listing, mark: .init(id: 0, at: 0), changed: 0)
            return
        }
        let probe = SendbirdRoom(
            channel: listing.channel(in: realm), kind: listing.kind, realm: realm, mark: .init(id: 0, at: 0),
            changed: 0)
        let cursors = await inbox.cursors(of: realm)
        let now = login.serverTime?.milliseconds ?? clock.now().milliseconds
        var mark = SendbirdRoom.Mark(id: 0, at: now)
        var changed = now
        var begins: [Cursor] = []
        var isKnown = false
        if case .number(let at, let id)? = cursors[probe.messages.text] {
            mark = SendbirdRoom.Mark(id: id ?? 0, at: at)
            isKnown = true
        } else {
            if let newest = try await newestMessage(in: listing) {
                mark = SendbirdRoom.Mark(id: newest.id, at: newest.at.milliseconds)
            }
            // What came of it already is news.
            if let first = book?.firstStrange(listing.url), first.id <= mark.id { mark = first }
            begins.append(Cursor(stream: probe.messages, position: .number(mark.at, index: mark.id)))
        }
        if case .number(let at, _)? = cursors[probe.changes.text] {
            changed = at
        } else {
            changed = isKnown ? mark.at : changed
            begins.append(Cursor(stream: probe.changes, position: .number(changed, index: nil)))
        }
        if !begins.isEmpty { await inbox.begin(begins) }
        // Another may have opened it meanwhile.
        guard book?.rooms[listing.url] == nil else { return }
        book?.describe(listing, mark: mark, changed: changed)
        // With nothing before it there is nothing to read, unless it was there before us.
        book?.readStrange(listing.url, with: json)
        bell.ring()
    }

    /// The newest message of a channel, as its list has it.
    private func newestMessage(in listing: SendbirdListing) async throws -> SeenMessage? {
        if let last = listing.last { return last }
        let page = try await messages(
            in: listing.url, listing.kind, around: Self.endOfTime, before: 1, after: 0, inclusive: true)
        return page.messages.last
    }

    /// Who came and went while we were away, where all members are listed with the channel.
    private func tellComings(_ listing: SendbirdListing) {
        guard let comings = book?.comings(listing) else { return }
        let now = login.serverTime?.milliseconds ?? clock.now().milliseconds
        for member in comings.joined {
            book?.lasting(.memberJoined(member), "joined-\(now)-\(member.user)", now, in: listing.url)
        }
        for member in comings.left {
            book?.lasting(.memberLeft(member), "left-\(now)-\(member.user)", now, in: listing.url)
        }
    }

    /// We are no longer in it, and were not told.
    private func lose(_ url: String) {
        guard let room = book?.rooms[url], let own = book?.own else { return }
        let now = login.serverTime?.milliseconds ?? clock.now().milliseconds
        let member = room.roster[own.text] ?? Member(user: own)
        book?.tell(
            SendbirdHappening(
                kind: .memberLeft(member), id: "left-\(now)-\(own)", at: Timestamp(milliseconds: now),
                order: .lasting), in: url)
        book?.close(url)
    }

    // MARK: Going in

    func tryToEnter(_ name: String, mayCreate: Bool, _ inbox: any Inbox) async {
        do {
            try await enter(name, mayCreate: mayCreate, inbox)
        } catch let failure as SendbirdFailure where !failure.isOfConnection && !failure.mayPass {
            log.error("channel \"\(name)\" cannot be entered: \(failure.reason)")
            entered.remove(name)
            if book?.rooms[name]?.kind == .open { lose(name) }
        } catch {
            log.warning("channel \"\(name)\" cannot be entered now: \(error)")
            later.append((clock.now() + .seconds(5), .strange(name, nil), 0))
        }
    }

    /// Becomes a member of a channel, or a participant; makes an open one when there is none and that is wanted.
    func enter(_ url: String, mayCreate: Bool, _ inbox: any Inbox) async throws {
        guard let connection else { throw SendbirdFailure.notConnected("not connected") }
        if let room = book?.rooms[url], room.kind == .group { return }
        var listing = try await channel(url, .open)
        if listing == nil {
            if let group = try await group(url) {
                if group.state != "joined" {
                    let verb = group.state == "invited" ? "accept" : "join"
                    _ = try await request(
                        SendbirdRequest(
                            "PUT", "/group_channels/\(url.percentEncoded)/\(verb)", ["user_id": .string(own)])
                    )
                }
                return try await open(try await self.group(url) ?? group, inbox)
            }
            guard mayCreate else {
                throw SendbirdFailure.refused(
                    SendbirdRefusal(code: 400201, message: "there is no such channel"))
            }
            listing = try await createOpen(url, title: url, data: nil)
        }
        guard let listing else { throw SendbirdFailure.unknown("an answer that is no channel") }
        // What comes from now on waits until it is known where history ends.
        let answer = try await command(
            "ENTR", ["channel_url": .string(url)], bucket: .other, on: connection)
        entered.insert(url)
        try await open(listing, inbox)
        book?.rooms[url]?.count(answer["participant_count"]?.int, at: answer["edge_ts"]?.int ?? 0)
    }

    /// Makes an open channel, whose operators we are. One that is there already is fine.
    func createOpen(_ url: String, title: String, data: String?) async throws(SendbirdFailure)
        -> SendbirdListing?
    {
        var body: JSONObject = [
            "name": .string(title), "channel_url": .string(url), "operator_ids": [.string(own)],
        ]
        if let data { body["data"] = .string(data) }
        do {
            return listing(try await request(SendbirdRequest("POST", "/open_channels", .object(body))), .open)
        } catch {
            guard error.code == 400202 else { throw error }
            return try await channel(url, .open)
        }
    }

    /// Whoever invites us wants us there.
    func accept(_ url: String) async {
        do {
            _ = try await request(
                SendbirdRequest(
                    "PUT", "/group_channels/\(url.percentEncoded)/accept", ["user_id": .string(own)]))
        } catch {
            log.warning("the invitation to \"\(url)\" cannot be accepted: \(error.reason)")
        }
    }
}
