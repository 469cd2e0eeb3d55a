/// Why the world refused a change.
package enum WorldError: Error, Hashable, Sendable {
    case noSuchChannel
    case noSuchMessage
    case noSuchMember
    case noSuchUser
    case noSuchMedia
    case notMember
    case notAllowed(Permission)
    case alreadyMember
    case nameTaken(String)
    case tooLong(String, limit: Int)
    case tooMany(String, limit: Int)
    case invalid(String)
    case tooFast
    case muted
    case frozen
    case banned
    case blocked
}

extension WorldError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .noSuchChannel: "there is no such channel"
        case .noSuchMessage: "there is no such message"
        case .noSuchMember: "there is no such member"
        case .noSuchUser: "there is no such user"
        case .noSuchMedia: "there is no such file"
        case .notMember: "only members of the channel may do that"
        case .notAllowed(let permission): "not allowed: \(permission.rawValue) is missing"
        case .alreadyMember: "is a member already"
        case .nameTaken(let name): "a channel named \"\(name)\" exists already"
        case .tooLong(let what, let limit): "\(what) is too long; \(limit) is the limit"
        case .tooMany(let what, let limit): "too many \(what); \(limit) is the limit"
        case .invalid(let what): what
        case .muted: "you are muted in this channel"
        case .frozen: "the channel is frozen: only those who rule it may write"
        case .banned: "you are banned from this channel"
        case .blocked: "the other one has blocked you"
        case .tooFast: "too much at once: wait a second and try again"
        }
    }
}
