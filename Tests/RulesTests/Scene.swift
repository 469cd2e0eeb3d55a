import Chat
import Testing

@testable import Rules

/// A small world in which rules are tried: one account, four channels, a few people, a clock that is moved by hand.
final class Scene {
    var now = Timestamp(milliseconds: 1_780_000_000_000)
    var memory = Remembered()
    var facts: [String: MemberFacts] = [:]
    var isStale = false
    var abilities: Abilities
    let directory: Directory
    let rules: RuleSet
    private let realm = Identities().realm("IS1")
    private var count = 0

    static let abilities = Abilities(
        events: [
            .messageAdded, .messageEdited, .messageDeleted, .memberJoined, .memberLeft, .memberUpdated,
            .channelAdded,
            .typingStarted,
        ],
        actions: ["reply", "send", "dm", "delete", "react", "kick"], textLimit: .init(32_768, .utf16))

    static func directory(_ abilities: Abilities = Scene.abilities) -> Directory {
        Directory(
            accounts: [
                "twilio": .init(
                    service: "twilio", abilities: abilities, joins: ["general", "support", "staff"])
            ],
            channels: ["lobby": ["twilio": "general"]],
            roles: [
                "moderator": .init(words: ["twilio": ["channel admin"]]),
                "helper": .init(users: ["twilio:hal"]),
            ])
    }

    init(
        _ text: String, abilities: Abilities = Scene.abilities, lists: [String: String] = [:],
        owner: String? = nil, policyLists: Set<String> = []
    ) throws {
        self.abilities = abilities
        var directory = Self.directory(abilities)
        if let owner { directory.roles["owner"] = .init(users: ["twilio:\(owner)"]) }
        directory.policyLists = policyLists
        self.directory = directory
        let loaded = RuleSet.load(
            [BotSource(name: "bot.yaml", bytes: Array(text.utf8))], directory: directory
        ) {
            lists[$0].map { Array($0.utf8) }
        }
        #expect(loaded.errors.map(\.description) == [])
        rules = try #require(loaded.rules)
        // So little happens here that each match is more than a breaker's share.
        rules.turn.withLock { $0.breakers.isUsual = false }
    }

    /// One rule for messages, its lines indented by four.
    convenience init(rule: String, abilities: Abilities = Scene.abilities) throws {
        try self.init("version: 1\nrules:\n  it:\n" + rule, abilities: abilities)
    }

    func member(
        _ id: String, roles: [String] = [], isBot: Bool = false, name: String? = nil,
        joinedAt: Timestamp? = nil
    )
        -> Member
    {
        Member(user: realm.user(id), name: name, roles: roles, isBot: isBot, joinedAt: joinedAt)
    }

    func channel(_ name: String, title: String? = nil, isDirect: Bool = false) -> Channel {
        Channel(
            id: realm.channel("CH-\(name)"), uniqueName: name,
            title: title ?? name.prefix(1).uppercased() + name.dropFirst(), memberCount: 3,
            isDirect: isDirect)
    }

    func event(_ kind: ChatEvent.Kind, in channel: Channel?) -> ChatEvent {
        count += 1
        return ChatEvent(
            id: "E\(count)", account: "twilio", realm: realm, channel: channel, sentAt: now, kind: kind)
    }

    func message(_ text: String, by member: Member, id: String? = nil, attachments: [Message.Attachment] = [])
        -> Message
    {
        Message(
            id: id ?? "IM\(count + 1)", index: Int64(count + 1), author: member, text: text,
            attachments: attachments)
    }

    /// What the rules do when somebody says something.
    @discardableResult
    func say(_ text: String, by id: String = "ana", in channel: String = "general") -> [String] {
        take(event(.messageAdded(message(text, by: member(id))), in: self.channel(channel)))
    }

    /// One event through all stages, as the engine does it; changes are remembered.
    @discardableResult
    func take(_ event: ChatEvent) -> [String] {
        decide(event).flatMap(\.actions).map(describe)
    }

    /// A rule's continuation comes back, to the rule that owns it.
    @discardableResult
    func resume(_ continuation: Continuation, _ outcome: ChatEvent.Outcome = .due, in channel: Channel?)
        -> Decision
    {
        let event = event(.resumed(continuation, outcome), in: channel)
        var result = Decision()
        for handler in rules.handlers where handler.resumes(owner: continuation.owner) {
            guard let decision = try? handler.decide(event, in: situation(for: event)) else { continue }
            for change in decision.changes { memory.apply(change) }
            result = decision
        }
        return result
    }

