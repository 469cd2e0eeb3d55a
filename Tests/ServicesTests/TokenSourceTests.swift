import Chat
import Glibc
import Testing

@testable import Services

@Suite(.timeLimit(.minutes(1))) struct TokenSources {
    @Test func `a command's output is the token`() async throws {
        let source = CommandTokenSource(command: ["sh", "-c", "echo '  some-token '"])
        #expect(try await source.token() == "some-token")
    }

    @Test func `a command that fails says what it said`() async {
        let source = CommandTokenSource(command: ["sh", "-c", "echo no network >&2; exit 3"])
        await #expect(throws: TokenError(.again, "token command sh ended with exit code 3: no network")) {
            try await source.token()
        }
        let missing = CommandTokenSource(command: ["/no/such/program"])
        await #expect(
            throws: TokenError(.again, "token command /no/such/program: No such file or directory")
        ) { try await missing.token() }
    }

    @Test func `a file is read again when its token was refused`() async throws {
        let path = "/tmp/steward-token-\(getpid())-\(UInt32.random(in: 0...UInt32.max))"
        defer { unlink(path) }
        func write(_ text: String) throws {
            let file = try #require(fopen(path, "w"))
            fputs(text, file)
            fclose(file)
        }
        let time = ManualTime()
        let source = FileTokenSource(path: path, clock: time.clock)
        await #expect(throws: TokenError(.again, "token file \(path): No such file or directory")) {
            try await source.token()
        }
        try write("first\n")
        #expect(try await source.token() == "first")
        let keeper = TokenKeeper(source: source, clock: time.clock, log: .silent)
        let first = try await keeper.current()
        await keeper.invalidate(first)
        let second = Task { try await keeper.current() }
        let wake = await time.nextWake()
        try write("second\n")
        time.advance(to: wake)
        #expect(try await second.value.text == "second")
    }
}
