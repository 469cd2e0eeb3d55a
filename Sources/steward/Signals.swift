internal import Chat
internal import Dispatch
internal import Glibc

/// The signals that steer the daemon, as a stream: `stop` for SIGTERM and SIGINT, `reload` for SIGHUP.
enum Signals {
    enum Wish: Sendable { case stop, reload }

    /// From this call on the signals no longer end the process; the stream lasts as long as its reader.
    static func wishes() -> AsyncStream<Wish> {
        // A peer that goes away must not take the daemon with it.
        signal(SIGPIPE, SIG_IGN)
        return AsyncStream { continuation in
            let sources = [(SIGTERM, Wish.stop), (SIGINT, .stop), (SIGHUP, .reload)].map { number, wish in
                signal(number, SIG_IGN)
                let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
                source.setEventHandler { @Sendable in continuation.yield(wish) }
                source.activate()
                return Source(source: source)
            }
            continuation.onTermination = { @Sendable _ in
                for source in sources { source.source.cancel() }
            }
        }
    }

    /// Dispatch sources may be cancelled from any thread, which their type does not say.
    private struct Source: @unchecked Sendable {
        let source: any DispatchSourceSignal
    }
}
