/// The keys of `config.yaml`, and what may stand behind each.
extension ConfigReader {
    /// A key of the file.
    struct Block: Sendable {
        enum Content: Sendable {
            case value(any (Decodable & Sendable).Type)
            /// Accounts, each with the settings of its service.
            case accounts
            /// Plugins, each with its own settings.
            case plugins
        }

        var key: String
        /// One line for editors.
        var about: String
        var takes: Content
    }

    static let blocks = [
        Block(
            key: "server", about: "The built-in chat server; without it steward only logs in elsewhere.",
            takes: .value(Config.ServerBlock.self)),
        Block(key: "accounts", about: "Where steward logs in: accounts by name.", takes: .accounts),
        Block(
            key: "require", about: "Steward is ready when these accounts are; all unless given.",
            takes: .value([String].self)),
        Block(
            key: "storage", about: "Where state is kept, and for how long.",
            takes: .value(Config.StorageBlock.self)),
        Block(key: "limits", about: "What steward does at most.", takes: .value(Config.LimitsBlock.self)),
        Block(key: "plugins", about: "Plugins in use, each with its settings.", takes: .plugins),
        Block(
            key: "bots", about: "The folder of the rules; bots unless given.", takes: .value(String.self)),
        Block(key: "log", about: "What the log says.", takes: .value(Config.LogBlock.self)),
        Block(
            key: "channels", about: "Names for rules: per account a channel's id or name.",
            takes: .value([String: [String: String]].self)),
        Block(
            key: "roles", about: "Names for rules: per account the service's words, and users.",
            takes: .value([String: Config.RoleBlock].self)),
        Block(
            key: "report_to", about: "The channel where staff are told; staff unless given.",
            takes: .value(String.self)),
    ]
}
