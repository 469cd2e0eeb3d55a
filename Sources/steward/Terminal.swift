// C's standard output is a variable, and none that anybody changes.
@preconcurrency internal import Glibc

/// Text for the person who started the program; colours only where a terminal shows them.
enum Terminal {
    /// To standard error.
    static func complain(_ text: String) {
        let bytes = Array(text.utf8)
        _ = write(STDERR_FILENO, bytes, bytes.count)
    }

    /// Mistakes and warnings to standard output, the words "error" and "warning" in colour.
    static func print(findings: String) {
        guard isColoured(STDOUT_FILENO) else { return Swift.print(findings, terminator: "") }
        let coloured = findings.replacing(": error: ", with: ": \u{1B}[1;31merror:\u{1B}[0m ")
            .replacing(": warning: ", with: ": \u{1B}[1;33mwarning:\u{1B}[0m ")
        Swift.print(coloured, terminator: "")
    }

    /// A fresh screen, if there is one.
    static func clear() {
        guard isColoured(STDOUT_FILENO) else { return }
        Swift.print("\u{1B}[2J\u{1B}[H", terminator: "")
    }

    /// What was printed is seen at once, also by a program that reads it.
    static func flush() { fflush(nil) }

    /// Whether standard output took all that was printed, for example to a file on a disk that is full; complains otherwise.
    static func isWritten() -> Bool {
        errno = 0
        // What was too long for the buffer has failed before, and then there is nothing left to be flushed.
        if fflush(stdout) == 0, ferror(stdout) == 0 { return true }
        let why = errno == 0 ? "" : ": \(String(cString: strerror(errno)))"
        complain("steward: standard output: not all could be written\(why)\n")
        return false
    }

    private static func isColoured(_ descriptor: Int32) -> Bool {
        isatty(descriptor) == 1 && getenv("NO_COLOR") == nil
            && getenv("TERM").map { String(cString: $0) } != "dumb"
    }
}
