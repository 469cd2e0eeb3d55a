package import Chat
package import HTTP
package import WebSocket

/// The chat services steward can log in to: the one list.
package enum ServiceCatalog {
    package static let services: [String: any ServiceSettings.Type] = [
        "sendbird": SendbirdSettings.self, "twilio": TwilioSettings.self,
    ]

    /// Services that are meant to be here and are not yet.
    package static let unbuilt: Set<String> = ["matrix"]
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

    /// The service, not yet logged in; throws the first of the findings, if there are any.
    func service(account: String, tools: ServiceTools) throws -> any ChatService
}

/// What all services share.
package struct ServiceTools: Sendable {
    package var identities: Identities
    package var loop: SocketLoop
    package var http: HTTPClient
    package var log: Log
    package var clock: ServiceClock

    package init(
        identities: Identities, loop: SocketLoop, http: HTTPClient, log: Log, clock: ServiceClock = .system
    ) {
        self.identities = identities
        self.loop = loop
        self.http = http
        self.log = log
        self.clock = clock
    }
}
