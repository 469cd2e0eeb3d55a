package import Chat

/// The one list of chat services, by the word that `config.yaml` uses.
package enum ServiceCatalog {
    package static let services: [String: any ServiceSettings.Type] = [:]

    /// Described in the rule language, and still to come.
    package static let unbuilt: Set<String> = ["matrix", "sendbird"]
}

/// What stands under an account in `config.yaml`, and the service it makes.
package protocol ServiceSettings: Decodable, Sendable {
    /// The channels it joins, by id or unique name.
    var joins: [String] { get }
    /// What the service can do under these settings.
    var abilities: Abilities { get }
}
