internal import Chat
internal import Engine
internal import Glibc
internal import Rules

/// `steward run`: the daemon.
enum RunCommand {
    static let command = Command(
        name: "run", summary: "log in and work until stopped",
        details: """
            Logs in to the accounts of the configuration and lets rules and plugins work. SIGHUP loads the rules \
            anew; if they are wrong, the old ones stay. The first SIGTERM or SIGINT sends what is waiting, a second one \
            ends at once.
            """,
        options: [.config]
    ) { arguments in
        await run(file: arguments["config"] ?? Config.usualFile, environment: Environment.current)
    }

    static func run(file: String, environment: [String: String]) async -> ExitCode {
        let wishes = Signals.wishes()
        let config: Config
        let bots: Bots
        do {
            config = try ConfigReader.read(file: file, environment: environment)
            bots = try Bots.load(config)
        } catch {
            Terminal.complain("\(error)")
            return .configuration
        }
        let log = LogWriter.log(level: config.logLevel, environment: environment)
        for warning in bots.warnings { log.warning(warning.report) }
        if let gap = Bots.gap(config, bots.rules) { log.warning(gap) }
        let rules = counted(bots.rules.ruleNames.count, "rule")
        log.info("steward \(Version.current), process \(getpid()), starts with \(rules)")
        do {
            let daemon = Daemon(
                file: file, config: config, environment: environment, log: log,
                impatience: {
                    log.warning("ended at once; what was not sent stays in the store")
                    _exit(ExitCode.findings.rawValue)
                })
            let end = try await daemon.run(bots, wishes)
            log.info("stopped")
            return end
        } catch let error as ConfigError {
            log.error("\(error)")
            return .configuration
        } catch let error as KeyMistake {
            log.error("\(error)")
            return .configuration
        } catch JournalError.damaged(let why), JournalError.tooNew(let why) {
            log.error(why)
            return .configuration
        } catch is CancellationError {
            log.warning("ended at once; what was not sent stays in the store")
            return .findings
        } catch {
            log.error("\(error)")
            return .findings
        }
    }
}
