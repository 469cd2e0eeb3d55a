internal import Chat
internal import Rules

/// The chat services of a test: what people do becomes events, and what steward does comes back to it as it would from
/// a service. The same steps give the same ids.
struct RehearsedChat {
    /// A message as its service has it.
    struct Message {
        var id: String
        var index: Int64
        var author: String
        var text: String
        var attachments: [Chat.Message.Attachment] = []
        var isDeleted = false
    }

    fileprivate struct Room {
        var channel: Channel
        var messages: [Message] = []
        var members: Set<String> = []
        var position: Int64 = 0
    }

    private let identities: Identities
    private let directory: Directory
    private var people: [String: BotTest.Person] = [:]
    private var rooms: [Place: Room] = [:]

    /// Who steward is everywhere.
    static let own = "steward"

    init(_ directory: Directory, people: [BotTest.Person], identities: Identities = Identities()) {
        self.identities = identities
        self.directory = directory
        for person in people { self.people[person.user] = person }
    }

    func realm(of account: String) -> Realm { identities.realm(account) }

    func realm(named name: String) -> Realm { identities.realm(name) }

    mutating func channel(_ place: Place) -> Channel { room(place).channel }

    /// What is known of a channel that is named by its id.
    func channel(_ id: ChannelID) -> Channel? {
        rooms[Place(account: id.identity.realmName, channel: id.text)]?.channel
    }

    func member(_ user: String, account: String, isBot: Bool = false) -> Member {
        let person = people[user]
        return Member(
            user: realm(of: account).user(user), name: person?.name,
            isBot: isBot || person?.isBot == true || user == Self.own)
    }

    private mutating func room(_ place: Place) -> Room {
        if let room = rooms[place] { return room }
        let name = directory.channels.first { $0.value[place.account] == place.channel }?.key
        let room = Room(
            channel: Channel(
                id: realm(of: place.account).channel(place.channel), uniqueName: place.channel,
                title: name ?? place.channel, memberCount: 0, isDirect: place.isDirect))
        rooms[place] = room
        return room
    }

    // MARK: What happens

    mutating func say(
        _ text: String, by user: String, in place: Place, at sentAt: Timestamp, isBot: Bool = false,
        attachments: [String] = []
    ) -> ChatEvent {
        var room = room(place)
        let index = Int64(room.messages.count)
        let files = attachments.enumerated().map { number, name in
            Chat.Message.Attachment(
                id: "\(place.channel)-\(index)-file-\(number)", name: name,
                contentType: "application/octet-stream", size: 1024)
        }
        let message = Message(
            id: "\(place.channel)-\(index)", index: index, author: user, text: text, attachments: files)
        room.messages.append(message)
        return add(.messageAdded(described(message, place, isBot)), id: message.id, in: &room, place, sentAt)
    }

    /// Nil when there is no such message.
    mutating func edit(to text: String, by user: String?, in place: Place, at sentAt: Timestamp) -> ChatEvent?
    {
        var room = room(place)
        guard let index = room.last(by: user) else { return nil }
        room.messages[index].text = text
        return add(.messageEdited(described(room.messages[index], place)), in: &room, place, sentAt)
    }

    /// Nil when there is no such message.
    mutating func remove(by user: String?, in place: Place, at sentAt: Timestamp) -> ChatEvent? {
        var room = room(place)
        guard let index = room.last(by: user) else { return nil }
        room.messages[index].isDeleted = true
        return add(.messageDeleted(described(room.messages[index], place)), in: &room, place, sentAt)
    }

    mutating func join(_ user: String, _ place: Place, at sentAt: Timestamp) -> ChatEvent {
        var room = room(place)
        room.members.insert(user)
        return add(.memberJoined(member(user, account: place.account)), in: &room, place, sentAt)
    }

    mutating func leave(_ user: String, _ place: Place, at sentAt: Timestamp) -> ChatEvent {
        var room = room(place)
        room.members.remove(user)
        return add(.memberLeft(member(user, account: place.account)), in: &room, place, sentAt)
    }

    mutating func rename(_ user: String, to name: String, _ place: Place, at sentAt: Timestamp) -> ChatEvent {
        people[user, default: BotTest.Person(user: user)].name = name
        var room = room(place)
        return add(.memberUpdated(member(user, account: place.account)), in: &room, place, sentAt)
    }

    /// Nil when there is no such message.
    mutating func react(
        _ emoji: String, by user: String, of author: String?, isAdded: Bool, in place: Place,
        at sentAt: Timestamp
    ) -> ChatEvent? {
        var room = room(place)
        guard let index = room.last(by: author) else { return nil }
        let message = room.messages[index]
        let reaction = Reaction(
            by: member(user, account: place.account),
            to: MessageReference(id: message.id, index: message.index), key: emoji)
        return add(isAdded ? .reactionAdded(reaction) : .reactionRemoved(reaction), in: &room, place, sentAt)
    }

