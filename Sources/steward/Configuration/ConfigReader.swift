internal import Chat
internal import ChatServer
internal import FoundationEssentials
internal import Plugins
internal import Rules
internal import Services
internal import YAML

/// Reads `config.yaml`; every mistake with its place.
struct ConfigReader {
    private let document: YAMLDocument
    private let findings: NodeDecoder.Findings
    private let folder: String
    private let environment: [String: String]

    /// What becomes of references to secrets that lead nowhere.
    enum Secrecy {
        /// They are mistakes: whoever logs in needs what they stand for.
        case needed
        /// Whoever only looks gets along without, as another user and outside of systemd.
        case unneeded
    }

    static func read(
        file: String, environment: [String: String], secrets: Secrecy = .needed
    ) throws(ConfigError) -> Config {
        let bytes: [UInt8]
        do {
            bytes = Array(try Data(contentsOf: URL(filePath: file)))
        } catch {
            throw ConfigError(file: file, problem: "cannot be read: is it there, and may this user read it?")
        }
        return try read(bytes, file: file, environment: environment, secrets: secrets)
    }

    static func read(
        _ bytes: [UInt8], file: String, environment: [String: String], secrets need: Secrecy = .needed
    ) throws(ConfigError) -> Config {
        let document = YAMLDocument.read(bytes)
        let slash = file.lastIndex(of: "/")
        let folder = slash.map { $0 == file.startIndex ? "/" : String(file[..<$0]) } ?? "."
        let secrets = Secrets(environment: environment, folder: folder)
        let findings = NodeDecoder.Findings(
            folder: folder, mayBeUnread: need == .unneeded, resolve: secrets.resolve)
        for error in document.errors where !error.isWarning {
            findings.add(error.problem, at: error.place, hint: error.hint)
        }
        let reader = ConfigReader(
            document: document, findings: findings, folder: folder, environment: environment)
        let config = reader.config()
        guard findings.errors.isEmpty, let config else {
            throw ConfigError(file: file, mistakes: findings.errors, source: document.source)
        }
        return config
    }

    private static let keys = blocks.map(\.key)

    /// What cannot change while steward runs.
    private static let fixedKeys = ["server", "accounts", "require", "storage", "limits", "log", "report_to"]

    /// Described, and still to come.
    private static let unbuilt = ["http": "web hooks, health and metrics over HTTP"]

    private func config() -> Config? {
        guard let root = document.root, let entries = root.entries else {
            if findings.errors.isEmpty {
                findings.add("the file has no accounts", at: .start, hint: "begin with \"accounts:\"")
            }
            return nil
        }
        for entry in entries {
            guard let key = entry.key.text, !Self.keys.contains(key) else { continue }
            if let what = Self.unbuilt[key] {
                findings.add(
                    "\"\(key)\" (\(what)) is not built yet", at: entry.key.place, hint: "delete it for now")
                continue
            }
            let near = Suggestion.nearest(to: key, among: Self.keys)
            findings.add(
                "unknown key \"\(key)\"", at: entry.key.place,
                hint: near.map { "did you mean \"\($0)\"?" }
                    ?? "known here: \(Self.keys.joined(separator: ", "))")
        }
        let storage = block(Config.StorageBlock.self, "storage", in: root)
        let accounts = accounts(root)
        // A broken account is still a name, or each mention of it would be a second mistake.
        let names = Set((root["accounts"]?.entries ?? []).compactMap(\.key.text))
        let config = Config(
            folder: folder, stateFolder: stateFolder, server: server(root),
            accounts: accounts,
            require: required(root, names),
            store: storage?.file, keepEvents: storage?.keep_events,
            keepEvidence: storage?.keep_evidence ?? EvidenceKey.usualKeep, storageKey: storage?.key?.secret,
            unreadKey: unreadKey(root),
            limits: limits(root),
            reportTo: block(String.self, "report_to", in: root),
            plugins: plugins(root),
            bots: block(String.self, "bots", in: root) ?? "bots",
            logLevel: level(block(Config.LogBlock.self, "log", in: root)?.level),
            channels: channels(root, names),
            roles: roles(root, names, accounts),
            fixed: Dictionary(
                uniqueKeysWithValues: Self.fixedKeys.compactMap { key in root[key].map { (key, $0.outline) } }
            ))
        if let server = config.server { checkApplications(of: accounts, on: server, in: root) }
        if let name = config.reportTo, config.directory.places(named: name).isEmpty, !accounts.isEmpty {
            addOnce(
                "unknown channel \"\(name)\"", at: root["report_to"]?.place ?? root.place,
                hint: "name it under \"channels:\", or let an account join it")
        }
        return config
    }

