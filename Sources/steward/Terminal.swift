internal import Glibc

/// Text for the person who started the program; colours only where a terminal shows them.
enum Terminal {
    /// To standard error.
    static func complain(_ text: String) {
        let bytes = Array(text.utf8)
        _ = write(STDERR_FILENO, bytes, bytes.count)
    }

    static func isColoured(_ descriptor: Int32) -> Bool {
        isatty(descriptor) == 1 && getenv("NO_COLOR") == nil
            && getenv("TERM").map { String(cString: $0) } != "dumb"
    }
}
