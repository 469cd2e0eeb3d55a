internal import Chat
internal import JSON

/// What a client wants to say, as the world keeps it.
struct SendbirdContent {
    var content: Message.Content

    /// How much text for programs a message takes.
    static let dataBytes = 16 * 1024

    init(_ fields: JSON, isFile: Bool, _ world: World) throws(WorldError) {
        content = Message.Content(body: nil)
        if isFile {
            try readFile(fields, world)
        } else {
            guard let text = fields["message"]?.string else { throw .invalid("\"message\" is missing") }
            // Some clients say all they have to say in the part for programs.
            guard !text.isEmpty || fields["data"]?.string?.isEmpty == false else {
                throw .invalid("\"message\" is empty")
            }
            content.body = text
        }
        try Change.data(of: fields).map { Message.setData($0, in: &content) }
        content.key = Self.key(fields["req_id"])
        var traits = content.traits
        traits.customType = try Self.text(fields["custom_type"], "custom_type")
        (traits.mentioned, traits.mentionsAll) = Self.mentions(fields)
        traits.isSilent = fields["silent"]?.bool ?? fields["is_silent"]?.bool ?? false
        if let parent = fields["parent_message_id"]?.int ?? fields["root_message_id"]?.int, parent > 0 {
            traits.parent = parent
        }
        traits.metaArray = Self.metaArray(fields)
        content.traits = traits
    }

    private mutating func readFile(_ fields: JSON, _ world: World) throws(WorldError) {
        let files = fields["files"]?.array ?? [fields]
        guard files.count <= world.limits.mediaOfMessage else {
            throw .tooMany("files in a message", limit: world.limits.mediaOfMessage)
        }
        for file in files {
            guard let url = file["url"]?.string, !url.isEmpty, url.utf8.count <= 4096 else {
                throw .invalid("\"url\" is missing")
            }
            if let sid = url.split(separator: "/").last.flatMap({ SID($0) }), url.contains("/v3/files/"),
                let media = world.medias[sid]
            {
                content.medias.append(media)
                continue
            }
            guard files.count == 1 else { throw .invalid("several files must be uploaded") }
            let link = MessageTraits.Link(
                url: url, name: file["name"]?.string ?? file["file_name"]?.string ?? "",
                type: file["type"]?.string ?? file["file_type"]?.string ?? "",
                size: file["size"]?.int ?? file["file_size"]?.int ?? 0)
            content.traits.link = link
            // Other clients know of no files that lie elsewhere.
            content.body = url
        }
    }

    /// A number stays what it was when it is sent as one.
    private static func key(_ request: JSON?) -> String? {
        switch request {
        case .string(let text) where (1...256).contains(text.utf8.count): text
        case .int(let number): String(number)
        default: nil
        }
    }

    private static func text(_ value: JSON?, _ name: String) throws(WorldError) -> String {
        let text = value?.string ?? ""
        guard text.utf8.count <= 256 else { throw .tooLong(name, limit: 256) }
        return text
    }

    static func mentions(_ fields: JSON) -> (users: [String], all: Bool) {
        let users = (fields["mentioned_user_ids"]?.array ?? fields["mentioned_users"]?.array ?? [])
            .compactMap(\.string)
        return (Array(users.prefix(100)), fields["mention_type"] == "channel")
    }

    private static func metaArray(_ fields: JSON) -> String? {
        guard let list = (fields["metaarray"] ?? fields["sorted_metaarray"])?.array, !list.isEmpty else {
            return nil
        }
        return JSON.array(Array(list.prefix(100))).description
    }

    /// What an edit changes; what it leaves out stays.
    struct Change: Sendable {
        private var text: String?
        private var data: String?
        private var customType: String?
        private var mentions: (users: [String], all: Bool)?
        private var metaArray: JSON?

        init(_ fields: JSON) throws(WorldError) {
            text = fields["message"]?.string
            if text?.isEmpty == true { throw .invalid("a message needs some text") }
            data = try Self.data(of: fields)
            customType = fields["custom_type"]?.string
            metaArray = fields["metaarray"]
            if fields["mentioned_user_ids"]?.array != nil { mentions = SendbirdContent.mentions(fields) }
        }

        func apply(to content: inout Message.Content) {
            if let text { content.body = text }
            if let data { Message.setData(data, in: &content) }
            if let customType { content.traits.customType = customType }
            if let metaArray { content.traits.metaArray = Self.changed(content.traits.metaArray, metaArray) }
            if let mentions { (content.traits.mentioned, content.traits.mentionsAll) = mentions }
        }

        /// Values added under their keys, or taken away.
        private static func changed(_ before: String?, _ change: JSON) -> String? {
            var entries = before.flatMap { try? JSON(parsing: $0) }?.array ?? []
            for entry in change["array"]?.array ?? change.array ?? [] {
                guard let key = entry["key"]?.string else { continue }
                let place = entries.firstIndex { $0["key"]?.string == key }
                let values = entry["value"]?.array ?? []
                if change["mode"] == "remove" {
                    guard let place else { continue }
                    let left = (entries[place]["value"]?.array ?? []).filter { !values.contains($0) }
                    if left.isEmpty || values.isEmpty {
                        entries.remove(at: place)
                    } else {
                        entries[place] = ["key": .string(key), "value": .array(left)]
                    }
                } else if let place {
                    let old = entries[place]["value"]?.array ?? []
                    entries[place] = [
                        "key": .string(key), "value": .array(old + values.filter { !old.contains($0) }),
                    ]
                } else if entries.count < 100 {
                    entries.append(["key": .string(key), "value": .array(values)])
                }
            }
            return entries.isEmpty ? nil : JSON.array(entries).description
        }

        /// Clients for files on the web call it otherwise.
        static func data(of fields: JSON) throws(WorldError) -> String? {
            let given = fields["data"]?.string ?? fields["custom"]?.string
            guard let given, !given.isEmpty || fields["msg_id"] != nil else { return nil }
            guard given.utf8.count <= SendbirdContent.dataBytes else {
                throw .tooLong("data", limit: SendbirdContent.dataBytes)
            }
            return given
        }
    }
}
