internal import Chat

/// What some clients say of a channel and others do not know of.
struct ChannelTraits: Sendable, Equatable {
    /// Its members come and go with their connections.
    var isOpen = false
    /// Only those who rule it may write.
    var isFrozen = false
    var coverURL = ""
    /// Text for programs; nil when none was given and the attributes stand for it.
    var data: String?
    var customType = ""
    /// The one channel of just these members.
    var isDistinct = false
    var isSuper = false
    /// What one has to say to join.
    var accessCode = ""
    var metadata: [String: String] = [:]
}

/// What keeps somebody from writing, or from being here.
package struct Sentence: Sendable, Equatable {
    let start: Timestamp
    /// Nil for ever.
    let end: Timestamp?
    let why: String

    func holds(at now: Timestamp) -> Bool { end.map { now < $0 } ?? true }
}
