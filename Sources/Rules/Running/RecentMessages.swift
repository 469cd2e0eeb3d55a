internal import Chat

/// A message that may be removed by who knows it only as one of the last.
struct RecentMessage: Sendable {
    var reference: MessageReference
    var user: UserID
}

/// The latest messages of each channel, for rules that delete the last of them.
struct RecentMessages: Sendable {
    private var channels: [UInt32: [RecentMessage]] = [:]

    static let most = 200
    private static let mostChannels = 2_000

    mutating func note(_ event: ChatEvent) {
        guard let channel = event.channel?.id.identity.number else { return }
        switch event.kind {
        case .messageAdded(let message):
            if channels[channel] == nil, channels.count >= Self.mostChannels { channels.removeAll() }
            let new = RecentMessage(reference: MessageReference(message), user: message.author.user)
            if channels[channel]?.contains(where: { $0.reference.id == message.id }) == true { return }
            channels[channel, default: []].append(new)
            if let count = channels[channel]?.count, count >= 2 * Self.most {
                channels[channel]?.removeFirst(count - Self.most)
            }
        case .messageDeleted(let message):
            channels[channel]?.removeAll { $0.reference.id == message.id }
        default: break
        }
    }

    /// The newest first.
    func latest(in channel: ChannelID) -> [RecentMessage] {
        (channels[channel.identity.number] ?? []).suffix(Self.most).reversed()
    }
}

/// Which messages rules have deleted lately, so that they are not deleted again as part of a burst.
struct RecentDeletions: Sendable {
    /// For which event each was deleted: an event that is decided again deletes the same.
    private var events: [String: String] = [:]
    private var order: [String] = []

    private static let most = 20_000

    mutating func note(_ actions: ArraySlice<ChatAction>, for event: String) {
        for action in actions {
            guard case .deleteMessage(let reference) = action.verb, events[reference.id] == nil else {
                continue
            }
            events[reference.id] = event
            order.append(reference.id)
        }
        guard order.count >= 2 * Self.most else { return }
        for id in order.prefix(Self.most) { events[id] = nil }
        order.removeFirst(Self.most)
    }

    func isGone(_ message: String, before event: String) -> Bool {
        events[message].map { $0 != event } ?? false
    }
}
