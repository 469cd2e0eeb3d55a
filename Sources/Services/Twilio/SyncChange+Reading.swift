internal import Chat
internal import JSON

/// What has to be known to turn Sync's data into messages and members.
struct SyncReading {
    let realm: Realm
    /// Words for role SIDs.
    let roles: [String: String]
    var bots = BotNames()

    /// A message list's item.
    func message(_ item: MessageFields, index: Int64, by author: consuming Member) -> Message {
        let attributes = item.attributes?.string
        return Message(
            id: item.sid?.string ?? "", index: index, author: author, text: item.text?.string ?? "",
            attributes: attributes, attachments: attachments(of: item),
            replyTo: MessageMark(attributes: attributes)?.replyTo)
    }

    private func attachments(of item: MessageFields) -> [Message.Attachment] {
        if let medias = item.medias, medias.kind == .array {
            return medias.elements.map { attachment($0) }
        }
        if let media = item.media, media.kind == .object { return [attachment(media)] }
        return []
    }

    /// When a message was sent.
    func sent(_ item: MessageFields) -> Timestamp? { moment(item.timestamp) }

    private func attachment(_ media: JSONNode) -> Message.Attachment {
        Message.Attachment(
            id: media["sid"]?.string ?? "", name: media["filename"]?.string ?? "",
            contentType: (media["contentType"] ?? media["content_type"])?.string
                ?? "application/octet-stream", size: media["size"]?.int ?? 0)
    }

    /// A roster's item.
    func entry(_ item: JSONNode, key: String, version: Int64) -> RosterEntry {
        let role = item["roleSid"]?.string
        // Somebody who takes part by telephone has no identity.
        let identity = item["identity"]?.string ?? key
        return RosterEntry(
            key: key,
            member: Member(
                user: realm.user(identity), roles: role.map { [roles[$0] ?? $0] } ?? [],
                isBot: bots.contains(identity, role: role), attributes: item["attributes"]?.string,
                joinedAt: moment(item["dateCreated"])),
            profile: item["userInfo"]?.string, roleSID: role,
            horizon: item["lastConsumedMessageIndex"]?.int,
            horizonMoved: moment(item["lastConsumptionTimestamp"]), version: version)
    }

    /// Somebody who is not in the roster.
    func stranger(_ identity: String) -> Member {
        Member(user: realm.user(identity), isBot: bots.contains(identity))
    }

    /// A channel's document.
    func document(_ data: JSONNode) -> ChannelDocument {
        let unique = data["uniqueName"]?.string
        return ChannelDocument(
            title: data["friendlyName"]?.string ?? "", uniqueName: unique?.isEmpty == true ? nil : unique,
            attributes: data["attributes"]?.string, lastMessage: moment(data["lastMessage"]?["timestamp"]))
    }

    /// An item of the map of our own channels.
    func standing(_ item: JSONNode?) -> SyncChange.Standing {
        switch item?["status"]?.string {
        case "joined": .joined
        case "invited": .invited
        default: .notParticipating
        }
    }

    private func moment(_ node: JSONNode?) -> Timestamp? {
        node?.utf8.flatMap { Timestamp(iso8601: $0) }
    }
}

/// What is read of a message list's item: its `item_data` or `data`.
struct MessageFields {
    private static let keys = JSONKeys("sid", "author", "text", "attributes", "timestamp", "medias", "media")
    private let fields: JSONFields

    init(_ item: JSONNode) {
        fields = item.fields(Self.keys)
    }

    var sid: JSONNode? { fields[0] }
    var author: JSONNode? { fields[1] }
    var text: JSONNode? { fields[2] }
    var attributes: JSONNode? { fields[3] }
    var timestamp: JSONNode? { fields[4] }
    var medias: JSONNode? { fields[5] }
    var media: JSONNode? { fields[6] }
}

/// What we leave in a message's attributes, beside what others have there.
struct MessageMark: Equatable {
    /// The action that the message came from.
    var key: String?
    /// The message it answers.
    var replyTo: String?

    init(key: String?, replyTo: String?) {
        self.key = key
        self.replyTo = replyTo
    }

    /// Nil when there is none.
    init?(attributes: String?) {
        // Nearly all messages have no mark, and looking must cost nothing then.
        guard let attributes, attributes.utf8.count > 12,
            let mark = (try? JSON(parsing: attributes))?["steward"], mark.object != nil
        else { return nil }
        key = mark["key"]?.string
        replyTo = mark["reply_to"]?.string
    }

    /// The attributes with the mark in them. What is not a JSON object is kept under `value`.
    func added(to attributes: String?) -> String {
        var object = JSONObject()
        if let attributes, !attributes.isEmpty {
            switch try? JSON(parsing: attributes) {
            case .object(let there): object = there
            case let value?: object["value"] = value
            case nil: object["value"] = .string(attributes)
            }
        }
        var mark = object["steward"]?.object ?? JSONObject()
        if let key { mark["key"] = .string(key) }
        if let replyTo { mark["reply_to"] = .string(replyTo) }
        object["steward"] = .object(mark)
        return JSON.object(object).description
    }
}
