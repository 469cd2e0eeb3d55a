internal import Chat
internal import JSON

/// How far steward is, as its store keeps it: the server's token, and in an answer too large to be decided at once, the
/// last event that was decided in each room of it.
struct SyncPosition: Equatable, Sendable {
    var since: String
    var done: [String: String] = [:]

    init(since: String, done: [String: String] = [:]) {
        self.since = since
        self.done = done
    }

    init(_ text: String) {
        since = text
        guard text.hasPrefix("{"), let json = try? JSON(parsing: text), let since = json["since"]?.string
        else {
            return
        }
        self.since = since
        for (room, id) in json["done"]?.object ?? [:] { done[room] = id.string }
    }

    var text: String {
        guard !done.isEmpty else { return since }
        let rooms = JSONObject(
            done.sorted { $0.key < $1.key }.map { (key: $0.key, value: .string($0.value)) })
        return JSON.object(["since": .string(since), "done": .object(rooms)]).description
    }
}

extension MatrixService {
    /// The place where all of Matrix has its ids: users, rooms and events are the same on each homeserver.
    static let realm = "matrix"

    /// Reads what happens until cancelled; what goes wrong on the way is tried again.
    func stayInSync(_ inbox: any Inbox) async throws {
        var backoff = Backoff(first: timing.firstPause, most: timing.longestPause)
        var position: SyncPosition?
        report(.connecting, to: inbox)
        while true {
            try Task.checkCancellation()
            do {
                position = try await step(from: position, inbox)
                backoff.reset()
            } catch let failure as MatrixFailure {
                try Task.checkCancellation()
                let pause = try await pause(after: failure, &position, &backoff, inbox)
                try await clock.sleep(pause)
            }
        }
    }

    /// Chooses what follows a failure; each kind of it is one reaction.
    private func pause(
        after failure: MatrixFailure, _ position: inout SyncPosition?, _ backoff: inout Backoff,
        _ inbox: any Inbox
    ) async throws -> Duration {
        var asked = Duration.zero
        switch failure {
        case .noToken(let login):
            guard case .again(let after) = login.reaction else { throw fail(login.description, inbox) }
            asked = after ?? .zero
        case .refused(let answer):
            if answer.code == "M_USER_DEACTIVATED" {
                throw fail("the account is closed: \(answer.reason)", inbox)
            }
            if answer.status == 400, answer.code != nil, let lost = position {
                log.warning(
                    "the server does not know any more where we were (\(answer.reason)); going on from now, what happened meanwhile is lost"
                )
                log.debug("that was \(lost.since)")
                position = nil
                forgetsPosition = true
                book = nil
            }
            asked = answer.retryAfter ?? .zero
        case .silent, .foreign: break
        }
        let pause = max(asked, backoff.next(random: clock.random()))
        // Whoever only wants a pause is there.
        if failure.answer?.isLimit != true { report(.down(reason: failure.reason), to: inbox) }
        log.debug("\(failure.reason); trying again in \(pause.milliseconds) ms")
        return pause
    }

    private func fail(_ reason: String, _ inbox: any Inbox) -> AccountFailure {
        report(.failed(reason: reason), to: inbox)
        return AccountFailure(description: reason)
    }

    // MARK: One step

    /// Logs in and takes stock when that is still to be done, else waits for what is new. Gives where it is then.
    private func step(from position: SyncPosition?, _ inbox: any Inbox) async throws -> SyncPosition {
        guard let position, book != nil else { return try await begin(inbox) }
        let since = position.since
        let answer = try await sync(
            [
                ("since", since), ("filter", filter),
                // Whether it answers at all is to be known at once.
                ("timeout", isUp ? "\(timing.poll.milliseconds)" : "0"),
            ], timeout: timing.poll + timing.slack)
        inbox.heard()
        let told = try await take(answer, since: since, done: position.done)
        // Whoever waits for that may act from now on; what was read is on its way.
        report(.up, to: inbox)
        try await deliver(told, from: position, to: answer.next, inbox)
        await seeToNews(answer.invites)
        return SyncPosition(since: answer.next)
    }

