internal import Glibc

/// The program: finds the command and runs it.
@main
enum Steward {
    static func main() async {
        let code = await run(Array(CommandLine.arguments.dropFirst()))
        exit((Terminal.isWritten() || code != .fine ? code : .findings).rawValue)
    }

    static func run(_ words: [String]) async -> ExitCode {
        switch CommandLineReader.read(words) {
        case .help(let text):
            print(text, terminator: "")
            return .fine
        case .mistake(let text):
            Terminal.complain(text)
            return .usage
        case .run(let command, let arguments):
            return await command.run(arguments)
        }
    }
}
