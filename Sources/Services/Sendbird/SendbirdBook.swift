internal import Chat
internal import JSON

/// The channels that an account is in: commands and answers of Sendbird in, chat events out, each once. A value, so that
/// the same bytes give the same events anywhere.
struct SendbirdBook: EventBook {
    let account: String
    let realm: Realm
    let own: UserID
    let reading: SendbirdReading
    /// A typist is forgotten so long after the last sign.
    var typingTime = Duration.seconds(10)

    var rooms: [String: SendbirdRoom] = [:]
    /// Commands about channels that are not known yet.
    var strange: [String: [StrangeFrame]] = [:]
    var news: [News] = []
    var typing: [Who: (member: Member, until: Timestamp)] = [:]
    var mutes: [Who: (member: Member, until: Timestamp)] = [:]
    /// Who was banned lately: that they left is not told beside.
    var banned: [Who: Timestamp] = [:]
    /// Messages that we have not read, everywhere, and as of when.
    var unread: (count: Int64, at: Int64)?
    /// When what is being read came.
    var now = Timestamp(milliseconds: 0)

    private var events: [ChatEvent] = []
    private var origins: [Origin] = []

    struct Who: Hashable {
        var channel: String
        var user: String
    }

    struct StrangeFrame {
        var letters: String
        var body: [UInt8]
        var id: Int64?
        var at: Int64
    }

    /// What has to be seen to, because it takes requests.
    enum News: Equatable {
        /// A channel that is not known; its frames wait.
        case strange(String, SendbirdRoom.Kind?)
        case invited(String)
        /// It is described otherwise now.
        case changed(String, at: Timestamp)
        case left(String)
        /// A message is missing.
        case gap(String)
    }

    /// Where an event came from: what has to be undone when steward does not take it.
    fileprivate struct Origin {
        var channel: String
        var happening: SendbirdHappening
    }

    static let stream = "channel"

    struct Batch: EventBatch {
        var events: [ChatEvent]
        fileprivate var origins: [Origin]
        var count: Int { events.count }
    }

    static let mostHeld = 5000
    private static let mostStrange = 1000

    init(account: String, realm: Realm, own: UserID, bots: [String] = []) {
        self.account = account
        self.realm = realm
        self.own = own
        reading = SendbirdReading(realm: realm, bots: BotNames(bots))
    }

    // MARK: What happened

    /// Something came through the socket. Where something may be missing it waits until that is read.
    mutating func happen(_ happening: SendbirdHappening, in url: String) {
        guard let phase = rooms[url]?.phase else { return }
        switch (phase, happening.order) {
        case (.live, _): tell(happening, in: url)
        case (_, .passing): break
        // Read again with all the others.
        case (.behind, .message), (.behind, .change): break
        default:
            if (rooms[url]?.held.count ?? 0) < Self.mostHeld {
                rooms[url]?.held.append(happening)
            } else {
                rooms[url]?.hasDropped = true
            }
        }
    }

    /// All that was missing has been read: what waited is told. False when more is missing now.
    mutating func settle(_ url: String) -> Bool {
        guard let held = rooms[url]?.held else { return true }
        rooms[url]?.held = []
        for happening in held { tell(happening, in: url) }
        guard rooms[url]?.hasDropped != true else {
            rooms[url]?.hasDropped = false
            rooms[url]?.phase = .wanting
            return false
        }
        if rooms[url]?.phase == .filling { rooms[url]?.phase = .live }
        return true
    }

    /// Tells it, once.
    mutating func tell(_ happening: SendbirdHappening, in url: String) {
        guard let room = rooms[url] else { return }
        var cursor: Cursor?
        switch happening.order {
        case .message(let seen):
            guard !room.recent.contains(seen.id) else { return }
            let at = seen.at.milliseconds
            if seen.id > room.mark.id {
                let mark = SendbirdRoom.Mark(id: seen.id, at: max(at, room.mark.at))
                rooms[url]?.mark = mark
                cursor = Cursor(stream: room.messages, position: .number(mark.at, index: mark.id))
            } else if !room.mayBeLate(seen) {
                return
            }
            rooms[url]?.recent.insert(seen)
        case .change(let id, let at, let isDeletion):
            if isDeletion {
                guard rooms[url]?.recent.delete(id) == true else { return }
            } else if let known = room.recent[id], known.changedAt >= at {
                return
            }
            if case .messageEdited(let message) = happening.kind, var known = room.recent[id] {
                known.message = message
                known.changedAt = at
                rooms[url]?.recent.update(known)
            }
            if at > room.changed {
                rooms[url]?.changed = at
                cursor = Cursor(stream: room.changes, position: .number(at, index: nil))
            }
        case .lasting, .passing: break
        }
        var event = ChatEvent(
            id: happening.id, account: account, realm: realm, channel: room.channel, sentAt: happening.at,
            kind: happening.kind, cursor: cursor)
        if let by = happening.by, by != event.member?.user { event.by = by }
        events.append(event)
        origins.append(Origin(channel: url, happening: happening))
    }

