internal import Chat
internal import Engine

/// Looks after a running engine: tells systemd how we are, feeds its watchdog, takes new rules, and says when to stop.
struct Watch: Sendable {
    let engine: Engine
    let require: Set<String>
    let systemd: Systemd
    let log: Log
    /// Why the last one was of no use; nil when it was.
    let reload: @Sendable () -> String?

    private let notes = Locked(Notes())

    private struct Notes {
        /// Why the rules at work are not those of the files.
        var trouble: String?
        /// Systemd knows that we have started.
        var isReady = false
    }

    init(
        engine: Engine, require: Set<String>, systemd: Systemd, log: Log,
        reload: @escaping @Sendable () -> String?
    ) {
        self.engine = engine
        self.require = require
        self.systemd = systemd
        self.log = log
        self.reload = reload
    }

    /// Returns when somebody wants steward to stop, or no account can go on.
    func run(until wishes: Wishes) async -> ExitCode {
        await withTaskGroup(of: ExitCode?.self) { group in
            group.addTask { await tellSystemd() }
            group.addTask { await feedWatchdog() }
            group.addTask { await untilAllFailed() }
            group.addTask {
                while let wish = await wishes.next() {
                    if wish == .stop { return .fine }
                    systemd.reloading()
                    let trouble = reload()
                    let isReady = notes.withLock { notes in
                        notes.trouble = trouble
                        return notes.isReady
                    }
                    // A reload is over with "ready", whatever came of it; before the start is, that would be a lie.
                    if isReady { systemd.ready(status) } else { systemd.status(status) }
                }
                return nil
            }
            var end: ExitCode?
            while end == nil, let next = await group.next() { end = next }
            group.cancelAll()
            systemd.stopping()
            log.info("stopping: what is waiting is sent first")
            return end ?? .fine
        }
    }

    private func tellSystemd() async -> ExitCode? {
        var told = ""
        while !Task.isCancelled {
            let state = engine.state
            let status = status
            if !notes.withLock(\.isReady), mayStart(state) {
                notes.withLock { $0.isReady = true }
                systemd.ready(status)
                log.info("ready: \(status)")
            } else if status != told {
                systemd.status(status)
            }
            told = status
            await engine.wait { [told] _ in self.status != told }
        }
        return nil
    }

    /// Standing by is all that a second steward can do, so it counts as started.
    private func mayStart(_ state: EngineState) -> Bool {
        if case .standingBy = state.phase { return true }
        return state.phase == .running && require.allSatisfy { state.accounts[$0]?.status == .up }
    }

    private func feedWatchdog() async -> ExitCode? {
        let interval = systemd.watchdogInterval ?? .seconds(40)
        while !Task.isCancelled {
            if engine.mayFeedWatchdog {
                systemd.watchdog()
                // An account that cannot log in yet must not cost the others a restart.
                if !notes.withLock(\.isReady) { systemd.starting() }
            }
            try? await Task.sleep(for: interval / 2)
        }
        return nil
    }

    /// Repeating cannot help any account: somebody has to act, and a supervisor should know.
    private func untilAllFailed() async -> ExitCode? {
        await engine.wait { state in
            !state.accounts.isEmpty
                && state.accounts.values.allSatisfy { if case .failed = $0.status { true } else { false } }
        }
        guard !Task.isCancelled else { return nil }
        log.error(
            "no account can log in, and trying again cannot help: correct the accounts, then start again")
        return .configuration
    }

    /// One line, such as `twilio: up; other: failed: the token is for another service`. A reload that failed stands
    /// first, until one works.
    var status: String {
        let state = engine.state
        let trouble = notes.withLock(\.trouble).map { ["not reloaded, the old rules stay: \($0)"] } ?? []
        if case .standingBy(let other) = state.phase {
            return (trouble + ["standing by: \(other) works on this store"]).joined(separator: "; ")
        }
        var parts = trouble
        parts += state.accounts.sorted { $0.key < $1.key }.map { name, account in
            switch account.status {
            case .connecting: "\(name): connecting"
            case .up: "\(name): up"
            case .down(let reason): "\(name): down: \(reason)"
            case .failed(let reason): "\(name): failed: \(reason)"
            }
        }
        if let trouble = state.storeTrouble { parts.append("store: \(trouble)") }
        return parts.joined(separator: "; ")
    }
}
