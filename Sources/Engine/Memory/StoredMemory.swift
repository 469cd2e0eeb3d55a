package import Chat

/// What a store remembers, for whoever only looks: rows are read when they are first asked for.
package struct StoredMemory: Sendable {
    package let memory = Memory(isComplete: false)
    private let journal: any Journal
    private let now: Timestamp

    package init(_ journal: any Journal, at now: Timestamp) {
        self.journal = journal
        self.now = now
        memory.setTime(now)
    }

    /// Looks anew until all that was asked for is here.
    package func look<Seen>(_ body: () -> Seen) async throws(JournalError) -> Seen {
        while true {
            let seen = body()
            let subjects = memory.takeMissing()
            guard !subjects.isEmpty else { return seen }
            memory.insert(
                try await journal.rows(of: .memory, keys: subjects.map(\.rowKey).sorted()), for: subjects)
        }
    }

    /// Who steward is, by the names of the realms it has ever been in.
    package func identities() async throws(JournalError) -> [String: String] {
        let rows = try await journal.rows(of: .identity)
        return Dictionary(rows.map { ($0.key.key, $0.key.part) }) { first, _ in first }
    }

    /// The id of a channel that goes by a name, too; nil when steward has met no channel of that name.
    package func channel(_ place: Place) async throws(JournalError) -> String? {
        let known = try await look { memory.value(of: Moderation.nameKey(place)) }
        guard case .text(let id)? = known else { return nil }
        return id
    }

    /// Whether anything is remembered of the user or the channel.
    package func knows(_ subject: MemorySubject) async throws(JournalError) -> Bool {
        try await !journal.rows(of: .memory, keys: [subject.rowKey]).isEmpty
    }

    /// What kept events tell of somebody.
    package struct Met: Sendable {
        /// As they were when something of theirs was kept last; nil when nothing is.
        package var member: Member?
        /// The direct channel in which something of theirs was kept last.
        package var direct: Place?
        /// Others whom people see under that name; empty when somebody has it as their id.
        package var namesakes: [String] = []
    }

    /// The roles of somebody, and the direct channel with them, as far as events were kept.
    package func met(
        _ name: String, of realm: Realm, realms: Identities
    ) async throws(JournalError) -> Met {
        let user = realm.user(name)
        var met = Met()
        var namesakes: Set<String> = []
        for body in try await journal.keptEvents(since: Timestamp(milliseconds: 0), most: Self.most) {
            for event in EventCoding.events(in: body, realms: realms) {
                guard event.realm == realm, let member = event.member else { continue }
                if member.user == user {
                    met.member = member
                    if let channel = event.channel, channel.isDirect {
                        met.direct = Place(account: event.account, channel: channel.id.text)
                    }
                } else if member.name == name {
                    namesakes.insert(member.user.text)
                }
            }
        }
        if met.member == nil { met.namesakes = namesakes.sorted() }
        return met
    }

    /// Bytes of kept events that are looked through, the newest.
    private static let most = 64 << 20

    /// What is known of the event's member, as it was before the event.
    package func facts(about event: ChatEvent) async throws(JournalError) -> MemberFacts {
        try await look { memory.facts(about: event, at: now) } ?? MemberFacts()
    }

    /// Why steward itself removes the event's message, before any rule is asked; nil: it does not.
    package func removal(
        of event: ChatEvent, in situation: Situation
    ) async throws(JournalError) -> Punishment.Kind? {
        let held = try await look { Punishments(memory: memory, event: event, situation: situation).hold() }
        return held?.decision.removed == true ? held?.kind : nil
    }

    /// Tells handlers of what happened lately, as far as it was kept; false when nothing was.
    package func recall(
        by handlers: [any EventHandler], in situation: Situation, realms: Identities
    ) async throws(JournalError) -> Bool {
        let handlers = handlers.compactMap { $0 as? any RecallingHandler }
        let span = handlers.map(\.recalls).max() ?? .zero
        guard span > .zero else { return true }
        let events = try await journal.keptEvents(since: now - span, most: .max).flatMap {
            EventCoding.events(in: $0, realms: realms)
        }
        for event in events where event.sentAt >= now - span {
            var past = situation
            past.now = event.sentAt
            past.facts = try await facts(about: event)
            if let first = past.facts.firstSeen, first >= event.sentAt { past.facts.firstSeen = nil }
            for handler in handlers { handler.recall(event, in: past) }
        }
        return !events.isEmpty
    }
}
