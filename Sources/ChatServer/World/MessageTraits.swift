/// What some clients say of a message and others do not know of.
struct MessageTraits: Sendable, Equatable {
    /// A file that lies elsewhere.
    struct Link: Sendable, Equatable {
        var url: String
        var name: String
        var type: String
        var size: Int64
    }

    /// Said by the service itself, not by a user.
    var isAdmin = false
    /// Text for programs; nil when none was given and the attributes stand for it.
    var data: String?
    var customType = ""
    var mentioned: [String] = []
    var mentionsAll = false
    /// The number of the message that it answers.
    var parent: Int64?
    /// Counts as read.
    var isSilent = false
    /// A JSON array of keys and their values.
    var metaArray: String?
    var link: Link?
}
