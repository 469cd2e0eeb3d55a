/// The names that `config.yaml` gives to accounts, channels and roles, so that rules hold no service ids.
public struct Directory: Sendable {
    /// By their names in `config.yaml`.
    public var accounts: [String: Account]
    /// Name, then account, then the channel's id or unique name there.
    public var channels: [String: [String: String]]
    /// By their names in `config.yaml`, such as `moderator`.
    public var roles: [String: Role]
    /// Ban lists by the names that accounts give them: what is in them, and under which names.
    public var policies: PolicyLists
    /// The names of all ban lists, those included that nothing was read of yet.
    public var policyLists: Set<String>
    /// The accounts as they stand in the file; those that are not in it come after, by their names.
    public var order: [String]

    /// `channels`: name, then account, then the id or unique name there.
    public init(
        accounts: [String: Account] = [:], channels: [String: [String: String]] = [:],
        roles: [String: Role] = [:], policies: PolicyLists = PolicyLists(), policyLists: Set<String> = [],
        order: [String] = []
    ) {
        self.accounts = accounts
        self.order = order
        self.channels = channels
        self.roles = roles
        self.policies = policies
        self.policyLists = policyLists
    }

    /// An account on a chat service, as far as handlers may know of it: no addresses, no secrets.
    public struct Account: Sendable {
        /// `twilio`, `matrix`, …
        public var service: String
        /// What it can do. What it may do in a channel is not in here.
        public var abilities: Abilities
        /// The channels it joins, by id or unique name.
        public var joins: [String]

        /// `service` is the word behind `service:` in `config.yaml`.
        public init(service: String, abilities: Abilities, joins: [String]) {
            self.service = service
            self.abilities = abilities
            self.joins = joins
        }
    }

    /// Who has a role: by what services call it, or by being listed.
    public struct Role: Sendable {
        /// Account, then roles in the service's own words. One that ends with a number and a plus, such as `power 50+`,
        /// stands for all with the same word and at least that number.
        public var words: [String: Set<String>] { didSet { ranks = words.compactMapValues(Rank.all) } }
        private var ranks: [String: [Rank]]
        /// Single users, as account and user id.
        public var users: Set<String>

        /// `users` are written `account:user`.
        public init(words: [String: Set<String>] = [:], users: Set<String> = []) {
            self.words = words
            self.users = users
            ranks = words.compactMapValues(Rank.all)
        }

        func holds(_ member: Member, account: String) -> Bool {
            if let words = words[account], member.roles.contains(where: words.contains) { return true }
            // Most services have no numbers in their words.
            guard !ranks.isEmpty, let ranks = ranks[account] else { return false }
            return member.roles.contains { role in ranks.contains { $0.isReached(by: role) } }
        }
    }

    /// The accounts' names, in order.
    public var accountNames: [String] { inOrder(accounts.keys) }

    private func inOrder(_ names: some Sequence<String>) -> [String] {
        let places = Dictionary(order.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
        return names.sorted { (places[$0] ?? .max, $0) < (places[$1] ?? .max, $1) }
    }

    /// Every name a channel goes by: those from `channels:`, its unique name and its id, each also as `account:name`.
    public func names(of channel: Channel, account: String) -> [String] {
        var names = [channel.id.text, channel.uniqueName].compactMap(\.self)
        let own = names
        names += own.map { "\(account):\($0)" }
        for (name, places) in channels {
            if let place = places[account], own.contains(place) { names += [name, "\(account):\(name)"] }
        }
        return names
    }

    /// Where a name in a rule points to: one place in each account that has it; empty when nobody has.
    public func places(named name: String) -> [Place] {
        if let colon = name.firstIndex(of: ":"), accounts[String(name[..<colon])] != nil {
            let account = String(name[..<colon])
            let channel = String(name[name.index(after: colon)...])
            return [Place(account: account, channel: channels[channel]?[account] ?? channel)]
        }
        if let places = channels[name] {
            return inOrder(places.keys).map { Place(account: $0, channel: places[$0] ?? name) }
        }
        return inOrder(accounts.filter { $0.value.joins.contains(name) }.keys).map {
            Place(account: $0, channel: name)
        }
    }

    /// Whether the member has a role of that name, by the service's word for it or by being listed.
    public func hasRole(_ name: String, _ member: Member, account: String) -> Bool {
        guard let role = roles[name] else { return false }
        if role.holds(member, account: account) { return true }
        // Most roles list nobody by name; the text to look for is only made when one does.
        return !role.users.isEmpty && role.users.contains("\(account):\(member.user.text)")
    }
}

/// A word for all roles from a number on.
private struct Rank: Sendable {
    /// With the space behind it.
    let word: String
    let least: Int64

    /// Nil when the role is not such a word.
    init?(_ role: String) {
        guard role.hasSuffix("+"), let space = role.lastIndex(of: " "),
            let least = Int64(role[role.index(after: space)...].dropLast())
        else { return nil }
        word = String(role[...space])
        self.least = least
    }

    func isReached(by role: String) -> Bool {
        guard role.hasPrefix(word), let number = Int64(role.dropFirst(word.count)) else { return false }
        return number >= least
    }

    /// Nil when there is none among them.
    static func all(in roles: Set<String>) -> [Rank]? {
        let ranks = roles.compactMap(Rank.init)
        return ranks.isEmpty ? nil : ranks
    }
}
