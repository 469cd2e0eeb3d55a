import Foundation
import Glibc
import JSON
import Testing

@testable import steward

/// A steward that runs as a program of its own, which `STEWARD_PROGRAM` names.
final class StewardProcess: Sendable {
    private let process = Process()
    private let ended: Task<Int32, Never>

    struct Crash: Error {}

    /// What it logs goes into `transcript`, as a steward in this process writes it there.
    init(_ program: URL, file: String, environment: [String: String], transcript: Transcript) throws {
        process.executableURL = program
        process.arguments = ["run", "--config", file]
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        let errors = Pipe()
        process.standardError = errors
        let (stream, continuation) = AsyncStream<Int32>.makeStream()
        process.terminationHandler = { process in
            let isSignal = process.terminationReason == .uncaughtSignal
            continuation.yield(isSignal ? -process.terminationStatus : process.terminationStatus)
            continuation.finish()
        }
        ended = Task {
            for await status in stream { return status }
            return 0
        }
        try process.run()
        errors.readLines({ transcript.add(Self.text(of: $0)) }, end: transcript.end)
    }

    deinit { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }

    func signal(_ wish: Signals.Wish) {
        kill(process.processIdentifier, wish == .stop ? SIGTERM : SIGHUP)
    }

    /// A crash is told with the end of its log.
    func end(_ transcript: Transcript) async throws -> ExitCode {
        let process = process
        let status = await withTaskCancellationHandler {
            await ended.value
        } onCancel: {
            kill(process.processIdentifier, SIGKILL)
        }
        guard let code = ExitCode(rawValue: status) else {
            Self.complain(
                "steward ended by signal \(-status):\n" + transcript.lines.suffix(30).joined(separator: "\n"))
            throw Crash()
        }
        return code
    }

    static func complain(_ text: String) { Issue.record(Comment(rawValue: text)) }

    /// A line of the log; what a crash writes as it is.
    private static func text(of line: String) -> String {
        guard let fields = try? JSON(parsing: line).object, let text = fields["text"]?.string else {
            return line
        }
        let known = ["time", "level", "text"]
        let rest = fields.filter { !known.contains($0.key) }.map { " \($0.key)=\($0.value.string ?? "")" }
        return text + rest.joined()
    }
}

extension Pipe {
    /// Hands on each line, all of them, so that the writer never waits for us.
    func readLines(_ take: @escaping @Sendable (String) -> Void, end: @escaping @Sendable () -> Void = {}) {
        let handle = fileHandleForReading
        Thread.detachNewThread {
            var rest = ""
            while case let data = handle.availableData, !data.isEmpty {
                var lines = (rest + String(decoding: data, as: UTF8.self)).split(
                    separator: "\n", omittingEmptySubsequences: false)
                rest = lines.popLast().map(String.init) ?? ""
                for line in lines { take(String(line)) }
            }
            if !rest.isEmpty { take(rest) }
            end()
        }
    }
}
