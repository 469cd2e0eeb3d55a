package import Chat
internal import JSON

/// All Sync objects that an account reads, and the channels they make up: Sync events in, chat events out, each once and
/// in the order of its object. A value, so that the same bytes give the same events anywhere.
package struct SyncBook {
    package let account: String
    package let realm: Realm
    package let own: UserID
    let reading: SyncReading

    private(set) var channels: [ChannelState] = []
    private var channelPlaces: [String: Int] = [:]
    private(set) var objects: [SyncObject] = []
    private var objectPlaces: [Fingerprint: Int] = [:]

    /// Events since the last `take`.
    private var events: [ChatEvent] = []
    private var reached: [Reached] = []
    private var news: [News] = []
    private var typing: [Typing] = []
    /// When something last came that was asked for by subscribing.
    private(set) var lastReplay = Timestamp(milliseconds: 0)

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
        /// This object has to be subscribed again at once.
        case interrupted(Int)
        case settled
    }

    private struct Typing {
        var channel: Int
        var member: Member
        var until: Timestamp
    }

    package init(account: String, realm: Realm, own: UserID, roles: [String: String] = [:]) {
        self.account = account
        self.realm = realm
        self.own = own
        reading = SyncReading(realm: realm, roles: roles)
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
            channels[channel].set(
                reading.entry(data, key: key, version: item["last_event_id"]?.int ?? Int64.max))
        }
    }

    /// The document as it is now.
    mutating func fill(_ channel: Int, document data: JSONNode, version: Int64) {
        describe(channel, as: reading.document(data))
        channels[channel].documentVersion = version
    }

    private mutating func describe(_ channel: Int, as document: ChannelDocument) {
        channels[channel].channel.title = document.title
        channels[channel].channel.uniqueName = document.uniqueName
        channels[channel].channel.attributes = document.attributes
        channels[channel].channel.isDirect = DirectChannel.isName(document.uniqueName)
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

    struct Batch {
        var events: [ChatEvent]
        var reached: [Reached]
    }

    /// The events since the last time, in order.
    mutating func take() -> Batch? {
        guard !events.isEmpty else { return nil }
        let batch = Batch(events: events, reached: reached)
        // New arrays: what is handed over must not be copied when more comes.
        events = []
        reached = []
        return batch
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
        _ kind: ChatEvent.Kind, id: String, channel: Int, at: Timestamp, object: Int? = nil, mark: Int64 = 0
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

// MARK: Sync events in

extension SyncBook {
    /// Reads the payload of a Sync notification.
    mutating func read(_ payload: JSONNode, at now: Timestamp) {
        guard let type = SyncEventType(payload["event_type"]) else { return }
        let correlation = payload["correlation_id"]?.int
        if correlation != nil { lastReplay = now }
        if let events = payload["events"] {
            for event in events.elements { read(event, type, correlation, at: now) }
        } else if let event = payload["event"] {
            read(event, type, correlation, at: now)
        }
    }

    private mutating func read(
        _ event: JSONNode, _ type: SyncEventType, _ correlation: Int64?, at now: Timestamp
    ) {
        let sid = event[type.sidName] ?? event["object_sid"]
        guard let place = sid?.withUTF8({ objectPlaces[Fingerprint($0)] }) ?? nil else { return }
        guard type.isData, let id = event["id"]?.int else {
            return conclude(event, type, correlation, object: place, at: now)
        }
        guard let change = change(event, type, id: id, for: objects[place].role, at: now) else { return }
        switch objects[place].order.admit(id, at: now, change) {
        case .now:
            apply(change, id: id, to: place, at: now)
            while let (id, change) = objects[place].order.next() { apply(change, id: id, to: place, at: now) }
        case .held, .dropped: break
        }
    }

    /// Events that end something.
    private mutating func conclude(
        _ event: JSONNode, _ type: SyncEventType, _ correlation: Int64?, object: Int, at now: Timestamp
    ) {
        switch type {
        case .established:
            guard case .establishing(let own) = objects[object].order.phase, own == correlation else {
                return
            }
            if event["replay_status"]?.equals("interrupted") == true {
                objects[object].order.want()
                news.append(.interrupted(object))
                return
            }
            let last = event["last_event_id"]?.int ?? objects[object].order.mark
            if objects[object].order.settle(upTo: last, at: now) {
                switch objects[object].role {
                case .messages, .roster: news.append(.gap(object))
                case .document, .standings: skipGap(object, at: now)
                }
            }
            if isSettled { news.append(.settled) }
        case .failed:
            guard case .establishing(let own) = objects[object].order.phase, own == correlation else {
                return
            }
            news.append(.failed(object, status: Int(event["error"]?["status"]?.int ?? 0)))
        case .canceled where correlation == nil:
            objects[object].order.want()
            news.append(.interrupted(object))
        case .objectRemoved:
            if let channel = objects[object].role.channel { channels[channel].isDestroyed = true }
            objects[object].order.end()
        default: break
        }
    }

    /// What a replay lacks has been read otherwise, or need not be.
    ///
    /// What concerns the members in `told` has been told already.
    mutating func skipGap(_ object: Int, told: Set<String> = [], at now: Timestamp) {
        for (id, change) in objects[object].order.skip() {
            if let key = change.memberKey, told.contains(key) { continue }
            apply(change, id: id, to: object, at: now)
        }
        while let (id, change) = objects[object].order.next() { apply(change, id: id, to: object, at: now) }
        if isSettled { news.append(.settled) }
    }

    private func change(
        _ event: JSONNode, _ type: SyncEventType, id: Int64, for role: SyncObject.Role, at now: Timestamp
    ) -> SyncChange? {
        switch (role, type) {
        case (.messages(let channel), .listItemAdded), (.messages(let channel), .listItemUpdated),
            (.messages(let channel), .listItemRemoved):
            guard let data = event["item_data"], let index = event["item_index"]?.int else { return .nothing }
            // The event's own time is needed where the message's is another.
            let at = type == .listItemAdded ? now : date(of: event) ?? now
            var message = reading.message(data, index: index, at: at, in: channels[channel])
            switch type {
            case .listItemAdded: return .messageAdded(message)
            case .listItemUpdated:
                message.at = at
                return .messageEdited(message)
            default:
                message.at = at
                return .messageDeleted(message)
            }
        case (.roster, .mapItemAdded), (.roster, .mapItemUpdated), (.roster, .mapItemRemoved):
            guard let key = event["item_key"]?.string, let data = event["item_data"] else { return .nothing }
            let entry = reading.entry(data, key: key, version: id)
            let at = date(of: event) ?? now
            return switch type {
            case .mapItemAdded: .memberAdded(entry, at)
            case .mapItemUpdated: .memberUpdated(entry, at)
            default: .memberRemoved(entry, at)
            }
        case (.document, .documentUpdated):
            guard let data = event["document_data"] else { return .nothing }
            return .document(reading.document(data), date(of: event) ?? now)
        case (.standings, .mapItemAdded), (.standings, .mapItemUpdated):
            guard let key = event["item_key"]?.string else { return .nothing }
            return .standing(
                channel: key, reading.standing(event["item_data"]), isNew: type == .mapItemAdded,
                date(of: event) ?? now)
        case (.standings, .mapItemRemoved):
            guard let key = event["item_key"]?.string else { return .nothing }
            return .standing(channel: key, nil, isNew: false, date(of: event) ?? now)
        default:
            return .nothing
        }
    }

    private func date(of event: JSONNode) -> Timestamp? {
        event["date_created"]?.withUTF8 { Timestamp(iso8601: $0) } ?? nil
    }
}

// MARK: Chat events out

extension SyncBook {
    private mutating func apply(_ change: SyncChange, id: Int64, to object: Int, at now: Timestamp) {
        let name = { (book: SyncBook) in "\(book.objects[object].sid)/\(id)" }
        switch change {
        case .messageAdded(let item):
            addMessage(item, mark: id, object: object)
        case .messageEdited(let item):
            emit(.messageEdited(item.message), id: name(self), at: item.at, object: object, mark: id)
        case .messageDeleted(let item):
            emit(.messageDeleted(item.message), id: name(self), at: item.at, object: object, mark: id)
        case .memberAdded(let entry, let at):
            guard let channel = objects[object].role.channel else { return }
            if entry.version > channels[channel].roster[entry.key]?.version ?? -1 {
                channels[channel].set(entry)
            }
            emit(.memberJoined(entry.member), id: name(self), at: at, object: object, mark: id)
        case .memberUpdated(let entry, let at):
            guard let channel = objects[object].role.channel else { return }
            let before = channels[channel].roster[entry.key]
            if entry.version > before?.version ?? -1 { channels[channel].set(entry) }
            guard let kind = kind(of: entry, after: before, at: at) else { return }
            emit(kind, id: name(self), at: at, object: object, mark: id)
        case .memberRemoved(let entry, let at):
            guard let channel = objects[object].role.channel else { return }
            if entry.version > channels[channel].roster[entry.key]?.version ?? -1 {
                channels[channel].remove(entry.key)
            }
            emit(.memberLeft(entry.member), id: name(self), at: at, object: object, mark: id)
        case .document(let document, let at):
            updateDocument(document, version: id, at: at, object: object, id: name(self))
        case .standing(let channel, let standing, let isNew, let at):
            switch standing {
            // Updated with each message that we have read, too.
            case .joined:
                guard isNew || self.channel(channel) == nil else { return }
                news.append(.joined(channel, event: id, at: at))
            case .invited: news.append(.invited(channel))
            case .notParticipating, nil: news.append(.left(channel, event: id, at: at))
            }
        case .nothing: break
        }
    }

    /// A message counts once, by its index, however often and in whatever way it is told.
    private mutating func addMessage(_ item: ListedMessage, mark: Int64, object: Int) {
        guard item.index > objects[object].index ?? -1 else { return }
        objects[object].index = item.index
        if let channel = objects[object].role.channel, !typing.isEmpty {
            endTyping(at: item.at) { $0.channel == channel && $0.member.user == item.message.author.user }
        }
        emit(.messageAdded(item.message), id: item.message.id, at: item.at, object: object, mark: mark)
    }

    private mutating func emit(
        _ kind: ChatEvent.Kind, id: String, at: Timestamp, object: Int, mark: Int64
    ) {
        guard let channel = objects[object].role.channel, !channels[channel].isMissed(at) else { return }
        add(kind, id: id, channel: channel, at: at, object: object, mark: mark)
    }

    /// A change of the read horizon touches the roster like any other, and is told apart here.
    private func kind(of entry: RosterEntry, after before: RosterEntry?, at: Timestamp) -> ChatEvent.Kind? {
        if let before, before.version < entry.version {
            if entry.describesOther(than: before) { return .memberUpdated(entry.member) }
            guard entry.horizon != before.horizon else { return nil }
            return .readHorizonMoved(entry.member, to: entry.horizon)
        }
        // What it was before is not known any more: an event as old as the horizon is the horizon's.
        if let moved = entry.horizonMoved, (at - moved).magnitude <= .seconds(1) {
            return .readHorizonMoved(entry.member, to: entry.horizon)
        }
        return .memberUpdated(entry.member)
    }

    private mutating func updateDocument(
        _ document: ChannelDocument, version: Int64, at: Timestamp, object: Int, id: String
    ) {
        guard let channel = objects[object].role.channel else { return }
        let before = channels[channel].channel
        var isChange = false
        if version > channels[channel].documentVersion {
            describe(channel, as: document)
            channels[channel].documentVersion = version
            isChange =
                before.title != document.title || before.uniqueName != document.uniqueName
                || before.attributes != document.attributes
        } else {
            // Read again after a restart: each message changes the document, too.
            isChange = document.lastMessage.map { (at - $0).magnitude > .seconds(1) } ?? true
        }
        guard isChange else { return }
        emit(.channelUpdated, id: id, at: at, object: object, mark: version)
    }

    /// Messages read from the list itself, where a replay had a gap or history is caught up with.
    mutating func add(_ items: [JSONNode], of object: Int, at now: Timestamp) {
        guard case .messages(let channel) = objects[object].role else { return }
        for item in items {
            guard let index = item["index"]?.int, let data = item["data"] else { continue }
            let message = reading.message(data, index: index, at: now, in: channels[channel])
            // The number stays where it is: what else happened up to there is not known yet.
            addMessage(message, mark: objects[object].order.mark, object: object)
        }
    }

    /// The roster read again, where a replay had a gap: what differs has happened meanwhile. Gives whom that concerns.
    mutating func compare(_ items: [JSONNode], with object: Int, at now: Timestamp) -> Set<String> {
        guard case .roster(let channel) = objects[object].role else { return [] }
        var told: Set<String> = []
        let mark = objects[object].order.mark
        let sid = objects[object].sid
        var left = channels[channel].roster
        for item in items {
            guard let key = item["key"]?.string, let data = item["data"] else { continue }
            let entry = reading.entry(data, key: key, version: item["last_event_id"]?.int ?? mark)
            let before = left.removeValue(forKey: key)
            channels[channel].set(entry)
            let id = "\(sid)/\(entry.version)"
            if before == nil {
                told.insert(key)
                emit(
                    .memberJoined(entry.member), id: id, at: entry.created ?? now, object: object, mark: mark)
            } else if let before, entry.describesOther(than: before) {
                told.insert(key)
                emit(.memberUpdated(entry.member), id: id, at: now, object: object, mark: mark)
            }
        }
        for entry in left.values.sorted(by: { $0.key < $1.key }) {
            channels[channel].remove(entry.key)
            told.insert(entry.key)
            let id = "\(sid)/\(entry.key)/left"
            emit(.memberLeft(entry.member), id: id, at: now, object: object, mark: mark)
        }
        return told
    }
}

// MARK: Typing

extension SyncBook {
    /// Reads a typing notification.
    mutating func readTyping(_ payload: JSONNode, at now: Timestamp) {
        guard let sid = payload["channel_sid"]?.string, let channel = channelPlaces[sid],
            let identity = payload["identity"]?.string
        else { return }
        let seconds = min(max(payload["typing_timeout"]?.int ?? 6, 1), 60)
        let known = payload["identity"]?.withUTF8 { channels[channel].member($0) } ?? nil
        let member = known ?? Member(user: realm.user(identity))
        let until = now + .seconds(seconds)
        if let place = typing.firstIndex(where: { $0.channel == channel && $0.member.user == member.user }) {
            typing[place].until = until
            return
        }
        typing.append(Typing(channel: channel, member: member, until: until))
        add(.typingStarted(member), id: "typing/\(identity)/\(now.milliseconds)", channel: channel, at: now)
    }

    /// Who has not typed for a while has stopped.
    mutating func endTyping(at now: Timestamp) {
        endTyping(at: now) { $0.until <= now }
    }

    private mutating func endTyping(at now: Timestamp, where isOver: (Typing) -> Bool) {
        for entry in typing where isOver(entry) {
            add(
                .typingEnded(entry.member), id: "typed/\(entry.member.user)/\(now.milliseconds)",
                channel: entry.channel, at: now)
        }
        typing.removeAll(where: isOver)
    }
}

extension Duration {
    fileprivate var magnitude: Duration { self < .zero ? .zero - self : self }
}
