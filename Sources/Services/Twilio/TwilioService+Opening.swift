internal import Chat
internal import JSON

/// A channel as lists and links describe it.
struct ChannelListing: Sendable {
    var sid: String
    var title: String
    var uniqueName: String?
    /// Where its parts are: names of Sync objects.
    var document: String
    var messages: String
    var roster: String
    var status: String?
    var attributes: String?

    init?(_ json: JSON) {
        guard let sid = (json["conversation_sid"] ?? json["channel_sid"] ?? json["sid"])?.string else {
            return nil
        }
        self.sid = sid
        title = json["friendly_name"]?.string ?? ""
        uniqueName = json["unique_name"]?.string.flatMap { $0.isEmpty ? nil : $0 }
        let objects = json["sync_objects"]
        document = (objects?["conversation"] ?? objects?["channel"])?.string ?? "\(sid).channel"
        messages = objects?["messages"]?.string ?? "\(sid).messages"
        roster = (objects?["participants"] ?? objects?["members"])?.string ?? "\(sid).roster"
        status = json["status"]?.string
        attributes = json["attributes"]?.string
    }
}

extension TwilioService {
    /// Logs in, reads what has to be read, and sees to what comes up, until the connection is over.
    func serve(_ connection: TwilsockConnection, _ token: AccessToken, _ inbox: any Inbox) async throws {
        try await logIn(token, on: connection)
        try await untilOneEnds([
            { try await self.followTokens(on: connection) },
            {
                do {
                    try await self.identify(token, on: connection, inbox)
                    try await self.seeToEverything(on: connection, inbox)
                } catch let failure as RequestFailure {
                    throw SessionEnd.lost(failure.reason)
                }
            },
        ])
    }

    /// Finds out who and where we are. In another world than before nothing of the old one counts.
    private func identify(
        _ token: AccessToken, on connection: TwilsockConnection, _ inbox: any Inbox
    ) async throws {
        let answer = try await fetch(settings.configurationURL, on: connection)
        guard let new = TwilioConfiguration(answer.json, token: token) else {
            throw SessionEnd.lost("the configuration lacks what a client needs")
        }
        if new.identity != settings.identity {
            log.warning("logged in as \"\(new.identity)\", where \"\(settings.identity)\" is configured")
        }
        let isNew = configuration?.identity != new.identity || configuration?.service != new.service
        configuration = new
        self.connection = connection
        establishing = [:]
        subscribeAgain = nil
        subscribeBackoff.reset()
        if isNew || reader.book == nil || !isOpened {
            isOpened = false
            let realm = tools.identities.realm(new.service)
            let own = realm.user(new.identity)
            await inbox.identified(as: own, in: realm)
            reader.book = SyncBook(
                account: account, realm: realm, own: own, roles: settings.roleWords, bots: settings.bots ?? []
            )
            reader.book?.profiles.patience = timing.name
            later = []
            standing.behindUntil = nil
            try await openStandings(on: connection, inbox)
            try await openEverything(on: connection, inbox)
            isOpened = true
        } else {
            reader.book?.wantAll()
            try await joinConfigured(on: connection, inbox)
        }
        renewAll = nil
        bell.ring()
    }

    /// The map that says which channels are ours.
    private func openStandings(on connection: TwilsockConnection, _ inbox: any Inbox) async throws {
        guard let configuration, let realm = reader.book?.realm else { return }
        let name = configuration.standings.percentEncoded
        let map = try await fetch("\(settings.syncURL)/v3/Maps/\(name)", on: connection).json
        guard let sid = map["sid"]?.string else {
            throw SessionEnd.lost("the map of our channels has no sid")
        }
        let last = map["last_event_id"]?.int ?? -1
        let start = Self.start(at: await inbox.cursors(of: realm)[sid], last: last)
        if let begin = start.begin(realm.stream(sid)) { await inbox.begin([begin]) }
        _ = reader.book?.read(sid, as: .standings, from: start.mark)
    }

