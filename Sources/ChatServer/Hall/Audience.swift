/// Somebody who is told of events: one connection.
protocol Listener: AnyObject, Sendable {
    var identity: String { get }
    /// An event of a feed that was asked for, in the form that was asked for. Must not wait.
    func hear(_ telling: Telling, version: Int)
    /// Somebody writes in a channel.
    func hear(_ typing: Typing)
    /// The name needs a proof by now; this one may only say that it is theirs.
    func giveUpName()
    /// Why the server cannot store anything, or that it can again. For those who watch.
    func hear(trouble: String?)
    /// A feed that was asked for may be read no more.
    func lose(_ feed: FeedID, version: Int)
}

extension Listener {
    func giveUpName() {}
    func hear(trouble: String?) {}
}

/// Somebody is writing; only those who look right now care, so it is no part of the world.
struct Typing: Sendable {
    let channel: SID
    let identity: String
    /// Is not writing any more.
    var isOver = false
}

/// Who listens to what. Only the hall's writer has one, so that who comes in or asks for more does it at one exact
/// place in the order of events.
struct Audience {
    private struct Seat {
        let listener: any Listener
        let version: Int
    }

    private var seats: [FeedID: [ObjectIdentifier: Seat]] = [:]
    private var feeds: [ObjectIdentifier: Set<FeedID>] = [:]
    private var present: [String: [ObjectIdentifier: any Listener]] = [:]
    /// Those who hear every event and choose for themselves.
    private var everywhere: [ObjectIdentifier: any Listener] = [:]

    mutating func enter(_ listener: any Listener, hearsAll: Bool = false) {
        present[listener.identity, default: [:]][ObjectIdentifier(listener)] = listener
        if hearsAll { everywhere[ObjectIdentifier(listener)] = listener }
    }

    mutating func leave(_ listener: any Listener) {
        let key = ObjectIdentifier(listener)
        for feed in feeds.removeValue(forKey: key) ?? [] { drop(key, from: feed) }
        everywhere[key] = nil
        present[listener.identity]?[key] = nil
        if present[listener.identity]?.isEmpty == true { present[listener.identity] = nil }
    }

    mutating func subscribe(_ listener: any Listener, to feed: FeedID, version: Int) {
        let key = ObjectIdentifier(listener)
        // One that has left meanwhile must not stay in a seat.
        guard present[listener.identity]?[key] != nil else { return }
        seats[feed, default: [:]][key] = Seat(listener: listener, version: version)
        feeds[key, default: []].insert(feed)
    }

    mutating func unsubscribe(_ listener: any Listener, from feed: FeedID) {
        let key = ObjectIdentifier(listener)
        feeds[key]?.remove(feed)
        drop(key, from: feed)
    }

    private mutating func drop(_ key: ObjectIdentifier, from feed: FeedID) {
        seats[feed]?[key] = nil
        if seats[feed]?.isEmpty == true { seats[feed] = nil }
    }

    /// The connections of one identity.
    func listeners(of identity: String) -> [any Listener] {
        present[identity].map { Array($0.values) } ?? []
    }

    mutating func tell(_ event: WorldEvent) {
        hand(event)
        if event.event.kind == .removed, case .membership(let membership) = event.event.subject,
            let identity = event.identity
        {
            close(membership.channel, to: identity)
        }
        if event.event.kind == .ended {
            for key in seats.removeValue(forKey: event.feed).map({ Array($0.keys) }) ?? [] {
                feeds[key]?.remove(event.feed)
            }
        }
    }

    /// Whoever has left a channel hears no more of it.
    private mutating func close(_ channel: SID, to identity: String) {
        for listener in listeners(of: identity) {
            for topic in [FeedID.Topic.messages, .roster] {
                let feed = FeedID(topic: topic, owner: channel)
                guard let seat = seats[feed]?[ObjectIdentifier(listener)] else { continue }
                unsubscribe(listener, from: feed)
                listener.lose(feed, version: seat.version)
            }
        }
    }

    private func hand(_ event: WorldEvent) {
        let seats = seats[event.feed]
        guard seats != nil || !everywhere.isEmpty else { return }
        let telling = Telling(event)
        if let seats { for seat in seats.values { seat.listener.hear(telling, version: seat.version) } }
        for listener in everywhere.values { listener.hear(telling, version: 0) }
    }

    /// How much is remembered of who listens to what.
    var size: Int {
        seats.values.reduce(0) { $0 + $1.count } + feeds.values.reduce(0) { $0 + $1.count } + present.count
            + everywhere.count
    }

    func tell(_ typing: Typing, to identities: some Sequence<String>) {
        for identity in identities where identity != typing.identity {
            for listener in listeners(of: identity) { listener.hear(typing) }
        }
    }
}

/// One event while it is told; each form of it is written once, however many listen.
final class Telling {
    let event: WorldEvent
    private var forms: [Int: [UInt8]] = [:]

    init(_ event: WorldEvent) {
        self.event = event
    }

    /// The form with this number, from memory or made now.
    func form(_ number: Int, _ make: (WorldEvent) -> [UInt8]) -> [UInt8] {
        if let form = forms[number] { return form }
        let form = make(event)
        forms[number] = form
        return form
    }
}
