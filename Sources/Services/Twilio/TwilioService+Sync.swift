internal import Chat
internal import JSON

extension TwilioService {
    /// Subscribes what has to be subscribed and sees to what takes requests, for as long as the connection lasts.
    func seeToEverything(on connection: TwilsockConnection, _ inbox: any Inbox) async throws {
        while true {
            // Seeing to one thing may bring up the next.
            while let all = reader.book?.takeNews(), !all.isEmpty {
                await lookUpNames(all, on: connection)
                let news = all.filter { if case .nameless = $0 { false } else { true } }
                try await see(to: news.map { (clock.now(), $0, 0) }, on: connection, inbox)
            }
            try await seeToLate(on: connection, inbox)
            renewOverdue(at: clock.now())
            try await subscribe(on: connection)
            await handOver()
            if reader.book?.hasNews == true { continue }
            if !isComplete, let book = reader.book, book.isSettled {
                standing.isComplete = true
                log.debug("up: \(book.openChannels.count) channels")
                report(.up, to: inbox)
            }
            try await bell.wait()
        }
    }

    /// Whether something is due that nothing else would remind us of.
    func isWorkDue(at now: Timestamp) -> Bool {
        if let until = standing.behindUntil, until <= now { return true }
        if let subscribeAgain, subscribeAgain <= now { return true }
        if let renewAll, renewAll <= now { return true }
        if later.contains(where: { $0.due <= now }) { return true }
        return establishing.values.contains { isOverdue($0, at: now) }
    }

    /// A replay may take long; what counts is the time since anything of one came.
    private func isOverdue(_ deadline: Timestamp, at now: Timestamp) -> Bool {
        guard now >= deadline else { return false }
        guard let last = reader.book?.lastReplay else { return true }
        return now - last > .seconds(2)
    }

    private func renewOverdue(at now: Timestamp) {
        if let until = standing.behindUntil, until <= now {
            standing.behindUntil = nil
            for object in reader.book?.behind ?? [] { reader.book?.want(object) }
        }
        if let all = renewAll, all <= now {
            renewAll = nil
            reader.book?.wantAll()
        }
        for (correlation, deadline) in establishing where isOverdue(deadline, at: now) {
            establishing[correlation] = nil
            for object in reader.book?.unconfirmed(correlation) ?? [] { reader.book?.want(object) }
        }
    }

    // MARK: Subscribing

    private func subscribe(on connection: TwilsockConnection) async throws {
        if let again = subscribeAgain, again > clock.now() { return }
        subscribeAgain = nil
        while let wanted = reader.book?.wanted, !wanted.isEmpty {
            let batch = Array(wanted.prefix(batchLimit))
            lastCorrelation = max(lastCorrelation + 1, clock.now().milliseconds)
            let correlation = lastCorrelation
            let body = subscription(to: batch, correlation: correlation)
            // Before it is sent: confirmations may come before the answer.
            for object in batch { reader.book?.establish(object, correlation: correlation) }
            establishing[correlation] = clock.now() + .seconds(10)
            do {
                let answer = try await exchange(
                    .post("\(settings.syncURL)/v4/Subscriptions", body), on: connection)
                guard answer.isFine else { throw RequestFailure.answered(answer) }
                subscribeBackoff.reset()
                take(answer.json, correlation: correlation)
            } catch let failure as RequestFailure {
                guard !failure.isOfConnection else { throw failure }
                establishing[correlation] = nil
                for object in reader.book?.unconfirmed(correlation) ?? [] { reader.book?.want(object) }
                let pause = max(subscribeBackoff.next(random: clock.random()), failure.pause ?? .zero)
                log.warning("subscribing failed: \(failure.reason); again in \(pause.milliseconds) ms")
                subscribeAgain = clock.now() + pause
                return
            }
        }
    }

    private func subscription(to objects: [Int], correlation: Int64) -> JSON {
        let requests: [JSON] = objects.compactMap { place in
            guard let object = reader.book?.objects[place] else { return nil }
            return [
                "object_sid": .string(object.sid), "object_type": .string(object.role.objectType),
                "last_event_id": .int(object.order.mark),
            ]
        }
        return [
            "event_protocol_version": 4, "action": "establish", "correlation_id": .int(correlation),
            "retried_requests": 0, "ttl_in_s": -1, "requests": .array(requests),
        ]
    }

    private func take(_ answer: JSON, correlation: Int64) {
        if let limit = answer["max_batch_size"]?.int, limit > 0 { batchLimit = Int(min(limit, 1000)) }
        if establishing[correlation] != nil, let delivery = answer["estimated_delivery_in_ms"]?.int,
            delivery > 0
        {
            establishing[correlation] = clock.now() + .milliseconds(min(delivery, 120_000))
        }
        // Short lives are for sessions that are not asked for; a server that says 0 means none.
        if let life = answer["ttl_in_s"]?.int, life > 0 {
            renewAll = min(renewAll ?? .never, clock.now() + .seconds(life))
        }
    }

    // MARK: News