    private func openEverything(on connection: TwilsockConnection, _ inbox: any Inbox) async throws {
        var joined: [ChannelListing] = []
        for listing in try await myChannels(on: connection) {
            switch listing.status {
            case "joined": joined.append(listing)
            case "invited": try await accept(listing.sid, on: connection)
            default: break
            }
        }
        try await open(joined, on: connection, inbox)
        try await joinConfigured(on: connection, inbox)
    }

    /// All pages of the list of channels that we have to do with.
    func myChannels(on connection: TwilsockConnection) async throws(RequestFailure) -> [ChannelListing] {
        guard let configuration else { return [] }
        return try await pages(of: configuration.myConversations, on: connection)
    }

    func pages(
        of list: String, on connection: TwilsockConnection
    ) async throws(RequestFailure) -> [ChannelListing] {
        var all: [ChannelListing] = []
        var url = list
        // Nobody is in so many; a server that never ends its list must not keep us.
        for _ in 0..<1000 {
            let page = try await fetch(url, on: connection).json
            let rows =
                page[page["meta"]?["key"]?.string ?? "conversations"] ?? page["conversations"]
                ?? page["channels"]
            all += (rows?.array ?? []).compactMap { ChannelListing($0) }
            guard let next = page["meta"]?["next_token"]?.string, !next.isEmpty else { break }
            url = list.adding("PageToken", next)
        }
        return all
    }

    // MARK: Opening channels

    /// What has to be read of a channel before its events make sense.
    private struct Reading: Sendable {
        var listing: ChannelListing
        var document: UpstreamAnswer
        var messages: UpstreamAnswer
        var roster: UpstreamAnswer
        /// Pages of the roster's items.
        var members: [UpstreamAnswer]
        /// The newest messages; nil when it is known where to read on.
        var newest: UpstreamAnswer?
    }

    /// Opens channels, some at a time, and begins to read their events. One that cannot be opened is left out.
    func open(
        _ listings: [ChannelListing], on connection: TwilsockConnection, _ inbox: any Inbox
    ) async throws {
        guard let realm = reader.book?.realm else { return }
        let cursors = await inbox.cursors(of: realm)
        let fresh = listings.filter { reader.book?.channel($0.sid) == nil }
        var readings: [String: Reading] = [:]
        try await withThrowingTaskGroup(of: Reading?.self) { group in
            var waiting = fresh[...]
            func add() {
                guard let listing = waiting.popFirst() else { return }
                group.addTask {
                    do {
                        return try await self.read(listing, cursors, on: connection)
                    } catch let failure as RequestFailure where !failure.isOfConnection {
                        self.log.error("channel \(listing.sid) cannot be opened: \(failure.reason)")
                        return nil
                    }
                }
            }
            for _ in 0..<16 { add() }
            while let reading = try await group.next() {
                if let reading { readings[reading.listing.sid] = reading }
                add()
            }
        }
        var begins: [Cursor] = []
        var opened: [() -> Void] = []
        for listing in fresh {
            guard let reading = readings[listing.sid] else { continue }
            opened.append(try prepare(reading, cursors, realm, &begins))
        }
        if !begins.isEmpty { await inbox.begin(begins) }
        for open in opened { open() }
    }

    private func read(
        _ listing: ChannelListing, _ cursors: [String: Position], on connection: TwilsockConnection
    ) async throws(RequestFailure) -> Reading {
        let base = "\(settings.syncURL)/v3"
        let document = try await fetch("\(base)/Documents/\(listing.document.percentEncoded)", on: connection)
        let messages = try await fetch("\(base)/Lists/\(listing.messages.percentEncoded)", on: connection)
        let roster = try await fetch("\(base)/Maps/\(listing.roster.percentEncoded)", on: connection)
        let members = try await items(of: roster.json, on: connection)
        var newest: UpstreamAnswer?
        if let sid = messages.json["sid"]?.string, cursors[sid] == nil,
            let items = messages.json["links"]?["items"]?.string
        {
            newest = try await fetch(items.adding("PageSize", "20").adding("Order", "desc"), on: connection)
        }
        return Reading(
            listing: listing, document: document, messages: messages, roster: roster, members: members,
            newest: newest)
    }

