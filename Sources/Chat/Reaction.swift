/// What a member put under a message, or took away.
public struct Reaction: Sendable {
    public var member: Member
    public var message: MessageReference
    /// An emoji, or the service's name of one.
    public var key: String

    public init(by member: Member, to message: MessageReference, key: String) {
        self.member = member
        self.message = message
        self.key = key
    }
}
