internal import Chat
internal import Engine
internal import Rules
internal import Services

/// Warns of what rules want and an account may not do: when the account is there for the first time, and after each
/// reload, for what is new.
final class RightsLook: Sendable {
    private struct State {
        var reaches: [RuleReach]
        var directory: Directory
    }

    private let state: Locked<State>
    private let changed = Signal()
    private let accounts: [EngineAccount]
    private let log: Log
    /// A reload of rules that want too much fills no log.
    private static let mostLines = 20

    init(config: Config, rules: RuleSet, accounts: [EngineAccount], log: Log) {
        state = Locked(State(reaches: rules.reaches, directory: config.directory))
        self.accounts = accounts
        self.log = log
    }

    /// Other rules are at work: each account is looked at again.
    func look(for rules: RuleSet, _ directory: Directory) {
        let reaches = rules.reaches
        state.withLock { state in
            state.reaches = reaches
            state.directory = directory
        }
        changed.fire()
    }

    /// Looks until it is cancelled.
    func run(_ engine: Engine) async {
        await withTaskGroup(of: Void.self) { group in
            for account in accounts { group.addTask { await self.run(account, engine) } }
        }
    }

    private func run(_ account: EngineAccount, _ engine: Engine) async {
        var told: [Rights.Lack] = []
        while !Task.isCancelled {
            let version = changed.version
            await engine.wait { $0.accounts[account.name]?.status == .up }
            if Task.isCancelled { return }
            let rights = Rights(channels: [account.name: await account.service.rights()])
            let (reaches, directory) = state.withLock { ($0.reaches, $0.directory) }
            let lacks = rights.lacks(reaches, directory)
            let new = lacks.filter { !told.contains($0) }
            for lack in new.prefix(Self.mostLines) {
                if lack.isMadeUpFor { log.info(lack.text) } else { log.warning(lack.text) }
            }
            if new.count > Self.mostLines {
                log.warning("and \(new.count - Self.mostLines) more: steward check --live")
            }
            told = lacks
            await changed.wait(past: version)
        }
    }
}
