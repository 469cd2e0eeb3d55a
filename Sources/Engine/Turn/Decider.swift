internal import Chat

/// The one actor that takes turns: one event at a time, many to a commit. What it decides is durable before any of it
/// is done.
///
/// It works on the journal's thread: from a message to what is on the disk no other thread has to wake up.
actor Decider {
    private nonisolated let thread: (any SerialExecutor)?
    private nonisolated let anyThread = AnyThread()
    let parts: Parts
    let lease: Lease
    private let outbox: Outbox
    private let schedule: Schedule
    var turn: Turn
    private var botsVersion: Int
    private var intake: Intake
    private var accounts: [String: Turn.Account] = [:]
    let services: [String: any ChatService]
    private(set) var realms: [String: Realm] = [:]
    /// That of the event before.
    private var lastAccount: Turn.Account?
    /// Channels that nothing is new of, by the end of their number: nearly always the event's is here.
    private var lastChannels = [Channel?](repeating: nil, count: 256)
    /// What is known of channels, for events that only name theirs.
    private var channels: [ChannelID: Channel] = [:]
    /// By account the names by which channels are known to have been called there.
    private var names: [String: [ChannelID: String]] = [:]
    private var continuations: [String: Continuation] = [:]
    /// Came due before it was known who we are on their account.
    private var early: [String: [String]] = [:]
    private var order: Int64
    private var statusEvents = 0
    /// Whether handlers were told last that an account is up.
    private var toldUp: [String: Bool] = [:]
    /// Accounts whose events come too late for answers, as far as the log was told.
    private var late: Set<String> = []
    var pending = Pending()
    private var ledger: RuleLedger
    var cases: CaseFile
    /// The last order that was taken.
    var lastOrder: Int64 = 0
    /// So many lines of the audit log were written in this run.
    var auditLines = 0
    /// When old events were last taken out of the store.
    private var forgotten = Timestamp(milliseconds: 0)

    /// What the next commit makes durable, and what follows it.
    struct Pending {
        var changes: [RowChange] = []
        var actions: [OpenAction] = []
        var later: [PendingContinuation] = []
        var decided: [(Delivery, count: Int)] = []
        var began: [Flag] = []
        /// To be kept in the store.
        var events: [ChatEvent] = []
        var metrics = TurnCounts()
    }

    struct TurnCounts {
        var own = 0
        var duplicate = 0
        var orphan = 0
        var decided = 0
        var stale = 0
        var removed = 0
        var answers = 0
        var silenced = 0
        var withheld: [Ceilings.Kind: Int] = [:]
        var held: [Punishment.Kind: Int] = [:]
        var matched: [String: Int] = [:]
        var failures: [String: Int] = [:]
    }

    /// What the decider works with; the same for the whole run.
    struct Parts: Sendable {
        let settings: EngineSettings
        let journal: any Journal
        let identities: Identities
        let queue: BatchQueue<Work>
        let gate: EngineGate
        let bots: Bots
        let counters: Counters
        let heartbeat: Heartbeat
        let time: any TimeSource
        let log: Log
    }

    init(
        _ parts: Parts, accounts: [EngineAccount], stored: Stored, lease: Lease, outbox: Outbox,
        schedule: Schedule
    ) {
        self.parts = parts
        thread = parts.journal.executor
        self.lease = lease
        self.outbox = outbox
        self.schedule = schedule
        let bots = parts.bots.inUse
        botsVersion = bots.version
        let services = Dictionary(
            accounts.map { ($0.name, $0.service) }, uniquingKeysWith: { first, _ in first })
        self.services = services
        turn = Turn(
            handlers: bots.handlers, directory: bots.directory, memory: Memory(isComplete: false),
            limits: parts.settings.limits
        ) { account, channel in services[account]?.denied(in: channel) ?? [] }
        intake = stored.intake
        continuations = stored.continuations
        ledger = stored.ledger
        ledger.begin(at: parts.time.now)
        cases = stored.cases
        // Each run has a lease of its own, so these numbers go on where the last run's ended.
        order = lease.number << 32
        for account in accounts {
            self.accounts[account.name] = Turn.Account(
                name: account.name, own: nil, abilities: account.service.abilities)
        }
    }

    nonisolated var unownedExecutor: UnownedSerialExecutor {
        thread?.asUnownedSerialExecutor() ?? anyThread.unownedExecutor
    }

    /// Decides until the queue is finished and empty.
    func run() async throws {
        try await recall(fillsHistory: true)
        while let work = await parts.queue.takeAll() {
            for batch in batches(of: work) {
                await outbox.waitForRoom()
                if Task.isCancelled { return }
                parts.heartbeat.begin(at: parts.time.now)
                try await decide(batch)
                try await commit()
                parts.heartbeat.end()
            }
        }
    }

    func cursors(of realm: Realm) -> [String: Position] { intake.cursors(of: realm) }

    /// Cuts what was taken so that no commit is too large.
    private func batches(of work: [Work]) -> [[Work]] {
        var batches: [[Work]] = []
        var batch: [Work] = []
        var left = parts.settings.batchLimit
        for work in work {
            guard case .events(var delivery) = work else {
                batch.append(work)
                continue
            }
            while delivery.events.count > left {
                var part = delivery
                part.events = delivery.events.prefix(left)
                delivery.events = delivery.events.dropFirst(left)
                batches.append(batch + [.events(part)])
                batch = []
                left = parts.settings.batchLimit
            }
            left -= delivery.events.count
            batch.append(.events(delivery))
        }
        return batches + [batch]
    }

    private func decide(_ batch: [Work]) async throws {
        if let bots = parts.bots.newer(than: botsVersion) {
            let keptHistory = turn.handlers.looksBack
            turn.handlers = bots.handlers
            turn.directory = bots.directory
            botsVersion = bots.version
            try await recall(fillsHistory: !keptHistory)
        }
        for case .events(let delivery) in batch { turn.memory.want(delivery.events) }
        try await load()
        for work in batch {
            switch work {
            case .started: try await take(started())
            case .identified(let account, let user, let realm):
                try await identified(account, as: user, in: realm)
            case .status(let account, let status): try await changed(account, to: status)
            case .began(let streams, let flag):
                intake.begin(streams)
                pending.began.append(flag)
            case .events(let delivery): try await take(delivery)
            case .result(let open, let outcome): try await finish(open, outcome)
            case .due(let keys): for key in keys { try await resume(key) }
            case .orders(let orders): try await take(orders)
            case .upkeep: try await clean()
            }
        }
    }

    private func take(_ delivery: Delivery) async throws {
        for event in delivery.events {
            guard event.isFromOutside else { continue }
            switch intake.admit(event) {
            case .new: try await take(event)
            case .own:
                pending.metrics.own += 1
                turn.heardOurselves(event)
            case .duplicate:
                pending.metrics.duplicate += 1
                // Another account of ours was quicker; what this one calls the channel is news all the same.
                if let channel = event.channel { try await learnName(of: channel, event.account) }
            }
        }
        pending.decided.append((delivery, delivery.events.count))
    }

    func take(_ event: ChatEvent) async throws {
        if event.digest.channel != 0 { try await look(at: event) }
        if lastAccount?.name != event.account { lastAccount = account(named: event.account) }
        var progress = turn.begin(
            event, at: parts.time.now, as: lastAccount ?? account(named: event.account))
        while !turn.advance(&progress, event) { try await load() }
        let isOutside = event.digest.name != nil
        if isOutside, progress.outcome.isEmpty { return add(progress.outcome, of: event) }
        var isFiled = !progress.outcome.filed.isEmpty || !progress.outcome.undone.isEmpty
        if !isOutside, case .resumed(let continuation, _) = event.kind, continuation.cases != nil {
            isFiled = true
        }
        if isFiled { tag(&progress.outcome, event) }
        add(progress.outcome, of: event)
        if isFiled { try await file(progress.outcome, event) }
        try await finishSettled(progress.outcome)
    }

    /// Keeps what is known of the event's channel.
    private func look(at event: ChatEvent) async throws {
        let slot = Int(event.digest.channel % 256)
        if let last = lastChannels[slot], event.isIn(last) { return }
        guard let channel = event.channel else { return }
        lastChannels[slot] = channel
        if channels.count > 16_384 { channels = [:] }
        channels[channel.id] = channel
        try await learnName(of: channel, event.account)
    }

    private func learnName(of channel: Channel, _ account: String) async throws {
        guard let name = channel.uniqueName, names[account]?[channel.id] != name else { return }
        if names[account].map({ $0.count > 16_384 }) == true { names[account] = nil }
        names[account, default: [:]][channel.id] = name
        outbox.learn(name, of: channel.id.text, account: account)
        while !turn.learn(name, of: channel.id, account: account) { try await load() }
    }

    /// What needed no service is over at once.
    func finishSettled(_ outcome: Turn.Outcome) async throws {
        for open in outcome.actions {
            if let settled = open.settled { try await finish(open, settled) }
        }
    }

    func account(named name: String) -> Turn.Account {
        accounts[name]
            ?? Turn.Account(
                name: name, own: nil,
                abilities: Abilities(
                    events: [], actions: [], textLimit: .init(0, .bytes)))
    }

    /// As far as it is known.
    func channel(_ id: ChannelID) -> Channel { channels[id] ?? Channel(id: id) }

    func add(_ outcome: Turn.Outcome, of event: ChatEvent) {
        pending.metrics.decided += 1
        if outcome.isStale { pending.metrics.stale += 1 }
        if outcome.removed { pending.metrics.removed += 1 }
        pending.metrics.answers += outcome.answers
        if outcome.isEmpty {
            if parts.settings.keepEvents != nil { pending.events.append(event) }
            if outcome.isStale || outcome.isOrphan || !late.isEmpty { report(outcome, of: event) }
            return
        }
        for name in outcome.matched { pending.metrics.matched[name, default: 0] += 1 }
        if parts.settings.keepEvents != nil { pending.events.append(event) }
        for (kind, count) in outcome.withheld { pending.metrics.withheld[kind, default: 0] += count }
        if let held = outcome.held { pending.metrics.held[held, default: 0] += 1 }
        enqueue(outcome)
        report(outcome, of: event)
    }

    /// Its actions and what is put off go into the next commit.
    func enqueue(_ outcome: Turn.Outcome) {
        for var open in outcome.actions {
            if open.action.isModeration { noteAsked(open, outcome) }
            guard open.settled == nil else { continue }
            order += 1
            open.order = order
            pending.actions.append(open)
            pending.changes.append(RowChange(RowKey(.action, open.key.text), open.body))
        }
        for later in outcome.later {
            continuations[later.key] = later.continuation
            pending.later.append(later)
            pending.changes.append(
                RowChange(RowKey(.continuation, later.key), JSONRow.body(of: later.continuation)))
        }
    }

    private func report(_ outcome: Turn.Outcome, of event: ChatEvent) {
        if outcome.isStale {
            if late.insert(event.account).inserted {
                parts.log.info(
                    "events of \(event.account) are too old for answers: it catches up, or its clock is not ours",
                    [("event", event.id)])
            }
        } else if !late.isEmpty, event.isFromOutside {
            late.remove(event.account)
        }
        for name in outcome.matched where name.hasSuffix(" (dry)") {
            parts.log.info("\(name) matched, and nothing is done", [("event", event.id)])
        }
        for note in outcome.notes {
            let line = "\(note.by): \(note.text)"
            if note.isWarning {
                parts.log.warning(line, [("event", event.id)])
            } else {
                parts.log.info(line, [("event", event.id)])
            }
        }
        for failure in outcome.failures {
            pending.metrics.failures[failure.handler, default: 0] += 1
            parts.log.error("\(failure.handler): \(failure.why)", [("event", event.id)])
        }
        for silenced in outcome.silenced {
            pending.metrics.silenced += 1
            parts.log.warning(
                "\(silenced.rule) is silent towards \(silenced.sender) for a while: \(silenced.why)",
                [("event", event.id)])
        }
        if outcome.isOrphan, case .resumed(let continuation, _) = event.kind {
            pending.metrics.orphan += 1
            parts.log.warning(
                "\(continuation.owner) is gone, so its step \(continuation.step) is dropped",
                [("event", continuation.event)])
        }
    }

    func load() async throws {
        let subjects = turn.memory.takeMissing()
        guard !subjects.isEmpty else { return }
        let keys = subjects.map(\.rowKey).sorted()
        let rows = try await untilItWorks { (_: isolated Decider, journal) throws(JournalError) in
            try await journal.rows(of: .memory, keys: keys)
        }
        turn.memory.insert(rows, for: subjects)
    }

    private func commit() async throws {
        var changes = pending.changes
        changes += intake.takeChanges()
        changes += turn.memory.takeChanges()
        changes += cases.takeChanges()
        changes += rowsForLookingBack()
        let done = pending
        pending = Pending()
        if !changes.isEmpty {
            let lease = lease
            try await untilItWorks { [changes] (_: isolated Decider, journal) throws(JournalError) in
                try await journal.append(changes, under: lease)
            }
        }
        if !done.began.isEmpty {
            for flag in done.began { flag.set() }
            parts.gate.changed.fire()
        }
        for later in done.later {
            if let due = later.continuation.due { schedule.add(later.key, due: due) }
        }
        cases.letGo()
        turn.memory.evict(over: parts.settings.rowsInMemory)
        // Whoever sees an action done finds it counted.
        count(done, didCommit: !changes.isEmpty)
        if !done.actions.isEmpty { outbox.add(done.actions) }
    }

    /// How rules did in this batch, and the batch itself if events are kept.
    private func rowsForLookingBack() -> [RowChange] {
        let now = parts.time.now
        for (name, count) in pending.metrics.matched { ledger.match(name, count, at: now) }
        var changes = ledger.takeChanges()
        guard let keep = parts.settings.keepEvents, let last = pending.events.map(\.sentAt).max() else {
            return changes
        }
        changes.append(
            RowChange(RowKey(.event, "\(last.milliseconds)"), EventCoding.body(of: pending.events)))
        if now - forgotten > .seconds(3600) {
            forgotten = now
            changes.append(RowChange(RowKey(.event, "\((now - keep).milliseconds)"), nil))
        }
        return changes
    }

    /// Does it again while the store cannot be written or read; nothing new is decided meanwhile. (A closure that does not
    /// say whose it is leaves the journal's thread before and after the call.)
    func untilItWorks<Answer: Sendable>(
        _ body: (isolated Decider, any Journal) async throws(JournalError) -> Answer
    ) async throws -> Answer {
        var backoff = parts.settings.backoff
        let since = parts.time.now
        while true {
            do throws(JournalError) {
                let answer = try await body(self, parts.journal)
                if parts.gate.isStoreInTrouble {
                    parts.gate.setTrouble(nil)
                    parts.log.info("the store can be written again")
                }
                return answer
            } catch .unwritable(let why) {
                parts.counters.change { $0.storeErrors += 1 }
                if !parts.gate.isStoreInTrouble {
                    parts.log.error("\(why); events wait until it can be written")
                    parts.gate.setTrouble(why)
                }
                guard parts.time.now - since < parts.settings.storeLimit else {
                    throw JournalError.unwritable(why)
                }
                parts.heartbeat.end()
                try await parts.time.sleep(for: backoff.next())
                parts.heartbeat.begin(at: parts.time.now)
            } catch {
                throw error
            }
        }
    }

    private func count(_ done: Pending, didCommit: Bool) {
        let now = ContinuousClock.now
        for (delivery, count) in done.decided { delivery.inbox.finished(count) }
        let counts = done.metrics
        let (waiting, rows) = (continuations.count, turn.memory.count)
        parts.counters.change { metrics in
            for (delivery, count) in done.decided {
                metrics.taken += count
                metrics.latency.add(now - delivery.at, times: count)
            }
            metrics.dropped[.own, default: 0] += counts.own
            metrics.dropped[.duplicate, default: 0] += counts.duplicate
            metrics.dropped[.orphan, default: 0] += counts.orphan
            metrics.decided += counts.decided
            metrics.stale += counts.stale
            metrics.removed += counts.removed
            metrics.answers += counts.answers
            metrics.silenced += counts.silenced
            metrics.withheld.merge(counts.withheld, uniquingKeysWith: +)
            metrics.held.merge(counts.held, uniquingKeysWith: +)
            metrics.matched.merge(counts.matched, uniquingKeysWith: +)
            metrics.handlerFailures.merge(counts.failures, uniquingKeysWith: +)
            if didCommit { metrics.commits += 1 }
            metrics.continuations = waiting
            metrics.rowsInMemory = rows
        }
    }
}

