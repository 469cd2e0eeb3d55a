/// Why an action was not done: a case for each reaction.
public enum ChatServiceError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The token was refused, also after a refresh.
    case unauthorized(String)
    /// The service wants a pause; nil when it does not say how long.
    case rateLimited(after: Duration?, String)
    /// Not connected; nothing was sent.
    case unreachable(String)
    /// The service said no and will say so again.
    case rejected(String)
    /// Sent, but nobody knows whether it was done.
    case unknownOutcome(String)

    /// Why, for people.
    public var description: String {
        switch self {
        case .unauthorized(let why), .rateLimited(_, let why), .unreachable(let why), .rejected(let why),
            .unknownOutcome(let why):
            why
        }
    }
}
