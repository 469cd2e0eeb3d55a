internal import Chat

/// What is known of channels, for events that only name theirs.
struct KnownChannels {
    private static let most = 16_384
    /// Channels that nothing is new of, by the end of their number: nearly always the event's is here.
    private var latest = [Channel?](repeating: nil, count: 256)
    private var channels: [ChannelID: Channel] = [:]
    /// By account the names by which channels are known to have been called there.
    private var names: [String: [ChannelID: String]] = [:]

    subscript(id: ChannelID) -> Channel? { channels[id] }

    /// Whether the event is sure to tell nothing new of its channel.
    func hasNoNews(of event: ChatEvent) -> Bool {
        guard let last = latest[Int(event.digest.channel % 256)] else { return false }
        return event.isIn(last)
    }

    mutating func note(_ channel: Channel) {
        latest[Int(channel.id.identity.number % 256)] = channel
        if channels.count > Self.most { channels = [:] }
        channels[channel.id] = channel
    }

    /// The channel's name, if it was not known that the account calls it so.
    mutating func newName(of channel: Channel, account: String) -> String? {
        guard let name = channel.uniqueName, names[account]?[channel.id] != name else { return nil }
        if names[account].map({ $0.count > Self.most }) == true { names[account] = nil }
        names[account, default: [:]][channel.id] = name
        return name
    }
}