extension Decider {
    /// Tells handlers of what happened lately, as far as it was kept, and fills the history of channels.
    private func recall(fillsHistory: Bool) async throws {
        let handlers = turn.handlers.recalling
        let fillsHistory = fillsHistory && turn.handlers.looksBack
        guard parts.settings.keepEvents != nil, !handlers.isEmpty || fillsHistory else { return }
        let now = parts.time.now
        var span = handlers.map(\.recalls).max() ?? .zero
        if fillsHistory { span = max(span, Self.historyRecalled) }
        guard span > .zero else { return }
        let since = now - span
        let bodies = try await untilItWorks { (_: isolated Decider, journal) throws(JournalError) in
            try await journal.keptEvents(since: since, most: Self.bytesRecalled)
        }
        for body in bodies {
            let events = EventCoding.events(in: body, realms: parts.identities).filter { $0.sentAt >= since }
            turn.memory.want(events)
            try await load()
            for event in events {
                let account = account(named: event.account)
                while !turn.recall(
                    event, by: handlers, fillsHistory: fillsHistory, at: now, as: account)
                { try await load() }
            }
            turn.memory.evict(over: parts.settings.rowsInMemory)
        }
    }

    private static let historyRecalled = Duration.seconds(86_400)
    private static let bytesRecalled = 64 << 20
}

