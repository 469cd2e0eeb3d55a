internal import Chat

/// What is read of each event, taken out of it once.
struct EventLook {
    /// The text of its message.
    var text: String?
    /// The name of its member.
    var name: String?
    var user: UserID?
    /// Whether its member is a program; nil when it has none.
    var isBot: Bool?

    init() {}

    // One pattern a case: with several in one, the whole message is copied to get at its text.
    init(_ event: ChatEvent) {
        if case .messageAdded(let message) = event.kind {
            text = message.text
            name = message.author.name
            user = message.author.user
            isBot = message.author.isBot
        } else if let message = event.message {
            text = message.text
            name = message.author.name
            user = message.author.user
            isBot = message.author.isBot
        } else if let member = event.member {
            name = member.name
            user = member.user
            isBot = member.isBot
        }
    }
}

extension ChatEvent {
    /// The number of its channel; 0 when it has none.
    var channelNumber: UInt32 { channel?.id.identity.number ?? 0 }
}
