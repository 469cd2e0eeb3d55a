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
        /// It was sent before, in this run.
        var isRepeated = false
        var notBefore: Timestamp?
        var backoff: Backoff
    }

    private struct Start {
        var account: String
        var channel: String
    }

    private enum Arrival {
        case actions([OpenAction], isUnsure: Bool)
        case name(String, of: String, account: String)
    }

    private var lanes: [String: Lane] = [:]
    private var isClosing = false
    private let inboxes: [String: AccountInbox]
    private let arrivals = BatchQueue<Arrival>()
    /// How many actions of each account are not over.
    private nonisolated let load: Locked<[String: Int]>
    private let deadlines: Deadlines
    private let room = Signal()
    /// An account has no more moderation to do, or some that nobody serves yet: talk that waits looks again.
    private let calm = Signal()
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
            lanes[account.name] = Lane(
                inbox: inbox, service: account.service, channelsAtOnce: settings.channelsAtOnce, calm: calm,
                rate: account.rate)
        }
        inboxes = lanes.mapValues(\.inbox)
        load = Locked(lanes.mapValues { _ in 0 })
        deadlines = Deadlines(time: time)
        self.settings = settings
        self.queue = queue
        self.gate = gate
        self.counters = counters
        self.time = time
        self.log = log
    }

    /// Serves until finished, and then until everything that can go has gone.
    func run() async throws {
        try await scope(cancelling: [{ await self.deadlines.run() }]) {
            await self.serveAll()
        }
    }

    private func serveAll() async {
        await withDiscardingTaskGroup { group in
            while let arrivals = await arrivals.takeAll() {
                for start in arrivals.flatMap(starts) { group.addImmediateTask { await self.serve(start) } }
            }
        }
    }

    /// What waits for a connection now stays in the journal.
    func finish() {
        isClosing = true
        arrivals.finish()
        for lane in lanes.values { lane.inbox.changed.fire() }
    }

    /// Takes actions that are in the journal, and does not wait. `isUnsure`: an earlier run may have done them.
    nonisolated func add(_ actions: [OpenAction], isUnsure: Bool = false) {
        let taken = actions.filter { open in
            let account = open.action.place.account
            guard let inbox = inboxes[account] else {
                fail(open, "there is no account \"\(account)\"")
                return false
            }
            let mayWait = isUnsure || inbox.isUp
            let (isTaken, count) = load.withLock { load in
                let count = load[account, default: 0]
                // While it is not connected nobody waits for it: other accounts go on.
                guard mayWait || count < settings.outboxLimit else { return (false, count) }
                load[account] = count + 1
                return (true, count)
            }
            if !isTaken { fail(open, "\(count) actions of \"\(account)\" wait already") }
            return isTaken
        }
        if !taken.isEmpty { arrivals.put(.actions(taken, isUnsure: isUnsure)) }
    }

    /// Actions may call the channel by either.
    nonisolated func learn(_ name: String, of channel: String, account: String) {
        arrivals.put(.name(name, of: channel, account: account))
    }

    /// Waits while a connected account has too much to do.
    nonisolated func waitForRoom() async {
        while !Task.isCancelled {
            let version = room.version
            let full = load.withLock { [limit = settings.outboxLimit] in
                $0.filter { $0.value >= limit }.map(\.key)
            }
            guard full.contains(where: { inboxes[$0]?.isUp == true }) else { return }
            await room.wait(past: version, noLongerThan: .seconds(1), by: time)
        }
    }

    /// Nothing goes on, and what is left waits for a connection.
    var isQuiet: Bool {
        let load = counts
        return lanes.allSatisfy { account, lane in
            lane.inFlight == 0 && (load[account] == 0 || !lane.inbox.isUp)
        }
    }

    /// How many actions each account has left to do.
    nonisolated var counts: [String: Int] { load.withLock { $0 } }

    private nonisolated func fail(_ open: OpenAction, _ why: String) {
        counters.count(.failed)
        log.warning("not done: \(why)", [("action", open.key.text), ("by", open.action.by)])
        queue.put(.result(open, .failed(why)))
    }

    /// Puts what came in its place; says what has to be served now.
    private func starts(of arrival: Arrival) -> [Start] {
        switch arrival {
        case .name(let name, let channel, let account):
            lanes[account]?.learn(name, of: channel)
            return []
        case .actions(let actions, let isUnsure):
            return actions.compactMap { open in
                let account = open.action.place.account
                let item = Item(open: open, isUnsure: isUnsure, backoff: settings.backoff)
                return lanes[account]?.add(item).map { Start(account: account, channel: $0) }
            }
        }
    }

    /// Does what there is to do in one channel, then in those that wait for it.
    private func serve(_ start: Start) async {
        var channel = start.channel
        while true {
            await serve(channel, of: start.account)
            guard let next = lanes[start.account]?.takeWaiting() else { break }
            channel = next
        }
        lanes[start.account]?.served -= 1
        gate.mayBeQuiet()
    }

    private func serve(_ channel: String, of account: String) async {
        serving: while true {
            switch await turn(of: channel, account) {
            case .now: break
            case .notInThisRun: break serving
            case .afterModeration:
                lanes[account]?.wait(channel)
                return
            }
            let items = take(from: channel, account)
            guard !items.isEmpty else { break }
            lanes[account]?.inFlight += items.count
            await withDiscardingTaskGroup { group in
                // Each begins here and now, so they leave in their order.
                for item in items {
                    group.addImmediateTask { await self.attempt(item, channel, of: account) }
                }
            }
        }
        lanes[account]?.leave(channel)
    }

    /// The next action; deletions several at once, for their order among each other is of no matter and a far service takes
    /// its time for each.
    private func take(from channel: String, _ account: String) -> [Item] {
        guard let first = lanes[account]?.channels[channel]?.pop() else { return [] }
        var items = [first]
        guard case .deleteMessage = first.open.action.verb else { return items }
        while items.count < settings.deletionsAtOnce, let next = lanes[account]?.channels[channel]?.first,
            case .deleteMessage = next.open.action.verb, next.notBefore == nil,
            lanes[account]?.rate?.take(at: time.now) ?? .zero == .zero,
            let item = lanes[account]?.channels[channel]?.pop()
        {
            items.append(item)
        }
        return items
    }

    private func attempt(_ item: Item, _ channel: String, of account: String) async {
        let end = await attempt(item, account)
        lanes[account]?.inFlight -= 1
        switch end {
        case .over(let outcome):
            if item.open.action.isModeration { lanes[account]?.endModeration() }
            // First the result, then the room: nobody may think in between that all is done.
            queue.put(.result(item.open, outcome))
            load.withLock { $0[account, default: 1] -= 1 }
            room.fire()
        case .again(let item):
            lanes[account]?.channels[channel]?.putBack(item)
        }
    }

    private enum ItsTurn {
        case now, notInThisRun
        /// It has only talk, and a channel with moderation has nobody who serves it.
        case afterModeration
    }

    /// Waits until the next action of the channel may go.
    private func turn(of channel: String, _ account: String) async -> ItsTurn {
        while !Task.isCancelled {
            guard let lane = lanes[account], let first = lane.channels[channel]?.first else {
                return .notInThisRun
            }
            if !first.open.action.isModeration, lane.hasUrgent { return .afterModeration }
            let noise = calm.version
            let version = lane.inbox.changed.version
            if !lane.inbox.isUp {
                if isClosing { return .notInThisRun }
                gate.mayBeQuiet()
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
            if !first.open.action.isModeration, lane.moderationLeft > 0, lane.isTight(at: now) {
                await calm.wait(past: noise, noLongerThan: .seconds(10), by: time)
                continue
            }
            let wait = lanes[account]?.rate?.take(at: now) ?? .zero
            if wait == .zero { return .now }
            try? await time.sleep(for: wait)
        }
        return .notInThisRun
    }

    private enum End {
        case over(ActionOutcome)
        case again(Item)
    }

    private func attempt(_ item: Item, _ account: String) async -> End {
        guard let lane = lanes[account] else { return .again(item) }
        let service = lane.service
        let ups = lane.inbox.current.ups
        var open = item.open
        open.action = open.action.asDone(with: service.abilities)
        var item = item
        item.notBefore = nil
        do throws(ChatServiceError) {
            if item.isUnsure, !open.action.repeatsFreely {
                let found = try await limited { [open] () async throws(ChatServiceError) -> Receipt? in
                    try await service.find(open.action, key: open.key, since: open.since)
                }
                if let found {
                    counters.count(.found)
                    return .over(.done(found))
                }
                item.isUnsure = false
            }
            // Whom an earlier try may have taken out is not in any more.
            let isFirst = !item.isUnsure && !item.isRepeated
            item.isRepeated = true
            var receipt = try await limited { [open] () async throws(ChatServiceError) -> Receipt? in
                try await service.perform(open.action, key: open.key)
            }
            if !isFirst, receipt?.tookOut == false { receipt?.tookOut = nil }
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
        // Not a child task: only this one is to end when its time is over.
        // It begins on this thread, so that a message need not wait for another to wake up.
        let task = Task.immediateDetached { () async -> Result<Receipt?, ChatServiceError> in
            do throws(ChatServiceError) { return .success(try await call()) } catch { return .failure(error) }
        }
        let deadline = deadlines.add(after: settings.actionLimit) { task.cancel() }
        let result = await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
        if deadlines.remove(deadline) { return try result.get() }
        // That it was told to end is no answer, but one that came at the last moment is.
        if case .success(let receipt) = result { return receipt }
        throw .unknownOutcome("no answer in \(settings.actionLimit.components.seconds) s")
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

    /// Where a service has no ban, whoever is banned is removed, and steward keeps them out.
    func asDone(with abilities: Abilities) -> ChatAction {
        guard case .ban(let user, _, _) = verb, !abilities.actions.contains("ban") else { return self }
        var action = self
        action.verb = .removeMember(user: user)
        return action
    }
}
