/// What the program can be asked to do: the one list, from which help, completion and parsing come.
struct Command: Sendable {
    var name: String
    var summary: String
    /// One paragraph for `steward NAME --help`.
    var details: String
    var options: [Option]
    /// What may stand there without `--`, as the usage shows it, such as `OLD NEW`; nil for nothing.
    var operands: Operands?
    var run: @Sendable (Arguments) async -> ExitCode

    init(
        name: String, summary: String, details: String, options: [Option], operands: Operands? = nil,
        run: @escaping @Sendable (Arguments) async -> ExitCode
    ) {
        self.name = name
        self.summary = summary
        self.details = details
        self.options = options
        self.operands = operands
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
            summary: "the configuration; config.yaml in this folder when missing")
    }

    static let all: [Command] = [
        RunCommand.command, CheckCommand.command, TestCommand.command, ExplainCommand.command,
        FormatCommand.command, DiffCommand.command, SchemaCommand.command,
        DocsCommand.command,
        ServerCommand.command, completion, version, help,
    ]

    private static let version = Command(
        name: "version", summary: "print the version", details: "Prints the version and ends.", options: []
    ) { _ in
        print("steward \(Version.current)")
        return .fine
    }

    private static let completion = Command(
        name: "completion", summary: "print completion for bash, to be sourced",
        details: "Put the output where bash looks for completions, or: source <(steward completion)",
        options: []
    ) { _ in
        print(Help.completion(), terminator: "")
        return .fine
    }

    private static let help = Command(
        name: "help", summary: "explain a command",
        details: "steward help COMMAND, or steward COMMAND --help.",
        options: []
    ) { _ in
        print(Help.overview(), terminator: "")
        return .fine
    }
}

/// The options of a call, by name.
struct Arguments: Sendable {
    var values: [String: String] = [:]
    /// What stood there without `--`.
    var operands: [String] = []

    subscript(name: String) -> String? { values[name] }

    func has(_ name: String) -> Bool { values[name] != nil }
}
