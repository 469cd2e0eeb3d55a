internal import Chat

/// Users, channels, members and messages. Every change is one event of each feed it concerns.
///
/// A plain value: whoever changes it takes what happened with `takeNews` and passes it on in that order.
package struct World: Sendable {
    /// The channels by SID.
    package internal(set) var channels: [SID: Channel] = [:]
    var nextChannel: Int64 = 0
    var nextMessage: Int64 = 1
    var channelURLs: [String: SID] = [:]
    /// Who is told by requests of what happens.
    var hook: SendbirdHook?
    var channelNames: [String: SID] = [:]
    /// The users by identity.
    var users: [String: User] = [:]
    var identities: [SID: String] = [:]
    /// The identities that have logged in with a token, folded.
    var programs: Set<String> = []
    var medias: [SID: Media] = [:]
    /// Every feed by the SID under which Sync knows it.
    var feeds: [SID: FeedID] = [:]
    package let limits: WorldLimits
    /// Identities that are channel admins everywhere.
    package let admins: Set<String>
    /// Names that need a proof because somebody of that name has a role elsewhere, folded.
    private(set) var keptBack: Set<String> = []
    /// Unique names of channels that are private; admins see those.
    let privateChannels: Set<String>
    /// False for a world in memory: nobody asks for its changes.
    let isStored: Bool
    private var news = News()

    package init(
        limits: WorldLimits = WorldLimits(), admins: Set<String> = [], privateChannels: Set<String> = [],
        isStored: Bool = false
    ) {
        self.limits = limits
        self.admins = admins
        self.privateChannels = privateChannels
        self.isStored = isStored
    }

    /// Who does what the service itself does; may do anything, and nobody can be called so.
    static let service = ""

    /// From now on these names need a proof, and no others than these, admins' and programs'.
    mutating func keepBack(_ names: Set<String>) {
        keptBack = Set(names.map(Self.folded))
    }

    /// What happened since it was last asked.
    struct News: Sendable {
        var events: [WorldEvent] = []
        var changes: [WorldChange] = []
    }

    mutating func takeNews() -> News {
        defer { news = News() }
        return news
    }

    mutating func note(_ change: @autoclosure () -> WorldChange) {
        if isStored { news.changes.append(change()) }
    }

    mutating func publish(_ event: FeedEvent, of feed: FeedID, known mark: Feed, isPrivate: Bool = false) {
        let channel = channels[feed.owner]
        news.events.append(
            WorldEvent(
                feed: feed, sid: mark.sid, name: uniqueName(of: feed), identity: identities[feed.owner],
                event: event, isPrivate: isPrivate, profile: channel?.profile,
                joined: channel?.members.count ?? 0, invited: channel?.invited.count ?? 0))
        guard isStored, feed.topic != .affairs else { return }
        news.changes.append(.event(feed, event))
        // Rows are removed in slices; a few too many after a restart do no harm.
        if event.id % 64 == 63, let oldest = mark.log.isEmpty ? nil : mark.log[0].id, oldest > 0 {
            news.changes.append(.noEvents(feed, below: oldest))
        }
    }

    // MARK: Looking up

    /// The channel with this SID or unique name, if `identity` may know of it.
    package func channel(_ name: String, for identity: String) throws(WorldError) -> Channel {
        let found = SID(name).flatMap { channels[$0] } ?? channelNames[name].flatMap { channels[$0] }
        guard let found else { throw .noSuchChannel }
        guard mayKnow(found, identity) else { throw .notAllowed(.joinConversation) }
        return found
    }

    /// True for public channels, and for private ones of which `identity` is a member, a guest, an operator or the creator.
    package func mayKnow(_ channel: Channel, _ identity: String) -> Bool {
        !channel.profile.isPrivate || identity == Self.service || channel.memberByIdentity[identity] != nil
            || channel.invited[identity] != nil || channel.profile.createdBy == identity
            || channel.operators.contains(identity) || admins.contains(identity)
    }

    package func person(_ identity: String) throws(WorldError) -> Person {
        guard let user = users[identity] else { throw .noSuchUser }
        return user.person
    }

    /// The channels of `identity`, oldest first.
    package func memberships(of identity: String) -> [Membership] {
        (users[identity]?.memberships.values).map {
            $0.sorted { ($0.created, $0.channel.text) < ($1.created, $1.channel.text) }
        } ?? []
    }

    /// Channels that everybody may see, oldest first.
    package var publicChannels: [Channel] {
        channels.values.filter { !$0.profile.isPrivate }
            .sorted { $0.profile.number < $1.profile.number }
    }

    /// What `identity` is shown, oldest first: public channels, those they are in, and to admins those that the
    /// configuration made private.
    func visibleChannels(for identity: String) -> [Channel] {
        let isAdmin = admins.contains(identity)
        return channels.values.filter { channel in
            let (profile, isMember) = (channel.profile, users[identity]?.memberships[channel.sid] != nil)
            return !profile.isPrivate || isMember
                || (isAdmin && profile.uniqueName.map(privateChannels.contains) == true)
        }.sorted { $0.profile.number < $1.profile.number }
    }

    /// Throws unless `identity` has the permission, here or everywhere.
    func require(_ permission: Permission, of identity: String, in channel: Channel) throws(WorldError) {
        guard allows(permission, identity, in: channel) else { throw .notAllowed(permission) }
    }

    package func allows(_ permission: Permission, _ identity: String, in channel: Channel) -> Bool {
        if identity == Self.service { return true }
        if let role = channel.member(of: identity)?.role, role.permissions.contains(permission) {
            return true
        }
        // Who made a channel rules it, joined or not: making one does not join it.
        if channel.profile.createdBy == identity || channel.operators.contains(identity),
            permission != .sendMessage, permission != .sendMediaMessage,
            Role.channelAdmin.permissions.contains(permission)
        {
            return true
        }
        return roleEverywhere(of: identity).permissions.contains(permission)
    }

    package func roleEverywhere(of identity: String) -> Role {
        admins.contains(identity) || identity == Self.service
            ? .serviceAdmin : users[identity]?.person.role ?? .serviceUser
    }
}

/// One event of one feed on its way to those who listen.
struct WorldEvent: Sendable {
    let feed: FeedID
    /// The SID under which Sync knows the feed.
    let sid: SID
    /// The name under which clients open it.
    let name: String
    /// Whose feed it is, if it is a user's.
    let identity: String?
    let event: FeedEvent
    /// True for what happens in a private channel.
    let isPrivate: Bool
    /// The channel it is about, as it is then.
    let profile: Channel.Profile?
    /// How many are in it, and how many were asked in, then.
    let joined: Int
    let invited: Int
}