    private func block<Block: Decodable>(_ type: Block.Type, _ key: String, in root: YAMLNode) -> Block? {
        guard let node = root[key] else { return nil }
        guard !node.isEmpty else {
            findings.add("\"\(key)\" has no value", at: node.place, hint: "give it one, or delete the line")
            return nil
        }
        return NodeDecoder.read(type, from: node, findings: findings)
    }

    /// Why the key of the store is not there, though it is wanted.
    private func unreadKey(_ root: YAMLNode) -> String? {
        guard let place = root["storage"]?["key"]?.place,
            let mistake = findings.unread.first(where: { $0.place == place })
        else { return nil }
        return mistake.problem + (mistake.hint.map { " - \($0)" } ?? "")
    }

    /// The first that systemd names, if it does.
    private var stateFolder: String {
        environment["STATE_DIRECTORY"]?.split(separator: ":").first.map(String.init) ?? folder
    }

    private func server(_ root: YAMLNode) -> Config.ServerBlock? {
        guard let block = block(Config.ServerBlock.self, "server", in: root), let node = root["server"] else {
            return nil
        }
        atLeast(1, block.keep, "keep", in: node)
        do {
            let settings = try ServerCommand.settings(listen: block.listen ?? ServerCommand.usualAddress)
            if !ChatServer.isLoopback(settings.host), node["secret"] == nil {
                findings.add(
                    "\"secret\" is missing: whoever reaches \(settings.host) would get a token",
                    at: node["listen"]?.place ?? node.place,
                    hint: "write secret: ${env:NAME}, or listen on \(ServerCommand.usualAddress)")
            }
        } catch {
            findings.add("\(error)", at: node["listen"]?.place ?? node.place)
        }
        return block
    }

    /// Accounts on the built-in server come to its own application.
    private func checkApplications(
        of accounts: [Config.Account], on server: Config.ServerBlock, in root: YAMLNode
    ) {
        guard let app = server.app,
            let own = try? ServerCommand.settings(listen: server.listen ?? ServerCommand.usualAddress)
        else { return }
        for account in accounts {
            guard let settings = account.settings as? Services.SendbirdSettings,
                let there = settings.ownHost.flatMap({ try? ServerCommand.settings(listen: $0) }),
                there.port == own.port,
                there.host == own.host
                    || ChatServer.isLoopback(there.host)
                        && (ChatServer.isLoopback(own.host) || ["0.0.0.0", "::"].contains(own.host)),
                settings.app.lowercased() != app.lowercased(),
                let node = root["accounts"]?[account.name]?["app"]
            else { continue }
            addOnce(
                "\"\(settings.app)\" is not the application of the server here", at: node.place,
                hint: "write app: \(app), as \"server\" has it")
        }
    }

    private func limits(_ root: YAMLNode) -> Config.LimitsBlock {
        guard let limits = block(Config.LimitsBlock.self, "limits", in: root), let node = root["limits"]
        else {
            return .init()
        }
        atLeast(1, limits.answers_per_event, "answers_per_event", in: node)
        atLeast(1, limits.behind, "behind", in: node)
        for (key, text) in [("bans", limits.bans), ("kicks", limits.kicks)] {
            guard text?.isPerChannel == true, let value = node[key] else { continue }
            addOnce("\"\(key)\" are counted for the account, not per channel", at: value.place)
        }
        if limits.deletions?.isPerChannel == false, let value = node["deletions"] {
            addOnce(
                "\"deletions\" are counted per channel", at: value.place,
                hint: "write \"\(value.text ?? "200 per 1m") per channel\"")
        }
        if let after = limits.stale_after, after <= .zero, let value = node["stale_after"] {
            addOnce("\"stale_after\" must be longer than nothing", at: value.place, hint: "10m unless given")
        }
        return limits
    }