    /// A ban list changes, in the room where it is kept.
    mutating func change(
        _ policy: Policy, isAdded: Bool, by user: String?, account: String, at sentAt: Timestamp
    ) -> ChatEvent {
        var entries = directory.policies.policies(of: policy.list)
        if isAdded {
            entries.append(policy)
        } else {
            entries.removeAll { $0.subject == policy.subject && $0.entity == policy.entity }
        }
        directory.policies.set(entries, of: policy.list)
        let place = Place(account: account, channel: policy.list)
        var room = room(place)
        var event = add(isAdded ? .policyAdded(policy) : .policyRemoved(policy), in: &room, place, sentAt)
        event.by = user.map(realm(of: account).user)
        return event
    }

    private mutating func add(
        _ kind: ChatEvent.Kind, id: String? = nil, in room: inout Room, _ place: Place, _ sentAt: Timestamp
    ) -> ChatEvent {
        room.position += 1
        room.channel.memberCount = room.members.count
        rooms[place] = room
        var index: Int64?
        if case .messageAdded(let message) = kind { index = message.index }
        let realm = realm(of: place.account)
        return ChatEvent(
            id: id ?? "\(place.channel)/\(room.position)", account: place.account, realm: realm,
            channel: room.channel, sentAt: sentAt, kind: kind,
            cursor: Cursor(
                stream: realm.stream(place.channel), position: .number(room.position, index: index)))
    }

    private func described(_ message: Message, _ place: Place, _ isBot: Bool = false) -> Chat.Message {
        Chat.Message(
            id: message.id, index: message.index,
            author: member(message.author, account: place.account, isBot: isBot), text: message.text,
            attachments: message.attachments)
    }

    // MARK: What steward does

    /// The message that an action is about.
    func message(_ reference: MessageReference, in place: Place) -> Message? {
        rooms[place]?.messages.first { $0.id == reference.id }
    }

    /// Does it as far as the account can, and tells what comes back of it.
    mutating func perform(_ action: ChatAction, at now: Timestamp) -> (ChatEvent.Outcome, ChatEvent?) {
        guard let abilities = directory.accounts[action.place.account]?.abilities else {
            return (.failed("there is no account \"\(action.place.account)\""), nil)
        }
        if let text = action.outgoing?.text, abilities.textLimit.count(text) > abilities.textLimit.count {
            return (.failed("the text is longer than the service takes"), nil)
        }
        if ["send", "reply", "dm", "delete", "react"].contains(action.plainWord),
            !abilities.actions.contains(action.plainWord)
        {
            return (.failed("the service cannot \(action.plainWord)"), nil)
        }
        var place = action.place
        switch action.verb {
        case .send(let outgoing), .reply(let outgoing, _):
            return sent(say(outgoing.text, by: Self.own, in: place, at: now, isBot: true), place)
        case .direct(let outgoing, let user):
            place.channel = Place.direct(user)
            return sent(say(outgoing.text, by: Self.own, in: place, at: now, isBot: true), place)
        case .deleteMessage(let reference):
            var room = room(place)
            guard let index = room.messages.firstIndex(where: { $0.id == reference.id }) else {
                return (.failed("there is no message \(reference.id)"), nil)
            }
            guard !room.messages[index].isDeleted else { return (.done(Receipt()), nil) }
            room.messages[index].isDeleted = true
            let message = described(room.messages[index], place)
            return (.done(Receipt()), add(.messageDeleted(message), in: &room, place, now))
        case .addMember(let user): return (.done(Receipt()), join(user, place, at: now))
        case .removeMember(let user), .ban(let user, _, _):
            return (.done(Receipt()), leave(user, place, at: now))
        default: return (.done(Receipt()), nil)
        }
    }

    private func sent(_ event: ChatEvent, _ place: Place) -> (ChatEvent.Outcome, ChatEvent?) {
        let receipt = Receipt(
            message: event.message.map { MessageReference($0) }, channel: place.channel)
        return (.done(receipt), event)
    }
}

extension RehearsedChat.Room {
    /// The last message that is still there, by that person or anybody but steward.
    fileprivate func last(by user: String?) -> Int? {
        messages.lastIndex { message in
            !message.isDeleted && (user.map { $0 == message.author } ?? (message.author != RehearsedChat.own))
        }
    }
}

extension Place {
    /// The conversation with one person.
    static func direct(_ user: String) -> String { "direct-\(user)" }

    fileprivate var isDirect: Bool { channel.hasPrefix("direct-") }
}

extension ChatAction {
    /// The text it carries, if it carries one.
    var outgoing: Outgoing? {
        switch verb {
        case .send(let outgoing), .reply(let outgoing, _), .direct(let outgoing, _): outgoing
        default: nil
        }
    }
}

extension Abilities.TextLimit {
    fileprivate func count(_ text: String) -> Int {
        switch unit {
        case .bytes: text.utf8.count
        case .codePoints: text.unicodeScalars.count
        case .utf16: text.utf16.count
        }
    }
}
