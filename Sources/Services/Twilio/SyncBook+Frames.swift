package import Chat

// For whoever has frames and no connection: replays, and figures of speed.
extension SyncBook {
    /// Reads a channel's messages from the start of their list on, as after a log-in that found the list empty.
    package mutating func follow(_ channel: Channel, messages list: String, members: [Member]) {
        let place = open(channel)
        fill(place, members: members)
        _ = read(list, as: .messages(place), from: -1)
    }
}
