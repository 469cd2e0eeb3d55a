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

    init(_ event: ChatEvent) {
        text = event.message?.text
        guard let member = event.member else { return }
        name = member.name
        user = member.user
        isBot = member.isBot
    }
}
