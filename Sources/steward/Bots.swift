internal import Chat
internal import FoundationEssentials
internal import Rules

/// The bots of the folder that `bots:` names: their rules, checked, with the plugins behind them.
struct Bots: Sendable {
    var rules: RuleSet
    var warnings: [BotFileError]

    /// Reads, checks and tries the examples and tests; nothing but files is touched.
    static func load(_ config: Config) throws(BotsError) -> Bots {
        let (rules, warnings) = try read(config)
        let tried = TriedRules(rules, limits: config.turnLimits)
        guard tried.hold else { throw BotsError(tried.report + tried.summary + "\n") }
        return Bots(rules: rules, warnings: warnings)
    }

    /// Reads and checks without trying the examples and tests.
    static func read(_ config: Config) throws(BotsError) -> (RuleSet, [BotFileError]) {
        let loaded = RuleSet.load(try sources(config), directory: config.directory) { list in
            (try? Data(contentsOf: URL(filePath: "\(config.botsFolder)/\(list)"))).map(Array.init)
        }
        guard let rules = loaded.rules else {
            throw BotsError(loaded.findings.map { $0.report + "\n" }.joined())
        }
        return (rules, loaded.warnings)
    }

    /// For commands that only look: reads the configuration and the bots, and prints what is wrong with them.
    static func look(
        _ arguments: Arguments, _ body: (Config, RuleSet, [BotFileError]) -> ExitCode
    ) -> ExitCode {
        do {
            let config = try ConfigReader.read(
                file: arguments["config"] ?? Config.usualFile, environment: Environment.current)
            let (rules, warnings) = try read(config)
            return body(config, rules, warnings)
        } catch let error as BotsError {
            Terminal.print(findings: error.description)
            return .findings
        } catch {
            Terminal.print(findings: "\(error)")
            return .configuration
        }
    }

    /// The files in byte order of their names.
    private static func sources(_ config: Config) throws(BotsError) -> [BotSource] {
        let folder = config.botsFolder
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: folder)
        } catch {
            throw BotsError("\(folder): error: the folder of the bots cannot be read - \"bots:\" names it\n")
        }
        var sources: [BotSource] = []
        let files = names.filter { $0.hasSuffix(".yaml") && !$0.hasPrefix(".") }
        for name in files.sorted(by: { Array($0.utf8).lexicographicallyPrecedes(Array($1.utf8)) }) {
            do {
                let bytes = Array(try Data(contentsOf: URL(filePath: "\(folder)/\(name)")))
                sources.append(BotSource(name: "\(folder)/\(name)", bytes: bytes))
            } catch {
                throw BotsError("\(folder)/\(name): error: the file cannot be read\n")
            }
        }
        return sources
    }
}

/// Why there are no bots to run: the whole report.
struct BotsError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
