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
    /// Who is a program: identities, with `*` for any text, and role SIDs. Twilio itself does not say.
    var bots: [String]?

    /// The two generations of Twilio's chat. Their servers are the same, some names differ.
    package enum Product: String, Sendable, Decodable, CaseIterable { case conversations, chat }

    package init(
        identity: String, token: TokenSettings, endpoint: String? = nil, product: Product? = nil,
        join: [String] = [], roles: [String: String] = [:], bots: [String] = []
    ) {
        self.identity = identity
        self.token = token
        self.endpoint = endpoint
        self.product = product
        self.join = join
        self.roles = roles
        self.bots = bots
    }

    package var joins: [String] { join ?? [] }

    package var abilities: Abilities { TwilioService.abilities }

    /// Members have their roles by SID, and by word where that is known; no other word is ever theirs.
    package func problem(withRole word: String) -> String? {
        if let known = roleWords[word] { return "write \"\(known)\", which it is called here" }
        let words = Set(roleWords.values)
        if words.contains(word) || word.hasPrefix("RL") { return nil }
        let list = words.sorted().map { "\"\($0)\"" }.joined(separator: ", ")
        return
            "write \(list) or a role's SID; a word of your own needs its SID under \"roles\" of the account"
    }

    package var hasOwnEndpoint: Bool { endpoint != nil }

    package func service(account: String, tools: ServiceTools) throws -> any ChatService {
        if let finding = findings.first(where: { !$0.isAboutSecret }) { throw SettingsError(finding) }
        let source = token.source(identity: identity, device: device, http: tools.http, clock: tools.clock)
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
            "RL5e511ce0000000000000000000000001": "service user",
            "RL5e511ce00000000000000000000000ad": "service admin",
            "RLc4a44e10000000000000000000000001": "channel user",
            "RLc4a44e100000000000000000000000ad": "channel admin",
        ]
        for (name, sid) in roles ?? [:] { words[sid] = name }
        return words
    }
}

extension TwilioSettings {
    package var findings: [SettingsFinding] {
        var findings = [SettingsFinding.name(identity, ["identity"])].compactMap(\.self)
        findings += token.findings.map { $0.below("token") }
        findings += [endpoint.flatMap { .endpoint($0, path: "/v3/wsconnect") }].compactMap(\.self)
        if let region, region.isEmpty || !region.allSatisfy(\.isHostLetter) {
            findings.append(
                SettingsFinding(
                    ["region"], "is not a region", hint: "it is a part of host names, such as us1"))
        }
        findings += SettingsFinding.names(join, "join")
        for (name, sid) in (roles ?? [:]).sorted(by: { $0.key < $1.key }) where !sid.hasPrefix("RL") {
            findings.append(
                SettingsFinding(
                    ["roles", name], "does not begin with RL",
                    hint: "it is the role's SID; the words for rules stand in \"roles:\" of the file"))
        }
        return findings + SettingsFinding.names(bots, "bots")
    }
}
