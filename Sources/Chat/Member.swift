/// A person or program in a channel, as its service describes it.
public struct Member: Sendable {
    private struct Values: Sendable {
        /// That of the user, where no other memory has to be read for it.
        let number: UInt32
        var isBot: Bool
        let user: UserID
        /// Likewise.
        let id: String
        var name: String
        var roles: [String]
        var attributes: String?
        let joinedAt: Timestamp?
    }

    private var shared: Shared<Values>

    /// Without a name they go by their id. `attributes` is JSON text.
    public init(
        user: UserID, name: String? = nil, roles: [String] = [], isBot: Bool = false,
        attributes: String? = nil, joinedAt: Timestamp? = nil
    ) {
        shared = Shared(
            Values(
                number: user.identity.number, isBot: isBot, user: user, id: user.text,
                name: name ?? user.text, roles: roles,
                attributes: attributes, joinedAt: joinedAt))
    }

    /// Who it is to the service; names and roles change, this does not.
    public var user: UserID { shared.value.user }

    func note(in digest: inout EventDigest) {
        digest.note(user: shared.value.number, isBot: shared.value.isBot)
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

    /// Since when they are in the channel, where the service says so.
    public var joinedAt: Timestamp? { shared.value.joinedAt }

    func copy(to room: UnsafeMutableRawBufferPointer, _ texts: inout MessageTexts) {
        texts.user = texts.add(shared.value.id, to: room)
        texts.name = texts.add(shared.value.name, to: room)
        for place in shared.value.roles.indices {
            if place > 0 { texts.roles += texts.add(String(MessageTexts.betweenRoles), to: room) }
            texts.roles += texts.add(shared.value.roles[place], to: room)
        }
        texts.isBot = shared.value.isBot
    }
}
