internal import Chat
internal import HTTP

/// `token:` of an account in `config.yaml`: where its tokens come from.
package enum TokenSettings: Sendable, Decodable {
    case url(URLTokenSource.Settings)
    case command([String])
    case file(String)
    case sign(Signing)

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

    private enum Key: String, CodingKey {
        case url, command, file, sign
        case method, fields, headers, body, field
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        let sources = [Key.url, .command, .file, .sign].filter { container.contains($0) }
        guard let source = sources.first, sources.count == 1 else {
            throw DecodingError.dataCorrupted(
                .init(
                    codingPath: container.codingPath,
                    debugDescription: "a token needs one of \"url\", \"command\", \"file\" and \"sign\""))
        }
        switch source {
        case .command:
            if let words = try? container.decode([String].self, forKey: .command) {
                self = .command(words)
            } else {
                self = .command(["/bin/sh", "-c", try container.decode(String.self, forKey: .command)])
            }
        case .file: self = .file(try container.decode(String.self, forKey: .file))
        case .sign: self = .sign(try container.decode(Signing.self, forKey: .sign))
        default: self = .url(try URLTokenSource.Settings(from: decoder))
        }
    }

    /// The source; throws what is wrong with the settings, in words.
    func source(
        identity: String, device: String?, http: HTTPClient, clock: ServiceClock
    ) throws -> any TokenSource {
        switch self {
        case .url(let settings):
            return URLTokenSource(settings, identity: identity, device: device, http: http)
        case .command(let command):
            guard command.first?.isEmpty == false else { throw SettingsError("token: there is no command") }
            return CommandTokenSource(command: command)
        case .file(let path):
            return FileTokenSource(path: path, clock: clock)
        case .sign(let signing):
            for (name, value, prefix) in [
                ("account", signing.account, "AC"), ("key", signing.key, "SK"),
                ("service", signing.service, "IS"),
            ] where !value.hasPrefix(prefix) {
                throw SettingsError("token: \(name) \"\(value)\" does not begin with \(prefix)")
            }
            let life = signing.life ?? .seconds(3600)
            guard life >= .seconds(1), life <= .seconds(86_400) else {
                throw SettingsError("token: life is at least 1s and at most 24h")
            }
            return SignedTokenSource(
                account: signing.account, key: signing.key, secret: signing.secret.reveal(),
                service: signing.service, identity: identity, life: life, clock: clock)
        }
    }
}

/// Settings that can be read but not used.
package struct SettingsError: Error, Equatable, CustomStringConvertible {
    package let description: String

    init(_ description: String) {
        self.description = description
    }
}
