internal import Chat
internal import ChatServer
internal import Engine
internal import Rules

/// Takes new rules while steward runs. Everything that can fail happens before anything live is touched.
///
/// Accounts that failed for good are tried again in any case: that is what somebody who acted asks for.
struct Reload {
    let daemon: Daemon
    let server: BuiltInServer?
    /// The names of the rules at work.
    let names: Locked<[String]>
    let rights: RightsLook

    /// Nil when the new rules are at work; else in one line why the old ones stay.
    func run(_ engine: Engine) -> String? {
        defer { retryFailed(engine) }
        let log = daemon.log
        do {
            var config = try ConfigReader.read(file: daemon.file, environment: daemon.environment)
            // The accounts go on with what they have.
            config.policies = daemon.config.policies
            let changed = config.changedKeys(since: daemon.config)
            guard changed.isEmpty else {
                let trouble = "changes of \(changed.joined(separator: ", ")) need a restart"
                log.error("nothing is loaded: \(trouble)")
                return trouble
            }
            let bots = try Bots.load(config)
            for warning in bots.warnings { log.warning(warning.report) }
            engine.replace(handlers: bots.rules.handlers + config.plugins, directory: config.directory)
            server?.keepBack(config.namesWithRoles)
            let missing = names.withLock { names in
                defer { names = bots.rules.ruleNames }
                return bots.rules.missing(of: names)
            }
            if !missing.isEmpty {
                log.warning(
                    "not in the files any more: \(counted(missing.count, "rule")), \(Self.list(missing))")
            }
            log.info("loaded \(counted(bots.rules.ruleNames.count, "rule")) anew")
            rights.look(for: bots.rules, config.directory)
            return nil
        } catch {
            let report = "\(error)"
            log.error("the old rules stay:\n\(report)")
            return report.split(separator: "\n").first.map(String.init) ?? "something is wrong"
        }
    }

    /// The names, or the first of many.
    private static func list(_ names: [String]) -> String {
        let shown = names.prefix(20).map { "\"\($0)\"" }.joined(separator: ", ")
        return names.count > 20 ? "\(shown) and \(names.count - 20) more" : shown
    }

    private func retryFailed(_ engine: Engine) {
        for (name, account) in engine.state.accounts.sorted(by: { $0.key < $1.key }) {
            guard case .failed = account.status else { continue }
            daemon.log.info("\(name) is tried again")
            engine.restart(account: name)
        }
    }
}
