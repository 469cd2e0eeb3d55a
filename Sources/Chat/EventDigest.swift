/// What is asked of every event, as plain numbers: to look at it neither copies nor holds anything.
package struct EventDigest: Sendable {
    /// Nil for what a handler had put off.
    package fileprivate(set) var name: EventName?
    /// The number of the member; 0 when it has none.
    package fileprivate(set) var user: UInt32 = 0
    package fileprivate(set) var isBot = false
    /// The number of the channel; 0 when it has none.
    package internal(set) var channel: UInt32 = 0
    /// The number of the stream, and how far it is read once the event is decided; 0 when the event has no cursor, or
    /// one that only its service can read.
    package fileprivate(set) var stream: UInt32 = 0
    package fileprivate(set) var position: Int64 = 0
    package fileprivate(set) var index: Int64?

    /// Of no event.
    package init() {}

    mutating func take(_ kind: ChatEvent.Kind) {
        name = kind.name
        let member = kind.member
        user = member?.user.identity.number ?? 0
        isBot = member?.isBot ?? false
    }

    mutating func take(_ cursor: Cursor?) {
        guard let cursor, case .number(let position, let index) = cursor.position else {
            stream = 0
            return
        }
        stream = cursor.stream.identity.number
        self.position = position
        self.index = index
    }
}
