internal import Chat
internal import Engine
internal import Rules
internal import Services

/// From frame to decision as the program does it, on one thread: reader, intake and turn.
struct Pipeline {
    private var reader: TwilioReader
    private var intake = Intake()
    private var turn: Turn
    private let account: Turn.Account
    private(set) var events = 0
    private(set) var actions = 0

    init(_ rules: RuleSet, users: Int = Traffic.users) {
        let book = Self.book(identities: Identities(), users: users)
        account = Turn.Account(
            name: KeywordRules.account, own: book.own, abilities: TwilioService.abilities)
        intake.identified(as: book.own)
        reader = TwilioReader(book: book)
        turn = Turn(
            handlers: HandlerTable(rules.handlers), directory: KeywordRules.directory,
            memory: Memory(isComplete: true))
    }

    /// An account that is a member of all channels and knows who else is.
    static func book(identities: Identities, users: Int = Traffic.users) -> SyncBook {
        let realm = identities.realm(Names.service)
        var book = SyncBook(account: KeywordRules.account, realm: realm, own: realm.user("steward"))
        for number in 0..<Traffic.channels {
            let members = stride(from: number, to: users, by: Traffic.channels).map {
                Member(user: realm.user(Names.user($0)), roles: ["channel user"], attributes: "{}")
            }
            let channel = Channel(
                id: realm.channel(Names.channel(number)), uniqueName: "room-\(number)", title: "Room")
            book.follow(
                channel, messages: Names.list(number), roster: Names.roster(number), members: members,
                from: -1)
        }
        return book
    }

    /// Frames come in handfuls, as from a busy socket.
    mutating func take(_ frames: Frames, _ range: Range<Int>) {
        for start in stride(from: range.lowerBound, to: range.upperBound, by: 64) {
            decide(read(frames, start..<min(start + 64, range.upperBound)))
        }
    }

    /// Only the first half.
    mutating func read(_ frames: Frames, _ range: Range<Int>) -> [ChatEvent] {
        frames.read(range) { reader.read($0, at: Timestamp(milliseconds: 0)) }
        _ = reader.takeAcknowledgements()
        return reader.book?.takeEvents() ?? []
    }

    /// Only the second half.
    mutating func decide(_ batch: some Sequence<ChatEvent>) {
        turn.expect(batch)
        for event in batch { decide(event) }
    }

    private mutating func decide(_ event: ChatEvent) {
        guard intake.admit(event) == .new else { return }
        let outcome = turn.take(event, at: event.sentAt, as: account)
        events += 1
        actions += outcome.actions.count
    }
}
