import Testing

@testable import Chat

@Suite(.timeLimit(.minutes(1))) struct ChildProcesses {
    @Test func `what goes in comes out`() async throws {
        let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0) }
        let result = try await ChildProcess.run(["cat"], input: bytes)
        #expect(result.output == bytes)
        #expect(result.exitCode == 0)
    }

    @Test func `a program that does not read its input ends all the same`() async throws {
        let result = try await ChildProcess.run(["true"], input: [UInt8](repeating: 1, count: 300_000))
        #expect(result.exitCode == 0)
    }

    @Test func `output and errors are told apart, and the exit code is kept`() async throws {
        let result = try await ChildProcess.run(["sh", "-c", "echo out; echo err >&2; exit 7"])
        #expect(String(decoding: result.output, as: UTF8.self) == "out\n")
        #expect(String(decoding: result.errors, as: UTF8.self) == "err\n")
        #expect(result.exitCode == 7)
    }

    @Test func `a program that is killed has no exit code`() async throws {
        #expect(try await ChildProcess.run(["sh", "-c", "kill -9 $$"]).exitCode == nil)
    }

    @Test func `too much output and too much time end the program`() async {
        await #expect(throws: ChildProcessError("yes: wrote more than 1000 bytes")) {
            try await ChildProcess.run(["yes"], limit: 1000)
        }
        await #expect(throws: ChildProcessError("sleep: took too long")) {
            try await ChildProcess.run(["sleep", "100"], timeout: .milliseconds(50))
        }
        // It closes its output and goes on.
        await #expect(throws: ChildProcessError("sh: took too long")) {
            try await ChildProcess.run(
                ["sh", "-c", "exec >&- 2>&-; sleep 100"], timeout: .milliseconds(100))
        }
    }

    @Test func `a cancelled task ends its program`() async {
        let task = Task { try await ChildProcess.run(["sleep", "100"], timeout: .seconds(100)) }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func `a program that is not there is named`() async {
        await #expect(throws: ChildProcessError("/no/such/thing: No such file or directory")) {
            try await ChildProcess.run(["/no/such/thing"])
        }
        await #expect(throws: ChildProcessError("there is no program to run")) {
            try await ChildProcess.run([])
        }
    }

    @Test func `many at once do not hold each other's pipes open`() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<30 {
                group.addTask {
                    let result = try await ChildProcess.run(["echo", "\(number)"])
                    #expect(String(decoding: result.output, as: UTF8.self) == "\(number)\n")
                }
            }
            try await group.waitForAll()
        }
    }
}
