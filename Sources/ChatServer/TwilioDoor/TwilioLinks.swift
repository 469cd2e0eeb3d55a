/// The addresses in answers. Those of the service itself are only names inside frames: nobody connects to them.
struct TwilioLinks: Sendable {
    let names: ServiceNames
    /// `v2` for Conversations, `v1` for Programmable Chat.
    var version = "v2"
    var region = "us1"
    /// Where files go, which is a real address: `http://127.0.0.1:8080`.
    let mediaBase: String

    var service: String { "https://aim.\(region).twilio.com/Client/\(version)/Services/\(names.service)" }
    var conversations: String { service + "/Conversations" }
    var users: String { service + "/Users" }
    var typing: String { "https://aim.\(region).twilio.com/v1/Instances/\(names.service)/Typing" }
    var media: String { "\(mediaBase)/v1/Services/\(names.service)/Media" }
    var mediaSet: String { "\(mediaBase)/v1/Services/\(names.service)/MediaSet" }
    var sync: String { "https://cds.\(region).twilio.com/v3/Services/\(names.service)" }

    func conversation(_ channel: SID) -> String { "\(conversations)/\(channel)" }
    func user(_ user: SID) -> String { "\(users)/\(user)" }
    func mine(_ user: SID) -> String { "\(users)/\(user)/Conversations" }

    func feed(_ feed: FeedID, _ sid: SID) -> String { "\(sync)/\(feed.topic.syncPath)/\(sid)" }
}

extension FeedID.Topic {
    /// Which kind of Sync object shows it.
    var syncType: String {
        switch self {
        case .channel, .affairs: "document"
        case .messages: "list"
        case .roster, .memberships, .person: "map"
        }
    }

    var syncPath: String {
        switch self {
        case .channel, .affairs: "Documents"
        case .messages: "Lists"
        case .roster, .memberships, .person: "Maps"
        }
    }
}

extension World {
    /// The name under which clients open a feed.
    func uniqueName(of feed: FeedID) -> String {
        switch feed.topic {
        case .channel: "\(feed.owner).channel"
        case .messages: "\(feed.owner).messages"
        case .roster: "\(feed.owner).roster"
        case .memberships: "\(identities[feed.owner] ?? "").channels"
        case .person: "\(feed.owner).info"
        case .affairs: "\(feed.owner).affairs"
        }
    }

    /// The feed with this SID or unique name.
    func feed(named name: String) -> FeedID? {
        if let sid = SID(name) { return feeds[sid] }
        guard let dot = name.lastIndex(of: ".") else { return nil }
        let owner = name[..<dot]
        switch name[name.index(after: dot)...] {
        case "channel": return known(SID(owner), .channel)
        case "messages": return known(SID(owner), .messages)
        case "roster": return known(SID(owner), .roster)
        case "info":
            guard let sid = SID(owner), identities[sid] != nil else { return nil }
            return FeedID(topic: .person, owner: sid)
        case "channels":
            return users[String(owner)].map { FeedID(topic: .memberships, owner: $0.person.sid) }
        default: return nil
        }
    }

    private func known(_ sid: SID?, _ topic: FeedID.Topic) -> FeedID? {
        sid.flatMap { channels[$0] == nil ? nil : FeedID(topic: topic, owner: $0) }
    }

    /// How a feed stands; nil when it is gone.
    func state(of feed: FeedID) -> Feed? {
        switch feed.topic {
        case .channel: channels[feed.owner]?.feed
        case .messages: channels[feed.owner]?.messageFeed
        case .roster: channels[feed.owner]?.rosterFeed
        case .memberships: identities[feed.owner].flatMap { users[$0]?.membershipFeed }
        case .person: identities[feed.owner].flatMap { users[$0]?.personFeed }
        case .affairs: nil
        }
    }

    /// Whether `identity` may read a feed: their own channels, everybody's name, and what happens where they are a
    /// member. A channel's name is for all who may know of it.
    func mayRead(_ feed: FeedID, _ identity: String) -> Bool {
        switch feed.topic {
        case .channel: channels[feed.owner].map { mayKnow($0, identity) } ?? false
        case .messages, .roster: channels[feed.owner]?.memberByIdentity[identity] != nil
        case .memberships: identities[feed.owner] == identity
        case .person: true
        case .affairs: false
        }
    }
}
