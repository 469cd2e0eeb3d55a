internal import Chat

/// A program that writes a token to its standard output.
package struct CommandTokenSource: TokenSource {
    private let command: [String]

    package init(command: [String]) {
        self.command = command
    }

    package var place: String { command.first ?? "the token command" }

    package func token() async throws(TokenError) -> String {
        let result: ChildProcess.Result
        do {
            result = try await ChildProcess.run(command, limit: 65_536, timeout: .seconds(30))
        } catch {
            throw TokenError(.again, "token command \(error)")
        }
        guard result.exitCode == 0 else {
            let ending = result.exitCode.map { "exit code \($0)" } ?? "a signal"
            // Its last words only: people print all sorts of things, but the first line tells what is wrong.
            let words = String(
                decoding: result.errors.prefix { $0 != UInt8(ascii: "\n") }.prefix(200), as: UTF8.self)
            throw TokenError(
                .again, "token command \(place) ended with \(ending)" + (words.isEmpty ? "" : ": \(words)"))
        }
        let text = String(decoding: result.output, as: UTF8.self).trimmed
        guard !text.isEmpty else { throw TokenError(.again, "token command \(place) wrote nothing") }
        return text
    }
}

extension String {
    /// Without white space at both ends.
    var trimmed: String {
        guard let start = firstIndex(where: { !$0.isWhitespace }),
            let end = lastIndex(where: { !$0.isWhitespace })
        else { return "" }
        return String(self[start...end])
    }
}
