internal import Chat
internal import Unicode

/// What is read of each event, taken out of it once.
struct EventLook {
    private var event: ChatEvent?
    private var digest = EventDigest()
    private var somebody: UserID?
    /// The text of its message.
    private(set) var text: String?
    /// What may be in the text.
    private(set) var marks = TextMarks.none

    init() {}

    /// Of somebody, whatever happened.
    init(of user: UserID) {
        somebody = user
    }

    init(_ event: ChatEvent) {
        self.event = event
        digest = event.digest
        let text = event.text
        if let text { marks = TextMarks(of: text) }
        self.text = text
    }

    /// Whether it is this very event that was read.
    func isOf(_ other: ChatEvent) -> Bool { event?.isSame(as: other) == true }

    /// The name of its member.
    var name: String? { event?.member?.name }

    var user: UserID? { somebody ?? event?.member?.user }

    /// That of the user; 0 for nobody.
    var userNumber: UInt32 { somebody?.identity.number ?? digest.user }

    /// Whether its member is a program; nil when it has none.
    var isBot: Bool? { digest.user == 0 ? nil : digest.isBot }

    /// Whether its member is who we are.
    func isOwn(in situation: Situation) -> Bool { digest.user != 0 && digest.user == situation.ownNumber }
}
