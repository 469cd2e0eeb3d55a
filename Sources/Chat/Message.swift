/// A message as its service shows it.
public struct Message: Sendable {
    /// The service's id, such as `IM0123…`.
    public let id: String
    /// The position in its channel, where the service numbers messages.
    public var index: Int64?
    public var author: Member
    public var text: String
    /// The service's free-form data, as JSON text.
    public var attributes: String?
    public var attachments: [Attachment]
    /// The message it answers, where the service says so.
    public var replyTo: String?

    public init(
        id: String, index: Int64? = nil, author: Member, text: String, attributes: String? = nil,
        attachments: [Attachment] = [], replyTo: String? = nil
    ) {
        self.id = id
        self.index = index
        self.author = author
        self.text = text
        self.attributes = attributes
        self.attachments = attachments
        self.replyTo = replyTo
    }

    /// A file that came with a message.
    public struct Attachment: Sendable, Codable, Equatable {
        public var id: String
        public var name: String
        public var contentType: String
        /// In bytes.
        public var size: Int64

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
    public var id: String
    public var index: Int64?

    public init(id: String, index: Int64? = nil) {
        self.id = id
        self.index = index
    }

    public init(_ message: Message) {
        self.init(id: message.id, index: message.index)
    }
}
