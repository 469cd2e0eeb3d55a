import Chat
import Foundation

@testable import steward

/// The program that tests start: the one built beside them, or another build of it, which `STEWARD_PROGRAM` names.
///
/// Then that one runs, too, what tests else run in their own process, so that a release program can be tried.
enum Program {
    struct NotThere: Error {}

    static let other = ProcessInfo.processInfo.environment["STEWARD_PROGRAM"].map {
        URL(filePath: $0).standardizedFileURL
    }

    static func file() throws -> URL {
        if let other { return other }
        let bundle = CommandLine.arguments.first { $0.contains("stewardPackageTests.xctest") }
        guard let bundle else { throw NotThere() }
        return URL(filePath: bundle).deletingLastPathComponent().appending(path: "steward")
    }

    /// Runs a command to its end.
    static func run(_ words: [String]) async -> ExitCode {
        guard let other else { return await Steward.run(words) }
        let result = try? await ChildProcess.run([other.path()] + words, timeout: .seconds(120))
        return result?.exitCode.flatMap { ExitCode(rawValue: $0) } ?? .crashed(words)
    }
}

extension ExitCode {
    /// What no test expects.
    fileprivate static func crashed(_ words: [String]) -> ExitCode {
        StewardProcess.complain("\(words) ended by a signal")
        return .usage
    }
}
