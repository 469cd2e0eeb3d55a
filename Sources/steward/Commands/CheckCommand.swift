internal import Chat
internal import Rules

/// `steward check`: every mistake of the configuration and the bots, with its place.
enum CheckCommand {
    static let command = Command(
        name: "check", summary: "read the configuration and all rules; show every mistake",
        details: """
            Reads the configuration and the bots' files and shows every mistake with its file, line, column and what was \
            probably meant, and the examples and tests that do not hold. Ends with 1 when there are mistakes in rules, with 78 \
            when the configuration itself is wrong. A comment "# allow: CODE" in a rules file switches a warning off for \
            its line, or for what is below it.

            With --live it logs in to every account as well, shows what each may do in which channel, and ends with 1 when \
            an account cannot log in, cannot use a room of "join:", or a rule wants what its account may not \
            do. Channels of "join:" that are missing are created; nothing else is changed.
            """,
        options: [
            .config,
            .init(
                name: "format", value: "FORM",
                summary: "text for people and editors, json for programs, github for annotations"),
            .init(name: "live", value: nil, summary: "log in, and look what the accounts may do"),
        ]
    ) { arguments in
        guard let format = Finding.Format(rawValue: arguments["format"] ?? "text") else {
            Terminal.complain(
                "steward check: \"\(arguments["format"] ?? "")\" is no form - use text, json or github\n")
            return .usage
        }
        var (findings, rules, code) = look(arguments)
        var live = ""
        if arguments.has("live"), let rules, let config = try? read(arguments) {
            do {
                let answer = try await LiveCheck(config: config, rules: rules).run()
                live = answer.text
                if !answer.isFine { code = .findings }
            } catch {
                live = "\(error)"
                code = .findings
            }
        }
        Terminal.print(findings: Finding.text(findings, as: format))
        if let rules, format == .text {
            let warnings = findings.count { $0.severity == "warning" }
            let ending = warnings == 0 ? "" : ", \(counted(warnings, "warning"))"
            print("\(counted(rules.ruleNames.count, "rule")), no mistakes\(ending)")
            if rules.ruleNames.isEmpty {
                print("rules stand in files *.yaml in the folder that \"bots:\" names")
            }
        }
        if let rules, format == .text, let config = try? read(arguments), let gap = Bots.gap(config, rules) {
            print(gap)
        }
        if !live.isEmpty { print(live) }
        return code
    }

    private static func read(_ arguments: Arguments) throws(ConfigError) -> Config {
        try ConfigReader.read(
            file: arguments["config"] ?? Config.usualFile, environment: Environment.current)
    }

    /// What is wrong; the rules are there when nothing is but warnings.
    private static func look(_ arguments: Arguments) -> ([Finding], RuleSet?, ExitCode) {
        let config: Config
        do {
            config = try read(arguments)
        } catch {
            return (error.mistakes.map { Finding($0, in: error) }, nil, .configuration)
        }
        do {
            let (rules, warnings) = try Bots.read(config)
            let tried = TriedRules(rules, limits: config.turnLimits)
            let findings = warnings.map { Finding($0) } + tried.findings
            return tried.hold ? (findings, rules, .fine) : (findings, nil, .findings)
        } catch {
            return (error.findings, nil, .findings)
        }
    }
}