    func situation(for event: ChatEvent) -> Situation {
        Situation(
            now: now, own: realm.user("steward"), abilities: abilities,
            facts: event.member.flatMap { facts[$0.user.text] } ?? MemberFacts(), isStale: isStale,
            memory: memory,
            directory: directory)
    }

    func decide(_ event: ChatEvent) -> [Decision] {
        var decisions: [Decision] = []
        for handler in rules.handlers {
            if handler.stage == .answer, decisions.contains(where: \.removed) { continue }
            guard let decision = try? handler.decide(event, in: situation(for: event)) else { continue }
            for change in decision.changes { memory.apply(change) }
            if !decision.isEmpty { decisions.append(decision) }
        }
        return decisions
    }
}

/// An action in one line.
func describe(_ action: ChatAction) -> String {
    func words(_ verb: String, _ outgoing: Outgoing) -> String {
        let called = outgoing.mentions.isEmpty ? "" : " [calls \(outgoing.mentions.joined(separator: ", "))]"
        let thread = outgoing.inThread ? " [thread]" : ""
        let silent = outgoing.isSilent ? " [silent]" : ""
        return "\(verb): \(outgoing.text)\(called)\(thread)\(silent)"
    }
    func end(_ until: Timestamp?, _ reason: String?) -> String {
        (until.map { " until \($0.milliseconds)" } ?? "") + (reason.map { ": \($0)" } ?? "")
    }
    let channel = action.place.channel.replacing("CH-", with: "")
    switch action.verb {
    case .send(let outgoing): return words("send \(channel)", outgoing)
    case .reply(let outgoing, _): return words("reply \(channel)", outgoing)
    case .direct(let outgoing, let user): return words("dm \(user)", outgoing)
    case .deleteMessage: return "delete \(channel)"
    case .react(let emoji, _): return "react \(channel): \(emoji)"
    case .mute(let user, let until, let reason): return "mute \(user) in \(channel)\(end(until, reason))"
    case .unmute(let user): return "unmute \(user) in \(channel)"
    case .ban(let user, let until, let reason):
        return "ban \(user) in \(channel)\(until == nil ? " for good" : "")\(end(until, reason))"
    case .unban(let user): return "unban \(user) in \(channel)"
    case .removeMember(let user): return "kick \(user) out of \(channel)"
    case .slowMode(let time): return "slow mode \(channel): \(time?.words ?? "none")"
    case .lock(let until, let reason): return "lock \(channel)\(end(until, reason))"
    case .unlock: return "unlock \(channel)"
    case .addMember(let user): return "invite \(user) to \(channel)"
    case .joinChannel: return "join \(channel)"
    case .leaveChannel: return "leave \(channel)"
    case .createChannel(let title, _): return "create \(title)"
    case .setChannelTitle(let title): return "title of \(channel): \(title)"
    case .setChannelTopic(let topic): return "topic of \(channel): \(topic)"
    case .denyServers(let servers): return "deny \(channel): \(servers.joined(separator: ", "))"
    case .admitServers(let servers): return "admit \(channel): \(servers.joined(separator: ", "))"
    default: return "\(action.verb)"
    }
}

/// A memory that keeps what it is told.
struct Remembered: Recollection {
    var values: [MemoryKey: MemoryValue] = [:]
    /// For how long something was to be remembered.
    var keeps: [Duration] = []
    var past: [ChatEvent] = []

    func value(of key: MemoryKey) -> MemoryValue? { values[key] }

    func history(of channel: ChannelID) -> [ChatEvent] { past.filter { $0.channel?.id == channel } }

    mutating func apply(_ change: MemoryChange) {
        switch change {
        case .claim(let key, let time, let most, _):
            var times: [Timestamp] = []
            if case .times(let known) = values[key] { times = known }
            values[key] = .times(Array((times + [time]).suffix(most)))
        case .add(let key, let number, _):
            var sum = number
            if case .number(let known) = values[key] { sum += known }
            values[key] = .number(sum)
        case .set(let key, let value, let keep):
            values[key] = value
            if let keep { keeps.append(keep) }
        case .forget(let key): values[key] = nil
        }
    }
}
