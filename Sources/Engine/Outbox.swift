internal import Chat

/// Sees to it that actions are done: in order per channel, moderation before talk, no faster than services allow, and
/// none twice.
actor Outbox {
    /// An action on its way.
    struct Item {
        var open: OpenAction
        /// It may have been done: it is looked for before it is done again.
        var isUnsure: Bool
        var tries = 0
        var notBefore: Timestamp?
        var backoff: Backoff
    }

    fileprivate struct ChannelQueue {
        var moderation: ArraySlice<Item> = []
        var talk: ArraySlice<Item> = []
        var isServed = false

        var first: Item? { moderation.first ?? talk.first }

        mutating func pop() -> Item? { moderation.popFirst() ?? talk.popFirst() }

        mutating func add(_ item: Item) {
            if item.open.action.isModeration { moderation.append(item) } else { talk.append(item) }
        }

        mutating func putBack(_ item: Item) {
            if item.open.action.isModeration {
                moderation.insert(item, at: moderation.startIndex)
            } else {
                talk.insert(item, at: talk.startIndex)
            }
        }
    }

    /// One account's share.
    private struct Lane {
        let inbox: AccountInbox
        let service: any ChatService
        var rate: RateLimit?
        var channels: [String: ChannelQueue] = [:]
        /// Channels with something to do that nobody serves yet.
        var waiting: [String] = []
        var served = 0
        var count = 0
        var inFlight = 0
        var pausedUntil: Timestamp?
    }

    private struct Start {
        var account: String
        var channel: String
    }

    private var lanes: [String: Lane] = [:]
    private var isClosing = false
    private let starts = BatchQueue<Start>()
    private let room = Signal()
    private let settings: EngineSettings
    private let queue: BatchQueue<Work>
    private let gate: EngineGate
    private let counters: Counters
    private let time: any TimeSource
    private let log: Log

    init(
        _ accounts: [(EngineAccount, AccountInbox)], settings: EngineSettings, queue: BatchQueue<Work>,
        gate: EngineGate, counters: Counters, time: any TimeSource, log: Log
    ) {
        for (account, inbox) in accounts {
            lanes[account.name] = Lane(inbox: inbox, service: account.service, rate: account.rate)
        }
        self.settings = settings
        self.queue = queue
        self.gate = gate
        self.counters = counters
        self.time = time
        self.log = log
    }

    /// Serves until finished, and then until everything that can go has gone.
    func run() async {
        await withDiscardingTaskGroup { group in
            while let starts = await starts.takeAll() {
                for start in starts { group.addTask { await self.serve(start) } }
            }
        }
    }

    /// What waits for a connection now stays in the journal.
    func finish() {
        isClosing = true
        starts.finish()
        for lane in lanes.values { lane.inbox.changed.fire() }
    }

    /// Takes actions that are in the journal. `isUnsure`: an earlier run may have done them.
    func add(_ actions: [OpenAction], isUnsure: Bool = false) {
        for open in actions {
            let account = open.action.place.account
            guard let lane = lanes[account] else {
                fail(open, "there is no account \"\(account)\"")
                continue
            }
            // While it is not connected nobody waits for it: other accounts go on.
            if lane.count >= settings.outboxLimit, !lane.inbox.isUp, !isUnsure {
                fail(open, "\(lane.count) actions of \"\(account)\" wait already")
                continue
            }
            let channel = open.action.place.channel
            lanes[account]?.count += 1
            lanes[account]?.channels[channel, default: ChannelQueue()].add(
                Item(open: open, isUnsure: isUnsure, backoff: settings.backoff))
            start(channel, of: account)
        }
    }

    /// Waits while a connected account has too much to do.
    func waitForRoom() async {
        while !Task.isCancelled {
            let version = room.version
            let isFull = lanes.values.contains { $0.count >= settings.outboxLimit && $0.inbox.isUp }
            guard isFull else { return }
            await room.wait(past: version, noLongerThan: .seconds(1), by: time)
        }
    }

    /// Nothing goes on, and what is left waits for a connection.
    var isQuiet: Bool {
        lanes.values.allSatisfy { $0.inFlight == 0 && ($0.count == 0 || !$0.inbox.isUp) }
    }

    var counts: [String: Int] { lanes.mapValues(\.count) }

    private func fail(_ open: OpenAction, _ why: String) {
        counters.count(.failed)
        log.warning("not done: \(why)", [("action", open.key.text), ("by", open.action.by)])
        queue.put(.result(open, .failed(why)))
    }

    private func start(_ channel: String, of account: String) {
        guard var lane = lanes[account], var queue = lane.channels[channel], !queue.isServed else { return }
        queue.isServed = true
        lane.channels[channel] = queue
        if lane.served < settings.channelsAtOnce {
            lane.served += 1
            starts.put(Start(account: account, channel: channel))
        } else if queue.moderation.isEmpty {
            lane.waiting.append(channel)
        } else {
            lane.waiting.insert(channel, at: 0)
        }
        lanes[account] = lane
    }

    /// Does what there is to do in one channel.
    private func serve(_ start: Start) async {
        let (account, channel) = (start.account, start.channel)
        while await mayGo(account, channel) {
            guard let item = lanes[account]?.channels[channel]?.pop() else { break }
            lanes[account]?.inFlight += 1
            let end = await attempt(item, account)
            lanes[account]?.inFlight -= 1
            switch end {
            case .over(let outcome):
                // First the result, then the room: nobody may think in between that all is done.
                queue.put(.result(item.open, outcome))
                lanes[account]?.count -= 1
                room.fire()
            case .again(let item):
                lanes[account]?.channels[channel]?.putBack(item)
            }
        }
        lanes[account]?.served -= 1
        if lanes[account]?.channels[channel]?.first == nil {
            lanes[account]?.channels[channel] = nil
        } else {
            lanes[account]?.channels[channel]?.isServed = false
        }
        if let next = lanes[account]?.waiting.first {
            lanes[account]?.waiting.removeFirst()
            lanes[account]?.served += 1
            starts.put(Start(account: account, channel: next))
        }
        gate.changed.fire()
    }

    /// Waits until the next action of the channel may go; false when it is not to go in this run.
    private func mayGo(_ account: String, _ channel: String) async -> Bool {
        while !Task.isCancelled {
            guard let lane = lanes[account], let first = lane.channels[channel]?.first else { return false }
            let version = lane.inbox.changed.version
            if !lane.inbox.isUp {
                if isClosing { return false }
                gate.changed.fire()
                await lane.inbox.changed.wait(past: version)
                // What waited for a while was waiting for this.
                if lane.inbox.isUp { lanes[account]?.channels[channel]?.hurry() }
                continue
            }
            let now = time.now
            if let notBefore = first.notBefore, notBefore > now {
                // A new connection ends the wait: by then the service has done it or never will.
                await lane.inbox.changed.wait(past: version, noLongerThan: notBefore - now, by: time)
                if lane.inbox.changed.version != version { lanes[account]?.channels[channel]?.hurry() }
                continue
            }
            if let paused = lane.pausedUntil, paused > now {
                try? await time.sleep(for: paused - now)
                continue
            }
            let wait = lanes[account]?.rate?.take(at: now) ?? .zero
            if wait == .zero { return true }
            try? await time.sleep(for: wait)
        }
        return false
    }

    private enum End {
        case over(ActionOutcome)
        case again(Item)
    }

    private func attempt(_ item: Item, _ account: String) async -> End {
        guard let lane = lanes[account] else { return .again(item) }
        let service = lane.service
        let ups = lane.inbox.current.ups
        let open = item.open
        var item = item
        item.notBefore = nil
        do throws(ChatServiceError) {
            if item.isUnsure, !open.action.repeatsFreely {
                let found = try await limited { () async throws(ChatServiceError) -> Receipt? in
                    try await service.find(open.action, key: open.key, since: open.since)
                }
                if let found {
                    counters.count(.found)
                    return .over(.done(found))
                }
                item.isUnsure = false
            }
            let receipt = try await limited { () async throws(ChatServiceError) -> Receipt? in
                try await service.perform(open.action, key: open.key)
            }
            counters.count(.done)
            return .over(.done(receipt ?? Receipt()))
        } catch {
            // Not an answer of the service's: we are being stopped, and the journal remembers.
            if Task.isCancelled { return .again(item) }
            return react(to: error, item, account, ups: ups)
        }
    }

    /// Chooses what follows an error; each case of the error is one reaction.
    private func react(to error: ChatServiceError, _ old: Item, _ account: String, ups: Int) -> End {
        var item = old
        let now = time.now
        let fields = [("action", item.open.key.text), ("by", item.open.action.by)]
        switch error {
        case .rejected(let why):
            counters.count(.failed)
            log.warning("\(account): refused: \(why)", fields)
            return .over(.failed(why))
        case .unreachable(let why):
            counters.count(.unreachable)
            if item.open.action.isPerishable { return .over(.failed(why)) }
            item.wait(after: now, unless: lanes[account]?.inbox.current.ups != ups)
        case .unauthorized(let why):
            counters.count(.unauthorized)
            item.tries += 1
            if item.tries >= settings.triesLimit { return giveUp(item, account, why) }
            item.wait(after: now, unless: lanes[account]?.inbox.current.ups != ups)
        case .rateLimited(let after, let why):
            counters.count(.rateLimited)
            item.tries += 1
            if item.tries >= settings.triesLimit { return giveUp(item, account, why) }
            let pause = after.map { $0 + $0 * (0.1 * Double.random(in: 0...1)) } ?? item.backoff.next()
            let until = max(lanes[account]?.pausedUntil ?? now, now + pause)
            lanes[account]?.pausedUntil = until
            log.info("\(account): the service asks for a pause of \(pause.milliseconds) ms", fields)
        case .unknownOutcome(let why):
            counters.count(.unknownOutcome)
            item.tries += 1
            if item.tries >= settings.triesLimit { return giveUp(item, account, why) }
            item.isUnsure = true
            if lanes[account]?.inbox.current.ups == ups { item.notBefore = now + settings.lookUpAfter }
            log.info("\(account): nobody knows whether it was done: \(why)", fields)
        }
        return .again(item)
    }

    private func giveUp(_ item: Item, _ account: String, _ why: String) -> End {
        counters.count(.failed)
        log.warning(
            "\(account): given up after \(item.tries) tries: \(why)", [("action", item.open.key.text)])
        return .over(.failed("given up after \(item.tries) tries: \(why)"))
    }

    /// A call to the service, with an end in any case.
    private func limited(
        _ call: @escaping @Sendable () async throws(ChatServiceError) -> Receipt?
    ) async throws(ChatServiceError) -> Receipt? {
        let (time, limit) = (time, settings.actionLimit)
        let result = await withTaskGroup(of: Result<Receipt?, ChatServiceError>.self) { group in
            group.addTask {
                do throws(ChatServiceError) { return .success(try await call()) } catch {
                    return .failure(error)
                }
            }
            group.addTask {
                try? await time.sleep(for: limit)
                return .failure(.unknownOutcome("no answer in \(limit.components.seconds) s"))
            }
            let first = await group.next()
            group.cancelAll()
            return first ?? .failure(.unknownOutcome("stopped"))
        }
        return try result.get()
    }
}

extension Outbox.ChannelQueue {
    fileprivate mutating func hurry() {
        if let index = moderation.indices.first { moderation[index].notBefore = nil }
        if let index = talk.indices.first { talk[index].notBefore = nil }
    }
}

extension Outbox.Item {
    /// A little later; at once on a new connection.
    fileprivate mutating func wait(after now: Timestamp, unless isNewConnection: Bool) {
        if isNewConnection { backoff.reset() } else { notBefore = now + backoff.next() }
    }
}

extension ChatAction {
    /// Worth nothing when it comes late.
    var isPerishable: Bool { verb == .typing }
}
