public import Chat

/// A chat with one account of steward's in it, as the author of a service builds it for `ChatServiceContract`: a real
/// server or a scripted one, with nobody else on it.
public protocol ChatServiceStage: Sendable {
    /// The account's service, made anew as after a start of steward: the same account each time, not logged in.
    func service() async throws -> any ChatService

    /// A channel that the account joins.
    var place: Place { get }

    /// Somebody else writes in the channel.
    func say(_ text: String) async throws

    /// What stands in the channel, the account's own messages included, oldest first.
    func texts() async throws -> [String]

    /// Breaks the account's connection, so that it has to connect again, and can.
    func cut() async throws

    /// Ends the life of the token that the account uses; what it gets instead is good.
    func expireToken() async throws

    /// How many tokens the account has been given.
    func tokenCount() async throws -> Int

    /// Refuses what the account sends next, and wants a pause of about so long; nil when this server cannot be made to.
    func limit() async throws -> Duration?

    /// Takes the limit away, where it does not go by itself.
    func unlimit() async throws
}

extension ChatServiceStage {
    /// Nothing: the limit goes by itself.
    public func unlimit() async throws {}
}
