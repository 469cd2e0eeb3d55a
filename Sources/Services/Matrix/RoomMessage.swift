internal import Chat
internal import JSON

/// A message as its sender wrote it.
struct RoomMessage: Sendable {
    var text: String
    /// `m.text`, `m.notice`, …
    var type: String
    var replyTo: String?
    /// The message that began the thread it is in.
    var thread: String?
    var attachment: Message.Attachment?
    /// The action of ours that it came from.
    var key: String?

    /// What we add to what we make, to find it again: `{"key": …}`.
    static let markKey = "org.steward"

    var isNotice: Bool { type == "m.notice" }

    /// The fields of its content in the order of `RoomEvent`'s keys. Nil when there is nothing to read: a message that
    /// was redacted has no body, and a body may be anything.
    init?(_ content: JSONNode, _ fields: JSONFields, isSticker: Bool) {
        type = isSticker ? "m.sticker" : fields[0]?.string ?? ""
        guard !type.isEmpty, let body = fields[1]?.string else { return nil }
        // Between two devices of people who make each other's keys sure, and for nobody else.
        guard type != "m.key.verification.request" else { return nil }
        text = body
        if let relation = fields[2] {
            read(relation)
            if relation["m.in_reply_to"] != nil { text = Self.withoutQuote(text) }
        }
        if ["m.image", "m.file", "m.audio", "m.video", "m.sticker"].contains(type) {
            attach(content, body: body, isSticker: isSticker)
        } else if fields[4]?.equals("org.matrix.custom.html") == true, let html = fields[5]?.string {
            // That is what people see, and it may say something else than the plain text beside it.
            let shown = HTMLText(html)
            if shown.says(moreThan: body) { text += "\n" + shown.text }
        }
    }

    private mutating func read(_ relation: JSONNode) {
        let answered = relation["m.in_reply_to"]?["event_id"]?.string
        guard relation["rel_type"]?.equals("m.thread") == true else {
            replyTo = answered
            return
        }
        thread = relation["event_id"]?.string
        // For clients without threads each message of one answers the one before it.
        if relation["is_falling_back"]?.bool != true { replyTo = answered }
    }

    private mutating func attach(_ content: JSONNode, body: String, isSticker: Bool) {
        let info = content["info"]
        // With a name of its own, the body is what the sender says about the file.
        let name = content["filename"]?.string
        if name == nil || name == body { text = "" }
        attachment = Message.Attachment(
            id: content["url"]?.string ?? content["file"]?["url"]?.string ?? "", name: name ?? body,
            contentType: info?["mimetype"]?.string ?? "application/octet-stream",
            size: max(info?["size"]?.int ?? 0, 0))
        if isSticker { text = "" }
    }

    /// Without the lines of the message it answers that clients once put before it, each after `> `, and an empty one.
    /// Source: client-server specification until version 1.12, "Fallbacks for rich replies".
    static func withoutQuote(_ text: String) -> String {
        // Anything else that looks like a quote was written by hand.
        guard text.hasPrefix("> <@") || text.hasPrefix("> * <@") else { return text }
        var rest = text[...]
        while rest.hasPrefix("> ") || rest.hasPrefix(">\n") {
            guard let end = rest.firstIndex(where: \.isNewline) else { return "" }
            rest = rest[rest.index(after: end)...]
        }
        if rest.first?.isNewline == true { rest = rest.dropFirst() }
        return String(rest)
    }
}