/// Lends its executor, which is one of Swift's own threads, to an actor that has none.
private actor AnyThread {}

// What steward itself has to say.
extension Decider {
    private func started() -> ChatEvent {
        ChatEvent(
            id: "started/\(lease.number)", account: "", realm: parts.identities.realm("steward"),
            sentAt: parts.time.now, kind: .started)
    }

    private func identified(_ account: String, as user: UserID, in realm: Realm) async throws {
        accounts[account]?.own = user
        lastAccount = nil
        realms[account] = realm
        turn.know(account, as: user, in: realm)
        intake.identified(as: user)
        for key in early.removeValue(forKey: account) ?? [] { try await resume(key) }
    }

    private func changed(_ account: String, to status: ServiceStatus) async throws {
        guard let realm = realms[account] else { return }
        let kind: ChatEvent.Kind
        switch status {
        case .connecting: return
        case .up: kind = .serviceUp
        case .down(let reason), .failed(let reason): kind = .serviceDown(reason: reason)
        }
        // A service that tries again and again goes down once.
        let isUp = status == .up
        guard toldUp[account] != isUp else { return }
        toldUp[account] = isUp
        statusEvents += 1
        try await take(
            ChatEvent(
                id: "status/\(account)/\(lease.number)/\(statusEvents)", account: account, realm: realm,
                sentAt: parts.time.now, kind: kind))
    }

