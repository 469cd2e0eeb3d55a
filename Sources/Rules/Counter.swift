internal import Chat

/// Something that rules count, for each user or channel or altogether.
struct Counter: Sendable {
    let name: String
    let per: BotCounter.Per
    let keep: Duration?

    init(_ counter: BotCounter) {
        name = counter.name.value
        per = counter.per
        keep = counter.keep
    }

    /// Rules share it; no rule can have this name.
    static let owner = "$counters"

    /// For the event's own user or channel, or for the user that a value names; nil when there is none.
    func key(_ event: ChatEvent, _ subject: TemplateValue?) -> MemoryKey? {
        let about: MemoryKey.Subject?
        switch per {
        case .all: about = .all
        case .channel: about = event.channel.map { .channel($0.id) }
        case .user:
            if let subject {
                about = subject.person(in: event).map { .user(event.realm.user($0.id)) }
            } else {
                about = event.member.map { .user($0.user) }
            }
        }
        return about.map { MemoryKey(owner: Self.owner, name: name, subject: $0) }
    }

    func value(_ values: TemplateValues) -> CounterValue {
        let (event, memory) = (values.event, values.situation.memory)
        let number = { @Sendable (subject: TemplateValue?) -> Int64 in
            guard let key = key(event, subject), case .number(let number)? = memory.value(of: key) else {
                return 0
            }
            return number
        }
        return CounterValue(name: name, number: number(nil)) { number($0) }
    }
}

extension TemplateValue {
    /// The user that a value names; nil when it names nobody.
    func person(in event: ChatEvent) -> (id: String, name: String)? {
        switch self {
        case .user(let id, let name), .mention(let id, let name): return (id, name)
        case .absent, .list, .channel: return nil
        default: return Self.person(named: plain, in: event)
        }
    }

    /// `@ben`, `ben` and `@ben,` are all Ben.
    static func person(named text: String, in event: ChatEvent) -> (id: String, name: String)? {
        var name = text.trimmed[...]
        if name.first == "@" { name.removeFirst() }
        while let last = name.last, ".,:;!?".contains(last) { name.removeLast() }
        guard !name.isEmpty, name.count <= 128 else { return nil }
        if let member = event.member, member.user.text == name || member.name == name {
            return (member.user.text, member.name)
        }
        return (String(name), String(name))
    }
}
