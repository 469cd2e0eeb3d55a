package import Chat
internal import JSON

/// All Sync objects that an account reads, and the channels they make up: Sync events in, chat events out, each once and
/// in the order of its object. A value, so that the same bytes give the same events anywhere.
package struct SyncBook: EventBook {
    package let account: String
    package let realm: Realm
    package let own: UserID
    let reading: SyncReading

    var channels: [ChannelState] = []
    private(set) var channelPlaces: [String: Int] = [:]
    var objects: [SyncObject] = []
    private(set) var objectPlaces = FingerprintTable<Int>()

    var profiles = Profiles()
    /// When what is being read came.
    var now = Timestamp(milliseconds: 0)

    /// Events since the last `take`.
    private var events: [ChatEvent] = []
    private var reached: [Reached] = []
    var news: [News] = []
    var typing: [Typing] = []
    /// When something last came that was asked for by subscribing.
    var lastReplay = Timestamp(milliseconds: 0)

    /// How far the objects of a batch of events were read.
    struct Reached {
        var object: Int
        var mark: Int64
        var index: Int64?
    }

    /// What has to be seen to, because it takes requests.
    enum News: Sendable, Equatable {
        case joined(String, event: Int64, at: Timestamp)
        case invited(String)
        case left(String, event: Int64, at: Timestamp)
        /// The replay of this object has a gap.
        case gap(Int)
        /// This object cannot be subscribed: 404 when it is no more.
        case failed(Int, status: Int)
        /// The name of this identity is wanted, which this map has.
        case nameless(String, map: String)
        /// This object has to be subscribed again at once.
        case interrupted(Int)
        case settled
    }

    struct Typing {
        var channel: Int
        var member: Member
        var until: Timestamp
    }

    package init(
        account: String, realm: Realm, own: UserID, roles: [String: String] = [:], bots: [String] = []
    ) {
        self.account = account
        self.realm = realm
        self.own = own
        reading = SyncReading(realm: realm, roles: roles, bots: BotNames(bots))
    }

    // MARK: Channels and objects

    func channel(_ sid: String) -> ChannelState? { channelPlaces[sid].map { channels[$0] } }

    func place(of channel: String) -> Int? { channelPlaces[channel] }

    /// The channel by its SID or unique name.
    func channel(named name: String) -> ChannelState? {
        channel(name)
            ?? channelPlaces.values.lazy.map { channels[$0] }.first { $0.channel.uniqueName == name }
    }

    /// Those we are in.
    var openChannels: [ChannelState] { channelPlaces.values.map { channels[$0] } }

    /// Begins with a channel; its objects are added next.
    mutating func open(_ channel: Channel) -> Int {
        close(channel.id.text)
        channels.append(ChannelState(channel: channel, own: own))
        channelPlaces[channel.id.text] = channels.count - 1
        return channels.count - 1
    }

    /// No more events of this channel.
    mutating func close(_ sid: String) {
        guard let place = channelPlaces.removeValue(forKey: sid) else { return }
        for object in channels[place].streams {
            objects[object].order.end()
            objectPlaces[Fingerprint(objects[object].sid)] = nil
        }
        // Its place stays, so that others keep theirs; what was in it goes.
        channels[place] = ChannelState(channel: channels[place].channel, own: own)
        typing.removeAll { $0.channel == place }
    }

    /// Reads an object from `mark` on; `index` is that of the last message that counts as read.
    mutating func read(
        _ sid: String, as role: SyncObject.Role, items: String? = nil, from mark: Int64, index: Int64? = nil
    ) -> Int {
        objects.append(
            SyncObject(
                sid: sid, stream: realm.stream(sid), role: role, items: items, mark: mark, index: index))
        let place = objects.count - 1
        objectPlaces[Fingerprint(sid)] = place
        if let channel = role.channel { channels[channel].streams.append(place) }
        return place
    }

    /// Members as the roster has them now. They are state: nobody has joined.
    mutating func fill(_ channel: Int, roster items: [JSONNode]) {
        for item in items {
            guard let key = item["key"]?.string, let data = item["data"] else { continue }
            enter(
                reading.entry(data, key: key, version: item["last_event_id"]?.int ?? Int64.max), into: channel
            )
        }
    }

    /// The document as it is now.
    mutating func fill(_ channel: Int, document data: JSONNode, version: Int64) {
        describe(channel, as: reading.document(data))
        channels[channel].documentVersion = version
    }

    mutating func describe(_ channel: Int, as document: ChannelDocument) {
        let before = channels[channel].channel
        channels[channel].describe(
            as: Channel(
                id: before.id, uniqueName: document.uniqueName, title: document.title,
                memberCount: before.memberCount, isDirect: DirectChannel.isName(document.uniqueName),
                attributes: document.attributes))
    }

    // MARK: Subscriptions

    /// After a new connection: everything has to be subscribed again.
    mutating func wantAll() {
        for place in objects.indices { objects[place].order.want() }
    }

    mutating func want(_ object: Int) {
        objects[object].order.want()
    }

    mutating func establish(_ object: Int, correlation: Int64) {
        objects[object].order.establish(correlation: correlation)
    }

    var wanted: [Int] { objects.indices.filter { objects[$0].order.phase == .wanted } }

    /// True when nothing is on its way: every object is live.
    var isSettled: Bool {
        objects.allSatisfy { $0.order.phase == .live || $0.order.phase == .gone }
    }

    /// Objects with an early event that waited too long are wanted again.
    mutating func wantOverdue(at now: Timestamp, after wait: Duration) -> Bool {
        var found = false
        for place in objects.indices where objects[place].order.isOverdue(at: now, after: wait) {
            objects[place].order.want()
            found = true
        }
        return found
    }

    func isRereading(_ object: Int) -> Bool {
        if case .rereading = objects[object].order.phase { true } else { false }
    }

    /// Objects whose subscription with this number has not been confirmed.
    func unconfirmed(_ correlation: Int64) -> [Int] {
        objects.indices.filter { objects[$0].order.phase == .establishing(correlation) }
    }

    /// Objects that steward did not take.
    var behind: [Int] { objects.indices.filter { objects[$0].order.phase == .behind } }

    mutating func end(_ object: Int) {
        objects[object].order.end()
    }

    /// Where the messages of a channel are listed.
    func messages(of channel: String) -> String? {
        guard let place = channelPlaces[channel] else { return nil }
        return channels[place].streams.lazy.map { objects[$0] }.first { $0.role == .messages(place) }?.items
    }

    /// The object that says which channels are ours.
    var standings: Int? { objects.firstIndex { $0.role == .standings } }

    // MARK: What comes out

    static let stream = "stream"

    struct Batch: EventBatch {
        var events: [ChatEvent]
        var reached: [Reached]
    }

    /// The events since the last time, in order.
    mutating func take() -> Batch? {
        guard !events.isEmpty, profiles.awaited.isEmpty else { return nil }
        let batch = Batch(events: events, reached: reached)
        // New arrays: what is handed over must not be copied when more comes, probably as much again.
        events = []
        events.reserveCapacity(min(batch.events.count, 256))
        reached = []
        return batch
    }

    var eventCount: Int { events.count }

    /// Events that wait are about somebody with another name.
    mutating func rename(_ user: UserID, _ name: String) {
        for place in events.indices { events[place].kind = events[place].kind.calling(user, name) }
    }

    mutating func takeNews() -> [News] {
        defer { news = [] }
        return news
    }

    var hasNews: Bool { !news.isEmpty }

    /// Steward took these.
    mutating func commit(_ batch: Batch) {
        for reached in batch.reached {
            objects[reached.object].taken = reached.mark
            objects[reached.object].takenIndex = reached.index
        }
    }

    /// Steward took none of these, nor what came after; they are read again from where it stands. Gives the objects.
    mutating func fallBehind(_ batch: Batch) -> Set<Int> {
        var fallen: Set<Int> = []
        for reached in batch.reached + reached where fallen.insert(reached.object).inserted {
            objects[reached.object].order.fallBehind(to: objects[reached.object].taken)
            objects[reached.object].index = objects[reached.object].takenIndex
        }
        events = []
        reached = []
        return fallen
    }

    /// Adds an event that came otherwise.
    mutating func add(
        _ kind: consuming ChatEvent.Kind, id: String, channel: Int, at: Timestamp, object: Int? = nil,
        mark: Int64 = 0
    ) {
        var cursor: Cursor?
        if let object { cursor = reach(object, mark: mark) }
        events.append(
            ChatEvent(
                id: id, account: account, realm: realm, channel: channels[channel].channel, sentAt: at,
                kind: kind,
                cursor: cursor))
    }

    private mutating func reach(_ object: Int, mark: Int64) -> Cursor {
        let index = objects[object].index
        if let last = reached.indices.last, reached[last].object == object {
            reached[last].mark = mark
            reached[last].index = index
        } else {
            reached.append(Reached(object: object, mark: mark, index: index))
        }
        return Cursor(stream: objects[object].stream, position: .number(mark, index: index))
    }
}

// MARK: For measuring

extension SyncBook {
    /// Follows a channel whose parts are known already, as if it had been opened and subscribed.
    package mutating func follow(
        _ channel: Channel, messages list: String, roster: String, members: [Member], from mark: Int64
    ) {
        let place = open(channel)
        channels[place].describe(as: channel)
        for (number, member) in members.enumerated() {
            channels[place].set(
                RosterEntry(
                    key: "MB\(number)", member: member, roleSID: nil, horizon: nil,
                    horizonMoved: nil, version: mark))
        }
        for object in [
            read(list, as: .messages(place), from: mark, index: mark - 1),
            read(roster, as: .roster(place), from: mark),
        ] {
            objects[object].order.establish(correlation: 0)
            _ = objects[object].order.settle(upTo: mark, at: Timestamp(milliseconds: 0))
        }
    }

    /// The events since the last time, in order.
    package mutating func takeEvents() -> [ChatEvent] { take()?.events ?? [] }
}
