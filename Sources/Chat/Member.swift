/// A person or program in a channel, as its service describes it.
public struct Member: Sendable {
    public let user: UserID
    /// The name people see.
    public var name: String
    /// Roles in the service's own words, such as `channel admin`.
    public var roles: [String]
    /// True when the service says that it is a program.
    public var isBot: Bool
    /// The service's free-form data, as JSON text.
    public var attributes: String?

    public init(
        user: UserID, name: String? = nil, roles: [String] = [], isBot: Bool = false,
        attributes: String? = nil
    ) {
        self.user = user
        self.name = name ?? user.text
        self.roles = roles
        self.isBot = isBot
        self.attributes = attributes
    }
}
