public import Chat

/// Remembers when each person last wrote or joined, answers `!seen NAME`, and tells rules who was seen lately.
public struct LastSeen: Plugin {
    /// What stands under `settings:`; all of it may be missing.
    public struct Settings: Decodable, Sendable {
        /// For how long a person is remembered; `90d` when missing.
        var keep: Duration?
        /// The word that asks; `!seen` when missing.
        var command: String?
    }

    /// What `plugins:` in `config.yaml` calls it.
    public let name = "last-seen"
    /// It answers people, and removes nothing.
    public let stage = Stage.answer
    /// Who writes and who joins; no history.
    public let needs = Needs(events: [.messageAdded, .memberJoined])

    private let keep: Duration
    private let command: String

    /// Throws `SettingsError` for a `keep` under a minute, and for a command that is not one word.
    public init(settings: Settings) throws {
        keep = settings.keep ?? .seconds(90 * 86_400)
        guard keep >= .seconds(60) else { throw SettingsError("keep must be at least 1m") }
        command = settings.command ?? "!seen"
        guard !command.isEmpty, !command.contains(where: \.isWhitespace) else {
            throw SettingsError("command must be one word")
        }
    }

    /// Notes that the member was seen, and answers whoever asks for one.
    public func decide(_ event: ChatEvent, in situation: Situation) throws -> Decision {
        guard let member = event.member else { return .nothing }
        var decision = answer(to: event, in: situation)
        let seen = MemoryValue.number(event.sentAt.milliseconds)
        if let before = situation.memory.value(of: key(for: member.user)) {
            decision.changes.append(.set(key(for: member.user, before: true), before, keep: keep))
        }
        decision.changes.append(.set(key(for: member.user), seen, keep: keep))
        return decision
    }

    /// `seen_within: 1h`, for at most as long as is kept.
    public var conditions: [PluginCondition] {
        [
            PluginCondition(
                "seen_within", "Whoever it is about wrote or joined within that time before: seen_within: 1h."
            ) { text in
                let time = try span(text)
                return { event, situation in
                    guard let last = last(before: event, in: situation) else { return false }
                    return event.sentAt - last <= time
                }
            }
        ]
    }

    /// When the event's member was seen before it.
    private func last(before event: ChatEvent, in situation: Situation) -> Timestamp? {
        guard let user = event.member?.user else { return nil }
        var value = situation.memory.value(of: key(for: user))
        // Rules that only look on are asked after the event itself was noted.
        if value == .number(event.sentAt.milliseconds) {
            value = situation.memory.value(of: key(for: user, before: true))
        }
        guard case .number(let moment)? = value else { return nil }
        return Timestamp(milliseconds: moment)
    }

    private func span(_ text: String) throws -> Duration {
        let units = ["s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800]
        guard let unit = text.last.flatMap({ units[String($0)] }), let count = Int64(text.dropLast()),
            (1...100_000).contains(count)
        else { throw SettingsError("\"\(text)\" is not a duration - try \"1h\", with s, m, h, d or w") }
        let time = Duration.seconds(count * Int64(unit))
        guard time <= keep else {
            throw SettingsError("\"\(text)\" is longer than last-seen remembers - raise its \"keep\"")
        }
        return time
    }

    private func answer(to event: ChatEvent, in situation: Situation) -> Decision {
        guard let message = event.message, !message.isNotice, !situation.isStale else { return .nothing }
        let words = message.text.split(whereSeparator: \.isWhitespace)
        guard words.count == 2, words[0] == command else { return .nothing }
        let asked = words[1].first == "@" ? words[1].dropFirst() : words[1]
        let user = event.realm.user(String(asked))
        guard case .number(let moment) = situation.memory.value(of: key(for: user)) else {
            return .reply("I have not seen \(asked) yet.", to: event)
        }
        let ago = situation.now - Timestamp(milliseconds: moment)
        return .reply("\(asked) was last seen \(Self.words(for: ago)).", to: event)
    }

    /// `before`: of the time before the last.
    private func key(for user: UserID, before: Bool = false) -> MemoryKey {
        MemoryKey(owner: name, name: before ? "before" : "seen", subject: .user(user))
    }

    /// `just now`, `5 minutes ago`, `3 days ago`.
    static func words(for duration: Duration) -> String {
        let units = [(86_400, "day"), (3600, "hour"), (60, "minute")]
        for (seconds, unit) in units where duration >= .seconds(seconds) {
            let count = duration.components.seconds / Int64(seconds)
            return "\(count) \(unit)\(count == 1 ? "" : "s") ago"
        }
        return "just now"
    }
}
