internal import Chat

/// What is to be done in one channel: what stops people first, in its order; then deletions, the newest message first,
/// for that is what everybody is looking at; then talk, in its order.
struct ChannelQueue {
    private var urgent: ArraySlice<Outbox.Item> = []
    /// By the index of the message, the newest last.
    private var deletions: [Outbox.Item] = []
    private var talk: ArraySlice<Outbox.Item> = []
    /// Somebody serves it or it waits for that.
    var isServed = false
    /// It waits for that.
    var isWaiting = false

    var first: Outbox.Item? { urgent.first ?? deletions.last ?? talk.first }

    var hasModeration: Bool { !urgent.isEmpty || !deletions.isEmpty }

    mutating func pop() -> Outbox.Item? { urgent.popFirst() ?? deletions.popLast() ?? talk.popFirst() }

    mutating func add(_ item: Outbox.Item) {
        switch item.open.action.verb {
        case .deleteMessage: insert(item)
        case _ where item.open.action.isModeration: urgent.append(item)
        default: talk.append(item)
        }
    }

    mutating func putBack(_ item: Outbox.Item) {
        switch item.open.action.verb {
        case .deleteMessage: insert(item)
        case _ where item.open.action.isModeration: urgent.insert(item, at: urgent.startIndex)
        default: talk.insert(item, at: talk.startIndex)
        }
    }

    /// What comes first need not wait until it is tried again.
    mutating func hurry() {
        if let index = urgent.indices.first { urgent[index].notBefore = nil }
        if let index = deletions.indices.last { deletions[index].notBefore = nil }
        if let index = talk.indices.first { talk[index].notBefore = nil }
    }

    private mutating func insert(_ item: Outbox.Item) {
        let age = item.age
        // Most come in the order of their messages, so it is the last place or near it.
        var low = deletions.startIndex
        var high = deletions.endIndex
        if let last = deletions.last, last.age <= age { low = high }
        while low < high {
            let middle = (low + high) / 2
            if deletions[middle].age <= age { low = middle + 1 } else { high = middle }
        }
        deletions.insert(item, at: low)
    }
}

extension Outbox.Item {
    /// Greater for newer messages of a channel.
    fileprivate var age: Int64 {
        guard case .deleteMessage(let message) = open.action.verb else { return 0 }
        return message.index ?? open.since.milliseconds
    }
}
