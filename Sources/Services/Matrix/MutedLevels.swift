internal import JSON

/// The content of power levels in which people are muted: they stand below what writing needs, and where they stood
/// before is noted beside.
struct MutedLevels {
    private(set) var content: JSONObject

    private static let note = "org.steward.muted"

    init(_ content: JSONObject) { self.content = content }

    private func number(_ key: String) -> Int64? { content[key]?.int }

    /// What the least of all events needs: whoever is below it can send none.
    private var least: Int64 {
        let events = content["events"]?.object?.compactMap { $0.value.int } ?? []
        return min(0, number("events_default") ?? 0, events.min() ?? 0)
    }

    /// False when nothing has to be written.
    mutating func mute(_ user: String) -> Bool {
        var users = content["users"]?.object ?? [:]
        let level = least - 1
        let before = users[user]?.int
        if (before ?? number("users_default") ?? 0) <= level { return false }
        if let before {
            var noted = content[Self.note]?.object ?? [:]
            noted[user] = .int(before)
            content[Self.note] = .object(noted)
        }
        users[user] = .int(level)
        content["users"] = .object(users)
        return true
    }

    /// False when nothing has to be written.
    mutating func unmute(_ user: String) -> Bool {
        var users = content["users"]?.object ?? [:]
        var noted = content[Self.note]?.object ?? [:]
        guard let level = users[user]?.int, level < 0 else { return false }
        users[user] = noted[user]
        noted[user] = nil
        content["users"] = .object(users)
        content[Self.note] = noted.isEmpty ? nil : .object(noted)
        return true
    }
}
