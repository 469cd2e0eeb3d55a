internal import Chat
internal import Glibc

/// A file that holds a token and that somebody else keeps up to date.
package struct FileTokenSource: TokenSource {
    private let path: String
    private let clock: ServiceClock

    package init(path: String, clock: ServiceClock = .system) {
        self.path = path
        self.clock = clock
    }

    package var place: String { path }

    package func token() async throws(TokenError) -> String {
        let text = try read()
        guard !text.isEmpty else { throw TokenError(.again, "\(path) is empty where a token is expected") }
        return text
    }

    /// Looks once a second.
    package func mayDiffer(from refused: AccessToken) async throws {
        while true {
            try await clock.sleep(.seconds(1))
            if let text = try? read(), !text.isEmpty, text != refused.text { return }
        }
    }

    private func read() throws(TokenError) -> String {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else {
            throw TokenError(.again, "token file \(path): \(String(cString: strerror(errno)))")
        }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = Glibc.read(file, &bytes, bytes.count)
        guard count >= 0 else {
            throw TokenError(.again, "token file \(path): \(String(cString: strerror(errno)))")
        }
        return String(decoding: bytes[..<count], as: UTF8.self).trimmed
    }
}
