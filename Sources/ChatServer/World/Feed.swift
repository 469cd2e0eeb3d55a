package import Chat

/// A numbered sequence of events about one thing; a Sync document, list or map to Twilio's clients.
package struct FeedID: Hashable, Sendable {
    package enum Topic: Int, Sendable {
        /// What a channel is called and when it was last written to.
        case channel = 0
        case messages = 1
        case roster = 2
        /// The channels of one user.
        case memberships = 3
        /// Name and presence of one user.
        case person = 4
        /// What happens in a channel besides messages, comings and goings. Told, but not kept.
        case affairs = 5
    }

    package let topic: Topic
    /// The channel's or the user's SID.
    package let owner: SID
}

/// One change of a feed. Ids of a feed begin at 0 and have no gaps.
package struct FeedEvent: Sendable {
    package enum Kind: Int, Sendable {
        case added = 0
        case updated = 1
        case removed = 2
        /// The whole feed is gone.
        case ended = 3
    }

    package let id: Int64
    package let kind: Kind
    package let at: Timestamp
    package let subject: Subject

    /// What was added or changed, as it is after the event; what was removed, as it was before.
    package enum Subject: Sendable {
        case channel(Channel.Profile)
        case message(Message)
        case member(Member)
        case membership(Membership)
        case person(Person, PersonKey)
        case happening(Happening)
        case nothing
    }
}

/// The keys of a person's feed.
package enum PersonKey: String, Sendable, CaseIterable {
    case attributes, friendlyName, reachability
}

/// The state of one feed: how far it has come, and its latest events for those who missed them.
struct Feed: Sendable {
    let sid: SID
    let created: Timestamp
    var updated: Timestamp
    /// −1 before the first event.
    var lastEvent: Int64 = -1
    var log = Trail<FeedEvent>()

    init(_ kind: SID.Kind, at now: Timestamp) {
        self.init(sid: .fresh(kind), created: now)
    }

    init(sid: SID, created: Timestamp) {
        self.sid = sid
        self.created = created
        updated = created
    }

    mutating func add(
        _ kind: FeedEvent.Kind, _ subject: FeedEvent.Subject, at now: Timestamp, keeping bound: Int
    ) -> FeedEvent {
        lastEvent += 1
        updated = now
        let event = FeedEvent(id: lastEvent, kind: kind, at: now, subject: subject)
        log.append(event)
        while log.count > max(bound, 1) { _ = log.removeFirst() }
        return event
    }

    /// Lets go of the oldest events that are about messages up to this index.
    mutating func forget(upTo index: Int64) {
        while !log.isEmpty, case .message(let message) = log[0].subject, message.index <= index {
            _ = log.removeFirst()
        }
    }

    /// The events after `id` that are still known.
    func events(after id: Int64) -> [FeedEvent] {
        id == .max ? [] : log.elements(from: log.position(of: id + 1, by: \.id))
    }
}

/// A feed without its log.
struct FeedMark: Sendable {
    let sid: SID
    let created: Timestamp
    let updated: Timestamp
    let lastEvent: Int64
}

extension Feed {
    var mark: FeedMark { FeedMark(sid: sid, created: created, updated: updated, lastEvent: lastEvent) }

    init(_ mark: FeedMark) {
        self.init(sid: mark.sid, created: mark.created)
        updated = mark.updated
        lastEvent = mark.lastEvent
    }
}
