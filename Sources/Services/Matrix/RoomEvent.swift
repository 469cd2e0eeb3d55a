internal import Chat
internal import JSON

/// An event of a room as the homeserver gives it, as far as steward knows such events. `content` is what a stranger sent:
/// anything may be missing or of another type.
struct RoomEvent: Sendable {
    var id: String
    var sender: String
    var at: Timestamp
    var content: Content
    /// Whether a name, topic or alias is another than before, as far as the server says what was before.
    var isChange = true

    enum Content: Sendable {
        case message(RoomMessage)
        /// New text for a message, if that is of the same sender.
        case edit(of: String, RoomMessage)
        case encrypted
        case reaction(to: String, key: String)
        case redaction(of: String)
        case member(String, Membership)
        case powerLevels(PowerLevels, before: PowerLevels?)
        case name(String)
        case topic(String)
        case alias(String?)
        case tombstone(replacement: String)
        case encryption
        case created(RoomCreation)
        case policy(PolicyRule, before: PolicyRule?)
        /// Something else, or something whose content was taken away.
        case other(type: String)
    }
}

/// How a room began.
struct RoomCreation: Equatable, Sendable {
    var version: String = "1"
    /// All of them, from version 12 on with endless power.
    var creators: [String] = []
    /// The action of ours that made it.
    var key: String?
    /// Whom we made it for, to write to them directly.
    var direct: String?

    /// From version 12 on creators stand above all levels.
    var creatorsAreEndless: Bool { Int(version).map { $0 >= 12 } ?? false }
}

/// What a membership event says, and what was before it.
struct Membership: Sendable {
    enum Kind: String, Sendable { case join, leave, invite, ban, knock }

    var kind: Kind
    var name: String?
    var avatar: String?
    var isDirect = false
    /// What the event before it said.
    var before: Before

    enum Before: Equatable, Sendable {
        /// There was none.
        case nothing
        case was(Kind, name: String?, avatar: String?)
        /// There was one, and the server does not say which.
        case unknown
    }
}

/// An entry of a ban list. Source: client-server specification, "Moderation policy lists".
struct PolicyRule: Equatable, Sendable {
    enum Kind: String, Sendable { case user, room, server }

    var kind: Kind
    /// Names the entry in its list.
    var key: String
    /// With `*` and `?`; nil when the entry was taken away.
    var entity: String?
    var recommendation: String
    var reason: String

    /// Whether it says that somebody is not wanted: other recommendations are none of ours.
    var isBan: Bool {
        entity != nil && ["m.ban", "org.matrix.mjolnir.ban"].contains(recommendation)
    }

    /// The entry as rules know it.
    func policy(of list: String) -> Policy? {
        guard isBan, let entity else { return nil }
        let subject: Policy.Subject =
            switch kind {
            case .user: .user
            case .room: .channel
            case .server: .server
            }
        return Policy(list: list, subject: subject, entity: entity, reason: reason.isEmpty ? nil : reason)
    }
}

extension RoomEvent {
    private static let keys = JSONKeys(
        "type", "sender", "content", "event_id", "origin_server_ts", "state_key", "unsigned", "redacts")
    private static let contentKeys = JSONKeys(
        "msgtype", "body", "m.relates_to", "m.new_content", "format", "formatted_body")

    /// Nil when it is none: without a type, a sender, an id or content.
    init?(_ node: JSONNode) {
        let fields = node.fields(Self.keys)
        guard let type = fields[0]?.string, let sender = fields[1]?.string, let id = fields[3]?.string,
            let content = fields[2], content.kind == .object
        else { return nil }
        self.id = id
        self.sender = sender
        at = Timestamp(milliseconds: max(fields[4]?.int ?? 0, 0))
        let state = fields[5]?.string
        self.content =
            state.map { Self.state(type, $0, content, sender, unsigned: fields[6], event: node) }
            ?? Self.message(type, content, redacts: fields[7])
        switch self.content {
        case .name: isChange = Self.isOther("name", content, fields[6])
        case .topic: isChange = Self.isOther("topic", content, fields[6])
        case .alias: isChange = Self.isOther("alias", content, fields[6])
        default: break
        }
    }

    private static func isOther(_ key: String, _ content: JSONNode, _ unsigned: JSONNode?) -> Bool {
        guard let before = unsigned?["prev_content"] else { return true }
        return before[key]?.string != content[key]?.string
    }