    /// Learns who we are, which rooms we are in and how they are; from where steward was, if it was here before.
    private func begin(_ inbox: any Inbox) async throws -> SyncPosition {
        let session: MatrixSession
        do throws(LoginFailure) {
            session = try await login.current()
        } catch {
            throw MatrixFailure.noToken(error)
        }
        let realm = identities.realm(Self.realm)
        let own = realm.user(session.user)
        await inbox.identified(as: own, in: realm)
        report(.connecting, to: inbox)
        var book = RoomBook(
            account: account, realm: realm, own: own, bots: BotNames(settings.bots ?? []),
            heedsNotices: settings.readNotices == true)
        let answer = try await sync(
            [("filter", firstFilter), ("timeout", "0")], own: session.user, timeout: timing.firstSync)
        book.begin(with: answer)
        noteDenials(book.takeChangedPowers(), own: own.text)
        self.book = book
        await seeToNews(answer.invites)
        let stream = realm.stream("sync/\(session.user)")
        self.stream = stream
        let known = forgetsPosition ? nil : await inbox.cursors(of: realm)[stream.text]
        forgetsPosition = false
        await joinConfigured()
        if case .token(let text)? = known { return SyncPosition(text) }
        await inbox.begin([Cursor(stream: stream, position: .token(answer.next))])
        return SyncPosition(since: answer.next)
    }

    private func sync(
        _ query: [(String, String)], own: String? = nil, timeout: Duration
    ) async throws -> SyncAnswer {
        var request = MatrixRequest.get("sync", query: query)
        request.timeout = timeout
        request.maximumAnswer = 200 << 20
        let answer = try await succeed(request)
        let user = own ?? book?.own.text ?? ""
        do {
            guard let read = try json.read(answer.body, { SyncAnswer($0, own: user) }) else {
                throw MatrixFailure.silent("the answer to a sync has no next_batch", mayHaveArrived: true)
            }
            return read
        } catch let error as JSONError {
            throw MatrixFailure.silent("the answer to a sync is \(error)", mayHaveArrived: true)
        }
    }

    /// Turns an answer into events: fills its gaps, looks up what its events are about, and reads them in order.
    private func take(
        _ answer: SyncAnswer, since: String, done: [String: String]
    ) async throws -> [RoomBook.Told] {
        var gaps: [String: [RoomEvent]] = [:]
        for update in answer.joined {
            if update.isLimited, let previous = update.previous {
                gaps[update.id] = try await fill(update, from: previous, to: since)
            }
            try await lookUp(of: (gaps[update.id] ?? []) + update.timeline, in: update.id)
        }
        guard var book else { return [] }
        // Taken out, so that it is not copied while it is changed.
        self.book = nil
        defer { self.book = book }
        if let direct = answer.direct { book.set(direct: direct) }
        let now = clock.now()
        var told: [RoomBook.Told] = []
        for update in answer.joined {
            told += book.take(update, gap: gaps[update.id] ?? [], after: done[update.id], at: now)
        }
        for (room, events) in answer.left { told += book.leave(room, events) }
        noteDenials(book.takeChangedPowers(), own: book.own.text)
        for (list, entries) in book.takeChangedLists() { policies.set(entries, of: list) }
        return told
    }

    // MARK: Gaps

    /// What came before a timeline and after the last sync, oldest first.
    private func fill(
        _ update: SyncAnswer.JoinedRoom, from previous: String, to since: String
    ) async throws -> [RoomEvent] {
        var events: [RoomEvent] = []
        var from = previous
        // What was before we came is history, and there may be years of it.
        if update.timeline.contains(where: isOwnJoin) { return [] }
        for _ in 0..<Self.mostPages {
            let request = MatrixRequest.get(
                "rooms", update.id, "messages",
                query: [
                    ("dir", "b"), ("from", from), ("to", since), ("limit", "\(Self.page)"),
                    ("filter", timelineFilter.description),
                ])
            let answer: MatrixAnswer
            do throws(MatrixFailure) {
                answer = try await succeed(request)
            } catch {
                guard error.isFinal else { throw error }
                log.warning(
                    "what happened meanwhile in \(name(of: update.id)) cannot be read: \(error.reason)")
                break
            }
            let page = try page(answer)
            for event in page.events {
                // The server's own order may differ a little from that of its syncs.
                if book?.isKnown(event.id) != true { events.append(event) }
                if isOwnJoin(event) { return events.reversed() }
            }
            guard let next = page.end, next != from, next != since else { return events.reversed() }
            from = next
        }
        log.warning(
            "more happened meanwhile in \(name(of: update.id)) than the last \(events.count) events; what was before is lost"
        )
        return events.reversed()
    }

