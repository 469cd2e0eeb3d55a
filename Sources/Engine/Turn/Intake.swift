package import Chat

/// Decides which events are new: our own and those that were decided already go no further. It knows how far every
/// stream was decided.
package struct Intake: Sendable {
    package enum Verdict: Sendable, Equatable {
        case new
        /// We did it ourselves, on this or another account of the realm.
        case own
        case duplicate
    }

    fileprivate struct Mark {
        let stream: StreamID
        var number: Int64?
        var index: Int64?
        var token: String?
        /// Events decided since the token last changed: the token alone does not say that they were.
        var ids: [String] = []
        var isChanged = false
    }

    private struct Sent: Hashable, Sendable {
        let message: String
        let realm: Realm
    }

    private var marks = IdentityTable<Mark>()
    private var changed: [UInt32] = []
    private var own: [UserID] = []
    private var ownNumbers: [UInt32] = []
    private var newOwn: [UserID] = []
    private var sent = Recent<Sent>(most: 8192)
    private var recent = Recent<String>(most: 8192)

    package init() {}

    /// Events of that user are ours from now on.
    package mutating func identified(as user: UserID) {
        guard !own.contains(user) else { return }
        own.append(user)
        ownNumbers.append(user.identity.number)
        newOwn.append(user)
    }

    /// We sent that message.
    package mutating func sent(_ message: String, in realm: Realm) {
        sent.insert(Sent(message: message, realm: realm))
    }

    /// Streams that are new to us, and where their history ends.
    package mutating func begin(_ streams: [Cursor]) {
        for cursor in streams where marks[cursor.stream.identity.number] == nil {
            var mark = Mark(stream: cursor.stream)
            switch cursor.position {
            case .number(let number, let index):
                mark.number = number
                mark.index = index
            case .token(let token): mark.token = token
            }
            mark.isChanged = true
            marks[cursor.stream.identity.number] = mark
            changed.append(cursor.stream.identity.number)
        }
    }

    /// Whether the event goes on; its stream counts as decided up to here in any case.
    package mutating func admit(_ event: ChatEvent) -> Verdict {
        let digest = event.digest
        if digest.stream != 0 {
            if !advance(by: digest, event) { return .duplicate }
        } else if let cursor = event.cursor {
            if !advance(to: cursor, event) { return .duplicate }
            // Such a stream is one account's own, and another account may be in the same channel.
            if !event.id.isEmpty, !recent.insert(identity(of: event)) { return .duplicate }
        } else if !event.id.isEmpty, !recent.insert(identity(of: event)) {
            return .duplicate
        }
        if digest.user != 0, ownNumbers.contains(digest.user) { return .own }
        if !sent.isEmpty, case .messageAdded(let message) = event.kind,
            sent.contains(Sent(message: message.id, realm: event.realm))
        {
            return .own
        }
        return .new
    }

    /// How far each stream of the realm was decided.
    package func cursors(of realm: Realm) -> [String: Position] {
        var cursors: [String: Position] = [:]
        for mark in marks.values where mark.stream.identity.realmName == realm.name {
            cursors[mark.stream.text] =
                mark.token.map { .token($0) } ?? .number(mark.number ?? 0, index: mark.index)
        }
        return cursors
    }

    private func identity(of event: ChatEvent) -> String {
        event.realm.name + "\u{1F}" + (event.channel?.id.text ?? "") + "\u{1F}" + event.id
    }

    /// The same for a stream of numbers, which nearly all are.
    private mutating func advance(by digest: EventDigest, _ event: ChatEvent) -> Bool {
        let known = marks.withPlace(digest.stream) { mark -> (isNew: Bool, isListed: Bool)? in
            guard let isListed = mark?.isChanged,
                let isNew = mark?.advance(
                    to: digest.position, digest.index, isMessage: digest.name == .messageAdded)
            else { return nil }
            if isNew { mark?.isChanged = true }
            return (isNew, isListed)
        }
        guard let (isNew, isListed) = known else {
            return event.cursor.map { advance(to: $0, event) } ?? true
        }
        if isNew, !isListed { changed.append(digest.stream) }
        return isNew
    }

    /// False when the event was decided already.
    private mutating func advance(to cursor: Cursor, _ event: ChatEvent) -> Bool {
        let number = cursor.stream.identity.number
        let (isNew, isListed) = marks.change(number, default: Mark(stream: cursor.stream)) { mark in
            let isListed = mark.isChanged
            let isNew = mark.advance(to: cursor.position, event)
            if isNew { mark.isChanged = true }
            return (isNew, isListed)
        }
        if isNew, !isListed { changed.append(number) }
        return isNew
    }
}

