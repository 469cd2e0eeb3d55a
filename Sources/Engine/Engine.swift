package import Chat

/// The engine as the rest of the program sees it: events in from services, decisions by handlers, actions out.
package final class Engine: Sendable {
    let settings: EngineSettings
    let accounts: [EngineAccount]
    let journal: any Journal
    let identities: Identities
    let time: any TimeSource
    let log: Log
    let bots: Bots
    let gate = EngineGate()
    let counters = Counters()
    let heartbeat = Heartbeat()
    let restarts: [String: Signal]
    private let live = Locked(Live())

    /// What exists while it runs.
    struct Live {
        var phase = EngineState.Phase.starting
        var inboxes: [AccountInbox] = []
        var outbox: Outbox?
    }

    init(
        _ settings: EngineSettings, accounts: [EngineAccount], handlers: [any EventHandler],
        directory: Directory,
        journal: any Journal, identities: Identities, time: any TimeSource, log: Log
    ) {
        self.settings = settings
        self.accounts = accounts
        self.journal = journal
        self.identities = identities
        self.time = time
        self.log = log
        bots = Bots(handlers, directory)
        restarts = Dictionary(accounts.map { ($0.name, Signal()) }) { first, _ in first }
    }

    /// Runs an engine as long as `body` runs; when that returns, takes no more events, finishes what it has, and
    /// returns. Cancelling stops at once: what was decided and not done stays in the journal.
    ///
    /// `surroundings` runs the work that it is given: once the store is ours, and before it is given back.
    ///
    /// Throws what `body` throws, and `JournalError` when the store cannot be used any more.
    package static func run<Result: Sendable>(
        _ settings: EngineSettings, accounts: [EngineAccount], handlers: [any EventHandler],
        directory: Directory, journal: any Journal, identities: Identities,
        time: any TimeSource = SystemTime(), log: Log,
        surroundings: @escaping Surroundings = { try await $0() },
        body: @escaping @Sendable (Engine) async throws -> Result
    ) async throws -> Result {
        let engine = Engine(
            settings, accounts: accounts, handlers: handlers, directory: directory, journal: journal,
            identities: identities, time: time, log: log)
        return try await withThrowingTaskGroup(of: Swift.Result<Result, any Error>?.self) { group in
            group.addTask {
                let result = await capture { try await body(engine) }
                engine.close()
                return result
            }
            group.addTask {
                defer { engine.setPhase(.closed) }
                try await engine.runUntilClosed(in: surroundings)
                return nil
            }
            var answer: Swift.Result<Result, any Error> = .failure(CancellationError())
            while let end = try await group.next() {
                if let end { answer = end }
            }
            return try answer.get()
        }
    }

    package typealias Surroundings =
        @Sendable (_ work: @escaping @Sendable () async throws -> Void) async throws -> Void

    static func capture<Value: Sendable>(
        _ body: () async throws -> Value
    ) async -> Swift.Result<Value, any Error> {
        do { return .success(try await body()) } catch { return .failure(error) }
    }

    /// The gate: no more events are taken. What is there is still decided and done.
    package func close() {
        gate.close()
        live.withLock { if $0.phase != .closed { $0.phase = .closing } }
        gate.changed.fire()
    }

    /// Other handlers from the next turn on. What they remember is kept under their names.
    package func replace(handlers: [any EventHandler], directory: Directory) {
        bots.replace(handlers, directory)
    }

    /// Starts an account's service anew, also one that failed for good.
    package func restart(account: String) {
        restarts[account]?.fire()
    }

    package var state: EngineState {
        let live = live.withLock { $0 }
        var accounts: [String: EngineState.Account] = [:]
        for account in self.accounts {
            accounts[account.name] = EngineState.Account(status: .connecting, since: time.now, own: nil)
        }
        for inbox in live.inboxes {
            let state = inbox.current
            accounts[inbox.account] = EngineState.Account(
                status: state.status, since: state.since, own: state.own?.text)
        }
        return EngineState(phase: live.phase, accounts: accounts, storeTrouble: gate.trouble)
    }

    /// Returns once the state is as wanted, or the task is cancelled.
    package func wait(until isWanted: @Sendable (EngineState) -> Bool) async {
        await gate.wait { isWanted(state) }
    }

    /// Whether all is well enough to tell systemd's watchdog so; ask every few seconds.
    package var mayFeedWatchdog: Bool { pulse.mayFeedWatchdog(at: time.now) }

    package var metrics: EngineMetrics {
        get async {
            let live = live.withLock { $0 }
            var metrics = counters.snapshot
            for inbox in live.inboxes { metrics.inboxes[inbox.account] = inbox.current.queued }
            if let outbox = live.outbox { metrics.outboxes = outbox.counts }
            return metrics
        }
    }

    var inboxes: [AccountInbox] { live.withLock { $0.inboxes } }

    var pulse: Pulse { Pulse(settings: settings, inboxes: inboxes, heartbeat: heartbeat) }

    func setPhase(_ phase: EngineState.Phase) {
        live.withLock { live in
            // Closing goes forward only.
            if live.phase != .closing || phase == .closed { live.phase = phase }
        }
        gate.changed.fire()
    }

    func setLive(_ inboxes: [AccountInbox], _ outbox: Outbox) {
        live.withLock { live in
            live.inboxes = inboxes
            live.outbox = outbox
        }
        gate.changed.fire()
    }
}

/// How the engine is, for readiness and `STATUS=`.
package struct EngineState: Sendable {
    package enum Phase: Sendable, Equatable {
        case starting
        /// Another steward works on the store.
        case standingBy(for: String)
        case running
        case closing
        case closed
    }

    package struct Account: Sendable {
        package var status: ServiceStatus
        package var since: Timestamp
        /// Who we are there, once it is known.
        package var own: String?
    }

    package var phase: Phase
    package var accounts: [String: Account]
    /// What is wrong with the store, while it cannot be written.
    package var storeTrouble: String?

    /// Every account is logged in, and the store works.
    package var isReady: Bool {
        phase == .running && storeTrouble == nil && accounts.values.allSatisfy { $0.status == .up }
    }
}
