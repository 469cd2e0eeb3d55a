package import Chat
package import HTTP
package import WebSocket

/// The chat services steward can log in to: the one list.
package enum ServiceCatalog {
    package static let services: [String: any ServiceSettings.Type] = [
        "matrix": MatrixSettings.self, "sendbird": SendbirdSettings.self, "twilio": TwilioSettings.self,
    ]

    /// Services that are meant to be here and are not yet.
    package static let unbuilt: Set<String> = []
}

/// What stands in `config.yaml` under an account of one kind of service.
package protocol ServiceSettings: Decodable, Sendable {
    /// The channels it joins, by id or unique name.
    var joins: [String] { get }
    /// What the service can do under these settings.
    var abilities: Abilities { get }
    /// Whether the service is at an address of the user's own, such as the built-in server's.
    var hasOwnEndpoint: Bool { get }
    /// What is wrong with them beyond their form, all of it.
    var findings: [SettingsFinding] { get }
    /// The names of the ban lists that it reads.
    var policyLists: [String] { get }
    /// Who are moderators and admins in the service's own words, where the configuration does not say.
    var usualRoles: [String: Set<String>] { get }

    /// What is wrong with a word for a role of theirs and what to write instead; nil when nothing is.
    func problem(withRole word: String) -> String?

    /// The service, not yet logged in; throws the first of the findings, if there are any.
    func service(account: String, tools: ServiceTools) throws -> any ChatService
}

extension ServiceSettings {
    package var policyLists: [String] { [] }

    package var usualRoles: [String: Set<String>] {
        ["moderator": ["channel admin", "service admin"], "admin": ["channel admin", "service admin"]]
    }

    package func problem(withRole word: String) -> String? { nil }
}

/// What all services share.
package struct ServiceTools: Sendable {
    package var identities: Identities
    package var loop: SocketLoop
    package var http: HTTPClient
    package var log: Log
    package var clock: ServiceClock
    /// Where a service may keep a small file of its own, such as a log-in; nil where nothing outlives the process.
    package var folder: String?
    /// Where services put what stands in the ban lists that they read.
    package var policies = PolicyLists()
    /// What rules call channels of the account, beside those that it joins.
    package var channels: Set<String> = []

    package init(
        identities: Identities, loop: SocketLoop, http: HTTPClient, log: Log, clock: ServiceClock = .system,
        folder: String? = nil
    ) {
        self.identities = identities
        self.loop = loop
        self.http = http
        self.log = log
        self.clock = clock
        self.folder = folder
    }
}
