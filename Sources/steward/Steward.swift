internal import Glibc

/// The program: finds the command and runs it.
@main
enum Steward {
    static func main() async {
        exit(await run(Array(CommandLine.arguments.dropFirst())).rawValue)
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
