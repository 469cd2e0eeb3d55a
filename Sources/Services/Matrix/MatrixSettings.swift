package import Chat

/// An account on a Matrix homeserver in `config.yaml`.
package struct MatrixSettings: ServiceSettings {
    /// Its URL, or the name of a server that says where it is.
    package var homeserver: String
    package var login: Login
    /// The id of our device, which stays the same over restarts.
    var device: String?
    /// What people see our device called.
    var deviceName: String?
    /// Rooms to be in, by id or alias; created when missing.
    var join: [String]?
    /// Whose invitations are accepted: user ids, with `*` for any text.
    var invites: [String]?
    /// Who is a program: user ids, with `*` for any text.
    var bots: [String]?
    /// Ban lists to be read: what rules call them, and the room of each by id or alias.
    var policies: [String: String]?
    /// Answers go out as notices unless this is false.
    var sendNotices: Bool?
    /// Whether notices of others are answered.
    var readNotices: Bool?
    /// Whether typing is listened to.
    var typing: Bool?
    /// Whether read receipts are listened to.
    var receipts: Bool?

    enum CodingKeys: String, CodingKey {
        case homeserver, login, device, join, invites, bots, policies, typing, receipts
        case deviceName = "device_name"
        case sendNotices = "send_notices"
        case readNotices = "read_notices"
    }

    /// How we log in.
    package struct Login: Sendable, Decodable {
        /// The user's id or the part of it before the colon.
        var user: String?
        var password: Secret?
        /// An access token that was got elsewhere, with its refresh token if it has one.
        var token: Secret?
        var refreshToken: Secret?
        /// The token of an application service, which logs in for its user.
        var applicationService: Secret?

        enum CodingKeys: String, CodingKey {
            case user, password, token
            case refreshToken = "refresh_token"
            case applicationService = "application_service"
        }

        package init(
            user: String? = nil, password: Secret? = nil, token: Secret? = nil, refreshToken: Secret? = nil,
            applicationService: Secret? = nil
        ) {
            self.user = user
            self.password = password
            self.token = token
            self.refreshToken = refreshToken
            self.applicationService = applicationService
        }
    }

    package init(
        homeserver: String, login: Login, device: String? = nil, join: [String] = [], invites: [String] = [],
        bots: [String] = [], policies: [String: String] = [:], sendNotices: Bool = true,
        readNotices: Bool = false,
        typing: Bool = false, receipts: Bool = false
    ) {
        self.homeserver = homeserver
        self.login = login
        self.device = device
        self.join = join
        self.invites = invites
        self.bots = bots
        self.policies = policies
        self.sendNotices = sendNotices
        self.readNotices = readNotices
        self.typing = typing
        self.receipts = receipts
    }

    package var joins: [String] { join ?? [] }

    package var policyLists: [String] { (policies ?? [:]).keys.sorted() }

    package var hasOwnEndpoint: Bool { false }

    package var usualRoles: [String: Set<String>] { ["moderator": ["power 50+"], "admin": ["power 100+"]] }

    package func problem(withRole word: String) -> String? {
        if word == "creator" { return nil }
        let number = word.hasPrefix("power ") ? word.dropFirst("power ".count) : ""
        let isNumber = Int64(number.hasSuffix("+") ? number.dropLast() : number) != nil
        return isNumber ? nil : "write \"power 50+\", \"power 50\" or \"creator\""
    }

    package var abilities: Abilities {
        var abilities = MatrixService.abilities
        if typing == true { abilities.events.formUnion([.typingStarted, .typingEnded]) }
        if receipts == true { abilities.events.insert(.readHorizonMoved) }
        return abilities
    }

    package func service(account: String, tools: ServiceTools) throws -> any ChatService {
        // An address is shown in errors, wherever the password in it comes from.
        if let finding = findings.first(where: { !$0.isAboutSecret || $0.path == ["homeserver"] }) {
            throw SettingsError(finding)
        }
        return MatrixService(account: account, settings: self, tools: tools)
    }
}

