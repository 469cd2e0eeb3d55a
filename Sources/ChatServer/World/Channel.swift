package import Chat

/// A channel with everything in it.
package struct Channel: Sendable {
    /// What a channel is called and how it stands, as one value that events carry.
    package struct Profile: Sendable {
        package let sid: SID
        /// Channels are numbered in the order in which they were made.
        let number: Int64
        package var friendlyName: String?
        package var uniqueName: String?
        /// JSON text.
        package var attributes = "{}"
        /// Only members and invited users see it and come in.
        package var isPrivate = false
        /// What Sendbird's clients call it: chosen when it was made, and never changed.
        package internal(set) var url = ""
        var traits = ChannelTraits()
        package let createdBy: String
        package let created: Timestamp
        package var updated: Timestamp
        package var lastMessage: LastMessage?
    }

    package struct LastMessage: Sendable {
        package let index: Int64
        package let at: Timestamp
        var number: Int64 = 0
    }

    package internal(set) var profile: Profile
    var feed: Feed
    var messageFeed: Feed
    var rosterFeed: Feed
    /// In the order of their indexes.
    var messages = Trail<Message>()
    var nextIndex: Int64 = 0
    /// How many messages were written and not deleted, forgotten ones included.
    var messageCount: Int64 = 0
    var members: [SID: Member] = [:]
    var memberByIdentity: [String: SID] = [:]
    var invited: [String: SID] = [:]
    /// Who asked whom in.
    var inviters: [String: String] = [:]
    /// Those who rule it also while they are not here.
    var operators: Set<String> = []
    var mutes: [String: Sentence] = [:]
    var bans: [String: Sentence] = [:]

    package var sid: SID { profile.sid }

    init(_ profile: Profile) {
        self.profile = profile
        feed = Feed(.document, at: profile.created)
        messageFeed = Feed(.list, at: profile.created)
        rosterFeed = Feed(.map, at: profile.created)
    }

    package func member(of identity: String) -> Member? {
        memberByIdentity[identity].flatMap { members[$0] }
    }

    /// In the order in which they joined.
    package var roster: [Member] {
        members.values.sorted { ($0.joined, $0.addedEvent) < ($1.joined, $1.addedEvent) }
    }

    package func message(at index: Int64) -> Message? {
        let position = messages.position(of: index, by: \.index)
        guard position < messages.count, messages[position].index == index else { return nil }
        return messages[position]
    }

    func message(numbered number: Int64) -> Message? {
        let position = messages.position(of: number, by: \.number)
        guard position < messages.count, messages[position].number == number else { return nil }
        return messages[position]
    }

    func message(_ sid: SID) -> Message? {
        // The newest first: most edits and deletions come soon after the message.
        messages.last { $0.sid == sid }
    }

    /// How many messages come after the read horizon; nil while it was never set.
    func unread(after lastRead: Int64?) -> Int64? {
        guard let lastRead else { return nil }
        return Int64(messages.count - messages.position(of: lastRead &+ 1, by: \.index))
    }
}
