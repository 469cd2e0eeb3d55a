/// A channel as it is known when an event is decided.
public struct Channel: Sendable {
    public let id: ChannelID
    /// The name that is unique in its realm and does not change with the title, if the service has one.
    public var uniqueName: String?
    /// What people see; empty when it was never set.
    public var title: String
    /// How many members it has, when the service tells.
    public var memberCount: Int?
    /// A conversation of two.
    public var isDirect: Bool
    /// The service's free-form data, as JSON text.
    public var attributes: String?

    public init(
        id: ChannelID, uniqueName: String? = nil, title: String = "", memberCount: Int? = nil,
        isDirect: Bool = false, attributes: String? = nil
    ) {
        self.id = id
        self.uniqueName = uniqueName
        self.title = title
        self.memberCount = memberCount
        self.isDirect = isDirect
        self.attributes = attributes
    }
}
