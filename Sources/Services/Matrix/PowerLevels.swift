internal import Chat
internal import JSON

/// Who may do what in a room. Source: client-server specification, `m.room.power_levels`.
struct PowerLevels: Equatable, Sendable {
    var users: [String: Int64] = [:]
    var usersDefault: Int64 = 0
    var events: [String: Int64] = [:]
    var eventsDefault: Int64 = 0
    var stateDefault: Int64 = 50
    var ban: Int64 = 50
    var kick: Int64 = 50
    var redact: Int64 = 50
    var invite: Int64 = 0

    /// A creator's, from room version 12 on: above all others, and in no list.
    static let endless = Int64.max

    /// What holds in a room without such an event: whoever created it may do everything.
    init(creator: String?) {
        if let creator { users[creator] = 100 }
        stateDefault = 0
    }

    init(_ content: JSONNode) {
        users = Self.numbers(content["users"])
        events = Self.numbers(content["events"])
        usersDefault = Self.number(content["users_default"]) ?? usersDefault
        eventsDefault = Self.number(content["events_default"]) ?? eventsDefault
        stateDefault = Self.number(content["state_default"]) ?? stateDefault
        ban = Self.number(content["ban"]) ?? ban
        kick = Self.number(content["kick"]) ?? kick
        redact = Self.number(content["redact"]) ?? redact
        invite = Self.number(content["invite"]) ?? invite
    }

    /// Old rooms have levels written as text.
    private static func number(_ node: JSONNode?) -> Int64? {
        guard let node else { return nil }
        return node.int ?? node.double.flatMap { Int64(exactly: $0.rounded(.towardZero)) }
            ?? node.string.flatMap { Int64($0.filter { $0 != " " }) }
    }

    private static func numbers(_ node: JSONNode?) -> [String: Int64] {
        guard let node else { return [:] }
        var numbers: [String: Int64] = [:]
        for (key, value) in node.members {
            if let number = number(value), numbers[key] == nil { numbers[key] = number }
        }
        return numbers
    }

    func level(of user: String) -> Int64 { users[user] ?? usersDefault }

    /// What a message event needs.
    func needed(forEvent type: String) -> Int64 { events[type] ?? eventsDefault }

    /// What a state event needs.
    func needed(forState type: String) -> Int64 { events[type] ?? stateDefault }

    /// What it takes to say something.
    var neededToWrite: Int64 { needed(forEvent: "m.room.message") }
}
