internal import Chat

/// A channel we are in, as far as it is known.
struct SendbirdRoom {
    enum Kind: String, Sendable {
        case open, group

        /// How paths call it.
        var path: String { self == .open ? "open_channels" : "group_channels" }
    }

    /// Where a message or a change stands in its channel.
    struct Mark: Equatable {
        var id: Int64
        var at: Int64
    }

    enum Phase: Equatable {
        /// What comes is told at once.
        case live
        /// Something may be missing: it waits to be read.
        case wanting
        /// What is missing is being read, and what comes meanwhile waits.
        case filling
        /// Steward takes no events now.
        case behind
    }

    var channel: Channel
    let kind: Kind
    let messages: StreamID
    let changes: StreamID
    var operators: Set<String> = []
    /// Members by their ids, where the service lists them with the channel.
    var roster: [String: Member] = [:]
    /// All members are in it.
    var isRosterWhole = false
    var isSuper = false
    var isFrozen = false
    /// How many members count, and by when: older news of it is stale.
    var countedAt: Int64 = 0

    /// The last message and the last change that were handed over, and that steward took.
    var mark: Mark
    var taken: Mark
    /// Where it was taken in: what was said until then is history, or decided.
    let opened: Mark
    var changed: Int64
    var changedTaken: Int64
    var phase = Phase.wanting
    /// What came while something was missing.
    var held: [SendbirdHappening] = []
    /// More came than can be held.
    var hasDropped = false
    var recent = SendbirdRecent()
    /// Until when each member has read, and got, the messages; in milliseconds.
    var read: [String: Int64] = [:]
    var delivered: [String: Int64] = [:]
    /// Messages that we have not read, as the service counts them.
    var unread: Int64?

    init(channel: Channel, kind: Kind, realm: Realm, mark: Mark, changed: Int64) {
        self.channel = channel
        self.kind = kind
        messages = realm.stream("messages \(channel.id.text)")
        changes = realm.stream("changes \(channel.id.text)")
        self.mark = mark
        taken = mark
        opened = mark
        self.changed = changed
        changedTaken = changed
    }

    var url: String { channel.id.text }

    func isOperator(_ user: String) -> Bool { operators.contains(user) }

    /// The number of members, unless newer news of it was there already.
    mutating func count(_ members: Int64?, at moment: Int64) {
        guard let members, members >= 0, moment >= countedAt else { return }
        countedAt = moment
        guard channel.memberCount != Int(members) else { return }
        channel.memberCount = Int(members)
    }

    /// Whether a message that is not newer than the last can be news all the same: it was late, or lost on its way.
    func mayBeLate(_ seen: SeenMessage) -> Bool {
        let at = seen.at.milliseconds
        return seen.id > recent.forgotten
            && (at > opened.at || (at == opened.at && seen.id > opened.id))
    }

    /// The id of the newest message that was sent by then, among those that are remembered.
    func newest(by moment: Int64) -> Int64? {
        moment >= mark.at ? (mark.id > 0 ? mark.id : nil) : recent.newest(by: moment)
    }

    /// How many others have not read a message of that time; nil where it is not known who is here.
    func unreadCount(ofMessageAt moment: Int64, by author: String) -> Int? {
        guard isRosterWhole else { return nil }
        return roster.keys.count { $0 != author && read[$0, default: 0] < moment }
    }
}

/// Something that happened in a channel, before it is known whether it is news.
struct SendbirdHappening: Sendable {
    enum Order: Sendable {
        case message(SeenMessage)
        /// An edit or a deletion of that message at that time.
        case change(Int64, at: Int64, isDeletion: Bool)
        /// Cannot be read again, and must not be lost: who came and went.
        case lasting
        /// Cannot be read again, and is stale in a moment: who types.
        case passing
    }

    var kind: ChatEvent.Kind
    var id: String
    var at: Timestamp
    var order: Order
    var by: UserID?
}

/// The last messages of a channel.
struct SendbirdRecent {
    private static let most = 1024
    private var messages: [Int64: SeenMessage] = [:]
    private var order: [Int64] = []
    private var oldest = 0
    /// Deletions that were told.
    private var deleted: Set<Int64> = []
    /// The newest of those that are forgotten.
    private(set) var forgotten: Int64 = 0

    func contains(_ id: Int64) -> Bool { messages[id] != nil }

    subscript(id: Int64) -> SeenMessage? { messages[id] }

    mutating func insert(_ message: SeenMessage) {
        guard messages.updateValue(message, forKey: message.id) == nil else { return }
        if order.count < Self.most {
            order.append(message.id)
        } else {
            messages[order[oldest]] = nil
            forgotten = max(forgotten, order[oldest])
            deleted.remove(order[oldest])
            order[oldest] = message.id
            oldest = (oldest + 1) % Self.most
        }
    }

    /// It has another text now.
    mutating func update(_ message: SeenMessage) {
        guard messages[message.id] != nil else { return }
        messages[message.id] = message
    }

    /// Steward did not take it: it is news when it comes again.
    mutating func forget(_ id: Int64) {
        guard messages.removeValue(forKey: id) != nil, let place = order.firstIndex(of: id) else { return }
        order[place] = 0
    }

    mutating func forgetEdit(_ id: Int64) { messages[id]?.changedAt = 0 }

    mutating func forgetDeletion(_ id: Int64) { deleted.remove(id) }

    /// False when its deletion was told already.
    mutating func delete(_ id: Int64) -> Bool {
        if deleted.count > 4 * Self.most { deleted.removeAll() }
        return deleted.insert(id).inserted
    }

    func isDeleted(_ id: Int64) -> Bool { deleted.contains(id) }

    func newest(by moment: Int64) -> Int64? {
        messages.values.lazy.filter { $0.at.milliseconds <= moment }.map(\.id).max()
    }
}
