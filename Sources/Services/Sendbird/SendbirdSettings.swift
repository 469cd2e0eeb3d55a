package import Chat
internal import HTTP

/// An account of Sendbird Chat in `config.yaml`.
package struct SendbirdSettings: ServiceSettings {
    /// The application's id.
    package var app: String
    /// Who we are there.
    package var user: String
    /// Nil: tokens of `session`, or none.
    var token: SendbirdToken?
    /// How long the session tokens live that the Platform API gives us; a day when not given.
    var session: Duration?
    /// Of the Platform API: moderation where we are no operator, and session tokens.
    var apiToken: Secret?
    /// The address of the socket; Sendbird's own when not given. Requests go to the same host.
    var endpoint: String?
    /// Channels to be in, by their URLs; created as open channels when missing.
    var join: [String]?
    /// Who is a program: user ids, with `*` for any text. Sendbird itself does not say.
    var bots: [String]?

    enum CodingKeys: String, CodingKey, CaseIterable {
        case app, user, token, session, apiToken = "api_token", endpoint, join, bots
    }

    package init(
        app: String, user: String, token: SendbirdToken? = nil, session: Duration? = nil,
        apiToken: Secret? = nil, endpoint: String? = nil, join: [String] = [], bots: [String] = []
    ) {
        self.app = app
        self.user = user
        self.token = token
        self.session = session
        self.apiToken = apiToken
        self.endpoint = endpoint
        self.join = join
        self.bots = bots
    }

    package var joins: [String] { join ?? [] }

    package var abilities: Abilities { SendbirdService.abilities }

    package var usualRoles: [String: Set<String>] { ["moderator": ["operator"], "admin": ["operator"]] }

    package func problem(withRole word: String) -> String? {
        word == "operator" ? nil : "write \"operator\": Sendbird knows no other role"
    }

    package var hasOwnEndpoint: Bool { endpoint != nil }

    package func service(account: String, tools: ServiceTools) throws -> any ChatService {
        if let finding = findings.first(where: { !$0.isAboutSecret }) { throw SettingsError(finding) }
        return SendbirdService(account: account, settings: self, source: source(tools), tools: tools)
    }

    func source(_ tools: ServiceTools) -> any TokenSource {
        switch token {
        case .fixed(let secret):
            FixedTokenSource(
                token: secret, remedy: "the configured token is not good, write another and start again")
        case .from(let settings):
            settings.source(identity: user, device: nil, http: tools.http, clock: tools.clock)
        case nil:
            if let apiToken {
                SessionTokenSource(
                    address: requestAddress, user: user, key: apiToken, life: session ?? .seconds(86_400),
                    http: tools.http, clock: tools.clock)
            } else {
                FixedTokenSource(
                    token: Secret(""),
                    remedy: "the name \"\(user)\" alone will not do, it is kept back or a token is wanted; "
                        + "write \(usualToken) and start again")
            }
        }
    }

    private var usualToken: String {
        hasOwnEndpoint ? "token: {url: \"\(requestAddress)/token\"}" : "token or api_token"
    }

    // MARK: Where things are

    var socketAddress: String { bare(endpoint) ?? "wss://ws-\(app.lowercased()).sendbird.com" }

    var requestAddress: String {
        guard let address = bare(endpoint) else { return "https://api-\(app.lowercased()).sendbird.com" }
        // ws is to http as wss is to https.
        return address.hasPrefix("ws") ? "http" + address.dropFirst(2) : address
    }

    /// Host and port of `endpoint`; nil without one.
    package var ownHost: String? {
        let parts = endpoint?.split(separator: "/") ?? []
        return parts.count > 1 ? String(parts[1]) : nil
    }

    private func bare(_ address: String?) -> String? {
        address.map { $0.hasSuffix("/") ? String($0.dropLast()) : $0 }
    }
}

/// `token:` of a Sendbird account: the token itself, as a reference, or where it comes from.
package enum SendbirdToken: Sendable, Decodable, StandIn {
    case fixed(Secret)
    case from(TokenSettings)

    package static let standIn = SendbirdToken.fixed(Secret("-"))

    package init(from decoder: any Decoder) throws {
        if CodingUserInfoKey.isText.flatMap({ decoder.userInfo[$0] as? Bool }) == true {
            self = .fixed(try decoder.singleValueContainer().decode(Secret.self))
        } else {
            self = .from(try TokenSettings(from: decoder))
        }
    }
}

extension SendbirdSettings {
    package var findings: [SettingsFinding] {
        var findings: [SettingsFinding] = []
        if app.isEmpty || !app.allSatisfy(\.isHostLetter) {
            findings.append(
                SettingsFinding(
                    ["app"], "is not an application id",
                    hint: "it stands in Sendbird's dashboard: letters, digits and hyphens"))
        } else if endpoint == nil, app.count != 36 || !app.allSatisfy({ $0.isHexDigit || $0 == "-" }) {
            findings.append(
                SettingsFinding(
                    ["app"], "is not an application id of Sendbird",
                    hint: "it stands in its dashboard: 32 hex digits in five groups with hyphens"))
        }
        findings += [SettingsFinding.name(user, ["user"], most: 80)].compactMap(\.self)
        if case .from(let settings) = token {
            findings += settings.findings.map { $0.below("token") }
            if case .sign = settings {
                findings.append(
                    SettingsFinding(
                        ["token", "sign"], "makes tokens for Twilio",
                        hint: "write api_token, and Sendbird's Platform API gives session tokens"))
            }
        }
        if let session {
            if apiToken == nil {
                findings.append(
                    SettingsFinding(
                        ["session"], "needs api_token", hint: "session tokens come from the Platform API"))
            } else if token != nil {
                findings.append(
                    SettingsFinding(
                        ["session"], "is of no use beside token", hint: "delete one of the two"))
            } else if session < .seconds(60) || session > .seconds(86_400 * 365) {
                findings.append(
                    SettingsFinding(
                        ["session"], "is no life for a session token", hint: "at least 1m, at most 365d"))
            }
        }
        findings += [endpointFinding].compactMap(\.self)
        findings += SettingsFinding.names(join, "join", most: 100)
        return findings + SettingsFinding.names(bots, "bots", most: 80)
    }

    private var endpointFinding: SettingsFinding? {
        guard let endpoint else { return nil }
        if let finding = SettingsFinding.endpoint(endpoint) { return finding }
        guard endpoint.contains(where: { "?#".contains($0) }) else { return nil }
        let address = endpoint.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false).prefix(3)
        return SettingsFinding(
            ["endpoint"], "has more than an address", hint: "write \(address.joined(separator: "/"))")
    }
}