    /// An action is over; whoever waits for its result gets it in the same commit.
    private func finish(_ open: OpenAction, _ outcome: ActionOutcome) async throws {
        pending.changes.append(RowChange(RowKey(.action, open.key.text), nil))
        let outcome = try await standIn(for: open, outcome)
        let realm = parts.identities.realm(open.realm)
        if case .done(let receipt) = outcome, let message = receipt.message {
            intake.sent(message.id, in: realms[open.action.place.account] ?? realm)
        }
        try await settle(open, outcome)
        if case .failed(let why) = outcome {
            ledger.fail(open.action.by, why, at: parts.time.now)
            try await tellUndeleted(open, why)
        }
        guard let continuation = open.action.then else { return }
        let answer: ChatEvent.Outcome =
            switch outcome {
            case .done(let receipt): .done(receipt)
            case .failed(let why): .failed(why)
            }
        try await take(resumed(continuation, answer, named: open.key.text))
    }

    private func resume(_ key: String) async throws {
        guard let continuation = continuations[key] else { return }
        if let account = continuation.place?.account, accounts[account]?.own == nil {
            early[account, default: []].append(key)
            return
        }
        continuations[key] = nil
        pending.changes.append(RowChange(RowKey(.continuation, key), nil))
        try await take(resumed(continuation, .due, named: key))
    }

    /// A rule that wanted a message deleted tells staff that it is still there.
    private func tellUndeleted(_ open: OpenAction, _ why: String) async throws {
        // Of what was not even tried, such as what is over a ceiling, staff know already.
        guard case .deleteMessage = open.action.verb, open.settled == nil,
            !open.action.path.hasSuffix(".delete_after"),
            !turn.handlers.handlers(resuming: Undeleted.owner).isEmpty
        else { return }
        let name = open.cases?.first
        var author: String?
        if let name { author = try await storedCase(name)?.userName }
        var continuation = Undeleted.continuation(
            by: open.action.by, why: why, in: open.action.place, author: author, inCase: name,
            reportTo: parts.settings.limits.reportTo)
        continuation.event = open.event
        continuation.realm = open.realm
        try await take(resumed(continuation, .failed(why), named: "\(open.key.text)/undeleted"))
    }

    func resumed(_ continuation: Continuation, _ outcome: ChatEvent.Outcome, named key: String)
        -> ChatEvent
    {
        .resumed(
            continuation, outcome, named: key, realm: parts.identities.realm(continuation.realm),
            at: parts.time.now
        ) { channels[$0] }
    }
}
