internal import Chat
internal import FoundationEssentials

/// Events that a rule has collected and will act on all at once. They are remembered like everything else, so a restart
/// loses none of them.
struct Batch {
    /// Its number among the rule's batches: when it began.
    let number: Int64
    /// When the rule acts.
    let due: Timestamp
    let lines: [Substring]

    static let step = "batch"
    /// A batch that is full is acted on at once.
    static let most = 500

    /// Where it is kept: one for each channel.
    static func key(_ owner: String, _ event: ChatEvent) -> MemoryKey {
        MemoryKey(owner: owner, name: "batch", subject: event.channel.map { .channel($0.id) } ?? .all)
    }

    init(number: Int64, due: Timestamp, lines: [Substring] = []) {
        self.number = number
        self.due = due
        self.lines = lines
    }

    init?(_ value: MemoryValue?) {
        guard case .text(let text)? = value else { return nil }
        let lines = text.utf8.split(separator: UInt8(ascii: "\n")).map { Substring($0) }
        let head = lines.first?.split(separator: " ").compactMap { Int64($0) } ?? []
        guard head.count == 2 else { return nil }
        self.init(number: head[0], due: Timestamp(milliseconds: head[1]), lines: Array(lines.dropFirst()))
    }

    func text(with event: ChatEvent) -> String {
        var text = "\(number) \(due.milliseconds)\n"
        for line in lines {
            text += line
            text += "\n"
        }
        return text + Collected(event).line
    }

    /// The events, in order.
    func events(as now: ChatEvent) -> [ChatEvent] {
        lines.compactMap { line in
            guard let one = try? JSONDecoder().decode(Collected.self, from: Data(line.utf8)) else {
                return nil
            }
            return one.event(as: now)
        }
    }
}

/// What is kept of an event until its batch is acted on.
private struct Collected: Codable {
    var id: String
    var kind: String
    var account: String
    var at: Timestamp
    var user: String?
    var name: String?
    var message: String?
    var index: Int64?
    var text: String?
    var title: String?
    var uniqueName: String?
    var members: Int?
    var isDirect: Bool?

    init(_ event: ChatEvent) {
        id = event.id
        kind = event.name?.rawValue ?? ""
        account = event.account
        at = event.sentAt
        user = event.member?.user.text
        name = event.member?.name
        message = event.message?.id
        index = event.message?.index
        text = event.message?.text
        title = event.channel?.title
        uniqueName = event.channel?.uniqueName
        members = event.channel?.memberCount
        isDirect = event.channel?.isDirect
    }

    /// One line of JSON.
    var line: String {
        // Nothing in it that JSON could not write.
        (try? JSONEncoder().encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    /// The event again, in its channel as that is now.
    func event(as now: ChatEvent) -> ChatEvent {
        var channel = now.channel
        if let here = now.channel {
            channel?.uniqueName = here.uniqueName ?? uniqueName
            channel?.title = here.title.isEmpty ? title ?? "" : here.title
            channel?.memberCount = here.memberCount ?? members
            channel?.isDirect = here.isDirect || isDirect == true
        }
        let member = user.map { Member(user: now.realm.user($0), name: name) }
        return ChatEvent(
            id: id, account: account, realm: now.realm, channel: channel, sentAt: at,
            kind: kind(member) ?? now.kind)
    }

    private func kind(_ member: Member?) -> ChatEvent.Kind? {
        guard let name = EventName(rawValue: kind) else { return nil }
        let said = member.map { Message(id: message ?? "", index: index, author: $0, text: text ?? "") }
        return switch name {
        case .messageAdded: said.map { .messageAdded($0) }
        case .messageEdited: said.map { .messageEdited($0) }
        case .messageDeleted: said.map { .messageDeleted($0) }
        case .memberJoined: member.map { .memberJoined($0) }
        case .memberLeft: member.map { .memberLeft($0) }
        case .memberUpdated: member.map { .memberUpdated($0) }
        case .typingStarted: member.map { .typingStarted($0) }
        case .typingEnded: member.map { .typingEnded($0) }
        case .readHorizonMoved: member.map { .readHorizonMoved($0, to: nil) }
        case .channelAdded: .channelAdded
        case .channelUpdated: .channelUpdated
        case .channelDeleted: .channelDeleted
        case .started: .started
        case .serviceUp: .serviceUp
        case .serviceDown: .serviceDown(reason: "")
        default: nil
        }
    }
}
