internal import Chat

/// What is read of each event, taken out of it once.
struct EventLook {
    private var event: ChatEvent?
    private var digest = EventDigest()

    private var somebody: UserID?

    init() {}

    /// Of somebody, whatever happened.
    init(of user: UserID) {
        somebody = user
    }

    init(_ event: ChatEvent) {
        self.event = event
        digest = event.digest
    }

    /// Whether it is this very event that was read.
    func isOf(_ other: ChatEvent) -> Bool { event?.isSame(as: other) == true }

    /// The text of its message.
    var text: String? { event?.text }

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
