internal import Chat

/// One account's share of what is to be done: its channels, and which of them wait to be served.
struct Lane {
    let inbox: AccountInbox
    let service: any ChatService
    let channelsAtOnce: Int
    /// There is no more moderation to do, or some that nobody serves yet: talk that waits looks again.
    let calm: Signal
    var rate: RateLimit?
    var channels: [String: ChannelQueue] = [:]
    var served = 0
    var inFlight = 0
    var pausedUntil: Timestamp?
    /// How much moderation is not over.
    private(set) var moderationLeft = 0
    /// Other names of channels, and the one that their queue has: order is kept whatever an action calls them.
    private var names: [String: String] = [:]
    /// Channels with something to do that nobody serves yet; those with moderation are in `urgent`, too.
    private var waiting: ArraySlice<String> = []
    private var urgent: ArraySlice<String> = []

    init(
        inbox: AccountInbox, service: any ChatService, channelsAtOnce: Int, calm: Signal, rate: RateLimit?
    ) {
        self.inbox = inbox
        self.service = service
        self.channelsAtOnce = channelsAtOnce
        self.calm = calm
        self.rate = rate
    }

    /// A channel with moderation has nobody who serves it.
    var hasUrgent: Bool { !urgent.isEmpty }

    /// Whether what one channel does is at the cost of another: then talk waits for all moderation.
    func isTight(at now: Timestamp) -> Bool {
        rate != nil || pausedUntil.map { now - $0 < .seconds(10) } == true
    }

    mutating func learn(_ name: String, of channel: String) {
        // What waits under the name already keeps its place before what comes under the id.
        if channels[name] == nil { names[name] = channel } else { names[channel] = name }
    }

    /// Puts an action in its place; gives the channel when it has to be served from now on.
    mutating func add(_ item: Outbox.Item) -> String? {
        let channel = names[item.open.action.place.channel] ?? item.open.action.place.channel
        channels[channel, default: ChannelQueue()].add(item)
        if item.open.action.isModeration { moderationLeft += 1 }
        return start(channel)
    }

    private mutating func start(_ channel: String) -> String? {
        guard var queue = channels[channel] else { return nil }
        defer { channels[channel] = queue }
        if queue.isServed {
            if queue.isWaiting, queue.hasModeration { hurry(channel) }
            return nil
        }
        queue.isServed = true
        if served < channelsAtOnce {
            served += 1
            return channel
        }
        queue.isWaiting = true
        if queue.hasModeration { hurry(channel) } else { waiting.append(channel) }
        return nil
    }

    private mutating func hurry(_ channel: String) {
        urgent.append(channel)
        calm.fire()
    }

    /// The channel to serve next: one with moderation if there is any.
    mutating func takeWaiting() -> String? {
        while let channel = urgent.popFirst() ?? waiting.popFirst() {
            // It may stand in both lists.
            guard channels[channel]?.isWaiting == true else { continue }
            channels[channel]?.isWaiting = false
            return channel
        }
        return nil
    }

    /// The channel lets others go first.
    mutating func wait(_ channel: String) {
        channels[channel]?.isWaiting = true
        waiting.append(channel)
    }

    /// Nobody serves the channel for now.
    mutating func leave(_ channel: String) {
        if channels[channel]?.first == nil {
            channels[channel] = nil
        } else {
            channels[channel]?.isServed = false
        }
    }

    mutating func endModeration() {
        moderationLeft -= 1
        if moderationLeft == 0 { calm.fire() }
    }
}
