internal import Chat
internal import Services

extension Config {
    /// The configuration when none is named.
    static let usualFile = "config.yaml"

    /// Where the bots' files are.
    var botsFolder: String {
        let name = bots.hasSuffix("/") ? String(bots.dropLast()) : bots
        return name.hasPrefix("/") || folder == "." ? name : "\(folder)/\(name)"
    }

    /// The path of a store, which systemd may want elsewhere than the configuration.
    func statePath(_ path: String) -> String {
        path.hasPrefix("/") || stateFolder == "." ? path : "\(stateFolder)/\(path)"
    }

    /// Where services keep their log-ins: beside the store. Nil where nothing is kept.
    var stateFolderOfServices: String? {
        guard let path = store.map(statePath) else { return nil }
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// Who has a role by name in an account that may be on the built-in server.
    var namesWithRoles: Set<String> {
        let prefixes = accounts.filter(\.settings.hasOwnEndpoint).map { $0.name + ":" }
        let users = roles.values.reduce(into: Set<String>()) { $0.formUnion($1.users) }
        return Set(
            prefixes.flatMap { prefix in
                users.compactMap { $0.hasPrefix(prefix) ? String($0.dropFirst(prefix.count)) : nil }
            })
    }

    /// The names for rules. The roles `moderator` and `admin` are there in any case.
    var directory: Directory {
        let accounts = Dictionary(
            uniqueKeysWithValues: accounts.map { account in
                let settings = account.settings
                return (
                    account.name,
                    Directory.Account(
                        service: account.service, abilities: settings.abilities, joins: settings.joins)
                )
            })
        var roles = roles.mapValues { Directory.Role(words: $0.words, users: $0.users) }
        for name in ["moderator", "admin"] where roles[name] == nil {
            let words = self.accounts.map { ($0.name, $0.settings.usualRoles[name] ?? []) }
            roles[name] = Directory.Role(words: Dictionary(uniqueKeysWithValues: words))
        }
        let lists = self.accounts.flatMap(\.settings.policyLists)
        return Directory(
            accounts: accounts, channels: channels, roles: roles, policies: policies, policyLists: Set(lists),
            order: self.accounts.map(\.name))
    }
}
