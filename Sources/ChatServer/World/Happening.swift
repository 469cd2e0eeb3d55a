package import Chat

/// What happens in a channel besides messages, comings and goings.
package enum Happening: Sendable {
    case muted(Person, Sentence)
    case unmuted(Person)
    case banned(Person, Sentence)
    case unbanned(Person)
    case frozen(Bool)
    case operators([Person])
    case invited([Person], by: Person?)
    case declined(Person, inviter: Person?)
    case delivered(Person, at: Timestamp)
    case metadata(created: [String: String], updated: [String: String], deleted: [String])
    /// For one user only.
    case hidden(Person, Membership.Hidden?)
    case blocked(Person, by: Person, Bool)
    case gone
}