    /// All pages of an object's items.
    func items(
        of object: JSON, from start: Int64? = nil, on connection: TwilsockConnection
    ) async throws(RequestFailure) -> [UpstreamAnswer] {
        guard let link = object["links"]?["items"]?.string else { return [] }
        var url = link.adding("PageSize", "100").adding("Order", "asc")
        if let start { url = url.adding("From", "\(start)") }
        var pages: [UpstreamAnswer] = []
        for _ in 0..<10_000 {
            let page = try await fetch(url, on: connection)
            pages.append(page)
            guard let next = page.json["meta"]?["next_token"]?.string, !next.isEmpty else { break }
            url = link.adding("PageToken", next)
        }
        return pages
    }

    /// Works out where to read on; what is returned puts the channel into the book.
    private func prepare(
        _ reading: Reading, _ cursors: [String: Position], _ realm: Realm, _ begins: inout [Cursor]
    ) throws -> () -> Void {
        let document = reading.document.json
        let messages = reading.messages.json
        let roster = reading.roster.json
        guard let documentSID = document["sid"]?.string, let listSID = messages["sid"]?.string,
            let rosterSID = roster["sid"]?.string
        else {
            log.error("channel \(reading.listing.sid) cannot be opened: its Sync objects have no sid")
            return {}
        }
        var starts: [(sid: String, start: Start)] = []
        for (sid, object) in [(documentSID, document), (listSID, messages), (rosterSID, roster)] {
            var start = Self.start(at: cursors[sid], last: object["last_event_id"]?.int ?? -1)
            // The list is the one in which nothing is left out: what a replay lacks is read from the list.
            if sid == listSID, case .number(let mark, let index)? = cursors[sid] {
                start = Start(mark: mark, index: index, isKnown: true)
            } else if sid == listSID {
                start.index = Self.newestIndex(in: reading.newest?.json ?? .null, upTo: start.mark)
            }
            if let begin = start.begin(realm.stream(sid)) { begins.append(begin) }
            starts.append((sid, start))
        }
        let found = starts
        return { [self] in
            guard var book = reader.book else { return }
            // Taken out, so that it is not copied while it is changed.
            reader.book = nil
            defer { reader.book = book }
            let place = book.open(Channel(id: realm.channel(reading.listing.sid)))
            let version = document["last_event_id"]?.int ?? -1
            try? json.read(reading.document.body) { node in
                if let data = node["data"] { book.fill(place, document: data, version: version) }
            }
            for page in reading.members {
                try? json.read(page.body) { node in
                    if let items = node["items"] { book.fill(place, roster: Array(items.elements)) }
                }
            }
            _ = book.read(documentSID, as: .document(place), from: found[0].start.mark)
            _ = book.read(
                listSID, as: .messages(place), items: messages["links"]?["items"]?.string,
                from: found[1].start.mark, index: found[1].start.index)
            _ = book.read(
                rosterSID, as: .roster(place), items: roster["links"]?["items"]?.string,
                from: found[2].start.mark)
        }
    }

    /// Where reading an object begins.
    struct Start {
        var mark: Int64
        var index: Int64?
        /// Steward has been there before.
        var isKnown: Bool

        func begin(_ stream: StreamID) -> Cursor? {
            isKnown ? nil : Cursor(stream: stream, position: .number(mark, index: index))
        }
    }

    /// From where steward has been, unless that is so long ago that only the newest state is worth having.
    private static func start(at position: Position?, last: Int64) -> Start {
        guard case .number(let mark, let index)? = position else {
            return Start(mark: last, index: nil, isKnown: false)
        }
        return Start(mark: last - mark > 1000 ? last : mark, index: index, isKnown: true)
    }

