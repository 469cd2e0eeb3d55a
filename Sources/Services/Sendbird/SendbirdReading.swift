internal import Chat
internal import JSON

/// Turns users and messages, of frames and of answers alike, into what steward calls them.
struct SendbirdReading: Sendable {
    let realm: Realm
    let bots: BotNames

    /// Who speaks where a message has no user: the application, through the Platform API.
    var application: Member {
        Member(user: realm.user("*admin*"), name: "admin", roles: [], isBot: true)
    }

    /// Somebody of whom nothing is known.
    var nobody: Member { Member(user: realm.user("*unknown*"), name: "unknown") }

    func user(_ node: JSONNode?) -> UserID? {
        (node?["guest_id"] ?? node?["user_id"])?.words.map { realm.user($0) }
    }

    func member(_ node: JSONNode?, isOperator: Bool = false) -> Member? {
        guard let node, let user = user(node) else { return nil }
        let name = (node["name"] ?? node["nickname"])?.words
        let isOperator = isOperator || node["role"]?.equals("operator") == true
        let metadata = node["metadata"].flatMap { $0.kind == .object ? $0.json : nil }
        return Member(
            user: user, name: name, roles: isOperator ? ["operator"] : [], isBot: bots.contains(user.text),
            attributes: metadata.flatMap { $0.object?.isEmpty == false ? $0.description : nil })
    }

    func member(_ id: String, isOperator: Bool = false) -> Member {
        Member(
            user: realm.user(id), roles: isOperator ? ["operator"] : [], isBot: bots.contains(id))
    }

    /// A message of either form; nil for one without an id.
    func message(_ node: JSONNode, by author: Member) -> SeenMessage? {
        guard let id = (node["msg_id"] ?? node["message_id"])?.number, id > 0 else { return nil }
        let at = (node["ts"] ?? node["created_at"])?.number ?? 0
        let data = (node["data"]?.words) ?? node["custom"]?.words
        let parent = node["parent_message_id"]?.number ?? 0
        let message = Message(
            id: "\(id)", index: id, author: author, text: node["message"]?.string ?? "", attributes: data,
            attachments: Self.attachments(node), replyTo: parent > 0 ? "\(parent)" : nil)
        return SeenMessage(
            id: id, at: Timestamp(milliseconds: at), changedAt: node["updated_at"]?.number ?? 0,
            message: message, request: node["request_id"]?.words)
    }

    /// A message that may not have a user: the application's then.
    func message(_ node: JSONNode, operators: Set<String>) -> SeenMessage? {
        let user = node["user"]
        let isOperator =
            node["is_op_msg"]?.isOn == true
            || user.flatMap { self.user($0)?.text }.map(operators.contains) == true
        return message(node, by: member(user, isOperator: isOperator) ?? application)
    }

    private static func attachments(_ node: JSONNode) -> [Message.Attachment] {
        if let files = node["files"], files.kind == .array { return files.elements.compactMap { file($0) } }
        if let file = node["file"], file.kind == .object { return [self.file(file)].compactMap(\.self) }
        return node["url"] == nil ? [] : [file(node)].compactMap(\.self)
    }

    private static func file(_ node: JSONNode) -> Message.Attachment? {
        guard let url = node["url"]?.words else { return nil }
        return Message.Attachment(
            id: url, name: (node["name"] ?? node["file_name"])?.string ?? "",
            contentType: (node["type"] ?? node["file_type"])?.string ?? "",
            size: (node["size"] ?? node["file_size"])?.number ?? 0)
    }
}

/// A message as it was read, with what only the service needs.
struct SeenMessage: Sendable {
    var id: Int64
    var at: Timestamp
    /// When it was last edited, in milliseconds; 0 for never.
    var changedAt: Int64
    var message: Message
    /// The id of the command that sent it.
    var request: String?
}
