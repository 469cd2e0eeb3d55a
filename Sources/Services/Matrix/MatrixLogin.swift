internal import Chat
internal import Crypto
internal import JSON

/// Keeps an account logged in: logs in as one device, renews its token before it ends and when it is refused, once
/// however many ask, and stores each new pair of tokens before it is first used.
///
/// Source: client-server specification, "Client authentication" (legacy API) and "Refreshing access tokens".
actor MatrixLogin {
    private let account: String
    private let settings: MatrixSettings
    private let gate: MatrixGate
    private let clock: ServiceClock
    private let log: Log
    /// Nil: nothing is kept, and whoever runs is a device of its own that is logged out at the end.
    private let file: KeptFile?

    private var kept: KeptLogin?
    /// The server refused the token of `kept`; how it said so.
    private var refusal: Refusal?
    private var renewing: Task<Void, Never>?
    private var timer: Task<Void, Never>?
    private var isRunning = false
    private var backoff = Backoff(first: .seconds(1), most: .seconds(10))
    private var notBefore: Timestamp?
    private var waiters: [Int: CheckedContinuation<Result<MatrixSession, LoginFailure>, Never>] = [:]
    private var nextWaiter = 0

    private struct Refusal {
        var isSoft: Bool
        var reason: String
    }

    init(
        account: String, settings: MatrixSettings, server: Homeserver, file: KeptFile?, clock: ServiceClock,
        log: Log
    ) {
        self.account = account
        self.settings = settings
        gate = MatrixGate(settings: settings, server: server, clock: clock, log: log)
        self.file = file
        self.clock = clock
        self.log = log
    }

    // MARK: What others ask

    /// The session to use now.
    func current() async throws(LoginFailure) -> MatrixSession {
        if let session = usable {
            if clock.now() >= session.refreshAfter { renew() }
            return session
        }
        renew()
        return try await next()
    }

    /// The server refused that access token. Does nothing if it was replaced already.
    func refuse(_ access: String, _ answer: MatrixAnswer) {
        guard let session = kept?.session, session.access == access, refusal == nil else { return }
        refusal = Refusal(isSoft: answer.isSoftLogout, reason: answer.reason)
        log.debug("\(session.name) was refused: \(answer.reason)")
    }

    /// The server took that access token: what was before it is of no use any more.
    func worked(_ access: String) async {
        guard var kept, kept.session?.access == access, kept.session?.previous != nil else { return }
        kept.session?.previous = nil
        self.kept = kept
        // To have it stored still does no harm.
        try? await file?.write(kept.bytes)
    }

    /// Renews by the clock until cancelled, so that an idle account's token does not end.
    func run() async throws {
        isRunning = true
        defer {
            isRunning = false
            timer?.cancel()
        }
        schedule()
        while true { try await clock.sleep(.seconds(365 * 86_400)) }
    }

    /// Ends a log-in that nobody keeps.
    func end() async {
        guard file == nil, settings.login.token == nil, let session = kept?.session else { return }
        kept?.session = nil
        await gate.logOut(session)
    }

    // MARK: One renewal

    private var usable: MatrixSession? {
        guard refusal == nil, let session = kept?.session else { return nil }
        if let expires = session.expires, clock.now() >= expires { return nil }
        return session
    }

    private func renew() {
        guard renewing == nil else { return }
        if let notBefore, clock.now() < notBefore, usable != nil { return }
        // Not a child task: a caller that is cancelled must not take the renewal from the others.
        renewing = Task {
            let result: Result<MatrixSession, LoginFailure>
            do throws(LoginFailure) {
                if let notBefore, notBefore > clock.now() { try? await clock.sleep(notBefore - clock.now()) }
                result = .success(try await renewed())
            } catch {
                result = .failure(error)
            }
            renewing = nil
            finish(result)
        }
    }

    private func finish(_ result: Result<MatrixSession, LoginFailure>) {
        switch result {
        case .success(let session):
            notBefore = nil
            let life = session.expires.map { $0 - session.received }
            // A life shorter than a second must not be over before the second try.
            let first = life.map { min($0 / 20, .seconds(1)) } ?? .seconds(1)
            backoff = Backoff(first: max(first, .milliseconds(20)), most: .seconds(10))
        case .failure(let failure):
            var pause = backoff.next(random: clock.random())
            if case .again(let asked?) = failure.reaction { pause = max(pause, asked) }
            notBefore = clock.now() + pause
            if let usable { log.warning("\(failure); \(usable.name) is still good") }
        }
        schedule()
        let waiting = waiters.values
        waiters = [:]
        for waiter in waiting { waiter.resume(returning: result) }
    }

    private func schedule() {
        timer?.cancel()
        guard isRunning, let session = usable, session.refreshAfter < .never else { return }
        let due = max(session.refreshAfter, notBefore ?? session.refreshAfter)
        let clock = clock
        timer = Task { [weak self] in
            // Cancelled when another token makes another time right.
            guard (try? await clock.sleep(max(due - clock.now(), .zero))) != nil else { return }
            await self?.renew()
        }
    }

    private func renewed() async throws(LoginFailure) -> MatrixSession {
        if kept == nil {
            kept = try await load()
            if let usable, !usable.user.isEmpty { return usable }
        }
        if var nameless = usable, nameless.user.isEmpty {
            nameless.user = try await gate.owner(of: nameless.access)
            return try await adopt(nameless)
        }
        var isOver = false
        if let session = kept?.session, session.refresh != nil {
            if let new = try await gate.refreshed(session) { return try await adopt(new) }
            isOver = true
        }
        if let refusal, !refusal.isSoft, kept?.session != nil {
            let words = isOver ? "the refresh token was refused, too" : "there is no refresh token"
            throw try await loggedOut("logged out by the server (\(refusal.reason)); \(words)")
        }
        return try await loggedIn()
    }

    /// What is kept of an earlier run, or a beginning.
    private func load() async throws(LoginFailure) -> KeptLogin {
        let seed = settings.login.token.map { token in
            let text = token.reveal() + "\u{0}" + (settings.login.refreshToken?.reveal() ?? "")
            return Hex.encode(Array(Digest.sha256(Array(text.utf8)).prefix(16)))
        }
        guard let file else {
            return KeptLogin(session: nil, device: "steward-\(UInt64.random(in: 0 ... .max))", seed: seed)
        }
        let device = settings.device ?? "steward-\(account)"
        let bytes: [UInt8]?
        do throws(KeptFileError) {
            bytes = try await file.read()
        } catch {
            throw LoginFailure(.again(after: nil), "the log-in that was kept is of no use now: \(error)")
        }
        guard let bytes else { return KeptLogin(session: nil, device: device, seed: seed) }
        guard var found = KeptLogin(bytes) else {
            log.warning("\(file.path) is damaged; logging in anew")
            return KeptLogin(session: nil, device: device, seed: seed)
        }
        // Whoever changes what is configured wants that.
        if found.seed != seed || found.device != device
            || found.session.map({ !$0.user.isEmpty && settings.login.isOther($0) }) == true
        {
            found = KeptLogin(session: nil, device: device, seed: seed)
        }
        return found
    }

    /// Stores the session, then uses it.
    private func adopt(_ session: MatrixSession) async throws(LoginFailure) -> MatrixSession {
        guard var next = kept else { throw LoginFailure(.again(after: nil), "stopped") }
        next.session = session
        do throws(KeptFileError) {
            try await file?.write(next.bytes)
        } catch {
            throw LoginFailure(.again(after: nil), "the new token cannot be stored: \(error)")
        }
        kept = next
        refusal = nil
        log.debug("new \(session.name)")
        return session
    }

    /// Forgets the tokens, so that the next try logs in anew; says why there is none now.
    private func loggedOut(_ why: String) async throws(LoginFailure) -> LoginFailure {
        kept?.session = nil
        refusal = nil
        if let kept { try? await file?.write(kept.bytes) }
        let isSeed = settings.login.token != nil
        return LoginFailure(
            .never,
            isSeed
                ? "\(why) - write another token"
                : "\(why) - see who logged the device \"\(kept?.device ?? "")\" out, then start or reload steward, which logs in anew"
        )
    }

    private func loggedIn() async throws(LoginFailure) -> MatrixSession {
        let login = settings.login
        if let token = login.token, kept?.session == nil {
            return try await adopted(token.reveal(), refresh: login.refreshToken?.reveal())
        }
        let user = login.user ?? kept?.session?.user ?? ""
        if let new = try await gate.loggedIn(user, device: kept?.device ?? "") { return try await adopt(new) }
        let why = refusal.map { "the token was refused (\($0.reason))" } ?? "the token is over"
        throw try await loggedOut(why)
    }

    /// A token that was got elsewhere: the server says whose it is.
    private func adopted(_ token: String, refresh: String?) async throws(LoginFailure) -> MatrixSession {
        switch try await gate.session(of: token, refresh: refresh) {
        case .session(let session): return try await adopt(session)
        case .over(let session, let reason):
            guard let new = try await gate.refreshed(session) else {
                throw LoginFailure(
                    .never, "the token and its refresh token were refused (\(reason)) - write others")
            }
            // The old pair is of no use any more, so this one is kept before it is asked whose it is.
            var known = try await adopt(new)
            known.user = try await gate.owner(of: known.access)
            return try await adopt(known)
        }
    }

    // MARK: Waiting

    private func next() async throws(LoginFailure) -> MatrixSession {
        let id = nextWaiter
        nextWaiter += 1
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                if Task.isCancelled {
                    return continuation.resume(
                        returning: Result<MatrixSession, LoginFailure>.failure(Self.stopped))
                }
                waiters[id] = continuation
            }
        } onCancel: {
            Task { await cancelWaiter(id) }
        }
        return try result.get()
    }

    private func cancelWaiter(_ id: Int) {
        waiters.removeValue(forKey: id)?.resume(returning: .failure(Self.stopped))
    }

    private static let stopped = LoginFailure(.again(after: nil), "stopped")
}
