/// What steward holds people to where their service does not, or not for a time: a row in memory, from the moment it is
/// decided until it ends, through restarts.
package struct Punishment: Sendable, Equatable {
    package enum Kind: String, Sendable, CaseIterable { case mute, ban, lock, slowmode }

    /// Nil: until it is lifted.
    package var until: Timestamp?
    package var at: Timestamp
    /// The rule or plugin that wanted it.
    package var by: String
    package var reason: String?
    /// Slow mode: each member may write once in so long.
    package var interval: Duration?

    package init(
        until: Timestamp?, at: Timestamp, by: String, reason: String? = nil, interval: Duration? = nil
    ) {
        self.until = until
        self.at = at
        self.by = by
        self.reason = reason
        self.interval = interval
    }

    package func isOver(at now: Timestamp) -> Bool { until.map { $0 <= now } ?? false }

    /// Whose memory it is: all rules and steward itself share it.
    package static let owner = "steward"

    /// Where a mute or ban of a user in a channel is remembered.
    package static func key(_ kind: Kind, of user: UserID, in channel: ChannelID) -> MemoryKey {
        MemoryKey(owner: owner, name: "\(kind.rawValue):\(channel.text)", subject: .user(user))
    }

    /// Where a lock or the slow mode of a channel is remembered.
    package static func key(_ kind: Kind, in channel: ChannelID) -> MemoryKey {
        MemoryKey(owner: owner, name: kind.rawValue, subject: .channel(channel))
    }

    /// Whether a row of that name is a punishment.
    package static func isName(_ name: String) -> Bool {
        name == Kind.lock.rawValue || name == Kind.slowmode.rawValue || name.hasPrefix("mute:")
            || name.hasPrefix("ban:")
    }

    // MARK: As a value in memory

    private static let separator: Character = "\u{1F}"

    package init?(_ value: MemoryValue?) {
        guard case .text(let text)? = value else { return nil }
        let parts = text.split(separator: Self.separator, maxSplits: 4, omittingEmptySubsequences: false)
        guard parts.count == 5, let at = Int64(parts[1]) else { return nil }
        until = Int64(parts[0]).map { Timestamp(milliseconds: $0) }
        self.at = Timestamp(milliseconds: at)
        interval = Int64(parts[2]).map { .milliseconds($0) }
        by = String(parts[3])
        reason = parts[4].isEmpty ? nil : String(parts[4])
    }

    package var value: MemoryValue {
        let until = until.map { "\($0.milliseconds)" } ?? ""
        let interval = interval.map { "\($0.milliseconds)" } ?? ""
        return .text(
            [until, "\(at.milliseconds)", interval, by, reason ?? ""].joined(
                separator: String(Self.separator)))
    }
}
