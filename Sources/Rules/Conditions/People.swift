internal import Chat
internal import Unicode

/// Who goes by which name. People write names, and steward remembers by ids; so rule sets in which a name can mean
/// somebody remember the name of everyone who was seen.
enum People {
    /// No rule can have this name.
    private static let owner = "$people"

    /// What is to be remembered of a member; empty when it is.
    static func changes(
        _ member: Member, _ event: ChatEvent, _ memory: any Recollection, withRoles: Bool
    ) -> [MemoryChange] {
        let changes = names(of: member, event, memory)
        guard withRoles else { return changes }
        let key = MemoryKey(owner: owner, name: "roles", subject: .user(member.user))
        let roles = ((member.isBot ? [bot] : []) + member.roles).joined(separator: "\n")
        let known = memory.value(of: key)
        if roles.isEmpty { return known == nil ? changes : changes + [.forget(key)] }
        return known == .text(roles) ? changes : changes + [.set(key, .text(roles), keep: nil)]
    }

    /// Remembers somebody by their id, as tests have it.
    static func seen(_ user: UserID) -> MemoryChange {
        .set(MemoryKey(owner: owner, name: "name", subject: .user(user)), .text(user.text), keep: nil)
    }

    /// Stands among roles for a program.
    private static let bot = "\t"

    /// Somebody as they were seen last.
    static func member(
        _ person: (id: String, name: String), _ event: ChatEvent, _ memory: any Recollection
    ) -> Member {
        if let member = event.member, member.user.text == person.id { return member }
        let user = event.realm.user(person.id)
        var roles: [String] = []
        if case .text(let text)? = memory.value(
            of: MemoryKey(owner: owner, name: "roles", subject: .user(user)))
        {
            roles = text.split(separator: "\n").map(String.init)
        }
        return Member(
            user: user, name: person.name, roles: roles.filter { $0 != bot }, isBot: roles.contains(bot))
    }

    private static func names(
        of member: Member, _ event: ChatEvent, _ memory: any Recollection
    ) -> [MemoryChange] {
        let key = MemoryKey(owner: owner, name: "name", subject: .user(member.user))
        if memory.value(of: key) == .text(member.name) { return [] }
        var changes: [MemoryChange] = [.set(key, .text(member.name), keep: nil)]
        let id = member.user.text
        for name in Set([id, member.name].map { $0.folded(to: .plain) }) where !name.isEmpty {
            let key = self.key(for: name, event)
            // Nobody takes a name that is somebody else's id.
            if case .text(let other)? = memory.value(of: key), other != id, other.folded(to: .plain) == name {
                continue
            }
            changes.append(.set(key, .text(id), keep: nil))
        }
        return changes.sorted { $0.name < $1.name }
    }

    /// Whom a name or an id means; nil when nobody was seen who goes by it.
    static func find(_ name: String, _ event: ChatEvent, _ memory: any Recollection) -> (
        id: String, name: String
    )? {
        if let member = event.member, member.user.text == name || member.name == name {
            return (member.user.text, member.name)
        }
        if let known = self.name(of: name, event, memory) { return (name, known) }
        guard case .text(let id)? = memory.value(of: key(for: name.folded(to: .plain), event)) else {
            return nil
        }
        return (id, self.name(of: id, event, memory) ?? id)
    }

    private static func name(of id: String, _ event: ChatEvent, _ memory: any Recollection) -> String? {
        let key = MemoryKey(owner: owner, name: "name", subject: .user(event.realm.user(id)))
        guard case .text(let name)? = memory.value(of: key) else { return nil }
        return name
    }

    /// Where the id of whoever goes by a name is kept: with a user whom the name alone makes.
    private static func key(for folded: String, _ event: ChatEvent) -> MemoryKey {
        MemoryKey(owner: owner, name: "id", subject: .user(event.realm.user("@\(folded)")))
    }

    /// The name in what people write: `@ben`, `ben` and `@ben,` are all Ben. Where users are named with their servers,
    /// the `@` is part of the id: `@ben:example.org`.
    static func bare(_ text: String) -> String {
        var name = text.trimmed[...]
        while let last = name.last, ".,:;!?".contains(last) { name.removeLast() }
        if name.first == "@", !name.contains(":") { name.removeFirst() }
        return String(name)
    }
}

/// Whose names need not be looked up again: those of which memory has said that they are remembered.
struct NamedPeople {
    private var names = [(number: UInt32, name: String, roles: [String])](
        repeating: (0, "", []), count: 1024)

    mutating func changes(
        _ member: Member, _ event: ChatEvent, _ memory: any Recollection, withRoles: Bool
    ) -> [MemoryChange] {
        let number = member.user.identity.number
        let slot = Int(number % 1024)
        if names[slot].number == number, names[slot].name == member.name,
            !withRoles || names[slot].roles == member.roles
        {
            return []
        }
        let changes = People.changes(member, event, memory, withRoles: withRoles)
        if changes.isEmpty { names[slot] = (number, member.name, member.roles) }
        return changes
    }
}

extension MemoryChange {
    fileprivate var name: String {
        switch self {
        case .claim(let key, _, _, _), .add(let key, _, _), .set(let key, _, _), .forget(let key): key.name
        }
    }
}

extension TemplateValue {
    /// The user that a value names; nil when it names nobody.
    func person(_ event: ChatEvent, _ situation: Situation) -> (id: String, name: String)? {
        switch self {
        case .user(let id, let name), .mention(let id, let name): return (id, name)
        case .absent, .list, .channel: return nil
        default: return Self.person(named: plain, event, situation)
        }
    }

    /// Whoever goes by that name, or somebody who was never seen.
    static func person(
        named text: String, _ event: ChatEvent, _ situation: Situation
    ) -> (id: String, name: String)? {
        let name = People.bare(text)
        guard !name.isEmpty, name.utf8.count <= 256 else { return nil }
        return People.find(name, event, situation.memory) ?? (name, name)
    }
}

extension RuleSet {
    /// Whether names that people write mean somebody to one of the rules.
    static func namesPeople(_ rules: [Rule]) -> Bool {
        rules.contains { rule in
            rule.command?.arguments.contains { if case .person = $0.kind { true } else { false } } == true
                || rule.source.allSteps.contains { step in
                    step.counts.contains { $0.subject != nil }
                        || step.deed.user != nil || step.deed.list != nil
                        || step.message.mention.contains {
                            $0.value.root != "user" && $0.value.root != "users"
                        }
                }
                || ([rule.condition].compactMap(\.self) + rule.branches.values).contains(
                    where: \.asksForMembers)
        }
    }
}

extension Condition {
    fileprivate var asksForMembers: Bool {
        switch self {
        case .mentions(let test): test.of == .members
        case .all(let list), .any(let list): list.contains(where: \.asksForMembers)
        case .not(let condition): condition.asksForMembers
        default: false
        }
    }
}
