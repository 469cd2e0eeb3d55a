/// What the program can be asked to do: the one list, from which help, completion and parsing come.
struct Command: Sendable {
    var name: String
    var summary: String
    /// One paragraph for `steward NAME --help`.
    var details: String
    var options: [Option]
    var run: @Sendable (Arguments) async -> ExitCode

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

    subscript(name: String) -> String? { values[name] }

    func has(_ name: String) -> Bool { values[name] != nil }
}