    private func atLeast(_ least: Int, _ number: Int?, _ key: String, in node: YAMLNode) {
        guard let number, number < least, let value = node[key] else { return }
        addOnce("\"\(key)\" must be at least \(least)", at: value.place)
    }

    /// Unless something was said of that place: the value looked at is a stand-in then.
    private func addOnce(_ problem: String, at place: YAMLPlace, hint: String? = nil, isSecret: Bool = false)
    {
        guard !findings.errors.contains(where: { $0.place == place }) else { return }
        findings.add(problem, at: place, hint: hint, isSecret: isSecret)
    }

    private func level(_ level: Config.LogBlock.Level?) -> Log.Level {
        switch level {
        case .debug: .debug
        case .info, nil: .info
        case .warning: .warning
        case .error: .error
        }
    }

    private func accounts(_ root: YAMLNode) -> [Config.Account] {
        guard let node = root["accounts"] else {
            findings.add("\"accounts\" is missing", at: root.place, hint: "name at least one account")
            return []
        }
        guard let entries = mapping(node, "accounts") else { return [] }
        if entries.isEmpty {
            findings.add("\"accounts\" is empty", at: node.place, hint: "name at least one")
        }
        return entries.compactMap { name, value in
            guard let service = value["service"] else {
                if mapping(value, "the account \"\(name)\"") != nil {
                    findings.add("\"service\" is missing", at: value.place, hint: "write \"service: twilio\"")
                }
                return nil
            }
            let known = ServiceCatalog.services.keys.sorted()
            guard let type = ServiceCatalog.services[service.text ?? ""] else {
                let near = Suggestion.nearest(to: service.text ?? "", among: known)
                let isUnbuilt = ServiceCatalog.unbuilt.contains(service.text ?? "")
                findings.add(
                    isUnbuilt
                        ? "the service \"\(service.text ?? "")\" is not built yet"
                        : "unknown service \"\(service.text ?? "")\"", at: service.place,
                    hint: near.map { "did you mean \"\($0)\"?" } ?? "known: \(known.joined(separator: ", "))")
                return nil
            }
            var rest = value
            rest.kind = .mapping((value.entries ?? []).filter { $0.key.text != "service" })
            return NodeDecoder.read(type, from: rest, findings: findings).map { settings in
                for finding in settings.findings { add(finding, of: rest) }
                return Config.Account(name: name, service: service.text ?? "", settings: settings)
            }
        }
    }

    /// What only the service could see, at its place.
    private func add(_ finding: SettingsFinding, of account: YAMLNode) {
        var node = account
        for step in finding.path {
            let item = Int(step).flatMap { number in
                node.items.flatMap { $0.indices.contains(number) ? $0[number] : nil }
            }
            // What is missing was said already.
            guard let next = node[step] ?? item else { return }
            node = next
        }
        let written = node.text ?? ""
        if finding.isAboutSecret {
            guard !written.contains("${") else { return }
            addOnce(
                "\"\(finding.path.last ?? "")\" \(finding.problem)", at: node.place, hint: finding.hint,
                isSecret: true)
        } else {
            let shown =
                node.text == nil ? "this" : written.isEmpty ? "an empty value" : "\"\(written.prefix(60))\""
            addOnce("\(shown) \(finding.problem)", at: node.place, hint: finding.hint)
        }
    }

    private func plugins(_ root: YAMLNode) -> [any Plugin] {
        guard let node = root["plugins"], let entries = mapping(node, "plugins") else { return [] }
        return entries.compactMap { name, value in
            let unbuilt = value.entries?.filter { ["program", "may"].contains($0.key.text) } ?? []
            if let first = unbuilt.first {
                findings.add("plugins in another program are not built yet", at: first.key.place)
                return nil
            }
            guard let type = PluginCatalog.plugins[name] else {
                let known = PluginCatalog.plugins.keys.sorted()
                let near = Suggestion.nearest(to: name, among: known)
                findings.add(
                    "unknown plugin \"\(name)\"", at: place(of: name, in: node),
                    hint: near.map { "did you mean \"\($0)\"?" }
                        ?? "linked in: \(known.joined(separator: ", "))")
                return nil
            }
            for entry in mapping(value, "the plugin \"\(name)\"") ?? [] where entry.0 != "settings" {
                findings.add(
                    "unknown key \"\(entry.0)\"", at: place(of: entry.0, in: value),
                    hint: "known here: settings")
            }
            let empty = YAMLNode(.mapping([]), at: value.place, to: value.end)
            return make(type, from: value["settings"].flatMap { $0.isEmpty ? nil : $0 } ?? empty)
        }
    }

