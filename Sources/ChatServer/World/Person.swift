package import Chat

/// Who a user is, for others to see.
package struct Person: Sendable {
    package let sid: SID
    package let identity: String
    package var friendlyName: String?
    /// JSON text.
    package var attributes = "{}"
    package var isOnline = false
    package var role: Role
    /// Has logged in with a token: nobody on the page may take the name.
    package var isProgram = false
    /// False for a user who may not log in.
    var isActive = true
    var profileURL = ""
    var metadata: [String: String] = [:]
    var lastSeen: Timestamp?
    /// How often their access token was made anew; 0 when they have none.
    var accessSerial: Int64 = 0
    /// How often all their session tokens were taken back.
    var sessionSerial: Int64 = 0
    /// Those from whom they hear nothing in channels of two.
    var blocked: Set<String> = []
    package let created: Timestamp
    package var updated: Timestamp
}

/// A user with what the server keeps for them.
struct User: Sendable {
    var person: Person
    var memberships: [SID: Membership] = [:]
    var membershipFeed: Feed
    var personFeed: Feed
    /// The last event of each key of the person's feed.
    var personEvents: [PersonKey: Int64] = [:]
}
