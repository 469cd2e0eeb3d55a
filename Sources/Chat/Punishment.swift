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
    /// The event that brought it; nil in stores of before it was noted.
    package var event: String?
    /// Who may write in spite of a lock or of slow mode; nil: as usual.
    package var spares: ChatAction.Spared?
    /// Of a mute where the service knows mutes and we may not mute there, or were refused: steward deletes instead.
    package var isByDeleting = false
    /// Others that are covered by this one, the longest first: they hold when this one is taken back.
    package private(set) var covered: [Punishment] = []

    package init(
        until: Timestamp?, at: Timestamp, by: String, reason: String? = nil, interval: Duration? = nil,
        event: String? = nil, spares: ChatAction.Spared? = nil
    ) {
        self.until = until
        self.at = at
        self.by = by
        self.reason = reason
        self.interval = interval
        self.event = event
        self.spares = spares
    }

    package func isOver(at now: Timestamp) -> Bool { until.map { $0 <= now } ?? false }

    /// It and those that it covers, the longest first.
    package var all: [Punishment] {
        var first = self
        first.covered = []
        return [first] + covered
    }

    /// Whether what they write is deleted although the service knows mutes.
    package func deletes(at now: Timestamp) -> Bool {
        all.contains { $0.isByDeleting && !$0.isOver(at: now) }
    }

    /// Whether the service has been told of any of them.
    package var isNative: Bool { !all.allSatisfy(\.isByDeleting) }

    /// One that stands for all of these that are not over; nil when there is none.
    package init?(_ all: [Punishment], at now: Timestamp) {
        // Of two that end together the earlier one stands first.
        let left = all.filter { !$0.isOver(at: now) }.enumerated().sorted {
            let (one, other) = ($0.element.until ?? .never, $1.element.until ?? .never)
            return one == other ? $0.offset < $1.offset : one > other
        }.map(\.element)
        guard let first = left.first else { return nil }
        self = first
        covered = Array(left.dropFirst().prefix(Self.mostCovered))
    }

    private static let mostCovered = 7

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

    private static let (entry, part, word): (Character, Character, Character) = ("\u{1D}", "\u{1F}", "\u{1E}")

    package init?(_ value: MemoryValue?) {
        guard case .text(let text)? = value else { return nil }
        let all = text.split(separator: Self.entry).compactMap { Self(line: $0) }
        guard let first = all.first else { return nil }
        self = first
        covered = Array(all.dropFirst())
    }

    package var value: MemoryValue {
        .text(all.map(\.line).joined(separator: String(Self.entry)))
    }

    private init?(line: Substring) {
        let parts = line.split(separator: Self.part, omittingEmptySubsequences: false).map(String.init)
        // In stores of before there are five.
        guard [5, 9, 10].contains(parts.count), let at = Int64(parts[1]) else { return nil }
        self.init(
            until: Int64(parts[0]).map { Timestamp(milliseconds: $0) }, at: Timestamp(milliseconds: at),
            by: parts[3], reason: parts[4].isEmpty ? nil : parts[4],
            interval: Int64(parts[2]).map { .milliseconds($0) })
        guard parts.count > 5 else { return }
        isByDeleting = parts.count == 10
        event = parts[5].isEmpty ? nil : parts[5]
        guard !parts[8].isEmpty else { return }
        spares = ChatAction.Spared(
            roles: parts[6].split(separator: Self.word).map(String.init),
            users: parts[7].split(separator: Self.word).map(String.init), bots: parts[8] == "bots")
    }

    private var line: String {
        let time = until.map { "\($0.milliseconds)" } ?? ""
        let interval = interval.map { "\($0.milliseconds)" } ?? ""
        let roles = spares.map { Self.words($0.roles) } ?? ""
        let users = spares.map { Self.words($0.users) } ?? ""
        let bots = spares.map { $0.bots ? "bots" : "people" } ?? ""
        let parts = [
            time, "\(at.milliseconds)", interval, Self.harmless(by), Self.harmless(reason ?? ""),
            Self.harmless(event ?? ""), roles, users, bots,
        ]
        // An earlier steward reads nine.
        return (isByDeleting ? parts + ["deleting"] : parts).joined(separator: String(Self.part))
    }

    private static func words(_ words: [String]) -> String {
        words.map(harmless).joined(separator: String(word))
    }

    /// A reason may be what somebody wrote.
    private static func harmless(_ text: String) -> String {
        let marks: ClosedRange<UInt8> = 0x1D...0x1F
        guard text.utf8.contains(where: marks.contains) else { return text }
        return String(decoding: text.utf8.map { marks.contains($0) ? 0x20 : $0 }, as: UTF8.self)
    }
}
