internal import Chat
internal import JSON

extension SendbirdService {
    func isWorkDue(at now: Timestamp) -> Bool {
        if let until = standing.behindUntil, now >= until { return true }
        return later.contains { $0.due <= now }
    }

    /// Sees to what was read and takes requests.
    func seeToNews(_ inbox: any Inbox) async throws {
        let now = clock.now()
        let due = later.filter { $0.due <= now }
        later.removeAll { $0.due <= now }
        let fresh: [Errand] = (book?.takeNews() ?? []).map { (now, $0, 0) }
        for errand in due + fresh {
            do {
                try await seeTo(errand.news, inbox)
            } catch let failure as SendbirdFailure where !failure.isOfConnection {
                // It may be a fault of a moment; with time it is asked less often, and then no more.
                guard errand.tries < 5, failure.mayPass else {
                    log.warning("\(failure.reason)")
                    if case .strange(let url, _) = errand.news { book?.strange[url] = nil }
                    continue
                }
                let wait = Duration.seconds(1 << errand.tries)
                later.append((clock.now() + wait, errand.news, errand.tries + 1))
            }
        }
    }

    private func seeTo(_ news: SendbirdBook.News, _ inbox: any Inbox) async throws {
        switch news {
        case .invited(let url): await accept(url)
        case .left(let url): entered.remove(url)
        // It is read with the other gaps.
        case .gap: break
        case .changed(let url, let at):
            guard let room = book?.rooms[url], let listing = try await channel(url, room.kind) else { return }
            book?.describe(listing, mark: room.mark, changed: room.changed)
            book?.lasting(.channelUpdated, "11000-\(at.milliseconds)", at.milliseconds, in: url)
        case .strange(let url, let kind):
            guard book?.rooms[url] == nil else {
                book?.readStrange(url, with: json)
                return
            }
            if settings.joins.contains(url), book?.strange[url] == nil {
                return await tryToEnter(url, mayCreate: true, inbox)
            }
            guard let listing = try await channel(url, kind ?? .group) else {
                log.debug("ignored what came of \"\(url)\", which cannot be seen")
                book?.strange[url] = nil
                return
            }
            try await meet(listing, inbox)
        }
    }

    /// A channel that is new to us while we are connected.
    private func meet(_ listing: SendbirdListing, _ inbox: any Inbox) async throws {
        if listing.kind == .group, listing.state == "invited" {
            await accept(listing.url)
            guard let listing = try await group(listing.url), listing.state != "invited" else {
                book?.strange[listing.url] = nil
                return
            }
            return try await meet(listing, inbox)
        }
        // Something was said of it, and we are not in it.
        guard listing.kind == .open || listing.state ?? "joined" == "joined" else {
            book?.strange[listing.url] = nil
            return
        }
        let frames = book?.strange[listing.url] ?? []
        try await open(listing, inbox)
        let now = serverMilliseconds
        let at = frames.first?.at ?? now
        // Before what was said there.
        book?.tell(
            SendbirdHappening(
                kind: .channelAdded, id: "added-\(at)", at: Timestamp(milliseconds: at), order: .lasting),
            in: listing.url)
    }

    /// What the server's clock should show.
    var serverMilliseconds: Int64 {
        guard let then = login.serverTime, let at = login.at else { return clock.now().milliseconds }
        return (then + (clock.now() - at)).milliseconds
    }
}
