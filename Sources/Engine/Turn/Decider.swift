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
    let outbox: Outbox
    let schedule: Schedule
    var turn: Turn
    private var botsVersion: Int
    var intake: Intake
    var accounts: [String: Turn.Account] = [:]
    let services: [String: any ChatService]
    var realms: [String: Realm] = [:]
    /// That of the event before.
    var lastAccount: Turn.Account?
    var channels = KnownChannels()
    var continuations: [String: Continuation] = [:]
    /// Came due before it was known who we are on their account.
    var early: [String: [String]] = [:]
    var order: Int64
    var statusEvents = 0
    /// Whether handlers were told last that an account is up.
    var toldUp: [String: Bool] = [:]
    /// Accounts whose events come too late for answers, as far as the log was told.
    var late: Set<String> = []
    var pending = Pending()
    var ledger: RuleLedger
    var cases: CaseFile
    /// The last order that was taken.
    var lastOrder: Int64 = 0
    /// So many lines of the audit log were written in this run.
    var auditLines = 0
    /// When old events were last taken out of the store.
    var forgotten = Timestamp(milliseconds: 0)

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
        for case .events(let delivery) in batch { turn.expect(delivery.events) }
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
        if channels.hasNoNews(of: event) { return }
        guard let channel = event.channel else { return }
        channels.note(channel)
        try await learnName(of: channel, event.account)
    }

    private func learnName(of channel: Channel, _ account: String) async throws {
        guard let name = channels.newName(of: channel, account: account) else { return }
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
}

/// Lends its executor, which is one of Swift's own threads, to an actor that has none.
private actor AnyThread {}
