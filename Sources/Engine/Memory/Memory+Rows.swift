package import Chat

/// What steward notes of a user by itself.
struct MemberFactsRow {
    private var firstSeen: Timestamp?
    private var lastSeen: Timestamp?
    private var messages: Int64 = 0
    /// When they joined, by the channel's id.
    private var joined: [(channel: String, at: Timestamp)] = []

    init() {}

    init(_ facts: MemberFacts) {
        firstSeen = facts.firstSeen
        lastSeen = facts.lastSeen
        messages = facts.messages
    }

    /// As they are before the event, in its channel.
    func facts(in event: ChatEvent) -> MemberFacts {
        facts(in: joined.isEmpty ? nil : event.channel?.id)
    }

    func facts(in channel: ChannelID?) -> MemberFacts {
        let joined = channel.flatMap { id in self.joined.first { $0.channel == id.text }?.at }
        return MemberFacts(firstSeen: firstSeen, lastSeen: lastSeen, joined: joined, messages: messages)
    }

    mutating func note(_ event: ChatEvent) {
        let at = event.sentAt
        firstSeen = min(firstSeen ?? at, at)
        lastSeen = max(lastSeen ?? at, at)
        switch event.digest.name {
        case .messageAdded: messages += 1
        case .memberJoined:
            leave(event.channel)
            if let channel = event.channel { joined.append((channel.id.text, at)) }
        case .memberLeft: leave(event.channel)
        default: break
        }
    }

    private mutating func leave(_ channel: Channel?) {
        joined.removeAll { $0.channel == channel?.id.text }
    }

    init?(_ body: [UInt8]) {
        var reader = RowReader(body)
        guard let firstSeen = reader.time(), let lastSeen = reader.time(), let messages = reader.number(),
            let count = reader.count()
        else { return nil }
        self.firstSeen = firstSeen
        self.lastSeen = lastSeen
        self.messages = messages
        for _ in 0..<count {
            guard let channel = reader.text(), let at = reader.number() else { return nil }
            joined.append((channel, Timestamp(milliseconds: at)))
        }
    }

    var body: [UInt8] {
        var writer = RowWriter()
        writer.reserve(24 + joined.count * 48)
        writer.time(firstSeen)
        writer.time(lastSeen)
        writer.number(messages)
        writer.count(joined.count)
        for (channel, at) in joined {
            writer.text(channel)
            writer.number(at.milliseconds)
        }
        return writer.bytes
    }
}

extension StoredRow {
    /// What steward would have noted of a user, but not when they joined which channel.
    package static func facts(_ facts: MemberFacts, of user: UserID) -> StoredRow {
        StoredRow(
            key: RowKey(.memory, MemorySubject.user(user).rowKey), body: MemberFactsRow(facts).body)
    }
}

/// What one rule or plugin remembers about one subject.
struct OwnerRow {
    struct Entry {
        var name: String
        var value: MemoryValue
        /// Forgotten from then on; nil for never.
        var until: Timestamp?
    }

    let owner: String
    var entries: [Entry] = []
    var isChanged = false

    init(owner: String) {
        self.owner = owner
    }

    mutating func apply(_ change: MemoryChange, at now: Timestamp) {
        isChanged = true
        let name = change.key.name
        let index = entries.firstIndex { $0.name == name }
        let old = index.flatMap { index in
            entries[index].until.map { $0 <= now } == true ? nil : entries[index].value
        }
        let new: Entry?
        switch change {
        case .claim(_, let at, let most, let keep):
            var times: [Timestamp] = []
            if case .times(let known)? = old { times = known }
            times.append(at)
            if times.count > max(1, most) { times.removeFirst(times.count - max(1, most)) }
            new = Entry(name: name, value: .times(times), until: keep.map { at + $0 })
        case .add(_, let number, let keep):
            var sum = number
            if case .number(let known)? = old {
                let (total, overflow) = known.addingReportingOverflow(number)
                sum = overflow ? known : total
            }
            new = Entry(name: name, value: .number(sum), until: keep.map { now + $0 })
        case .set(_, let value, let keep):
            new = Entry(name: name, value: value, until: keep.map { now + $0 })
        case .forget:
            new = nil
        }
        switch (index, new) {
        case (let index?, let new?): entries[index] = new
        case (let index?, nil): entries.remove(at: index)
        case (nil, let new?): entries.append(new)
        case (nil, nil): break
        }
    }

    /// Leaves out what is forgotten by then.
    mutating func forget(at now: Timestamp) {
        entries.removeAll { $0.until.map { $0 <= now } == true }
    }

    init?(_ body: [UInt8], owner: String) {
        self.owner = owner
        var reader = RowReader(body)
        guard let count = reader.count() else { return nil }
        for _ in 0..<count {
            guard let name = reader.text(), let until = reader.time(), let value = MemoryValue(&reader) else {
                return nil
            }
            entries.append(Entry(name: name, value: value, until: until))
        }
    }

    var body: [UInt8] {
        var writer = RowWriter()
        writer.count(entries.count)
        for entry in entries {
            writer.text(entry.name)
            writer.time(entry.until)
            entry.value.write(to: &writer)
        }
        return writer.bytes
    }
}

extension OwnerRow {
    /// What becomes of a stored row by then; nil when that is nothing else.
    static func change(forgettingIn row: StoredRow, at now: Timestamp) -> RowChange? {
        // One that cannot be read is left alone.
        guard var owner = OwnerRow(row.body, owner: row.key.part) else { return nil }
        let count = owner.entries.count
        owner.forget(at: now)
        guard owner.entries.count < count else { return nil }
        return RowChange(row.key, owner.entries.isEmpty ? nil : owner.body)
    }
}

extension MemoryValue {
    fileprivate init?(_ reader: inout RowReader) {
        switch reader.number() {
        case 1:
            guard let number = reader.number() else { return nil }
            self = .number(number)
        case 2:
            guard let text = reader.text() else { return nil }
            self = .text(text)
        case 3:
            guard let count = reader.count() else { return nil }
            var times: [Timestamp] = []
            for _ in 0..<count {
                guard let time = reader.number() else { return nil }
                times.append(Timestamp(milliseconds: time))
            }
            self = .times(times)
        default: return nil
        }
    }

    fileprivate func write(to writer: inout RowWriter) {
        switch self {
        case .number(let number):
            writer.number(1)
            writer.number(number)
        case .text(let text):
            writer.number(2)
            writer.text(text)
        case .times(let times):
            writer.number(3)
            writer.count(times.count)
            for time in times { writer.number(time.milliseconds) }
        }
    }
}
