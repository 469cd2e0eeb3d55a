internal import Chat
internal import ChatServer
internal import Engine
internal import HTTP
internal import Rules
internal import Services
internal import WebSocket

/// Logs in to every account, looks what it may do where, and logs out again: no event is decided and nothing is sent.
struct LiveCheck {
    let config: Config
    let rules: RuleSet
    /// So long an account has to log in.
    var patience = Duration.seconds(30)

    struct Answer {
        var rights = Rights()
        /// Accounts that did not log in, and why.
        var failures: [String: String] = [:]
        var lacks: [Rights.Lack] = []

        var text: String {
            var lines = rights.channels.isEmpty ? [] : [rights.table]
            lines += failures.sorted { $0.key < $1.key }.map { "account \"\($0.key)\": \($0.value)" }
            lines += rights.problems
            lines += lacks.map(\.text)
            return lines.joined(separator: "\n")
        }

        /// Every account is there, and does everywhere what rules want, if in another way.
        var isFine: Bool {
            failures.isEmpty && rights.problems.isEmpty && lacks.allSatisfy(\.isMadeUpFor)
        }
    }

    func run() async throws -> Answer {
        let loop = try SocketLoop()
        let http = HTTPClient()
        let tools = ServiceTools(identities: Identities(), loop: loop, http: http, log: .silent)
        let server = await startServer(loop)
        var answer = Answer()
        let ends = await withTaskGroup(of: (String, Result<[ChannelRights], LoginFailure>).self) { group in
            for account in config.accounts {
                group.addTask { (account.name, await look(account, tools)) }
            }
            return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
        for (name, end) in ends {
            switch end {
            case .success(let channels): answer.rights.channels[name] = channels
            case .failure(let failure): answer.failures[name] = failure.why
            }
        }
        answer.lacks = answer.rights.lacks(rules.reaches, config.directory)
        await server?.shutdown()
        await http.shutdown()
        await loop.shutdown(grace: .seconds(1))
        return answer
    }

    /// The built-in server, unless a steward that runs has it open already.
    private func startServer(_ loop: SocketLoop) async -> ChatServer? {
        guard let block = config.server, let settings = try? Stores.settings(of: block, config) else {
            return nil
        }
        return try? await ChatServer.start(settings, loop: loop)
    }

    private struct LoginFailure: Error {
        var why: String
    }

    private func look(
        _ account: Config.Account, _ tools: ServiceTools
    ) async -> Result<[ChannelRights], LoginFailure> {
        let service: any ChatService
        do {
            service = try account.settings.service(account: account.name, tools: tools)
        } catch {
            return .failure(LoginFailure(why: "\(error)"))
        }
        let inbox = LookingInbox()
        return await withTaskGroup(of: Void.self) { group in
            group.addTask {
                do { try await service.run(inbox) } catch { inbox.end("\(error)") }
            }
            group.addTask {
                try? await Task.sleep(for: patience)
                if !Task.isCancelled { inbox.end(nil) }
            }
            let why = await inbox.login()
            let rights = why == nil ? await service.rights() : []
            group.cancelAll()
            return why.map { .failure(LoginFailure(why: $0)) } ?? .success(rights)
        }
    }
}

/// Takes every event and does nothing with it; tells when the account is complete.
private final class LookingInbox: Inbox {
    private struct State {
        var status = ServiceStatus.connecting
        var end: String?
    }

    private let state = Locked(State())
    private let changed = Signal()

    func identified(as user: UserID, in realm: Realm) async {}
    func cursors(of realm: Realm) async -> [String: Position] { [:] }
    func deliver(_ events: [ChatEvent]) async -> Taken { .taken }
    func heard() {}

    func report(_ status: ServiceStatus) {
        state.withLock { $0.status = status }
        changed.fire()
    }

    /// No more will come of it; nil: it took too long.
    func end(_ why: String?) {
        state.withLock { state in
            guard state.end == nil else { return }
            if let why {
                state.end = why
            } else if case .down(let reason) = state.status {
                state.end = reason
            } else {
                state.end = "it did not log in in time"
            }
        }
        changed.fire()
    }

    /// Waits for the log-in; says why there was none.
    func login() async -> String? {
        while !Task.isCancelled {
            let version = changed.version
            let state = state.withLock { $0 }
            if state.status == .up { return nil }
            if case .failed(let reason) = state.status { return reason }
            if let end = state.end { return end }
            await changed.wait(past: version)
        }
        return "stopped"
    }
}
