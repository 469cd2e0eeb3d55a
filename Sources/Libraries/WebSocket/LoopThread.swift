import CSockets
import Glibc

/// Starts a thread for C code that waits. It is detached and takes no signals, so those stay with the program,
/// and a write to a socket whose peer has gone cannot raise SIGPIPE. False when the system has no more threads.
package func startThread(_ name: String, _ body: @escaping @Sendable () -> Void) -> Bool {
    let start = Unmanaged.passRetained(ThreadStart(body))
    let status = sockets_start_thread(
        name,
        { pointer in
            guard let pointer else { return }
            Unmanaged<ThreadStart>.fromOpaque(pointer).takeRetainedValue().body()
        }, start.toOpaque())
    if status != 0 { start.release() }
    return status == 0
}

/// Runs C code that waits on a thread of its own and returns what it came to; nil when the system has no more threads.
package func onThread<Value: Sendable>(_ name: String, _ body: @escaping @Sendable () -> Value) async
    -> Value?
{
    // The value goes through a lock: the thread sanitizer sees that, and not how a continuation hands it over.
    let result = Guarded<Value?>(nil)
    await withCheckedContinuation { continuation in
        let isStarted = startThread(name) {
            let value = body()
            result.with { $0 = value }
            continuation.resume()
        }
        if !isStarted { continuation.resume() }
    }
    return result.with { $0 }
}

private final class ThreadStart: Sendable {
    let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) {
        self.body = body
    }
}

/// Seconds on the clock that never jumps.
package func monotonicSeconds() -> Double {
    var now = timespec()
    clock_gettime(CLOCK_MONOTONIC, &now)
    return Double(now.tv_sec) + Double(now.tv_nsec) / 1e9
}

extension Duration {
    package var inSeconds: Double {
        Double(components.seconds) + Double(components.attoseconds) / 1e18
    }
}
