/// What a change of the world means for its store: rows to write and rows to remove.
enum WorldChange: Sendable {
    case user(User.Record)
    case noUser(SID)
    case membership(owner: SID, Membership)
    case noMembership(owner: SID, channel: SID)
    case channel(Channel.Record)
    case noChannel(SID)
    case member(channel: SID, Member)
    case noMember(SID)
    case message(channel: SID, Message)
    case noMessage(channel: SID, index: Int64)
    case event(FeedID, FeedEvent)
    /// Events of a feed below this id are forgotten.
    case noEvents(FeedID, below: Int64)
    case media(Media, content: [UInt8])
    case noMedia(SID)
    /// One thing of its own under that name.
    case name(String, [UInt8])
}

extension User {
    /// A user without the channels they are in.
    struct Record: Sendable {
        let person: Person
        let personFeed: FeedMark
        let membershipFeed: FeedMark
        let personEvents: [PersonKey: Int64]
    }

    var record: Record {
        Record(
            person: person, personFeed: personFeed.mark, membershipFeed: membershipFeed.mark,
            personEvents: personEvents)
    }
}

extension Channel {
    /// A channel without its members and messages.
    struct Record: Sendable {
        let profile: Profile
        let feed: FeedMark
        let messageFeed: FeedMark
        let rosterFeed: FeedMark
        let nextIndex: Int64
        let messageCount: Int64
        let invited: [String: SID]
        let order: Order
    }

    /// Who rules it, and whom they judged.
    struct Order: Sendable, Equatable {
        var inviters: [String: String] = [:]
        var operators: Set<String> = []
        var mutes: [String: Sentence] = [:]
        var bans: [String: Sentence] = [:]
    }

    var order: Order {
        get { Order(inviters: inviters, operators: operators, mutes: mutes, bans: bans) }
        set {
            (inviters, operators, mutes, bans) = (
                newValue.inviters, newValue.operators, newValue.mutes, newValue.bans
            )
        }
    }

    var record: Record {
        Record(
            profile: profile, feed: feed.mark, messageFeed: messageFeed.mark, rosterFeed: rosterFeed.mark,
            nextIndex: nextIndex, messageCount: messageCount, invited: invited, order: order)
    }
}
