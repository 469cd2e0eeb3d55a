package import Chat

extension World {
    /// Makes a channel. Its creator rules it but has not joined it yet.
    package mutating func createChannel(
        friendlyName: String? = nil, uniqueName: String? = nil, attributes: String = "{}",
        isPrivate: Bool = false, as creator: String, at now: Timestamp
    ) throws(WorldError) -> Channel {
        try createChannel(
            friendlyName: friendlyName, uniqueName: uniqueName, url: nil, traits: ChannelTraits(),
            attributes: attributes, isPrivate: isPrivate, as: creator, at: now)
    }

    /// The same with what some clients say besides; the URL is chosen when it is nil.
    mutating func createChannel(
        friendlyName: String?, uniqueName: String? = nil, url: String?, traits: ChannelTraits,
        attributes: String = "{}", isPrivate: Bool, as creator: String, at now: Timestamp
    ) throws(WorldError) -> Channel {
        guard roleEverywhere(of: creator).permissions.contains(.createConversation) else {
            throw .notAllowed(.createConversation)
        }
        let uniqueName = uniqueName.flatMap { $0.isEmpty ? nil : $0 }
        try checkNames(friendlyName, uniqueName, attributes)
        if let uniqueName { try checkFree(uniqueName, for: nil) }
        if let url {
            try check(url, "the channel's URL", limit: limits.nameLength)
            guard channelURLs[url] == nil else { throw .nameTaken(url) }
        }
        let isPrivate = isPrivate || uniqueName.map(privateChannels.contains) == true
        var profile = Channel.Profile(
            sid: .fresh(.channel), number: nextChannel, friendlyName: friendlyName, uniqueName: uniqueName,
            attributes: attributes, isPrivate: isPrivate, createdBy: creator, created: now, updated: now)
        profile.traits = traits
        profile.url = url ?? freeURL(for: profile)
        let channel = Channel(profile)
        channelURLs[profile.url] = profile.sid
        channels[channel.sid] = channel
        nextChannel += 1
        if let uniqueName { channelNames[uniqueName] = channel.sid }
        feeds[channel.feed.sid] = FeedID(topic: .channel, owner: channel.sid)
        feeds[channel.messageFeed.sid] = FeedID(topic: .messages, owner: channel.sid)
        feeds[channel.rosterFeed.sid] = FeedID(topic: .roster, owner: channel.sid)
        changeProfile(channel.sid, at: now) { _ in }
        return channels[channel.sid] ?? channel
    }

    /// The unique name, where that can stand in a path and is not taken, else the SID.
    func freeURL(for profile: Channel.Profile) -> String {
        guard let name = profile.uniqueName, channelURLs[name] == nil, name.utf8.count <= 100,
            name.utf8.allSatisfy({ byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"),
                    UInt8(ascii: "."):
                    true
                default: false
                }
            })
        else { return profile.sid.text }
        return name
    }

    /// Changes what is given; an empty unique name takes it away.
    package mutating func editChannel(
        _ sid: SID, friendlyName: String? = nil, uniqueName: String? = nil, attributes: String? = nil,
        as editor: String, at now: Timestamp
    ) throws(WorldError) -> Channel {
        guard let channel = channels[sid] else { throw .noSuchChannel }
        if friendlyName != nil || uniqueName != nil {
            try require(.editConversationName, of: editor, in: channel)
        }
        if attributes != nil { try require(.editConversationAttributes, of: editor, in: channel) }
        try checkNames(friendlyName, uniqueName, attributes)
        if let uniqueName, !uniqueName.isEmpty { try checkFree(uniqueName, for: sid) }
        if let uniqueName {
            if let old = channel.profile.uniqueName { channelNames[old] = nil }
            if !uniqueName.isEmpty { channelNames[uniqueName] = sid }
        }
        changeProfile(sid, at: now) { profile in
            if let friendlyName { profile.friendlyName = friendlyName }
            if let uniqueName { profile.uniqueName = uniqueName.isEmpty ? nil : uniqueName }
            if let attributes { profile.attributes = attributes }
            profile.updated = now
        }
        return channels[sid] ?? channel
    }

    package mutating func deleteChannel(_ sid: SID, as deleter: String, at now: Timestamp) throws(WorldError)
    {
        guard var channel = channels[sid] else { throw .noSuchChannel }
        try require(.deleteConversation, of: deleter, in: channel)
        // Before anybody is out of it.
        tell(.gone, of: sid, at: now)
        for identity in channel.roster.map(\.identity) + channel.invited.keys.sorted() {
            setMembership(of: identity, in: sid, at: now) { $0 = nil }
        }
        let isPrivate = channel.profile.isPrivate
        let profile = FeedEvent.Subject.channel(channel.profile)
        let ends = [
            (
                FeedID(topic: .messages, owner: sid),
                channel.messageFeed.add(.ended, .nothing, at: now, keeping: 1)
            ),
            (
                FeedID(topic: .roster, owner: sid),
                channel.rosterFeed.add(.ended, .nothing, at: now, keeping: 1)
            ),
            (FeedID(topic: .channel, owner: sid), channel.feed.add(.ended, profile, at: now, keeping: 1)),
        ]
        let states = [channel.messageFeed, channel.rosterFeed, channel.feed]
        channels[sid] = nil
        for message in channel.messages.elements(from: 0) { forgetFiles(of: message) }
        if let name = channel.profile.uniqueName { channelNames[name] = nil }
        channelURLs[channel.profile.url] = nil
        for ((feed, event), state) in zip(ends, states) {
            feeds[state.sid] = nil
            publish(event, of: feed, known: state, isPrivate: isPrivate)
        }
        note(.noChannel(sid))
    }

    mutating func changeProfile(_ sid: SID, at now: Timestamp, _ edit: (inout Channel.Profile) -> Void) {
        guard var profile = channels[sid]?.profile else { return }
        edit(&profile)
        channels[sid]?.profile = profile
        // A document's event holds all of it, so only the last is worth keeping.
        guard
            let event = channels[sid]?.feed.add(.updated, .channel(profile), at: now, keeping: 1),
            let feed = channels[sid]?.feed
        else { return }
        publish(
            event, of: FeedID(topic: .channel, owner: sid), known: feed, isPrivate: profile.isPrivate)
        noteChannel(sid)
    }

    mutating func noteChannel(_ sid: SID) {
        if isStored, let record = channels[sid]?.record { note(.channel(record)) }
    }

    private func checkNames(
        _ friendlyName: String?, _ uniqueName: String?, _ attributes: String?
    ) throws(WorldError) {
        if let friendlyName { try check(friendlyName, "the friendly name", limit: limits.nameLength) }
        if let uniqueName { try check(uniqueName, "the unique name", limit: limits.nameLength) }
        if let attributes { try checkAttributes(attributes, limit: limits.channelAttributesBytes) }
    }

    /// Whether a channel may have that unique name: nobody has it, and it is one.
    func isFree(_ uniqueName: String) -> Bool {
        !uniqueName.isEmpty && (try? checkFree(uniqueName, for: nil)) != nil
    }

    private func checkFree(_ uniqueName: String, for sid: SID?) throws(WorldError) {
        guard SID(uniqueName) == nil else { throw .invalid("a unique name must not look like a SID") }
        if let owner = channelNames[uniqueName], owner != sid { throw .nameTaken(uniqueName) }
    }
}
