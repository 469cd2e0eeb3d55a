/// What the program can be asked to do: the one list, from which help, completion and parsing come.
struct Command: Sendable {
    var name: String
    var summary: String
    /// One paragraph for `steward NAME --help`.
    var details: String
    var options: [Option]
    /// What may stand there without `--`, as the usage shows it, such as `OLD NEW`; nil for nothing.
    var operands: Operands?
    /// One of these may stand behind the name.
    var words: @Sendable () -> [String]
    var run: @Sendable (Arguments) async -> ExitCode

    init(
        name: String, summary: String, details: String, options: [Option], operands: Operands? = nil,
        words: @escaping @Sendable () -> [String] = { [] },
        run: @escaping @Sendable (Arguments) async -> ExitCode
    ) {
        self.name = name
        self.summary = summary
        self.details = details
        self.options = options
        self.operands = operands
        self.words = words
        self.run = run
    }

    struct Operands: Sendable {
        var names: String
        var count: ClosedRange<Int>
    }

    struct Option: Sendable {
        var name: String
        /// What stands behind it, such as `FILE`; nil for a switch.
        var value: String?
        var summary: String
        var isRequired = false

        static let config = Option(
            name: "config", value: "FILE",
            summary: "the configuration; ./config.yaml when missing")
    }

    static let all: [Command] = [
        RunCommand.command, CheckCommand.command, TestCommand.command, ExplainCommand.command,
        RulesCommand.command, CasesCommand.command, UndoCommand.command, AuditCommand.command,
        StateCommand.command, ReplayCommand.command, FormatCommand.command, DiffCommand.command,
        SchemaCommand.command, DocsCommand.command,
        ServerCommand.command, completion, version, help,
    ]

    private static let version = Command(
        name: "version", summary: "print the version", details: "Prints the version and ends.", options: []
    ) { _ in
        print("steward \(Version.current)")
        return .fine
    }

    private static let completion = Command(
        name: "completion", summary: "print completion for bash, zsh or fish",
        details: """
            Prints what makes a shell complete commands and options: bash when none is named. Put it where the shell \
            looks for completions, as "make install" does, or: source <(steward completion)
            """,
        options: [], words: { Completion.Shell.allCases.map(\.rawValue) }
    ) { arguments in
        let shell = arguments.word.flatMap(Completion.Shell.init(rawValue:)) ?? .bash
        print(Completion.script(for: shell), terminator: "")
        return .fine
    }

    private static let help = Command(
        name: "help", summary: "explain a command",
        details: "steward help COMMAND, or steward COMMAND --help.",
        options: [], words: { Command.all.map(\.name) }
    ) { arguments in
        let command = all.first { $0.name == arguments.word }
        print(command.map(Help.of) ?? Help.overview(), terminator: "")
        return .fine
    }
}

/// The options of a call, by name.
struct Arguments: Sendable {
    var values: [String: String] = [:]
    /// What stood there without `--`.
    var operands: [String] = []
    /// The word behind the command's name.
    var word: String?

    subscript(name: String) -> String? { values[name] }

    func has(_ name: String) -> Bool { values[name] != nil }
}
