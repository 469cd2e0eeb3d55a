/// A handler that keeps in memory what happened lately, such as how often somebody wrote. After a restart or a reload
/// it is told of the events that the store kept, before it is asked about new ones.
package protocol RecallingHandler: EventHandler {
    /// How far back it looks.
    var recalls: Duration { get }

    /// Takes in an event of the past; called for one after the other, oldest first. The situation is as it was then, as
    /// far as that is known: `now` is when it happened, and `facts.firstSeen` is nil for whoever was new.
    func recall(_ event: ChatEvent, in situation: Situation)

    /// These come next. It may read what it has of them, so that the waits for memory far away are one for all.
    func expect(_ next: [Expected])
}

extension RecallingHandler {
    package func expect(_ next: [Expected]) {}
}

/// An event that comes soon, by the numbers of its member and its channel; 0 for none.
package struct Expected: Sendable {
    package let user: UInt32
    package let channel: UInt32

    package init(_ event: ChatEvent) {
        let digest = event.digest
        user = digest.user
        channel = digest.channel
    }
}
