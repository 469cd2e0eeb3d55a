internal import Chat
internal import Engine
internal import FoundationEssentials
internal import Glibc
internal import Rules

/// The bots of the folder that `bots:` names: their rules, checked, with the plugins behind them.
struct Bots: Sendable {
    var rules: RuleSet
    var warnings: [BotFileError]

    /// Reads, checks and tries the examples and tests; nothing but files is touched.
    static func load(_ config: Config) throws(BotsError) -> Bots {
        let (rules, warnings) = try read(config)
        let tried = TriedRules(rules, limits: config.turnLimits)
        guard tried.hold else { throw BotsError(tried.findings, summary: tried.summary) }
        return Bots(rules: rules, warnings: warnings)
    }

    /// Reads and checks without trying the examples and tests.
    static func read(_ config: Config) throws(BotsError) -> (RuleSet, [BotFileError]) {
        let loaded = RuleSet.load(
            try sources(try files(in: config.botsFolder)), directory: config.directory,
            plugins: config.plugins, answersPerEvent: config.turnLimits.answersPerEvent
        ) { list in
            (try? Data(contentsOf: URL(filePath: "\(config.botsFolder)/\(list)"))).map(Array.init)
        }
        guard let rules = loaded.rules else {
            throw BotsError(loaded.findings.map { Finding($0) })
        }
        return (rules, loaded.warnings)
    }

    /// What rates cannot know after a restart, because events are not kept for long enough; nil when all is well, or no
    /// events are kept at all.
    static func gap(_ config: Config, _ rules: RuleSet) -> String? {
        // What came in while steward was away is read late.
        let needed = rules.longestRate + .seconds(3600)
        guard config.store != nil, let keep = config.keepEvents, rules.longestRate > .zero, keep < needed
        else { return nil }
        return
            "rates look back up to \(rules.longestRate.words), and events are kept for \(keep.words): after a restart some "
            + "are not counted - write at least keep_events: \((needed.milliseconds + 3_599_999) / 3_600_000)h"
    }

    /// For commands that only look: reads the configuration and the bots, and prints what is wrong with them.
    static func look(
        _ arguments: Arguments, _ body: (Config, RuleSet, [BotFileError]) -> ExitCode
    ) -> ExitCode {
        do {
            let config = try ConfigReader.read(
                file: arguments["config"] ?? Config.usualFile, environment: Environment.current,
                secrets: .unneeded)
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

    /// The same for a body that waits.
    static func look(
        _ arguments: Arguments, waiting body: (Config, RuleSet) async -> ExitCode
    ) async -> ExitCode {
        var loaded: (Config, RuleSet)?
        let end = look(arguments) { config, rules, _ in
            loaded = (config, rules)
            return .fine
        }
        guard let (config, rules) = loaded else { return end }
        return await body(config, rules)
    }

    /// What stands in the files.
    static func sources(_ files: [String]) throws(BotsError) -> [BotSource] {
        var sources: [BotSource] = []
        for file in files {
            do {
                sources.append(BotSource(name: file, bytes: Array(try Data(contentsOf: URL(filePath: file)))))
            } catch {
                let why = access(file, R_OK) == 0 ? "" : ": " + String(cString: strerror(errno)).lowercased()
                throw BotsError(unreadable: file, "the file cannot be read\(why)")
            }
        }
        return sources
    }

    /// The rules files of a folder, in byte order of their names.
    static func files(in folder: String) throws(BotsError) -> [String] {
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: folder)
        } catch {
            throw BotsError(
                unreadable: folder, "the folder of the bots cannot be read", hint: "\"bots:\" names it")
        }
        // Left out in silence, its guards would be missed when it is too late.
        if let other = names.sorted().first(where: { $0.hasSuffix(".yml") && !$0.hasPrefix(".") }) {
            throw BotsError(
                unreadable: "\(folder)/\(other)", "files of rules end in .yaml", hint: "rename it")
        }
        let files = names.filter { $0.hasSuffix(".yaml") && !$0.hasPrefix(".") }
        return files.sorted { Array($0.utf8).lexicographicallyPrecedes(Array($1.utf8)) }.map {
            "\(folder)/\($0)"
        }
    }
}

/// Why there are no bots to run: the whole report.
struct BotsError: Error, CustomStringConvertible {
    let description: String

    /// The same for programs.
    let findings: [Finding]

    init(_ findings: [Finding], summary: String? = nil) {
        self.findings = findings
        description = Finding.text(findings, as: .text) + (summary.map { $0 + "\n" } ?? "")
    }

    /// A file or folder that cannot be read.
    init(unreadable file: String, _ problem: String, hint: String? = nil) {
        self.init([Finding(file: file, problem: problem, hint: hint)])
    }
}
