internal import JSON

/// An answer to a sync, read whole, so that more can be asked before any of it is told.
struct SyncAnswer: Sendable {
    var next: String
    var joined: [JoinedRoom] = []
    var invites: [Invitation] = []
    /// Rooms that we are not in any more, and how that came about if the server says so.
    var left: [(room: String, events: [RoomEvent])] = []
    /// Rooms of direct messages by user, when that changed.
    var direct: [String: [String]]?

    struct JoinedRoom: Sendable {
        var id: String
        var state: [RoomEvent] = []
        var timeline: [RoomEvent] = []
        /// There were more events than the timeline holds.
        var isLimited = false
        /// Where what is missing ends.
        var previous: String?
        var heroes: [String]?
        var memberCount: Int?
        /// Who is typing, when that changed.
        var typing: [String]?
        var receipts: [(user: String, event: String, at: Int64)] = []
    }

    struct Invitation: Sendable {
        var room: String
        var sender: String
        var isDirect: Bool
        var name: String?
    }

    /// Nil when it is no answer to a sync.
    init?(_ node: JSONNode, own: String) {
        guard let next = node["next_batch"]?.string else { return nil }
        self.next = next
        if let events = node["account_data"]?["events"] {
            for event in events.elements where event["type"]?.equals("m.direct") == true {
                guard let content = event["content"] else { continue }
                direct = content.members.reduce(into: [:]) {
                    $0[$1.key] = $1.value.elements.compactMap(\.string)
                }
            }
        }
        guard let rooms = node["rooms"] else { return }
        if let join = rooms["join"] { joined = join.members.map { JoinedRoom($0.key, $0.value) } }
        if let invite = rooms["invite"] {
            invites = invite.members.map { Invitation($0.key, $0.value, own: own) }
        }
        if let leave = rooms["leave"] {
            left = leave.members.map { room, node in
                (room, Self.events(node["timeline"]) + Self.events(node["state"]))
            }
        }
    }

    static func events(_ node: JSONNode?) -> [RoomEvent] {
        guard let events = node?["events"] else { return [] }
        return events.elements.compactMap { RoomEvent($0) }
    }
}

extension SyncAnswer.JoinedRoom {
    init(_ id: String, _ node: JSONNode) {
        self.id = id
        state = SyncAnswer.events(node["state"])
        if let timeline = node["timeline"] {
            self.timeline = SyncAnswer.events(timeline)
            isLimited = timeline["limited"]?.bool ?? false
            previous = timeline["prev_batch"]?.string
        }
        if let summary = node["summary"] {
            heroes = summary["m.heroes"].map { $0.elements.compactMap(\.string) }
            memberCount = summary["m.joined_member_count"]?.int.flatMap { Int(exactly: $0) }
        }
        for event in node["ephemeral"]?["events"].map({ Array($0.elements) }) ?? [] {
            guard let content = event["content"] else { continue }
            if event["type"]?.equals("m.typing") == true {
                typing = content["user_ids"].map { $0.elements.compactMap(\.string) }
            } else if event["type"]?.equals("m.receipt") == true {
                read(receipts: content)
            }
        }
    }

    private mutating func read(receipts content: JSONNode) {
        for (event, kinds) in content.members {
            guard let readers = kinds["m.read"] else { continue }
            for (user, receipt) in readers.members {
                receipts.append((user, event, receipt["ts"]?.int ?? 0))
            }
        }
    }
}

extension SyncAnswer.Invitation {
    init(_ room: String, _ node: JSONNode, own: String) {
        self.room = room
        sender = ""
        isDirect = false
        // Stripped: no ids and no times, and whatever the server of the one who invites wants to say.
        for event in node["invite_state"]?["events"].map({ Array($0.elements) }) ?? [] {
            if event["type"]?.equals("m.room.member") == true, event["state_key"]?.equals(own) == true {
                sender = event["sender"]?.string ?? ""
                isDirect = event["content"]?["is_direct"]?.bool ?? false
            } else if event["type"]?.equals("m.room.name") == true {
                name = event["content"]?["name"]?.string
            }
        }
    }
}
