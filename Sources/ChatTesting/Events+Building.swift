public import Chat

extension ChatEvent {
    /// A message, as a service would tell of it.
    public static func message(
        _ text: String, from user: String = "ana", in channel: String = "lobby", id: String = "M1",
        realm: Realm = Identities().realm("test"), account: String = "test",
        at sentAt: Timestamp = Timestamp(milliseconds: 1_781_524_800_000)
    ) -> ChatEvent {
        ChatEvent(
            id: id, account: account, realm: realm,
            channel: Channel(id: realm.channel(channel), title: channel), sentAt: sentAt,
            kind: .messageAdded(Message(id: id, author: Member(user: realm.user(user)), text: text)))
    }

    /// Somebody joins.
    public static func join(
        _ user: String = "ana", in channel: String = "lobby", id: String = "J1",
        realm: Realm = Identities().realm("test"), account: String = "test",
        at sentAt: Timestamp = Timestamp(milliseconds: 1_781_524_800_000)
    ) -> ChatEvent {
        ChatEvent(
            id: id, account: account, realm: realm,
            channel: Channel(id: realm.channel(channel), title: channel), sentAt: sentAt,
            kind: .memberJoined(Member(user: realm.user(user))))
    }
}

extension Situation {
    /// A situation with nothing remembered, for a handler alone.
    public static func test(
        now: Timestamp = Timestamp(milliseconds: 1_781_524_800_000), facts: MemberFacts = MemberFacts(),
        memory: any Recollection = NothingRemembered(), directory: Directory = Directory()
    ) -> Situation {
        Situation(
            now: now,
            abilities: Abilities(
                events: Set(EventName.allCases), actions: [], textLimit: .init(4096, .codePoints)),
            facts: facts, memory: memory, directory: directory)
    }
}

/// A memory in which nothing is.
public struct NothingRemembered: Recollection {
    /// All such memories are alike.
    public init() {}

    /// Always nil.
    public func value(of key: MemoryKey) -> MemoryValue? { nil }
}
