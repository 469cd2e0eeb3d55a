internal import Chat
internal import JSON

extension SendbirdShapes {
    /// Which command tells of a message, and which of a change of it.
    static func command(_ message: Message, edited: Bool = false) -> String {
        let traits = message.content.traits
        if traits.isAdmin { return edited ? "AEDI" : "ADMM" }
        let isFile = traits.link != nil || !message.content.medias.isEmpty
        return isFile ? (edited ? "FEDI" : "FILE") : (edited ? "MEDI" : "MESG")
    }

    /// A message over HTTP.
    func message(_ message: Message, in profile: Channel.Profile, _ writer: inout JSONWriter) {
        writer.member("message_id", message.number)
        writer.member("type", Self.command(message))
        writer.member("channel_url", profile.url)
        writer.member("channel_type", Self.type(profile))
        writer.member("created_at", message.posted.milliseconds)
        writer.member("updated_at", message.isChanged ? message.updated.milliseconds : 0)
        common(message, profile, .http, &writer)
        if let file = files(of: message).first {
            writer.object("file") { writer in
                write(file, names: ("name", "type", "size"), &writer)
                writer.member("data", Self.data(message))
            }
        }
        let reactions = message.reactions
        if !reactions.isEmpty {
            writer.array("reactions") { writer in
                for (key, people) in reactions {
                    writer.object { writer in
                        writer.member("key", key)
                        writer.member("user_ids", people)
                        writer.member("updated_at", message.updated.milliseconds)
                    }
                }
            }
        }
        writer.member("is_removed", false)
        writer.member("request_id", message.author == identity ? message.content.key ?? "" : "")
        writer.member("is_reply_to_channel", false)
    }

    /// A message on the socket.
    func frame(
        _ message: Message, in profile: Channel.Profile, request: JSON? = nil, _ writer: inout JSONWriter
    ) {
        writer.member("msg_id", message.number)
        writer.member("channel_url", profile.url)
        writer.member("channel_type", Self.type(profile))
        writer.member("channel_id", Self.number(profile))
        writer.member("ts", message.posted.milliseconds)
        writer.member("updated_at", message.isChanged ? message.updated.milliseconds : 0)
        common(message, profile, .socket, &writer)
        if let file = files(of: message).first {
            write(file, names: ("name", "type", "size"), &writer)
            writer.member("custom", Self.data(message))
        }
        // The name that its author's connection gave it is no one else's business.
        writer.member("request_id", message.author == identity ? message.content.key ?? "" : "")
        writer.member("req_id", request ?? "")
    }

    private func common(
        _ message: Message, _ profile: Channel.Profile, _ form: Form, _ writer: inout JSONWriter
    ) {
        let traits = message.content.traits
        let files = files(of: message)
        if files.isEmpty || message.content.body != nil && traits.link == nil {
            writer.member("message", message.content.body ?? "")
        }
        writer.member("data", Self.data(message))
        writer.member("custom_type", traits.customType)
        let channel = world.channels[profile.sid]
        let rules = channel.map { isOperator(message.author, $0) } ?? false
        if !traits.isAdmin {
            writer.object("user") { writer in
                author(message, form, &writer)
                writer.member("role", rules ? "operator" : "")
                writer.member("is_blocked_by_me", false)
            }
        }
        writer.member("mention_type", traits.mentionsAll ? "channel" : "users")
        writer.array("mentioned_users") { writer in
            for name in traits.mentioned where world.users[name] != nil {
                writer.object { user(named: name, form, &$0) }
            }
        }
        writer.member(
            "sorted_metaarray", traits.metaArray.flatMap { try? JSON(parsing: $0) } ?? .array([]))
        if form == .http { writer.object("translations") { _ in } }
        writer.member("silent", traits.isSilent)
        writer.member("is_op_msg", profile.traits.isOpen && rules)
        writer.member("parent_message_id", traits.parent ?? 0)
        if let parent = traits.parent, let first = channel?.message(numbered: parent) {
            writer.member("parent_message_text", first.content.body ?? "")
        }
        guard !files.isEmpty else { return }
        writer.array("thumbnails") { _ in }
        writer.member("require_auth", false)
        guard files.count > 1 else { return }
        writer.array("files") { writer in
            for file in files {
                writer.object { write(file, names: ("file_name", "file_type", "file_size"), &$0) }
            }
        }
    }

    private func author(_ message: Message, _ form: Form, _ writer: inout JSONWriter) {
        guard world.users[message.author] == nil else { return user(named: message.author, form, &writer) }
        writer.member(form == .socket ? "guest_id" : "user_id", message.author)
        writer.member(form == .socket ? "name" : "nickname", message.author)
    }

    /// What was said for programs: as it was given, or what other clients attach to a message.
    static func data(_ message: Message) -> String {
        if let data = message.content.traits.data { return data }
        guard message.content.attributes != "{}",
            var attributes = (try? JSON(parsing: message.content.attributes))?.object
        else { return "" }
        attributes["reactions"] = nil
        return attributes.isEmpty ? "" : JSON.object(attributes).description
    }

    // MARK: Files

    private func files(of message: Message) -> [MessageTraits.Link] {
        if let link = message.content.traits.link { return [link] }
        return message.content.medias.map(link)
    }

    func link(_ media: Media) -> MessageTraits.Link {
        MessageTraits.Link(
            url: "\(base)/v3/files/\(media.sid)", name: media.filename ?? "", type: media.contentType,
            size: Int64(media.size))
    }

    private func write(
        _ file: MessageTraits.Link, names: (String, String, String), _ writer: inout JSONWriter
    ) {
        writer.member("url", file.url)
        writer.member(names.0, file.name)
        writer.member(names.1, file.type)
        writer.member(names.2, file.size)
        if names.0 == "file_name" { writer.member("require_auth", false) }
    }
}

extension Message {
    /// Other than it was written, in what clients show; reactions are no change.
    var isChanged: Bool { isEdited || updatedBy != nil && reacted == nil && reactions.isEmpty }

    /// Sets what is said for programs. JSON objects are shown to other clients, too, beside the reactions.
    static func setData(_ data: String, in content: inout Content) {
        content.traits.data = data
        var attributes = JSONObject()
        if data.utf8.count <= 2048, let object = (try? JSON(parsing: data))?.object { attributes = object }
        if let old = try? JSON(parsing: content.attributes), let reactions = old["reactions"] {
            attributes["reactions"] = reactions
        }
        content.attributes = attributes.isEmpty ? "{}" : JSON.object(attributes).description
    }
}
