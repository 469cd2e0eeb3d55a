internal import Glibc

/// A value behind a lock. Decide inside `withLock`, act outside it: never wait and never call out while holding it.
public final class Locked<Value>: @unchecked Sendable {
    // A mutex must not move, so it gets memory of its own. So does the value: a stored `var` would be watched by the
    // compiler's own checks, which cost time and take a value without size for the field beside it.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    @usableFromInline let value: UnsafeMutablePointer<Value>

    /// The value is reached through `withLock` only from now on.
    public init(_ value: sending Value) {
        self.value = .allocate(capacity: 1)
        self.value.initialize(to: value)
        mutex = .allocate(capacity: 1)
        pthread_mutex_init(mutex, nil)
    }

    deinit {
        value.deinitialize(count: 1)
        value.deallocate()
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    /// Runs `body` alone with the value.
    // Inlinable, or every part that has no copy of its own would go through the general one.
    @inlinable
    public func withLock<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        lock()
        defer { unlock() }
        return try body(&value.pointee)
    }

    @usableFromInline func lock() { pthread_mutex_lock(mutex) }

    @usableFromInline func unlock() { pthread_mutex_unlock(mutex) }
}
