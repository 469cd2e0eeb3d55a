internal import Chat

/// What was written lately, by channel: for reports and as evidence. A bounded number of messages in all.
///
/// Messages are kept as bytes: to keep the events themselves would leave a dozen objects of each to be let go of long
/// after they have gone cold, which takes longer than to decide.
struct History: Sendable {
    private var channels = IdentityTable<HistoryLines>()
    private var count = 0
    /// Whose they are: few, and each line says which by number.
    private var sources: [Source] = []
    /// Where a line is put together before it goes to its place, which is far away: to write it there bit by bit would
    /// be to wait for each.
    private var draft = [UInt8](repeating: 0, count: 1024)

    private struct Source: Sendable {
        let account: String
        let realm: Realm
    }

    /// So many of one channel.
    static let most = 100
    private static let mostInAll = 25_600

    /// Oldest first.
    subscript(channel: ChannelID) -> [ChatEvent] {
        guard let lines = channels[channel.identity.number] else { return [] }
        return events(of: lines)
    }

    /// Reads where the next line of a channel will stand, so that it is near when it is written.
    mutating func touch(_ channel: UInt32) -> UInt8 { channels.withPlace(channel) { $0?.touch() } ?? 0 }

    mutating func note(_ event: ChatEvent) {
        let number = event.digest.channel
        if number == 0 { return }
        switch event.digest.name {
        case .messageAdded:
            guard let size = drawUp(event) else { return }
            let more = draft.withUnsafeBytes { draft in
                let line = UnsafeRawBufferPointer(rebasing: draft[..<size])
                return channels.withPlace(number) { $0?.add(line, of: event) }
            }
            if let more {
                count += more
            } else if let channel = event.channel {
                channels[number] = lines(channel, [event])
                count += 1
            }
            if count > Self.mostInAll { letGo() }
        case .messageEdited:
            // It counts as what it says now, at its old place.
            guard let id = event.message?.id, let lines = channels[number] else { return }
            var events = events(of: lines)
            guard let place = events.firstIndex(where: { $0.message?.id == id }) else { return }
            events[place] = event
            channels[number] = self.lines(lines.channel, events)
        default: break
        }
    }

    /// Whatever that user wrote.
    mutating func forget(_ user: UserID) {
        for lines in Array(channels.values) {
            channels[lines.number] = self.lines(
                lines.channel, events(of: lines).filter { $0.member?.user != user })
        }
        count = channels.values.reduce(0) { $0 + $1.count }
    }

    private func events(of lines: HistoryLines) -> [ChatEvent] {
        lines.lines { sources[Int($0)].realm }.map { line in
            let source = sources[Int(line.source)]
            return ChatEvent(
                id: line.event, account: source.account, realm: source.realm, channel: lines.channel,
                sentAt: line.sentAt, kind: .messageAdded(line.message))
        }
    }

    private mutating func lines(_ channel: Channel, _ events: [ChatEvent]) -> HistoryLines {
        var lines = HistoryLines(channel)
        for event in events {
            guard let size = drawUp(event) else { continue }
            _ = draft.withUnsafeBytes { lines.add(UnsafeRawBufferPointer(rebasing: $0[..<size]), of: event) }
        }
        return lines
    }

    /// Puts the line of an event together; how long it is.
    private mutating func drawUp(_ event: ChatEvent) -> Int? {
        let source = source(of: event)
        while true {
            let size = draft.withUnsafeMutableBytes { HistoryLine.write(event, source: source, to: $0) }
            guard let size, size > draft.count else { return size }
            draft = [UInt8](repeating: 0, count: size)
        }
    }

    private mutating func source(of event: ChatEvent) -> UInt16 {
        for place in sources.indices
        where event.isRead(by: sources[place].account, in: sources[place].realm) {
            return UInt16(place)
        }
        sources.append(Source(account: event.account, realm: event.realm))
        return UInt16(sources.count - 1)
    }

    /// The channels in which nobody wrote for longest, until half is left.
    private mutating func letGo() {
        for lines in channels.values.sorted(by: { $0.latest < $1.latest }) {
            if count <= Self.mostInAll / 2 { break }
            channels[lines.number] = nil
            count -= lines.count
        }
    }
}