extension MatrixSettings {
    package var findings: [SettingsFinding] {
        var findings: [SettingsFinding] = []
        if let finding = addressFinding { findings.append(finding) }
        findings += login.findings.map { $0.below("login") }
        if let device, device.isEmpty || device.utf8.count > 200 {
            findings.append(SettingsFinding(["device"], "has not 1 to 200 bytes"))
        }
        let rooms =
            joins.enumerated().map { (["join", "\($0)"], $1) }
            + (policies ?? [:]).sorted { $0.key < $1.key }.map { (["policies", $0], $1) }
        for (path, name) in rooms where !Self.isRoom(name) {
            findings.append(
                SettingsFinding(
                    path, "is no room",
                    hint: "write its alias, as in \"#lobby:example.org\", or its id, which begins with \"!\"")
            )
        }
        for (number, name) in joins.enumerated() where joins[..<number].contains(name) {
            findings.append(
                SettingsFinding(["join", "\(number)"], "is named twice", hint: "leave one of the two out"))
        }
        for (key, names) in [("invites", invites ?? []), ("bots", bots ?? [])] {
            for (number, name) in names.enumerated() where !name.hasPrefix("@") && !name.hasPrefix("*") {
                findings.append(
                    SettingsFinding(
                        [key, "\(number)"], "is no user",
                        hint:
                            "write a user id, as in \"@ana:example.org\", or \"@*:example.org\" for all of a server"
                    ))
            }
        }
        return findings
    }

    private var addressFinding: SettingsFinding? {
        let hint = "write a URL, as in https://matrix.example.org, or the server's name"
        let only = "write only the address, as in https://matrix.example.org"
        let scheme = homeserver.firstRange(of: "://")
        let rest = scheme.map { homeserver[$0.upperBound...] } ?? homeserver[...]
        let host = rest.prefix { !"/?#".contains($0) }
        // A password may have any letter in it.
        if rest.contains("@") {
            return SettingsFinding(
                ["homeserver"], "has a user or a password in it",
                hint: "\(only); who logs in stands under \"login\"",
                isAboutSecret: true)
        }
        if let scheme, !["http", "https"].contains(homeserver[..<scheme.lowerBound]) {
            return SettingsFinding(["homeserver"], "does not begin with https:// or http://", hint: hint)
        }
        if host.isEmpty || rest.contains(" ") {
            return SettingsFinding(["homeserver"], "names no server", hint: hint)
        }
        let path = rest[host.endIndex...]
        // A homeserver may be below another path, and what the protocol adds is always the same.
        if path.contains("/_matrix") || path.contains("?") || path.contains("#")
            || (scheme == nil && !path.isEmpty)
        {
            return SettingsFinding(["homeserver"], "is more than a homeserver's address", hint: only)
        }
        return nil
    }

    /// An id, an alias, or the first part of an alias on our own server.
    private static func isRoom(_ name: String) -> Bool {
        guard let first = name.first, name.utf8.count <= 255, !name.contains(where: \.isWhitespace) else {
            return false
        }
        switch first {
        case "!": return name.count > 1
        case "#": return name.dropFirst().split(separator: ":", maxSplits: 1).count == 2
        case "@", "$", "+": return false
        default: return !name.contains(":")
        }
    }
}

extension MatrixSettings.Login {
    fileprivate var findings: [SettingsFinding] {
        let ways = [("password", password), ("token", token), ("application_service", applicationService)]
            .filter { $0.1 != nil }.map(\.0)
        var findings: [SettingsFinding] = []
        if ways.count != 1 {
            findings.append(
                SettingsFinding(
                    [], ways.isEmpty ? "has no way to log in" : "has more than one way to log in",
                    hint: "write one of password, token and application_service"))
        }
        if refreshToken != nil, token == nil {
            findings.append(
                SettingsFinding(
                    ["refresh_token"], "belongs to a token", hint: "write \"token\", too, or leave it out"))
        }
        if user == nil, token == nil {
            findings.append(SettingsFinding([], "has no user", hint: "write who logs in under \"user\""))
        }
        if let user {
            let name = user.hasPrefix("@") ? user.dropFirst() : user[...]
            if name.isEmpty || name.contains(where: \.isWhitespace)
                || (user.hasPrefix("@") && !name.contains(":"))
            {
                findings.append(
                    SettingsFinding(
                        ["user"], "is no user", hint: "write a name, or an id as in \"@steward:example.org\"")
                )
            }
        }
        return findings
    }
}
