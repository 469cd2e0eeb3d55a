internal import Glibc

/// The C library's allocator, which keeps what a burst needed until it is told otherwise.
enum Allocator {
    /// Gives memory that nobody uses back to the system.
    static func trim() {
        // Looked up by name: Swift's view of the C library leaves `malloc_trim` out.
        guard let symbol = dlsym(nil, "malloc_trim") else { return }
        let trim = unsafeBitCast(symbol, to: (@convention(c) (Int) -> CInt).self)
        _ = trim(0)
    }
}
