/// What is asked of every event, as plain numbers: to look at it neither copies nor holds anything.
package struct EventDigest: Sendable {
    /// Nil for what a handler had put off.
    package fileprivate(set) var name: EventName?
    /// The number of the member; 0 when it has none.
    package fileprivate(set) var user: UInt32 = 0
    package fileprivate(set) var isBot = false
    /// The number of the channel; 0 when it has none.
    package fileprivate(set) var channel: UInt32 = 0
    /// The number of the stream, and how far it is read once the event is decided; 0 when the event has no cursor, or
    /// one that only its service can read.
    package fileprivate(set) var stream: UInt32 = 0
    package fileprivate(set) var position: Int64 = 0
    package fileprivate(set) var index: Int64?
    /// That of its message; nil when it has none, or its service numbers no messages.
    package fileprivate(set) var messageIndex: Int64?

    /// Of no event.
    package init() {}

    init(_ kind: ChatEvent.Kind, in channel: Channel?, _ cursor: Cursor?) {
        self.channel = channel?.id.identity.number ?? 0
        take(kind)
        take(cursor)
    }

    private mutating func take(_ kind: ChatEvent.Kind) {
        name = kind.name
        switch kind {
        case .messageAdded(let message), .messageEdited(let message), .messageDeleted(let message):
            message.note(in: &self)
        default: kind.member?.note(in: &self)
        }
    }

    mutating func note(user: UInt32, isBot: Bool) {
        self.user = user
        self.isBot = isBot
    }

    mutating func note(messageIndex: Int64?) { self.messageIndex = messageIndex }

    private mutating func take(_ cursor: Cursor?) {
        guard let cursor, case .number(let position, let index) = cursor.position else { return }
        stream = cursor.stream.identity.number
        self.position = position
        self.index = index
    }
}
