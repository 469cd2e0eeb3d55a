/// A message as its service shows it.
public struct Message: Sendable {
    private struct Values: Sendable {
        let id: String
        var index: Int64?
        var author: Member
        var text: String
        var attributes: String?
        var attachments: [Attachment]
        var replyTo: String?
        var isNotice = false
    }

    private var shared: Shared<Values>

    /// `attributes` is JSON text; `replyTo` is the id of another message.
    public init(
        id: String, index: Int64? = nil, author: Member, text: String, attributes: String? = nil,
        attachments: [Attachment] = [], replyTo: String? = nil
    ) {
        shared = Shared(
            Values(
                id: id, index: index, author: author, text: text, attributes: attributes,
                attachments: attachments, replyTo: replyTo))
    }

    /// The service's id, such as `IM0123…`.
    public var id: String { shared.value.id }

    /// The position in its channel, where the service numbers messages.
    public var index: Int64? {
        get { shared.value.index }
        set { shared.value.index = newValue }
    }

    /// Who wrote it, as they were known when it was read.
    public var author: Member {
        get { shared.value.author }
        set { shared.value.author = newValue }
    }

    /// As the service gives it, markup and all; empty for a message that is only files.
    public var text: String {
        get { shared.value.text }
        set { shared.value.text = newValue }
    }

    /// The service's free-form data, as JSON text.
    public var attributes: String? {
        get { shared.value.attributes }
        set { shared.value.attributes = newValue }
    }

    /// The files that came with it, in their order.
    public var attachments: [Attachment] {
        get { shared.value.attachments }
        set { shared.value.attachments = newValue }
    }

    /// The message it answers, where the service says so.
    public var replyTo: String? {
        get { shared.value.replyTo }
        set { shared.value.replyTo = newValue }
    }

    /// Sent by a program that wants no answer: rules and plugins that answer leave it alone, those that guard do not.
    public var isNotice: Bool {
        get { shared.value.isNotice }
        set { shared.value.isNotice = newValue }
    }

    func note(in digest: inout EventDigest) {
        shared.value.author.note(in: &digest)
        digest.note(messageIndex: shared.value.index)
    }

    func copyID(to room: UnsafeMutableRawBufferPointer) -> Int {
        MessageTexts.copy(shared.value.id, to: room)
    }

    func copy(to room: UnsafeMutableRawBufferPointer, _ texts: inout MessageTexts, after event: String) {
        if shared.value.id != event { texts.id = texts.add(shared.value.id, to: room) }
        shared.value.author.copy(to: room, &texts)
        texts.text = texts.add(shared.value.text, to: room)
        texts.index = shared.value.index
        texts.hasMore = shared.value.replyTo != nil || !shared.value.attachments.isEmpty
    }

    /// A file that came with a message.
    public struct Attachment: Sendable, Codable, Equatable {
        /// The service's id or address of it.
        public var id: String
        /// The file's name as its sender gave it; it may be empty, and is not to be trusted.
        public var name: String
        /// Its media type as its sender gave it, such as `image/png`; it may be empty.
        public var contentType: String
        /// In bytes.
        public var size: Int64

        /// `size` in bytes; 0 where the service does not say.
        public init(id: String, name: String, contentType: String, size: Int64) {
            self.id = id
            self.name = name
            self.contentType = contentType
            self.size = size
        }
    }
}

/// Which message an action is about.
public struct MessageReference: Sendable, Codable, Hashable {
    /// The service's id of it.
    public var id: String
    /// Its position in its channel, where the service numbers messages and it is known.
    public var index: Int64?

    /// A message that is known by its id.
    public init(id: String, index: Int64? = nil) {
        self.id = id
        self.index = index
    }

    /// A message that was read.
    public init(_ message: Message) {
        self.init(id: message.id, index: message.index)
    }
}
