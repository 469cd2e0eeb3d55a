internal import Chat
internal import JSON

extension SyncBook {
    mutating func apply(_ change: SyncChange, id: Int64, to object: Int) {
        switch change {
        case .messageAdded(let item):
            addMessage(item, mark: id, object: object)
        case .messageEdited(let item):
            emit(
                .messageEdited(item.message), id: eventID(id, of: object), at: item.at, object: object,
                mark: id)
        case .messageDeleted(let item):
            emit(
                .messageDeleted(item.message), id: eventID(id, of: object), at: item.at, object: object,
                mark: id)
        case .memberAdded(let entry, let at):
            guard let channel = objects[object].role.channel else { return }
            var entry = entry
            if entry.version > channels[channel].roster[entry.key]?.version ?? -1 {
                entry = enter(entry, into: channel)
            }
            wonder(about: entry.member.user)
            emit(.memberJoined(entry.member), id: eventID(id, of: object), at: at, object: object, mark: id)
        case .memberUpdated(let entry, let at):
            guard let channel = objects[object].role.channel else { return }
            let before = channels[channel].roster[entry.key]
            var entry = entry
            if entry.version > before?.version ?? -1 { entry = enter(entry, into: channel) }
            guard let kind = kind(of: entry, after: before, at: at) else { return }
            emit(kind, id: eventID(id, of: object), at: at, object: object, mark: id)
        case .memberRemoved(let entry, let at):
            guard let channel = objects[object].role.channel else { return }
            var entry = entry
            entry.member.name = profiles.names[entry.member.user.text] ?? entry.member.name
            if entry.version > channels[channel].roster[entry.key]?.version ?? -1 {
                channels[channel].remove(entry.key)
            }
            emit(.memberLeft(entry.member), id: eventID(id, of: object), at: at, object: object, mark: id)
        case .document(let document, let at):
            updateDocument(document, version: id, at: at, object: object, id: eventID(id, of: object))
        case .standing(let channel, let standing, let isNew, let at):
            switch standing {
            // Updated with each message that we have read, too.
            case .joined:
                guard isNew || self.channel(channel) == nil else { return }
                news.append(.joined(channel, event: id, at: at))
            case .invited: news.append(.invited(channel))
            case .notParticipating, nil: news.append(.left(channel, event: id, at: at))
            }
        case .called(let identity, let name): call(identity, name)
        case .nothing: break
        }
    }

    /// The same for all accounts of a realm.
    private func eventID(_ id: Int64, of object: Int) -> String { "\(objects[object].sid)/\(id)" }

    /// A message counts once, by its index, however often and in whatever way it is told.
    private mutating func addMessage(_ item: ListedMessage, mark: Int64, object: Int) {
        guard case .messages(let channel) = objects[object].role, item.index > objects[object].index ?? -1
        else { return }
        objects[object].index = item.index
        if !typing.isEmpty { endTyping(of: item.message.author.user, in: channel, at: item.at) }
        guard !channels[channel].isMissed(item.at) else { return }
        if !profiles.unread.isEmpty { wonder(about: item.message.author.user) }
        add(
            .messageAdded(item.message), id: item.message.id, channel: channel, at: item.at, object: object,
            mark: mark)
    }

    /// The same for a message that is just being read.
    mutating func addMessage(
        _ data: JSONNode, index: Int64, to channel: Int, mark: Int64, object: Int, at now: Timestamp
    ) {
        guard index > objects[object].index ?? -1 else { return }
        let fields = MessageFields(data)
        let at = reading.sent(fields) ?? now
        let author = author(fields.author, in: channel)
        objects[object].index = index
        if !typing.isEmpty { endTyping(of: author.user, in: channel, at: at) }
        guard !channels[channel].isMissed(at, now: now) else { return }
        if !profiles.unread.isEmpty { wonder(about: author.user) }
        let message = reading.message(fields, index: index, by: author)
        let id = message.id
        add(.messageAdded(message), id: id, channel: channel, at: at, object: object, mark: mark)
    }

    /// Who wrote it, as the roster has them.
    func author(_ node: JSONNode?, in channel: Int) -> Member {
        guard let name = node?.utf8 else { return Member(user: realm.user("system")) }
        return channels[channel].member(name) ?? reading.stranger(String(decoding: name, as: UTF8.self))
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
            let after = channels[channel].channel
            isChange =
                before.title != after.title || before.uniqueName != after.uniqueName
                || before.attributes != after.attributes
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
            // The number stays where it is: what else happened up to there is not known yet.
            let mark = objects[object].order.mark
            addMessage(data, index: index, to: channel, mark: mark, object: object, at: now)
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
            let before = left.removeValue(forKey: key)
            let entry = enter(
                reading.entry(data, key: key, version: item["last_event_id"]?.int ?? mark), into: channel)
            let id = "\(sid)/\(entry.version)"
            if before == nil {
                told.insert(key)
                emit(
                    .memberJoined(entry.member), id: id, at: entry.member.joinedAt ?? now, object: object,
                    mark: mark)
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

extension Duration {
    fileprivate var magnitude: Duration { self < .zero ? .zero - self : self }
}
