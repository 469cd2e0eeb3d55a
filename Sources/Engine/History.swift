internal import Chat

/// What was written lately, by channel: for reports and as evidence. A bounded number of messages in all.
struct History: Sendable {
    private var channels: [ChannelID: [ChatEvent]] = [:]
    private var count = 0

    /// So many of one channel.
    static let most = 100
    private static let mostInAll = 25_600

    /// Oldest first.
    subscript(channel: ChannelID) -> [ChatEvent] { channels[channel]?.suffix(Self.most) ?? [] }

    mutating func note(_ event: ChatEvent) {
        guard let channel = event.channel?.id else { return }
        switch event.kind {
        case .messageAdded:
            count += 1
            count -= Self.add(event, to: &channels[channel, default: []])
            if count > Self.mostInAll { letGo() }
        case .messageEdited(let message):
            // It counts as what it says now, at its old place.
            let place = channels[channel]?.lastIndex { $0.message?.id == message.id }
            if let place { channels[channel]?[place] = event }
        default: break
        }
    }

    /// Answers how many were let go of: now and then many at once, so that it costs nothing most of the time.
    private static func add(_ event: ChatEvent, to lines: inout [ChatEvent]) -> Int {
        lines.append(event)
        guard lines.count >= 2 * most else { return 0 }
        defer { lines.removeFirst(most) }
        return most
    }

    /// Whatever that user wrote.
    mutating func forget(_ user: UserID) {
        for channel in Array(channels.keys) {
            channels[channel]?.removeAll { $0.member?.user == user }
        }
        count = channels.values.reduce(0) { $0 + $1.count }
    }

    /// The channels in which nobody wrote for longest, until half is left.
    private mutating func letGo() {
        let oldest = channels.sorted {
            ($0.value.last?.sentAt ?? .never) < ($1.value.last?.sentAt ?? .never)
        }
        for (channel, lines) in oldest {
            if count <= Self.mostInAll / 2 { break }
            channels[channel] = nil
            count -= lines.count
        }
    }
}
