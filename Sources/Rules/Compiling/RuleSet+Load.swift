package import Chat

/// What came of reading bots' files.
package struct LoadedRules: Sendable {
    /// Nil when there are errors.
    package let rules: RuleSet?
    /// Errors and warnings, file by file in the order of their places.
    package let findings: [BotFileError]

    package var errors: [BotFileError] { findings.filter { $0.severity == .error } }
    package var warnings: [BotFileError] { findings.filter { $0.severity == .warning } }
}

extension RuleSet {
    /// Reads and compiles bots' files; all mistakes of all files come back at once.
    ///
    /// - Parameters:
    ///   - files: In the order in which their rules are asked.
    ///   - directory: Names from `config.yaml`; with an empty one, names are taken on trust and warned about.
    ///   - plugins: Those in use; rules may ask for the conditions they offer.
    ///   - answersPerEvent: How many rules may answer one event.
    ///   - list: The bytes of a word list by its path in the bots folder; nil when there is no such file.
    package static func load(
        _ files: [BotSource], directory: Directory = Directory(),
        plugins: [any Plugin] = [], answersPerEvent: Int = 1,
        list: @escaping (String) -> [UInt8]? = { _ in nil }
    ) -> LoadedRules {
        let findings = Findings()
        let read = files.map { BotFileReader($0, findings: findings).read() }
        let rules = RuleCompiler(
            read, directory: directory, findings: findings, plugins: plugins,
            answersPerEvent: answersPerEvent, list: list
        ).compile()
        return LoadedRules(rules: rules, findings: findings.inOrder)
    }
}
