internal import Chat
internal import HTTP

/// `token:` of an account in `config.yaml`: where its tokens come from.
package enum TokenSettings: Sendable, Decodable, StandIn {
    case url(URLTokenSource.Settings)
    case command(SettingsCommand)
    case file(SettingsPath)
    case sign(Signing)

    package static let standIn = TokenSettings.command(SettingsCommand(words: ["true"]))

    /// Tokens that we sign ourselves.
    package struct Signing: Sendable, Decodable {
        /// `AC…`
        var account: String
        /// `SK…`
        var key: String
        var secret: Secret
        /// `IS…`
        var service: String
        /// One hour when not given, a day at most.
        var life: Duration?
    }

    private enum Key: String, CodingKey, CaseIterable {
        case url, command, file, sign
        case method, fields, headers, body, field
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        let sources = [Key.url, .command, .file, .sign].filter { container.contains($0) }
        guard let source = sources.first, sources.count == 1 else {
            // Asked for, so that none of them is taken for an unknown key.
            _ = Key.allCases.filter { container.contains($0) }
            let names = sources.map { "\"\($0.rawValue)\"" }.joined(separator: " and ")
            throw SettingsError(
                sources.isEmpty
                    ? "it is not said where the token comes from - write one of url, command, file and sign"
                    : "a token comes from one place, and here are \(names) - delete all but one")
        }
        switch source {
        case .command: self = .command(try container.decode(SettingsCommand.self, forKey: .command))
        case .file: self = .file(try container.decode(SettingsPath.self, forKey: .file))
        case .sign: self = .sign(try container.decode(Signing.self, forKey: .sign))
        default: self = .url(try URLTokenSource.Settings(from: decoder))
        }
    }

    /// What is wrong with them, all of it.
    var findings: [SettingsFinding] {
        switch self {
        case .url(let settings): settings.findings
        case .command(let command):
            command.words.first?.isEmpty ?? true
                ? [SettingsFinding(["command"], "names no program", hint: "write [PROGRAM, ARGUMENT, …]")]
                : []
        case .file(let path):
            path.text.isEmpty ? [SettingsFinding(["file"], "names no file", hint: "write its path")] : []
        case .sign(let signing): signing.findings.map { $0.below("sign") }
        }
    }

    /// The source; the settings have to be without findings.
    func source(
        identity: String, device: String?, http: HTTPClient, clock: ServiceClock
    ) -> any TokenSource {
        switch self {
        case .url(let settings):
            URLTokenSource(settings, identity: identity, device: device, http: http)
        case .command(let command): CommandTokenSource(command: command.words)
        case .file(let path): FileTokenSource(path: path.text, clock: clock)
        case .sign(let signing):
            SignedTokenSource(
                account: signing.account, key: signing.key, secret: signing.secret.reveal(),
                service: signing.service, identity: identity, life: signing.life ?? .seconds(3600),
                clock: clock)
        }
    }
}

extension TokenSettings.Signing {
    fileprivate var findings: [SettingsFinding] {
        var findings = [
            ("account", account, "AC", "the account's SID"), ("key", key, "SK", "the API key's SID"),
            ("service", service, "IS", "the chat service's SID"),
        ].filter { !$0.1.hasPrefix($0.2) }.map { name, _, prefix, what in
            SettingsFinding([name], "does not begin with \(prefix)", hint: "it is \(what)")
        }
        if let life, life < .seconds(1) || life > .seconds(86_400) {
            findings.append(
                SettingsFinding(["life"], "is no life for a token", hint: "at least 1s, at most 24h"))
        }
        return findings
    }
}