    private func see(
        to news: SyncBook.News, tries: Int, on connection: TwilsockConnection, _ inbox: any Inbox
    ) async throws {
        do {
            switch news {
            case .joined(let channel, let event, let at):
                try await enter(channel, event: event, at: at, on: connection, inbox)
            case .invited(let channel): try await accept(channel, on: connection)
            case .left(let channel, let event, let at):
                try await leave(channel, event: event, at: at, on: connection)
            case .gap(let object): try await reread(object, on: connection)
            case .failed(let object, let status):
                if status == 404 || status == 403 {
                    reader.book?.end(object)
                } else {
                    subscribeAgain = clock.now() + subscribeBackoff.next(random: clock.random())
                    reader.book?.want(object)
                }
            case .interrupted, .settled, .nameless: break
            }
        } catch let failure as RequestFailure where !failure.isOfConnection {
            guard tries < 5 else { return log.error("given up: \(failure.reason)") }
            later.append((clock.now() + .seconds(2 << tries), news, tries + 1))
        }
    }

    private func seeToLate(on connection: TwilsockConnection, _ inbox: any Inbox) async throws {
        let now = clock.now()
        let due = later.filter { $0.due <= now }
        later.removeAll { $0.due <= now }
        try await see(to: due, on: connection, inbox)
    }

    /// Sees to one after the other; what a broken connection keeps us from waits for the next.
    private func see(to all: [Errand], on connection: TwilsockConnection, _ inbox: any Inbox) async throws {
        var rest = all[...]
        while let errand = rest.first {
            do {
                try await see(to: errand.news, tries: errand.tries, on: connection, inbox)
            } catch {
                later += rest
                throw error
            }
            rest.removeFirst()
        }
    }

    private func enter(
        _ sid: String, event: Int64, at: Timestamp, on connection: TwilsockConnection, _ inbox: any Inbox
    ) async throws {
        if reader.book?.channel(sid) == nil {
            guard let listing = try await myView(of: sid, on: connection), listing.status == "joined" else {
                return
            }
            try await open([listing], on: connection, inbox)
        }
        tell(.channelAdded, of: sid, event: event, at: at)
    }

    private func leave(
        _ sid: String, event: Int64, at: Timestamp, on connection: TwilsockConnection
    ) async throws {
        guard let state = reader.book?.channel(sid) else { return }
        // The news may be old: we may have come back since.
        if let listing = try await myView(of: sid, on: connection), listing.status == "joined" { return }
        var isDestroyed = state.isDestroyed
        if !isDestroyed {
            let answer = try await exchange(.get(link(to: sid)), on: connection)
            // Not being allowed to see it is another thing.
            isDestroyed = answer.status == 404
        }
        if isDestroyed { tell(.channelDeleted, of: sid, event: event, at: at) }
        reader.book?.close(sid)
        paces[sid] = nil
        typingUntil[sid] = nil
    }

    private func tell(_ kind: ChatEvent.Kind, of sid: String, event: Int64, at: Timestamp) {
        guard let book = reader.book, let standings = book.standings, let place = book.place(of: sid) else {
            return
        }
        reader.book?.add(
            kind, id: "\(book.objects[standings].sid)/\(event)", channel: place, at: at, object: standings,
            mark: event)
    }

    /// How we stand to a channel; nil when it is not one of ours.
    func myView(of sid: String, on connection: TwilsockConnection) async throws(RequestFailure)
        -> ChannelListing?
    {
        guard let configuration else { return nil }
        let url = "\(configuration.myConversations)/\(sid.percentEncoded)"
        return try await fetchIfThere(url, on: connection).flatMap { ChannelListing($0.json) }
    }

    // MARK: Gaps

    /// Reads an object itself where its replay was not complete.
    private func reread(_ object: Int, on connection: TwilsockConnection) async throws {
        guard let target = reader.book?.objects[object], reader.book?.isRereading(object) == true else {
            return
        }
        guard let link = target.items else { return }
        let isList = target.role.objectType == "list"
        log.warning("the replay of \(target.sid) has a gap; reading it again from \(target.order.mark)")
        var url = link.adding("PageSize", "100").adding("Order", "asc")
        if isList { url = url.adding("From", "\((target.index ?? -1) + 1)") }
        var members: [UpstreamAnswer] = []
        for _ in 0..<10_000 {
            let page = try await fetch(url, on: connection)
            guard reader.book?.isRereading(object) == true else { return }
            if isList {
                try? json.read(page.body) { node in
                    reader.book?.add(
                        node["items"].map { Array($0.elements) } ?? [], of: object, at: clock.now())
                }
                await handOver()
            } else {
                members.append(page)
            }
            guard let next = page.json["meta"]?["next_token"]?.string, !next.isEmpty else { break }
            url = link.adding("PageToken", next)
        }
        guard reader.book?.isRereading(object) == true else { return }
        let told = isList ? [] : compare(members, with: object)
        reader.book?.skipGap(object, told: told, at: clock.now())
    }

    /// All pages at once: who is on none of them has left.
    private func compare(_ pages: [UpstreamAnswer], with object: Int) -> Set<String> {
        let items = pages.flatMap { $0.json["items"]?.array ?? [] }
        let whole: JSON = .array(items)
        let told = try? json.read(whole.bytes()) { node in
            reader.book?.compare(Array(node.elements), with: object, at: clock.now())
        }
        return told.flatMap(\.self) ?? []
    }
}
