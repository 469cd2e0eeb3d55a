internal import Chat
internal import Engine
internal import Rules

/// Takes new rules while steward runs. Everything that can fail happens before anything live is touched.
struct Reload {
    let daemon: Daemon

    func run(_ engine: Engine) {
        let log = daemon.log
        do {
            let config = try ConfigReader.read(file: daemon.file, environment: daemon.environment)
            let changed = config.changedKeys(since: daemon.config)
            guard changed.isEmpty else {
                log.error("nothing is loaded: changes of \(changed.joined(separator: ", ")) need a restart")
                return
            }
            let bots = try Bots.load(config)
            for warning in bots.warnings { log.warning(warning.report) }
            engine.replace(handlers: bots.rules.handlers + config.plugins, directory: config.directory)
            log.info("loaded \(bots.rules.ruleNames.count) rules anew")
        } catch {
            log.error("the old rules stay:\n\(error)")
        }
    }
}
