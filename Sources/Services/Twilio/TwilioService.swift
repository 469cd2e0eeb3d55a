package import Chat
internal import JSON
internal import WebSocket

/// An account on Twilio Conversations or Programmable Chat, as Twilio's own client libraries log in: one WebSocket that
/// speaks Twilsock, requests through it, and Sync objects that are kept up to date.
///
/// Sources of the protocol: Twilio's published client libraries and their behaviour.
package actor TwilioService: ChatService {
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
    /// Everything is read: all channels, nothing missing.
    var isComplete = false
    private var reported: ServiceStatus?
    /// The first reading of what there is came to its end.
    var isOpened = false
    /// Why the connection has to end, when that is found out elsewhere than where it is read.
    var ordered: SessionEnd?
    var lastHeard = Timestamp(milliseconds: 0)

    /// Something to see to, and how often it was tried.
    typealias Errand = (due: Timestamp, news: SyncBook.News, tries: Int)

    // Delivering.
    var isDelivering = false
    var isClosed = false
    var behindUntil: Timestamp?
    var behindComplaint = Complaint(every: .seconds(60))

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
    }

    package func run(_ inbox: any Inbox) async throws {
        self.inbox = inbox
        reported = nil
        // What an earlier run has read and steward has not taken is read again.
        configuration = nil
        reader.book = nil
        isClosed = false
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await self.keeper.run() }
            group.addTask { try await self.stayConnected(inbox) }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    // MARK: One connection after the other

    /// One attempt at a time: the next begins when everything of the one before has ended.
    private func stayConnected(_ inbox: any Inbox) async throws {
        var backoff = Backoff(first: timing.firstPause, most: timing.longestPause)
        var refusals = 0
        report(.connecting, to: inbox)
        while true {
            try Task.checkCancellation()
            let token = try await nextToken(inbox)
            // Not before: why there is no token is worth more than that we wait for one.
            report(.connecting, to: inbox)
            isComplete = false
            let end = try await session(token, inbox)
            if isComplete {
                backoff.reset()
                refusals = 0
            }
            try Task.checkCancellation()
            var pause = backoff.failures == 0 ? .zero : timing.firstPause
            var reason: String
            switch end {
            case .lost(let why):
                reason = why
                pause = backoff.next(random: clock.random())
            case .paused(let why, let range):
                reason = why
                let asked = range.lowerBound + (range.upperBound - range.lowerBound) * clock.random()
                pause = max(asked, backoff.next(random: clock.random()))
            case .misunderstood(let why):
                reason = why
                continuationToken = nil
                pause = max(.seconds(1), backoff.next(random: clock.random()))
            case .refused(let status):
                refusals += 1
                let used = self.token ?? token
                let own = used.diagnosis(identity: settings.identity, at: clock.now())
                reason = "log-in refused (\(status)); \(own)"
                // One more, with another token; after that only time may help, or whoever makes the tokens.
                if refusals > 1 {
                    guard status.isAboutTime || keeper.source.mayImprove else { throw fail(reason, inbox) }
                    pause = max(.seconds(1), backoff.next(random: clock.random()))
                    log.error("\(reason); trying again with the next token")
                }
                await keeper.invalidate(used)
            }
            report(.down(reason: reason), to: inbox)
            let words =
                pause.milliseconds < 1000 ? "\(pause.milliseconds) ms" : "\(pause.milliseconds / 1000) s"
            log.debug("\(reason); connecting again in \(words)")
            try await clock.sleep(pause)
        }
    }

    private func nextToken(_ inbox: any Inbox) async throws -> AccessToken {
        while true {
            do {
                return try await keeper.current()
            } catch let error as TokenError {
                report(.down(reason: error.description), to: inbox)
            }
        }
    }

    /// Each status once, however often it is found.
    func report(_ status: ServiceStatus, to inbox: any Inbox) {
        guard status != reported else { return }
        reported = status
        inbox.report(status)
    }

    private func fail(_ reason: String, _ inbox: any Inbox) -> TwilioFailure {
        log.error("\(reason); giving up until somebody acts")
        report(.failed(reason: reason), to: inbox)
        return TwilioFailure(description: reason)
    }

    /// Connects, logs in and stays until that connection is over; says why it is.
    private func session(_ token: AccessToken, _ inbox: any Inbox) async throws -> SessionEnd {
        self.token = token
        let socket: WebSocket
        do {
            socket = try await WebSocket.connect(
                to: settings.socketURL, timeout: timing.connect, on: tools.loop)
        } catch {
            if Task.isCancelled { throw CancellationError() }
            if let pause = error.retryAfter { return .paused(error.text, pause...pause) }
            return .lost(error.text)
        }
        let connection = TwilsockConnection(socket)
        lastHeard = clock.now()
        ordered = nil
        var end = SessionEnd.lost("the connection is lost")
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await self.readAll(connection, inbox) }
                group.addTask { try await self.watch(connection, inbox) }
                group.addTask { try await self.serve(connection, token, inbox) }
                defer { group.cancelAll() }
                try await group.next()
            }
        } catch let reason as SessionEnd {
            end = reason
        } catch let failure as TwilsockFailure {
            end = .lost(failure.reason)
        } catch is CancellationError {
            end = .lost("stopped")
        }
        self.connection = nil
        connection.end(reason(of: end))
        connection.sayGoodbye()
        return end
    }

    private func reason(of end: SessionEnd) -> String {
        switch end {
        case .lost(let why), .paused(let why, _), .misunderstood(let why): why
        case .refused(let status): "refused: \(status)"
        }
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
        let end = connection.socket.end
        let words = end.map { $0.reason.isEmpty ? "close code \($0.code)" : $0.reason } ?? "no reason given"
        throw SessionEnd.lost("the connection is lost: \(words)")
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
