/// A channel as it is known when an event is decided.
public struct Channel: Sendable {
    private struct Values: Sendable {
        let id: ChannelID
        var uniqueName: String?
        var title: String
        var memberCount: Int?
        var isDirect: Bool
        var attributes: String?
    }

    private var shared: Shared<Values>

    /// `attributes` is JSON text; `title` is empty where the service has none.
    public init(
        id: ChannelID, uniqueName: String? = nil, title: String = "", memberCount: Int? = nil,
        isDirect: Bool = false, attributes: String? = nil
    ) {
        shared = Shared(
            Values(
                id: id, uniqueName: uniqueName, title: title, memberCount: memberCount, isDirect: isDirect,
                attributes: attributes))
    }

    /// Which channel: the id its service gave it, which never changes.
    public var id: ChannelID { shared.value.id }

    /// The name that is unique in its realm and does not change with the title, if the service has one.
    public var uniqueName: String? {
        get { shared.value.uniqueName }
        set { shared.value.uniqueName = newValue }
    }

    /// What people see; empty when it was never set.
    public var title: String {
        get { shared.value.title }
        set { shared.value.title = newValue }
    }

    /// How many members it has, when the service tells.
    public var memberCount: Int? {
        get { shared.value.memberCount }
        set { shared.value.memberCount = newValue }
    }

    /// A conversation of two.
    public var isDirect: Bool {
        get { shared.value.isDirect }
        set { shared.value.isDirect = newValue }
    }

    /// The service's free-form data, as JSON text.
    public var attributes: String? {
        get { shared.value.attributes }
        set { shared.value.attributes = newValue }
    }

    /// Whether nothing can have changed between the two; false says nothing.
    package func isSame(as other: Channel) -> Bool { shared.isSame(as: other.shared) }

    /// The same for all between which nothing can have changed, for as long as one of them is held.
    package var object: ObjectIdentifier { shared.object }
}
