package import Chat
internal import HTTP
internal import JSON
internal import WebSocket

/// An account on Sendbird Chat, as Sendbird's own clients log in: one WebSocket for what happens and for messages, and
/// requests over HTTP for the rest.
///
/// Sources of the protocol: the behaviour of Sendbird's published clients, and its documentation.
package actor SendbirdService: ChatService, SocketAccount {
    nonisolated let account: String
    nonisolated let settings: SendbirdSettings
    nonisolated let timing: SendbirdTiming
    nonisolated let keeper: TokenKeeper
    nonisolated let tools: ServiceTools
    nonisolated let clock: ServiceClock
    nonisolated let log: Log

    let json = JSONReader(loneSurrogates: .replaced)
    var inbox: (any Inbox)?
    var book: SendbirdBook?
    var login = SendbirdLoginState()
    /// The connection that commands go through: one that has logged in.
    var connection: SendbirdConnection?
    var standing = Standing()
    private var failures = 0
    private var refusals = 0
    /// Why the connection has to end, when that is found out elsewhere than where it is read.
    var ordered: SendbirdEnd?
    var lastHeard = Timestamp(milliseconds: 0)
    var pingedAt: Timestamp?
    /// Open channels that we are in as long as we are connected.
    var entered: Set<String> = []

    // Seeing to what is read.
    nonisolated let bell = Bell()
    var later: [Errand] = []

    /// Something to see to, and how often it was tried.
    typealias Errand = (due: Timestamp, news: SendbirdBook.News, tries: Int)

    // Asking.
    var paces: [SendbirdLimits.Bucket: [Pace]]
    var lanes = Lanes<String>()
    var renewing: Task<SendbirdFailure?, Never>?
    /// Warnings that our session ends.
    var warnings = Pace(perSecond: 0.1, atOnce: 5)
    var directs: [String: String] = [:]
    var sentParts: [String: MessageReference] = [:]
    var typedAt: [String: Timestamp] = [:]
    /// Until when whom we kicked cannot come back, by channel and user.
    var kicked: [String: Timestamp] = [:]
    var readAt: [String: Timestamp] = [:]
    var reads: [String: Task<SendbirdFailure?, Never>] = [:]
    var undelivered: [String: Int64] = [:]
    var deliveredAt: [String: Timestamp] = [:]

    package init(
        account: String, settings: SendbirdSettings, source: any TokenSource, tools: ServiceTools,
        timing: SendbirdTiming = SendbirdTiming(), limits: SendbirdLimits? = nil
    ) {
        self.account = account
        self.settings = settings
        self.tools = tools
        self.timing = timing
        clock = tools.clock
        log = tools.log.with("account", account)
        keeper = TokenKeeper(source: source, clock: tools.clock, log: log)
        paces = (limits ?? (settings.hasOwnEndpoint ? .wide : .sendbird)).paces
    }

    package func run(_ inbox: any Inbox) async throws {
        self.inbox = inbox
        // What an earlier run has read and steward has not taken is read again.
        book = nil
        entered = []
        login = SendbirdLoginState()
        try await stayLoggedIn(inbox)
    }

    nonisolated var pauseBehind: Duration { timing.behind }

    /// Whoever waits for a renewal waits for its end.
    func stopped() { renewing?.cancel() }

    // MARK: One connection after the other

    /// The token, unless our session's key is still good.
    func ticket(_ inbox: any Inbox) async throws -> AccessToken? {
        guard login.key == nil else { return nil }
        report(.connecting, to: inbox)
        return try await nextToken(inbox)
    }

    func forgetFailures() { (failures, refusals) = (0, 0) }

    func follow(
        _ end: SendbirdEnd, of token: AccessToken?, _ inbox: any Inbox
    ) async throws -> (reason: String, pause: Duration) {
        // The first attempt after a connection that was fine is at once, but for jitter.
        var pause =
            failures == 0
            ? timing.firstPause * clock.random()
            : login.pauses.pause(before: failures, random: clock.random())
        failures += 1
        let reason: String
        switch end {
        case .lost(let why): reason = why
        case .busy(let why, let wait):
            reason = why
            pause = max(min(wait, timing.longestPause) * (1 + 0.2 * clock.random()), pause)
        case .sessionEnded(let why):
            // The token gives another, without any wait.
            reason = why
            login.key = nil
        case .tokenRefused(let why):
            refusals += 1
            reason = "log-in refused (\(why))"
            login.key = nil
            // One more, with another token if there is any; after that only whoever makes the tokens can help.
            if refusals > 1 {
                guard keeper.source.mayImprove else {
                    let remedy = keeper.source.remedy.map { ": \($0)" } ?? ""
                    throw giveUp(reason + remedy, inbox)
                }
                pause = max(.seconds(1), login.pauses.pause(before: failures, random: clock.random()))
                log.error("\(reason); trying again with the next token")
            }
            if let used = login.token ?? token { await keeper.invalidate(used) }
        case .final(let why): throw giveUp(why, inbox)
        }
        return (reason, pause)
    }

    /// Connects, waits for the server's welcome and stays until that connection is over; says why it is.
    func session(_ token: AccessToken?, _ inbox: any Inbox) async throws -> SendbirdEnd {
        let socket: WebSocket
        switch try await connect(to: socketURL, headers: socketHeaders(token), timeout: timing.connect) {
        case .success(let connected): socket = connected
        case .failure(let end): return end
        }
        let connection = SendbirdConnection(socket, at: clock.now())
        lastHeard = clock.now()
        pingedAt = nil
        ordered = nil
        login.begin(token, at: clock.now())
        let end = try await end(of: [
            { try await self.readAll(connection, inbox) }, { try await self.watch(connection) },
            { try await self.serve(connection, inbox) },
        ])
        self.connection = nil
        connection.end(end.reason)
        socket.close()
        return ordered ?? end
    }

    private var socketURL: String {
        var url =
            settings.socketAddress + "/?p=JS&pv=noAgent&sv=\(Self.version)&active=1&expiring_session=1&pmce=1"
        url = url.adding("ai", settings.app).adding("SB-User-Agent", Self.agent)
        // Who we are is known with the key.
        if login.key == nil { url = url.adding("user_id", settings.user) }
        return url
    }

    private func socketHeaders(_ token: AccessToken?) -> [(String, String)] {
        var headers = [("Request-Sent-Timestamp", "\(clock.now().milliseconds)")]
        if let key = login.key {
            headers.append(("SENDBIRD-WS-AUTH", key))
        } else if let token, !token.text.isEmpty {
            headers.append(("SENDBIRD-WS-TOKEN", token.text))
        }
        return headers
    }

    /// The version of Sendbird's own client whose ways we follow.
    static let version = "4.22.7"
    static let agent = "JS/c\(version)///oweb"

    // MARK: Reading

    /// Reads until the socket is over. Never waits for anything that depends on what has not been read yet.
    private func readAll(_ connection: SendbirdConnection, _ inbox: any Inbox) async throws {
        while let messages = try await connection.socket.receive() {
            let now = clock.now()
            lastHeard = now
            pingedAt = nil
            inbox.heard()
            for message in messages {
                let bytes: [UInt8]
                do {
                    bytes = try SendbirdCommand.plain(message)
                } catch {
                    log.warning("ignored a compressed message: \(error)")
                    continue
                }
                SendbirdCommand.each(
                    in: bytes, damage: { log.warning("ignored \($0)") }
                ) { letters, body in
                    do {
                        try json.read(body) { take(letters, $0, body: body, on: connection, at: now) }
                    } catch {
                        log.warning("ignored \(letters): \(error)")
                    }
                }
            }
            if book?.news.isEmpty == false { bell.ring() }
            await handOver()
            if let ordered { throw ordered }
        }
        if let ordered { throw ordered }
        throw SendbirdEnd.lost(connection.socket.farewell)
    }

    /// Looks after everything that must not take for ever.
    private func watch(_ connection: SendbirdConnection) async throws {
        while true {
            try await clock.sleep(timing.tick)
            let now = clock.now()
            connection.expire(at: now)
            if login.at == nil {
                guard now - login.begun < timing.login else {
                    throw SendbirdEnd.lost("no welcome in \(timing.login.milliseconds / 1000) s")
                }
                continue
            }
            try ping(connection, at: now)
            if let due = login.renewAt, now >= due, renewing == nil {
                login.renewAt = nil
                Task { await self.renew(instead: self.login.key) }
            }
            book?.now = now
            book?.endTimes(at: now)
            sayDelivered(on: connection, at: now)
            if isWorkDue(at: now) { bell.ring() }
            await handOver()
        }
    }

    /// After silence of ours the server is asked whether it is there; whatever it says then will do.
    private func ping(_ connection: SendbirdConnection, at now: Timestamp) throws {
        if let pingedAt {
            guard now - pingedAt < login.pongTimeout else {
                connection.kill()
                throw SendbirdEnd.lost("no answer to a ping in \(login.pongTimeout.milliseconds) ms")
            }
            return
        }
        // It must be asked, too, when we write and it has long been silent.
        guard now - connection.sentAt >= login.pingInterval || now - lastHeard >= login.pingInterval * 2
        else {
            return
        }
        let body: JSON = [
            "id": .int(now.milliseconds), "active": 1, "req_id": .string(SendbirdConnection.newID()),
        ]
        connection.tell("PING", body, at: now)
        pingedAt = now
    }
}
