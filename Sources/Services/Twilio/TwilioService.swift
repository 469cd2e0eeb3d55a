package import Chat
internal import JSON
internal import WebSocket

/// An account on Twilio Conversations or Programmable Chat, as Twilio's own client libraries log in: one WebSocket that
/// speaks Twilsock, requests through it, and Sync objects that are kept up to date.
///
/// Sources of the protocol: Twilio's published client libraries and their behaviour.
package actor TwilioService: ChatService, SocketAccount {
    nonisolated let account: String
    nonisolated let settings: TwilioSettings
    nonisolated let timing: TwilioTiming
    nonisolated let keeper: TokenKeeper
    nonisolated let tools: ServiceTools
    nonisolated let clock: ServiceClock
    nonisolated let log: Log

    var inbox: (any Inbox)?
    var reader = TwilioReader()
    let json = JSONReader()
    var configuration: TwilioConfiguration?
    /// The connection that requests go through: one that has logged in.
    var connection: TwilsockConnection?
    /// The token that connection was opened with, or was given since.
    var token: AccessToken?
    /// The server's own memory of us, from one connection to the next.
    var continuationToken: String?
    var standing = Standing()
    private var attempts: Backoff
    private var refusals = 0
    /// The first reading of what there is came to its end.
    var isOpened = false
    /// Why the connection has to end, when that is found out elsewhere than where it is read.
    var ordered: SessionEnd?
    var lastHeard = Timestamp(milliseconds: 0)

    /// Something to see to, and how often it was tried.
    typealias Errand = (due: Timestamp, news: SyncBook.News, tries: Int)

    // Seeing to what is read.
    nonisolated let bell = Bell()
    var establishing: [Int64: Timestamp] = [:]
    var lastCorrelation: Int64 = 0
    var subscribeAgain: Timestamp?
    var subscribeBackoff = Backoff(first: .milliseconds(100), most: .seconds(60))
    var batchLimit = 100
    var renewAll: Timestamp?
    var later: [Errand] = []

    // Asking.
    var pace = Pace(perSecond: 400)
    var paces: [String: Pace] = [:]
    var lanes = Lanes<String>()
    var typingUntil: [String: Timestamp] = [:]
    var isRenewing = false
    var renewals: [CheckedContinuation<Void, Never>] = []

    package init(
        account: String, settings: TwilioSettings, source: any TokenSource, tools: ServiceTools,
        timing: TwilioTiming = TwilioTiming()
    ) {
        self.account = account
        self.settings = settings
        self.tools = tools
        self.timing = timing
        clock = tools.clock
        log = tools.log.with("account", account)
        keeper = TokenKeeper(source: source, clock: tools.clock, log: log)
        attempts = Backoff(first: timing.firstPause, most: timing.longestPause)
    }

    package func run(_ inbox: any Inbox) async throws {
        self.inbox = inbox
        // What an earlier run has read and steward has not taken is read again.
        configuration = nil
        reader.book = nil
        try await stayLoggedIn(inbox)
    }

    var book: SyncBook? {
        get { reader.book }
        _modify { yield &reader.book }
    }

    nonisolated var pauseBehind: Duration { timing.behind }

    /// Nothing of it is left then.
    func stopped() {}

    // MARK: One connection after the other

    func ticket(_ inbox: any Inbox) async throws -> AccessToken { try await nextToken(inbox) }

    func forgetFailures() {
        attempts.reset()
        refusals = 0
    }

    func follow(
        _ end: SessionEnd, of token: AccessToken, _ inbox: any Inbox
    ) async throws -> (reason: String, pause: Duration) {
        var pause = attempts.failures == 0 ? .zero : timing.firstPause
        var reason: String
        switch end {
        case .lost(let why):
            reason = why
            pause = attempts.next(random: clock.random())
        case .paused(let why, let range):
            reason = why
            let asked = range.lowerBound + (range.upperBound - range.lowerBound) * clock.random()
            pause = max(asked, attempts.next(random: clock.random()))
        case .misunderstood(let why):
            reason = why
            continuationToken = nil
            pause = max(.seconds(1), attempts.next(random: clock.random()))
        case .refused(let status):
            refusals += 1
            let used = self.token ?? token
            let own = used.diagnosis(identity: settings.identity, at: clock.now())
            reason = "log-in refused (\(status)); \(own)"
            // One more, with another token; after that only time may help, or whoever makes the tokens.
            if refusals > 1 {
                guard status.isAboutTime || keeper.source.mayImprove else { throw giveUp(reason, inbox) }
                pause = max(.seconds(1), attempts.next(random: clock.random()))
                log.error("\(reason); trying again with the next token")
            }
            await keeper.invalidate(used)
        }
        return (reason, pause)
    }

    /// Connects, logs in and stays until that connection is over; says why it is.
    func session(_ token: AccessToken, _ inbox: any Inbox) async throws -> SessionEnd {
        self.token = token
        let socket: WebSocket
        switch try await connect(to: settings.socketURL, timeout: timing.connect) {
        case .success(let connected): socket = connected
        case .failure(let end): return end
        }
        let connection = TwilsockConnection(socket)
        lastHeard = clock.now()
        ordered = nil
        let end = try await end(of: [
            { try await self.readAll(connection, inbox) }, { try await self.watch(connection, inbox) },
            { try await self.serve(connection, token, inbox) },
        ])
        self.connection = nil
        connection.end(end.reason)
        connection.sayGoodbye()
        return end
    }

    // MARK: Reading

    /// Reads until the socket is over. Never waits for anything that depends on what has not been read yet.
    private func readAll(_ connection: TwilsockConnection, _ inbox: any Inbox) async throws {
        while let messages = try await connection.socket.receive() {
            let now = clock.now()
            lastHeard = now
            inbox.heard()
            for message in messages {
                // Text is not what this protocol is written in.
                guard case .binary(let bytes) = message else { continue }
                reader.read(bytes, at: now)
            }
            if let damage = reader.takeDamage() { log.warning("ignored \(damage)") }
            var end: SessionEnd?
            for signal in reader.takeSignals() {
                switch signal {
                case .reply(let reply): connection.resolve(reply)
                case .tokenAboutToExpire:
                    if let token { await keeper.expectExpiry(of: token) }
                case .closed(let status, let backoff):
                    end = SessionEnd(status, backoff: backoff, in: "closed by the server")
                }
            }
            if reader.book?.hasNews == true { bell.ring() }
            await handOver()
            // After that, so that the answer to a message begins before the server is told that it has come.
            connection.acknowledge(reader.takeAcknowledgements())
            if let end { throw end }
        }
        if let ordered { throw ordered }
        throw SessionEnd.lost(connection.socket.farewell)
    }

    /// Looks after everything that must not take for ever.
    private func watch(_ connection: TwilsockConnection, _ inbox: any Inbox) async throws {
        while true {
            try await clock.sleep(timing.tick)
            let now = clock.now()
            connection.expire(at: now)
            connection.acknowledge([])
            guard now - lastHeard < timing.silence else {
                throw SessionEnd.lost("nothing was heard for \(timing.silence.milliseconds / 1000) s")
            }
            reader.book?.endTyping(at: now)
            reader.book?.endHolding(at: now)
            if reader.book?.wantOverdue(at: now, after: timing.reorder) == true { bell.ring() }
            if isWorkDue(at: now) { bell.ring() }
            await handOver()
        }
    }
}
