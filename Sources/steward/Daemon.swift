internal import Chat
internal import ChatServer
internal import Engine
internal import Glibc
internal import HTTP
internal import Rules
internal import Services
internal import WebSocket

/// A running steward: its parts as nested scopes, so that the order of nesting is the order of stopping.
struct Daemon: Sendable {
    let file: String
    let config: Config
    let environment: [String: String]
    let log: Log
    /// Called when a second wish to stop is not met at once.
    var impatience: @Sendable () -> Void = {}

    func run(_ bots: Bots, _ signals: AsyncStream<Signals.Wish>) async throws -> ExitCode {
        let loop = try SocketLoop()
        let http = HTTPClient()
        let wishes = Wishes()
        // Until the very end, for stopping itself may hang.
        let listening = Task {
            for await wish in signals where wishes.add(wish) {
                // What is decided is in the store already, so a disk that hangs need not be waited for.
                guard (try? await Task.sleep(for: .seconds(2))) != nil else { return }
                impatience()
            }
        }
        defer { listening.cancel() }
        let end = await result { try await work(bots, wishes, loop, http) }
        await http.shutdown()
        await loop.shutdown(grace: .seconds(2))
        return try end.get()
    }

    /// The engine with all accounts, until a signal ends it.
    private func work(
        _ bots: Bots, _ wishes: Wishes, _ loop: SocketLoop, _ http: HTTPClient
    ) async throws -> ExitCode {
        let server = try config.server.map { try BuiltInServer($0, config, loop, log) }
        let journal = try await Stores.journal(config, log)
        let evidence = try await EvidenceKey.keeping(config, log)
        let identities = Identities()
        var tools = ServiceTools(
            identities: identities, loop: loop, http: http, log: log, folder: config.stateFolderOfServices)
        tools.policies = config.policies
        let accounts = try config.accounts.map { account in
            do {
                var tools = tools
                tools.channels = Set(config.channels.values.compactMap { $0[account.name] })
                let service = try account.settings.service(account: account.name, tools: tools)
                return EngineAccount(name: account.name, service: service)
            } catch {
                throw ConfigError(file: file, problem: "account \"\(account.name)\": \(error)")
            }
        }
        let rights = RightsLook(config: config, rules: bots.rules, accounts: accounts, log: log)
        // Not a child task: it is cancelled only by a second signal, and must be waited for all the same.
        let running = Task {
            try await Engine.run(
                settings(evidence), accounts: accounts, handlers: bots.rules.handlers + config.plugins,
                directory: config.directory, journal: journal, identities: identities, log: log,
                surroundings: { work in
                    guard let server else { return try await work() }
                    try await server.run(work)
                }
            ) { engine in
                await withTaskGroup(of: ExitCode?.self) { group in
                    group.addTask { await watch(engine, bots, rights, server).run(until: wishes) }
                    group.addTask {
                        await rights.run(engine)
                        return nil
                    }
                    var end: ExitCode?
                    while end == nil, let next = await group.next() { end = next }
                    group.cancelAll()
                    return end ?? .fine
                }
            }
        }
        wishes.whenImpatient { running.cancel() }
        let end = await result { try await running.value }
        await journal.close()
        return try end.get()
    }

    private func watch(
        _ engine: Engine, _ bots: Bots, _ rights: RightsLook, _ server: BuiltInServer?
    ) -> Watch {
        let names = Locked(bots.rules.ruleNames)
        return Watch(
            engine: engine, require: config.require, systemd: Systemd(environment: environment), log: log,
            reload: { Reload(daemon: self, server: server, names: names, rights: rights).run(engine) })
    }

    private func settings(_ evidence: EvidenceKeeping?) -> EngineSettings {
        var settings = EngineSettings()
        settings.evidence = evidence
        settings.limits = config.turnLimits
        // In memory they would only take room.
        settings.keepEvents = config.store == nil ? nil : config.keepEvents
        settings.inboxLimit = config.limits.behind ?? settings.inboxLimit
        settings.holder = "steward \(getpid())"
        return settings
    }

    private func result<Value: Sendable>(_ body: () async throws -> Value) async -> Result<Value, any Error> {
        do { return .success(try await body()) } catch { return .failure(error) }
    }
}
