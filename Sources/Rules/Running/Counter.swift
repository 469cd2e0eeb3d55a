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
    func key(_ event: ChatEvent, _ situation: Situation, _ subject: TemplateValue?) -> MemoryKey? {
        let about: MemoryKey.Subject?
        switch per {
        case .all: about = .all
        case .channel: about = event.channel.map { .channel($0.id) }
        case .user:
            if let subject {
                about = subject.person(event, situation).map { .user(event.realm.user($0.id)) }
            } else {
                about = event.member.map { .user($0.user) }
            }
        }
        return about.map { MemoryKey(owner: Self.owner, name: name, subject: $0) }
    }

    func value(_ values: TemplateValues) -> CounterValue {
        let (event, situation) = (values.event, values.situation)
        let number = { @Sendable (subject: TemplateValue?) -> Int64 in
            guard let key = key(event, situation, subject),
                case .number(let number)? = situation.memory.value(of: key)
            else { return 0 }
            return number
        }
        return CounterValue(name: name, number: number(nil)) { number($0) }
    }
}