    static let page = 100
    /// Pages that are read of a room to fill one gap.
    static let mostPages = 50

    private func page(_ answer: MatrixAnswer) throws -> (events: [RoomEvent], end: String?) {
        do {
            return try json.read(answer.body) { node in
                (node["chunk"]?.elements.compactMap { RoomEvent($0) } ?? [], node["end"]?.string)
            }
        } catch {
            throw MatrixFailure.silent("a page of messages is \(error)", mayHaveArrived: true)
        }
    }

    private func isOwnJoin(_ event: RoomEvent) -> Bool {
        guard case .member(let user, let membership) = event.content, user == book?.own.text,
            membership.kind == .join
        else { return false }
        if case .was(.join, _, _) = membership.before { return false }
        return true
    }

    /// Reads the events that edits and redactions are about and nobody remembers.
    private func lookUp(of events: [RoomEvent], in room: String) async throws {
        guard let unknown = book?.unknownTargets(of: events), !unknown.isEmpty else { return }
        if unknown.count > Self.mostLookUps {
            log.warning(
                "\(unknown.count) edits and deletions in \(name(of: room)) are of messages from long ago; the first \(Self.mostLookUps) are looked at"
            )
        }
        for id in unknown.prefix(Self.mostLookUps) {
            do throws(MatrixFailure) {
                let answer = try await succeed(.get("rooms", room, "event", id))
                let event = try? json.read(answer.body) { RoomEvent($0) }
                if let event, event.id == id { book?.remember(event, in: room) }
            } catch {
                guard error.isFinal else { throw error }
                log.debug("\(id) in \(room) cannot be looked up: \(error.reason)")
            }
        }
    }

    private static let mostLookUps = 200

    // MARK: Delivering

    /// Hands events to steward, in order and in pieces that it can decide and note one by one. Returns when it has
    /// taken all of them.
    private func deliver(
        _ told: [RoomBook.Told], from position: SyncPosition, to next: String, _ inbox: any Inbox
    ) async throws {
        guard let stream, !told.isEmpty else { return }
        let last = told.lastIndex { $0.source != nil }
        var current = position
        var start = told.startIndex
        while start < told.endIndex {
            let end = min(start + Self.most, told.endIndex)
            let pieceLast = end == told.endIndex ? last : told[start..<end].lastIndex { $0.source != nil }
            var reached = current
            var events: [ChatEvent] = []
            for index in start..<end {
                var event = told[index].event
                if let source = told[index].source {
                    if let room = event.channel?.id.text { reached.done[room] = source }
                    let text = index != pieceLast ? current.text : index == last ? next : reached.text
                    event.cursor = Cursor(stream: stream, position: .token(text))
                }
                events.append(event)
            }
            try await hand(events, to: inbox)
            current = reached
            start = end
        }
    }

    private static let most = 500

    private func hand(_ events: [ChatEvent], to inbox: any Inbox) async throws {
        while true {
            switch await inbox.deliver(events) {
            case .taken: return
            case .behind:
                // Nobody asks the server for more meanwhile.
                inbox.heard()
                behindComplaint.sayBehind("they wait", at: clock.now(), log)
                try await clock.sleep(timing.behind)
            case .closed:
                // Steward is stopping, and what is waiting is still to be sent.
                while true { try await clock.sleep(.seconds(3600)) }
            }
        }
    }

    func name(of room: String) -> String {
        guard let channel = book?.rooms[room]?.channel else { return room }
        return channel.uniqueName ?? (channel.title.isEmpty ? room : "\"\(channel.title)\" (\(room))")
    }
}
