internal import Chat

/// What was written lately, by channel: for reports and as evidence. A bounded number of messages in all.
struct History: Sendable {
    /// A ring: the newest takes the place of the oldest.
    private struct Lines: Sendable {
        var events: [ChatEvent] = []
        var oldest = 0

        var inOrder: [ChatEvent] { Array(events[oldest...] + events[..<oldest]) }
        var latest: Timestamp? {
            events.isEmpty ? nil : events[oldest == 0 ? events.count - 1 : oldest - 1].sentAt
        }

        /// False when it took the place of another.
        mutating func add(_ event: ChatEvent) -> Bool {
            if events.count < History.most {
                events.append(event)
                return true
            }
            events[oldest] = event
            oldest = oldest + 1 < events.count ? oldest + 1 : 0
            return false
        }
    }

    private var channels: [UInt32: Lines] = [:]
    private var count = 0

    /// So many of one channel.
    static let most = 100
    private static let mostInAll = 25_600

    /// Oldest first.
    subscript(channel: ChannelID) -> [ChatEvent] { channels[channel.identity.number]?.inOrder ?? [] }

    mutating func note(_ event: ChatEvent) {
        let channel = event.digest.channel
        if channel == 0 { return }
        switch event.digest.name {
        case .messageAdded:
            guard channels[channel, default: Lines()].add(event) else { return }
            count += 1
            if count > Self.mostInAll { letGo() }
        case .messageEdited:
            // It counts as what it says now, at its old place.
            guard let id = event.message?.id else { return }
            let place = channels[channel]?.events.firstIndex { $0.message?.id == id }
            if let place { channels[channel]?.events[place] = event }
        default: break
        }
    }

    /// Whatever that user wrote.
    mutating func forget(_ user: UserID) {
        for (channel, lines) in channels {
            channels[channel] = Lines(events: lines.inOrder.filter { $0.member?.user != user })
        }
        count = channels.values.reduce(0) { $0 + $1.events.count }
    }

    /// The channels in which nobody wrote for longest, until half is left.
    private mutating func letGo() {
        let oldest = channels.sorted { ($0.value.latest ?? .never) < ($1.value.latest ?? .never) }
        for (channel, lines) in oldest {
            if count <= Self.mostInAll / 2 { break }
            channels[channel] = nil
            count -= lines.events.count
        }
    }
}
