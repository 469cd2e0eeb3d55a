package import Chat

/// Keeps one account's token fresh: got at start, again at 80 % of its life by our own clock, and whenever the service
/// says that it is about to expire, has expired or is refused.
///
/// One refresh at a time, however many wait for it. An early refresh that fails leaves the old token in use until it
/// expires, and is tried again with growing pauses.
package actor TokenKeeper {
    nonisolated let source: any TokenSource
    private let clock: ServiceClock
    private let log: Log

    private var token: AccessToken?
    /// The service did not want it; nobody gets it again.
    private var refused: AccessToken?
    private var refreshing: Task<Void, Never>?
    private var timer: Task<Void, Never>?
    private var isRunning = false
    private var backoff: Backoff
    private var notBefore: Timestamp?
    private var waiters: [Int: Waiter] = [:]
    private var nextWaiter = 0

    private struct Waiter {
        /// Nil waits for any token that may be used.
        var other: AccessToken?
        var continuation: CheckedContinuation<AccessToken, any Error>
    }

    package init(source: any TokenSource, clock: ServiceClock = .system, log: Log) {
        self.source = source
        self.clock = clock
        self.log = log
        backoff = Self.backoff(life: nil)
    }

    /// The token to use now. Waits for a refresh when there is none; throws `TokenError` when that one failed, and
    /// `CancellationError` when the caller is cancelled.
    package func current() async throws -> AccessToken {
        if let token = usable {
            if token.refreshAfter <= clock.now() { refresh() }
            return token
        }
        refresh()
        return try await wait(for: nil)
    }

    /// Waits until there is another token than this one.
    package func replacement(of old: AccessToken) async throws -> AccessToken {
        if let token = usable, token != old { return token }
        return try await wait(for: old)
    }

    /// The service refused this token. Does nothing if it was replaced already, or never will be.
    package func invalidate(_ bad: AccessToken) {
        guard token?.text == bad.text, source.remedy == nil else { return }
        refused = bad
        token = nil
        timer?.cancel()
        refresh()
    }

    /// This token will soon be of no use. Does nothing if it was replaced already.
    package func expectExpiry(of old: AccessToken) {
        guard token == old else { return }
        refresh()
    }

    /// Refreshes by the clock until cancelled, so that an idle account's token does not expire.
    package func run() async throws {
        isRunning = true
        defer { stop() }
        schedule()
        // The timer does the work; this ends when it is cancelled.
        while true { try await clock.sleep(.seconds(365 * 86_400)) }
    }

    private func stop() {
        isRunning = false
        timer?.cancel()
        refreshing?.cancel()
    }

    // MARK: One refresh

    private var usable: AccessToken? {
        guard let token, clock.now() < token.expires else { return nil }
        return token
    }

    private func refresh() {
        guard refreshing == nil else { return }
        // Not a child task: a caller that is cancelled must not take the refresh from the others.
        refreshing = Task {
            let result = await fetch()
            refreshing = nil
            switch result {
            case .success(let new):
                // One that can be read as good is not given up for what cannot be read at all.
                if let old = usable, old.life != nil, new.life == nil {
                    await fail(TokenError(.again, "what \(source.place) has now cannot be read as a token"))
                } else {
                    adopt(new)
                }
            case .failure(let error): await fail(error)
            }
        }
    }

    private func fetch() async -> Result<AccessToken, any Error> {
        do {
            if let notBefore, notBefore > clock.now() { try await clock.sleep(notBefore - clock.now()) }
            while true {
                let text = try await source.token()
                guard text == refused?.text, let refused else {
                    return .success(AccessToken(text, fetched: clock.now()))
                }
                log.warning("\(source.place) still has the \(refused) that was refused")
                try await source.mayDiffer(from: refused)
            }
        } catch {
            return .failure(error)
        }
    }

    private func adopt(_ new: AccessToken) {
        // The same token again, as from a file that has not changed: its life has not begun anew.
        if new.text == token?.text { return retryLater() }
        token = new
        refused = nil
        notBefore = nil
        backoff = Self.backoff(life: new.life)
        if let life = new.life {
            log.debug("new \(new) from \(source.place), good for \(life.milliseconds / 1000) s")
        } else {
            log.debug("new \(new) from \(source.place)")
        }
        schedule()
        for (id, waiter) in waiters where waiter.other != new {
            waiters[id] = nil
            waiter.continuation.resume(returning: new)
        }
    }

    private func fail(_ error: any Error) async {
        retryLater()
        let failure = error as? TokenError ?? TokenError(.again, "no token from \(source.place): \(error)")
        if !(error is CancellationError) {
            let pause = notBefore.map { max($0 - clock.now(), .zero).milliseconds } ?? 0
            let next =
                "try \(backoff.failures); next try in \(pause < 1000 ? "\(pause) ms" : "\(pause / 1000) s")"
            if let token = usable {
                log.warning("\(failure), \(next); \(token) is still good")
            } else {
                let words = "\(failure), \(next)"
                if failure.reaction == .again { log.warning(words) } else { log.error(words) }
            }
        }
        guard usable == nil else { return }
        for (id, waiter) in waiters where waiter.other == nil {
            waiters[id] = nil
            waiter.continuation.resume(throwing: failure)
        }
        // Whoever waits for a replacement has nobody else who would ask again.
        if !waiters.isEmpty, isRunning { refresh() }
    }

    private func retryLater() {
        notBefore = clock.now() + backoff.next(random: clock.random())
        schedule()
    }

    /// Sees to the next early refresh.
    private func schedule() {
        timer?.cancel()
        guard isRunning, let token else { return }
        let due = max(token.refreshAfter, notBefore ?? token.refreshAfter)
        guard due < .never else { return }
        let clock = clock
        timer = Task { [weak self] in
            // Cancelled when another token makes another time right.
            guard (try? await clock.sleep(max(due - clock.now(), .zero))) != nil else { return }
            await self?.refresh()
        }
    }

    /// A life shorter than a second must not be over before the second try.
    private static func backoff(life: Duration?) -> Backoff {
        let first = life.map { min($0 / 20, .seconds(1)) } ?? .seconds(1)
        return Backoff(first: max(first, .milliseconds(20)), most: .seconds(60))
    }

    // MARK: Waiting

    private func wait(for other: AccessToken?) async throws -> AccessToken {
        let id = nextWaiter
        nextWaiter += 1
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                guard !Task.isCancelled else { return continuation.resume(throwing: CancellationError()) }
                waiters[id] = Waiter(other: other, continuation: continuation)
            }
        } onCancel: {
            Task { await cancelWaiter(id) }
        }
    }

    private func cancelWaiter(_ id: Int) {
        waiters.removeValue(forKey: id)?.continuation.resume(throwing: CancellationError())
    }
}