extension Intake {
    /// What changed since this was last asked, as rows for the journal.
    mutating func takeChanges() -> [RowChange] {
        var changes: [RowChange] = []
        for number in changed {
            guard var mark = marks[number] else { continue }
            mark.isChanged = false
            marks[number] = mark
            let key = RowKey(.stream, mark.stream.identity.realmName, mark.stream.text)
            changes.append(RowChange(key, mark.body))
        }
        changed.removeAll(keepingCapacity: true)
        for user in newOwn {
            changes.append(RowChange(RowKey(.identity, user.identity.realmName, user.text), []))
        }
        newOwn = []
        return changes
    }

    /// Takes in what an earlier run left in the journal.
    mutating func load(streams: [StoredRow], identities: [StoredRow], from realms: Identities) {
        for row in streams {
            let stream = realms.realm(row.key.key).stream(row.key.part)
            if let mark = Mark(stream, row.body) { marks[stream.identity.number] = mark }
        }
        own += identities.map { realms.realm($0.key.key).user($0.key.part) }
        ownNumbers = own.map(\.identity.number)
    }
}

extension Intake.Mark {
    fileprivate mutating func advance(to position: Int64, _ index: Int64?, isMessage: Bool) -> Bool {
        // Messages go by their index: after a gap they are read from the list, where they have no event number.
        if isMessage, let index {
            if let decided = self.index, index <= decided { return false }
        } else if let decided = number, position <= decided {
            return false
        }
        number = max(number ?? position, position)
        if let index { self.index = max(self.index ?? index, index) }
        return true
    }

    /// False when the event was decided already.
    fileprivate mutating func advance(to position: Position, _ event: ChatEvent) -> Bool {
        switch position {
        case .number(let position, let index):
            return advance(to: position, index, isMessage: event.digest.name == .messageAdded)
        case .token(let token):
            if ids.contains(event.id) { return false }
            if token != self.token {
                // The token now says that all before it were decided.
                self.token = token
                ids = []
            }
            ids.append(event.id)
            if ids.count > 1024 { ids.removeFirst() }
        }
        return true
    }

    fileprivate init?(_ stream: StreamID, _ body: [UInt8]) {
        self.stream = stream
        var reader = RowReader(body)
        guard let flags = reader.number() else { return nil }
        if flags & 1 != 0 { number = reader.number() }
        if flags & 2 != 0 { index = reader.number() }
        if flags & 4 != 0 { token = reader.text() }
        guard let count = reader.count() else { return nil }
        for _ in 0..<count {
            guard let id = reader.text() else { return nil }
            ids.append(id)
        }
    }

    fileprivate var body: [UInt8] {
        var writer = RowWriter()
        writer.number((number == nil ? 0 : 1) | (index == nil ? 0 : 2) | (token == nil ? 0 : 4))
        if let number { writer.number(number) }
        if let index { writer.number(index) }
        if let token { writer.text(token) }
        writer.count(ids.count)
        for id in ids { writer.text(id) }
        return writer.bytes
    }
}

/// The last elements that were put in.
struct Recent<Element: Hashable & Sendable>: Sendable {
    private let most: Int
    private var elements: Set<Element> = []
    private var order: [Element] = []
    private var oldest = 0

    init(most: Int) {
        self.most = most
    }

    var isEmpty: Bool { elements.isEmpty }

    func contains(_ element: Element) -> Bool { elements.contains(element) }

    /// False when it was there already.
    @discardableResult
    mutating func insert(_ element: Element) -> Bool {
        guard elements.insert(element).inserted else { return false }
        if order.count < most {
            order.append(element)
        } else {
            elements.remove(order[oldest])
            order[oldest] = element
            oldest = (oldest + 1) % most
        }
        return true
    }
}
