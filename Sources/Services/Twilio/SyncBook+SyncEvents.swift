internal import Chat
internal import JSON

extension SyncBook {
    private static let keys = JSONKeys("event_type", "correlation_id", "events", "event")

    /// Reads the payload of a Sync notification.
    mutating func read(_ payload: JSONNode, at now: Timestamp) {
        let fields = payload.fields(Self.keys)
        guard let type = SyncEventType(fields[0]) else { return }
        self.now = now
        let correlation = fields[1]?.int
        if correlation != nil { lastReplay = now }
        if let events = fields[2] {
            for event in events.elements { read(event, type, correlation, at: now) }
        } else if let event = fields[3] {
            read(event, type, correlation, at: now)
        }
    }

    private static let eventKeys = JSONKeys("id", "list_sid", "item_index", "item_data")

    private mutating func read(
        _ event: JSONNode, _ type: SyncEventType, _ correlation: Int64?, at now: Timestamp
    ) {
        let fields = event.fields(Self.eventKeys)
        let sid = (type.isOfList ? fields[1] : event[type.sidName]) ?? event["object_sid"]
        guard let name = sid?.utf8, let place = objectPlaces[Fingerprint(name)] else { return }
        guard type.isData, let id = fields[0]?.int else {
            return conclude(event, type, correlation, object: place, at: now)
        }
        switch objects[place].order.verdict(on: id) {
        case .next:
            objects[place].order.advance()
            if case .messages(let channel) = objects[place].role, type == .listItemAdded {
                // Nearly all events are this one, so it takes the shortest way.
                guard let data = fields[3], let index = fields[2]?.int else { return }
                addMessage(data, index: index, to: channel, mark: id, object: place, at: now)
            } else {
                apply(change(event, type, id: id, for: objects[place].role, at: now), id: id, to: place)
            }
            while let (id, change) = objects[place].order.next() { apply(change, id: id, to: place) }
        case .early:
            let change = change(event, type, id: id, for: objects[place].role, at: now)
            objects[place].order.hold(id, change, at: now)
        case .unwanted: break
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
                case .document, .standings, .profile: skipGap(object, at: now)
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
            apply(change, id: id, to: object)
        }
        while let (id, change) = objects[object].order.next() { apply(change, id: id, to: object) }
        if isSettled { news.append(.settled) }
    }

    private func change(
        _ event: JSONNode, _ type: SyncEventType, id: Int64, for role: SyncObject.Role, at now: Timestamp
    ) -> SyncChange {
        switch (role, type) {
        case (.messages(let channel), .listItemAdded), (.messages(let channel), .listItemUpdated),
            (.messages(let channel), .listItemRemoved):
            guard let data = event["item_data"], let index = event["item_index"]?.int else { return .nothing }
            let fields = MessageFields(data)
            let message = reading.message(fields, index: index, by: author(fields.author, in: channel))
            // What is done to a message later has a time of its own.
            let at = (type == .listItemAdded ? reading.sent(fields) : date(of: event)) ?? now
            let item = ListedMessage(message: message, index: index, at: at)
            return switch type {
            case .listItemAdded: .messageAdded(item)
            case .listItemUpdated: .messageEdited(item)
            default: .messageDeleted(item)
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
        case (.profile(let number), .mapItemAdded), (.profile(let number), .mapItemUpdated):
            guard event["item_key"]?.equals("friendlyName") == true else { return .nothing }
            let name = event["item_data"]?["value"]?.string
            return .called(profiles.followed[number], name?.isEmpty == true ? nil : name)
        default:
            return .nothing
        }
    }

    private func date(of event: JSONNode) -> Timestamp? {
        event["date_created"]?.utf8.flatMap { Timestamp(iso8601: $0) }
    }
}
