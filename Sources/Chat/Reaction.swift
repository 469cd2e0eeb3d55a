/// What a member put under a message, or took away.
public struct Reaction: Sendable {
    /// Whose it is.
    public var member: Member
    /// The message that it is under.
    public var message: MessageReference
    /// An emoji, or the service's name of one.
    public var key: String

    /// `key`: an emoji, or the service's name of one.
    public init(by member: Member, to message: MessageReference, key: String) {
        self.member = member
        self.message = message
        self.key = key
    }
}
