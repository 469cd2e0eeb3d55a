package import Chat

/// A user in a channel. Whoever leaves and comes back is a new member.
package struct Member: Sendable {
    package let sid: SID
    package let identity: String
    package let user: SID
    package let joined: Timestamp
    package var role: Role
    /// JSON text.
    package var attributes: String
    /// The index of the last message read; nil when never told.
    package var lastRead: Int64?
    package var lastReadAt: Timestamp?
    /// When their client last said that a message has come.
    var deliveredAt: Timestamp?
    /// They want to see nothing that is older.
    var clearedAt: Timestamp?
    /// Who brought them in; nil when they came by themselves.
    var inviter: String?
    /// Is here for as long as a connection is.
    var isVisiting = false
    package var updated: Timestamp
    var addedEvent: Int64 = -1
    var lastEvent: Int64 = -1
}

/// What one user sees of one channel.
package struct Membership: Sendable {
    package enum Status: String, Sendable {
        case joined, invited
    }

    package let channel: SID
    package var status: Status
    package var member: SID?
    /// `default` or `muted`.
    package var notificationLevel = "default"
    package var lastRead: Int64?
    /// The user has put it out of sight until something happens there, or for longer.
    var hidden: Hidden?
    package let created: Timestamp
    package var updated: Timestamp
    var lastEvent: Int64 = -1

    package struct Hidden: Sendable, Equatable {
        /// The next message brings it back.
        var isUntilNews: Bool
    }
}