    private func make<Made: Plugin>(_ type: Made.Type, from node: YAMLNode) -> (any Plugin)? {
        guard let settings = NodeDecoder.read(Made.Settings.self, from: node, findings: findings) else {
            return nil
        }
        do {
            return try Made(settings: settings)
        } catch {
            findings.add("\(error)", at: node.place)
            return nil
        }
    }

    private func required(_ root: YAMLNode, _ names: Set<String>) -> Set<String> {
        guard let node = root["require"] else { return names }
        for item in node.items ?? [] where !names.contains(item.text ?? "") { unknownAccount(item, names) }
        return Set(block([String].self, "require", in: root) ?? [])
    }

    private func channels(_ root: YAMLNode, _ names: Set<String>) -> [String: [String: String]] {
        guard let node = root["channels"], let entries = mapping(node, "channels") else { return [:] }
        for (_, value) in entries { checkAccounts(value, names) }
        return block([String: [String: String]].self, "channels", in: root) ?? [:]
    }

    private func roles(
        _ root: YAMLNode, _ names: Set<String>, _ accounts: [Config.Account]
    ) -> [String: Config.RoleBlock] {
        guard let node = root["roles"], let entries = mapping(node, "roles") else { return [:] }
        for (_, value) in entries {
            checkAccounts(value, names.union(["users"]))
            for user in value["users"]?.items ?? [] { checkUser(user, names) }
            for account in accounts {
                guard let word = value[account.name] else { continue }
                for node in word.items ?? [word] {
                    guard let text = node.text, let way = account.settings.problem(withRole: text) else {
                        continue
                    }
                    findings.add("\"\(text)\" is no role of \(account.name)", at: node.place, hint: way)
                }
            }
        }
        return block([String: Config.RoleBlock].self, "roles", in: root) ?? [:]
    }

    private func checkUser(_ node: YAMLNode, _ names: Set<String>) {
        guard let text = node.text, !text.isEmpty, !text.contains("${"),
            !names.contains(where: { text.hasPrefix($0 + ":") })
        else { return }
        let account = names.sorted().first ?? "account"
        findings.add(
            "\"\(text)\" does not say in which account", at: node.place,
            hint: "write \"\(account):\(text.split(separator: ":").last ?? "")\"")
    }

    private func checkAccounts(_ node: YAMLNode, _ names: Set<String>) {
        for entry in node.entries ?? [] where !names.contains(entry.key.text ?? "") {
            unknownAccount(entry.key, names)
        }
    }

    private func unknownAccount(_ node: YAMLNode, _ names: Set<String>) {
        let near = Suggestion.nearest(to: node.text ?? "", among: names.sorted())
        findings.add(
            "unknown account \"\(node.text ?? "")\"", at: node.place,
            hint: near.map { "did you mean \"\($0)\"?" }
                ?? "accounts here: \(names.sorted().joined(separator: ", "))")
    }

    /// The entries of a mapping that must be one.
    private func mapping(_ node: YAMLNode, _ what: String) -> [(String, YAMLNode)]? {
        guard let entries = node.entries else {
            if !node.isUnreadable {
                findings.add(
                    "\(what) must be a mapping", at: node.place, hint: "write \"name: …\" lines below it")
            }
            return nil
        }
        return entries.compactMap { entry in entry.key.text.map { ($0, entry.value) } }
    }

    private func place(of key: String, in node: YAMLNode) -> YAMLPlace {
        node.entries?.first { $0.key.text == key }?.key.place ?? node.place
    }
}