    /// The index of the last message that was there at event `mark`; -1 when there was none.
    private static func newestIndex(in page: JSON, upTo mark: Int64) -> Int64 {
        let items = page["items"]?.array ?? []
        for item in items {
            guard let index = item["index"]?.int else { continue }
            if item["last_event_id"]?.int ?? mark <= mark { return index }
        }
        return (items.compactMap { $0["index"]?.int }.min() ?? 0) - 1
    }

    // MARK: The configured channels

    /// Finds each configured channel, creates it when it is missing, and joins it.
    private func joinConfigured(on connection: TwilsockConnection, _ inbox: any Inbox) async throws {
        for name in settings.joins where reader.book?.channel(named: name) == nil {
            do {
                let listing = try await findOrCreate(name, on: connection)
                try await join(listing.sid, on: connection)
                try await open([listing], on: connection, inbox)
            } catch let failure as RequestFailure where !failure.isOfConnection {
                log.error("channel \"\(name)\" cannot be joined: \(failure.reason)")
            }
        }
    }

    func find(_ name: String, on connection: TwilsockConnection) async throws(RequestFailure)
        -> ChannelListing?
    {
        guard let configuration else { throw .notConnected("not connected") }
        let url = "\(configuration.conversations)/\(name.percentEncoded)"
        return try await fetchIfThere(url, on: connection).flatMap { ChannelListing($0.json) }
    }

    private func findOrCreate(
        _ name: String, on connection: TwilsockConnection
    ) async throws(RequestFailure) -> ChannelListing {
        if let found = try await find(name, on: connection) { return found }
        return try await create(
            uniqueName: name, title: name, attributes: nil, isPublic: true, on: connection)
    }

    /// Creates a channel; one of that unique name that is there already is as good.
    func create(
        uniqueName: String?, title: String, attributes: String?, isPublic: Bool,
        on connection: TwilsockConnection
    ) async throws(RequestFailure) -> ChannelListing {
        guard let configuration else { throw .notConnected("not connected") }
        var body: JSONObject = JSONObject()
        body["friendly_name"] = .string(title)
        if let uniqueName { body["unique_name"] = .string(uniqueName) }
        body["attributes"] = .string(attributes ?? "{}")
        // Conversations have no types: whoever is not in one does not see it. The built-in server shows them on a page.
        if settings.isChat || (!isPublic && settings.hasOwnEndpoint) {
            body["type"] = isPublic ? "public" : "private"
        }
        let answer = try await change(.post(configuration.conversations, .object(body)), on: connection)
        if answer.isFine, let listing = ChannelListing(answer.json) { return listing }
        if answer.status == 409 || answer.code == 50353, let uniqueName,
            let found = try await find(uniqueName, on: connection)
        {
            return found
        }
        throw .answered(answer)
    }

    /// Joins; to be there already is as good.
    func join(_ sid: String, on connection: TwilsockConnection) async throws(RequestFailure) {
        guard let configuration else { throw .notConnected("not connected") }
        try await addParticipant(configuration.identity, to: sid, on: connection)
    }

    func accept(_ sid: String, on connection: TwilsockConnection) async throws {
        do {
            try await join(sid, on: connection)
        } catch {
            guard !error.isOfConnection else { throw error }
            log.error("the invitation to \(sid) cannot be accepted: \(error.reason)")
        }
    }

    func addParticipant(
        _ identity: String, to sid: String, on connection: TwilsockConnection
    ) async throws(RequestFailure) {
        let answer = try await change(
            .post("\(link(to: sid))/Participants", ["identity": .string(identity)]), on: connection)
        guard answer.isFine || answer.status == 409 || answer.code == 50433 || answer.code == 50404 else {
            throw .answered(answer)
        }
    }

    func link(to sid: String) -> String {
        "\(configuration?.conversations ?? "")/\(sid.percentEncoded)"
    }
}