    /// An event without a state key.
    private static func message(
        _ type: String, _ content: JSONNode, redacts: JSONNode?
    ) -> Content {
        switch type {
        case "m.room.message", "m.sticker":
            let fields = content.fields(contentKeys)
            let relation = fields[2]
            if relation?["rel_type"]?.equals("m.replace") == true {
                guard let original = relation?["event_id"]?.string, let new = fields[3],
                    let message = RoomMessage(new, new.fields(contentKeys), isSticker: false)
                else { return .other(type: type) }
                return .edit(of: original, message)
            }
            guard let message = RoomMessage(content, fields, isSticker: type == "m.sticker") else {
                return .other(type: type)
            }
            return .message(message)
        case "m.room.encrypted": return .encrypted
        case "m.reaction":
            guard let relation = content["m.relates_to"],
                relation["rel_type"]?.equals("m.annotation") == true,
                let target = relation["event_id"]?.string, let key = relation["key"]?.string, !key.isEmpty
            else { return .other(type: type) }
            return .reaction(to: target, key: key)
        case "m.room.redaction":
            // In the content from room version 11 on, beside it before.
            guard let target = content["redacts"]?.string ?? redacts?.string else {
                return .other(type: type)
            }
            return .redaction(of: target)
        default: return .other(type: type)
        }
    }

    private static func state(
        _ type: String, _ key: String, _ content: JSONNode, _ sender: String, unsigned: JSONNode?,
        event: JSONNode
    ) -> Content {
        switch type {
        case "m.room.member":
            guard let membership = Membership(content, unsigned: unsigned, event: event) else {
                return .other(type: type)
            }
            return .member(key, membership)
        // The second and third are what older lists have.
        case "m.policy.rule.user", "m.room.rule.user", "org.matrix.mjolnir.rule.user":
            return policy(.user, key, content, unsigned)
        case "m.policy.rule.room", "m.room.rule.room", "org.matrix.mjolnir.rule.room":
            return policy(.room, key, content, unsigned)
        case "m.policy.rule.server", "m.room.rule.server", "org.matrix.mjolnir.rule.server":
            return policy(.server, key, content, unsigned)
        default: break
        }
        // All others are of a room as a whole.
        guard key.isEmpty else { return .other(type: type) }
        switch type {
        case "m.room.power_levels":
            let before = unsigned?["prev_content"].map { PowerLevels($0) }
            return .powerLevels(PowerLevels(content), before: before)
        case "m.room.name": return .name(content["name"]?.string ?? "")
        case "m.room.topic": return .topic(content["topic"]?.string ?? "")
        case "m.room.canonical_alias":
            return .alias(content["alias"]?.string.flatMap { $0.isEmpty ? nil : $0 })
        case "m.room.tombstone":
            guard let room = content["replacement_room"]?.string, !room.isEmpty else {
                return .other(type: type)
            }
            return .tombstone(replacement: room)
        case "m.room.encryption": return .encryption
        case "m.room.create": return .created(RoomCreation(content, sender: sender))
        default: return .other(type: type)
        }
    }
}

extension RoomEvent {
    private static func policy(
        _ kind: PolicyRule.Kind, _ key: String, _ content: JSONNode, _ unsigned: JSONNode?
    ) -> Content {
        .policy(
            PolicyRule(kind, key, content),
            before: unsigned?["prev_content"].map { PolicyRule(kind, key, $0) })
    }
}

extension RoomCreation {
    fileprivate init(_ content: JSONNode, sender: String) {
        version = content["room_version"]?.string ?? "1"
        creators = [sender] + (content["additional_creators"]?.elements.compactMap(\.string) ?? [])
        key = content[RoomMessage.markKey]?["key"]?.string
        direct = content[RoomMessage.markKey]?["direct"]?.string
    }
}

extension Membership {
    fileprivate init?(_ content: JSONNode, unsigned: JSONNode?, event: JSONNode) {
        guard let kind = content["membership"]?.string.flatMap(Kind.init) else { return nil }
        self.kind = kind
        name = content["displayname"]?.string
        avatar = content["avatar_url"]?.string
        isDirect = content["is_direct"]?.bool ?? false
        // Some servers write it beside the content, as all did once.
        let old = unsigned?["prev_content"] ?? event["prev_content"]
        if let old, let kind = old["membership"]?.string.flatMap(Kind.init) {
            before = .was(kind, name: old["displayname"]?.string, avatar: old["avatar_url"]?.string)
        } else {
            before = unsigned?["replaces_state"]?.string == nil ? .nothing : .unknown
        }
    }
}

extension PolicyRule {
    fileprivate init(_ kind: Kind, _ key: String, _ content: JSONNode) {
        self.kind = kind
        self.key = key
        // Taking an entry away leaves it there without content.
        entity = content["entity"]?.string.flatMap { $0.isEmpty ? nil : $0 }
        recommendation = content["recommendation"]?.string ?? ""
        reason = content["reason"]?.string ?? ""
    }
}
