package import Chat
internal import JSON

/// An account on a Matrix homeserver: reads by long polls of `/sync`, writes by requests of their own.
///
/// Source of the protocol: the client-server specification, and the behaviour of Synapse.
package actor MatrixService: ChatService {
    nonisolated let account: String
    nonisolated let settings: MatrixSettings
    nonisolated let timing: MatrixTiming
    nonisolated let clock: ServiceClock
    nonisolated let log: Log
    nonisolated let identities: Identities
    nonisolated let policies: PolicyLists
    /// What rules call channels of ours, beside those that we join.
    nonisolated let channelNames: Set<String>
    nonisolated let server: Homeserver
    nonisolated let login: MatrixLogin
    /// By room what our power does not suffice for.
    nonisolated let denials = Locked<[String: Set<String>]>([:])

    /// Strangers' content nests deeper than documents of ours may.
    let json = JSONReader(maximumSize: 200 << 20, loneSurrogates: .replaced, maximumDepth: 2_000)
    /// Nil until it is known who we are.
    var book: RoomBook?
    /// All rooms are known and the server answers.
    var isUp = false
    private var reported: ServiceStatus?
    /// What is read of the account, one after the other.
    var stream: StreamID?
    /// The server does not know any more where we were.
    var forgetsPosition = false
    /// Of these it was said that nothing can be read there.
    var encryptedRooms: Set<String> = []
    /// Invitations of which it was said that they are not accepted.
    var refusedInvitations: Set<String> = []
    var behindComplaint = Complaint(every: .seconds(60))
    /// Of answers to actions that are no homeserver's.
    var foreignComplaint = Complaint(every: .seconds(600))

    // Rooms to be joined.
    var errands: [String: Errand] = [:]
    nonisolated let errandBell = Bell()
    /// Who invited us to rooms that we are about to see for the first time.
    var inviters: [String: String] = [:]

    // Asking.
    var lanes = Lanes<String>()
    var typingUntil: [String: Timestamp] = [:]

    package init(
        account: String, settings: MatrixSettings, tools: ServiceTools, timing: MatrixTiming = MatrixTiming()
    ) {
        self.account = account
        self.settings = settings
        self.timing = timing
        clock = tools.clock
        identities = tools.identities
        policies = tools.policies
        channelNames = tools.channels
        log = tools.log.with("account", account)
        let server = Homeserver(settings.homeserver, http: tools.http, timing: timing)
        self.server = server
        login = MatrixLogin(
            account: account, settings: settings, server: server,
            file: tools.folder.map { KeptFile(path: "\($0)/matrix-\(account.percentEncoded).json") },
            clock: tools.clock,
            log: log)
    }

    package func run(_ inbox: any Inbox) async throws {
        reported = nil
        // What an earlier run has read and steward has not taken is read again.
        book = nil
        isUp = false
        errands = [:]
        do {
            try await untilOneEnds([
                { try await self.login.run() }, { try await self.stayInSync(inbox) },
                { try await self.runErrands() },
            ])
        } catch {
            isUp = false
            await goodbye()
            throw error
        }
    }

    /// Ends a log-in that nobody keeps; our own end does not wait long for it.
    private func goodbye() async {
        let login = login
        // Not a child task: those are cancelled by now.
        await Task { await login.end() }.value
    }

    /// Each status once, however often it is found.
    func report(_ status: ServiceStatus, to inbox: any Inbox) {
        isUp = status == .up
        guard status != reported else { return }
        reported = status
        inbox.report(status)
    }

    // MARK: Asking

    /// Sends a request with our token; one that is refused is replaced, and the request sent again.
    func ask(_ request: MatrixRequest) async throws(MatrixFailure) -> MatrixAnswer {
        var refusals = 0
        while true {
            let session: MatrixSession
            do throws(LoginFailure) {
                session = try await login.current()
            } catch {
                throw .noToken(error)
            }
            let answer = try await server.send(request, token: session.access)
            guard answer.isUnknownToken else {
                if answer.isFine { await login.worked(session.access) }
                return answer
            }
            await login.refuse(session.access, answer)
            refusals += 1
            if refusals > 2 { throw .refused(answer) }
        }
    }

    /// The same where only success is of use.
    func succeed(_ request: MatrixRequest) async throws(MatrixFailure) -> MatrixAnswer {
        let answer = try await ask(request)
        guard answer.isFine else { throw .refused(answer) }
        return answer
    }

    /// What somebody asks for in a lane, one after the other.
    func turn<Result>(
        _ lane: String, _ body: () async throws(MatrixFailure) -> Result
    ) async throws(MatrixFailure) -> Result {
        if !lanes.take(lane) { await withCheckedContinuation { lanes.wait(lane, $0) } }
        defer { lanes.leave(lane)?.resume() }
        return try await body()
    }
}
