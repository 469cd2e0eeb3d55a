package import Chat

/// An account of Twilio Conversations or Programmable Chat in `config.yaml`.
package struct TwilioSettings: ServiceSettings {
    /// Who we are there.
    package var identity: String
    package var token: TokenSettings
    /// The address of Twilsock; Twilio's own when not given.
    var endpoint: String?
    /// `us1` when not given.
    var region: String?
    /// `conversations` when not given, or `chat`.
    var product: Product?
    /// Told to the token server, so that it can tell our machines apart.
    var device: String?
    /// Channels to be in, by SID or unique name; created when missing.
    var join: [String]?
    /// Words for roles: name, then `RL…`.
    var roles: [String: String]?

    /// The two generations of Twilio's chat. Their servers are the same, some names differ.
    package enum Product: String, Sendable, Decodable { case conversations, chat }

    package init(
        identity: String, token: TokenSettings, endpoint: String? = nil, product: Product? = nil,
        join: [String] = [], roles: [String: String] = [:]
    ) {
        self.identity = identity
        self.token = token
        self.endpoint = endpoint
        self.product = product
        self.join = join
        self.roles = roles
    }

    package var joins: [String] { join ?? [] }

    package var abilities: Abilities { TwilioService.abilities }

    package func service(account: String, tools: ServiceTools) throws -> any ChatService {
        guard !identity.isEmpty, identity.count <= 256 else {
            throw SettingsError("identity has 1 to 256 characters")
        }
        for (name, sid) in roles ?? [:] where !sid.hasPrefix("RL") {
            throw SettingsError("roles: \"\(sid)\" of \"\(name)\" does not begin with RL")
        }
        if let endpoint, !endpoint.hasPrefix("ws://"), !endpoint.hasPrefix("wss://") {
            throw SettingsError("endpoint \"\(endpoint)\" does not begin with ws:// or wss://")
        }
        let source = try token.source(
            identity: identity, device: device, http: tools.http, clock: tools.clock)
        return TwilioService(account: account, settings: self, source: source, tools: tools)
    }

    // MARK: Where things are

    private var regionName: String { region ?? "us1" }

    var socketURL: String { endpoint ?? "wss://tsock.\(regionName).twilio.com/v3/wsconnect" }

    var syncURL: String { "https://cds.\(regionName).twilio.com" }

    var configurationURL: String {
        "https://aim.\(regionName).twilio.com/Client/\(isChat ? "v1" : "v2")/Configuration"
    }

    var isChat: Bool { product == .chat }

    /// Role SIDs in words: those that the built-in chat server always has, and the configured ones.
    var roleWords: [String: String] {
        var words = [
            "RL00000000000000000000000000000001": "service user",
            "RL00000000000000000000000000000002": "service admin",
            "RL00000000000000000000000000000003": "channel user",
            "RL00000000000000000000000000000004": "channel admin",
        ]
        for (name, sid) in roles ?? [:] { words[sid] = name }
        return words
    }
}