    /// Keeps a command about a channel that is not known yet.
    mutating func hold(_ letters: String, _ body: ArraySlice<UInt8>, _ node: JSONNode, in url: String) {
        let kind = node["channel_type"]?.string.flatMap { SendbirdRoom.Kind(rawValue: $0) }
        if strange[url] == nil { news.append(.strange(url, kind)) }
        guard strange[url, default: []].count < Self.mostStrange else { return }
        strange[url, default: []].append(
            StrangeFrame(
                letters: letters, body: Array(body), id: node["msg_id"]?.number,
                at: node["ts"]?.number ?? now.milliseconds))
    }

    /// A channel is to be fetched though nothing has come of it yet.
    mutating func want(_ url: String, _ kind: SendbirdRoom.Kind) { news.append(.strange(url, kind)) }

    // MARK: What comes out

    /// The events since the last time, in order.
    mutating func take() -> Batch? {
        guard !events.isEmpty else { return nil }
        defer {
            events = []
            origins = []
        }
        return Batch(events: events, origins: origins)
    }

    mutating func takeNews() -> [News] {
        defer { news = [] }
        return news
    }

    /// Steward took these.
    mutating func commit(_ batch: Batch) {
        for (event, origin) in zip(batch.events, batch.origins) {
            guard case .number(let position, let index)? = event.cursor?.position else { continue }
            if let index {
                rooms[origin.channel]?.taken = SendbirdRoom.Mark(id: index, at: position)
            } else {
                rooms[origin.channel]?.changedTaken = position
            }
        }
    }

    /// Steward took none of these, nor what came after. What can be read again is, from where steward stands; the rest is
    /// kept, but for what is stale in a moment. Gives the channels.
    mutating func fallBehind(_ batch: Batch) -> Set<String> {
        let all = batch.origins + origins
        events = []
        origins = []
        var kept: [String: [SendbirdHappening]] = [:]
        var fallen: Set<String> = []
        for origin in all {
            fallen.insert(origin.channel)
            switch origin.happening.order {
            case .message(let seen): rooms[origin.channel]?.recent.forget(seen.id)
            case .change(let id, _, let isDeletion):
                if isDeletion {
                    rooms[origin.channel]?.recent.forgetDeletion(id)
                } else {
                    rooms[origin.channel]?.recent.forgetEdit(id)
                }
            case .lasting: kept[origin.channel, default: []].append(origin.happening)
            case .passing: break
            }
        }
        for url in fallen {
            guard let room = rooms[url] else { continue }
            let held = kept[url, default: []] + room.held.filter(\.isLasting)
            rooms[url]?.held = Array(held.suffix(Self.mostHeld))
            rooms[url]?.mark = room.taken
            rooms[url]?.changed = room.changedTaken
            rooms[url]?.phase = .behind
        }
        return fallen
    }

    // MARK: What time brings

    /// Typists of whom nothing more was heard, and mutes that have run out: of neither is there a sign.
    mutating func endTimes(at now: Timestamp) {
        for (who, entry) in typing where entry.until <= now {
            typing[who] = nil
            happen(
                SendbirdHappening(
                    kind: .typingEnded(entry.member), id: "typed-\(now.milliseconds)-\(who.user)", at: now,
                    order: .passing), in: who.channel)
        }
        for (who, entry) in mutes where entry.until <= now {
            mutes[who] = nil
            happen(
                SendbirdHappening(
                    kind: .memberUpdated(entry.member), id: "unmuted-\(entry.until.milliseconds)-\(who.user)",
                    at: now, order: .lasting), in: who.channel)
        }
        for (who, until) in banned where until <= now { banned[who] = nil }
    }

    /// We are in it no more.
    mutating func close(_ url: String) {
        rooms[url] = nil
        strange[url] = nil
        typing = typing.filter { $0.key.channel != url }
        mutes = mutes.filter { $0.key.channel != url }
    }
}

extension SendbirdHappening {
    var isLasting: Bool {
        if case .lasting = order { true } else { false }
    }
}
