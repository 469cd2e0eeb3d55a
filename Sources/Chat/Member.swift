/// A person or program in a channel, as its service describes it.
public struct Member: Sendable {
    private struct Values: Sendable {
        let user: UserID
        var name: String
        var roles: [String]
        var isBot: Bool
        var attributes: String?
    }

    private var shared: Shared<Values>

    public init(
        user: UserID, name: String? = nil, roles: [String] = [], isBot: Bool = false,
        attributes: String? = nil
    ) {
        shared = Shared(
            Values(
                user: user, name: name ?? user.text, roles: roles, isBot: isBot, attributes: attributes))
    }

    public var user: UserID { shared.value.user }

    /// Whether that is the user's id, as UTF-8; nothing is copied.
    package func isUser(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        var known = shared.value.user.identity.text
        return known.withUTF8 { known in
            known.count == text.count && known.elementsEqual(text)
        }
    }

    /// The name people see.
    public var name: String {
        get { shared.value.name }
        set { shared.value.name = newValue }
    }

    /// Roles in the service's own words, such as `channel admin`.
    public var roles: [String] {
        get { shared.value.roles }
        set { shared.value.roles = newValue }
    }

    /// True when the service says that it is a program.
    public var isBot: Bool {
        get { shared.value.isBot }
        set { shared.value.isBot = newValue }
    }

    /// The service's free-form data, as JSON text.
    public var attributes: String? {
        get { shared.value.attributes }
        set { shared.value.attributes = newValue }
    }
}
