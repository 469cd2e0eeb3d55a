package import Chat
internal import HTTP
internal import HTTPServer
package import WebSocket

private let shortageHint =
    " - whoever comes waits; allow more open files (LimitNOFILE= of the unit, ulimit -n)"

/// The built-in chat service: one world, a door for Twilio's clients, one for browsers, one for tokens.
package final class ChatServer: Sendable {
    package let settings: ServerSettings
    /// What the service is called; its service SID is the realm.
    package let names: ServiceNames
    /// Signs tokens that this server takes.
    package let issuer: TokenIssuer
    let hall: Hall
    let twilio: TwilioDoor
    let sendbird: SendbirdDoor
    let faultList: Faults
    let store: WorldStore?
    private let http: HTTPServer
    private let hooks: SendbirdHooks
    private let work: [Task<Void, Never>]
    private let isStopped = Locked(false)

    /// Why a server cannot start.
    package struct StartError: Error, CustomStringConvertible {
        package let description: String
    }

    /// Throws for settings that no server can start with.
    package static func check(_ settings: ServerSettings) throws {
        if settings.secret == "" {
            throw StartError(
                description:
                    "the chat server's secret is empty: give server.secret or STEWARD_SERVER_SECRET a value, or take it away to let everybody on this machine in"
            )
        }
        if !isLoopback(settings.host), settings.secret == nil {
            throw StartError(
                description:
                    "the chat server listens on \(settings.host) and would give tokens to anybody there: set server.secret or STEWARD_SERVER_SECRET, or listen on 127.0.0.1"
            )
        }
    }

    /// Reads the state, if there is one, and listens.
    package static func start(
        _ settings: ServerSettings, loop: SocketLoop, log: Log = .silent
    ) async throws -> ChatServer {
        try check(settings)
        let (store, names, world) = try await open(settings)
        let hall = Hall(world, store: store, log: log)
        let faults = Faults()
        let issuer = TokenIssuer(names: names)
        let rates = WriteRates(perSecond: settings.writesPerSecond)
        let twilio = TwilioDoor(
            hall: hall, issuer: issuer, settings: settings, faults: faults, rates: rates, log: log)
        let refusals = Refusals(log: log)
        let shelf = MediaShelf(store: store)
        let sendbird = SendbirdDoor(
            hall: hall, issuer: issuer, keys: SendbirdKeys(issuer: issuer), settings: settings,
            faults: faults,
            rates: rates, shelf: shelf, refusals: refusals, log: log)
        let front = FrontDoor(
            settings: settings, twilio: twilio,
            browser: BrowserDoor(
                hall: hall, settings: settings, rates: rates, issuer: issuer, refusals: refusals),
            tokens: TokenDoor(issuer: issuer, settings: settings, faults: faults, refusals: refusals),
            media: MediaDoor(
                hall: hall, issuer: issuer, settings: settings, shelf: shelf, refusals: refusals),
            sendbird: sendbird)
        let http: HTTPServer
        do {
            var limits = HTTPLimits()
            limits.body = max(limits.body, settings.mediaBytes + 64 * 1024)
            http = try await HTTPServer.start(
                host: settings.host, port: settings.port, loop: loop, limits: limits,
                onShortage: { log.warning("chat server: nobody can be let in for now: \($0)\(shortageHint)") }
            ) { await front.answer($0) }
        } catch {
            await store?.close()
            throw error
        }
        return ChatServer(settings, names, hall, twilio, sendbird, faults, store, http)
    }

    private init(
        _ settings: ServerSettings, _ names: ServiceNames, _ hall: Hall, _ twilio: TwilioDoor,
        _ sendbird: SendbirdDoor, _ faults: Faults, _ store: WorldStore?, _ http: HTTPServer
    ) {
        self.settings = settings
        self.names = names
        self.hall = hall
        self.twilio = twilio
        self.sendbird = sendbird
        faultList = faults
        self.store = store
        self.http = http
        issuer = TokenIssuer(names: names)
        let hooks = SendbirdHooks(door: sendbird, http: HTTPClient())
        self.hooks = hooks
        hall.take { world in
            world.dismissVisitors(at: .now)
            return { $0.enter(hooks, hearsAll: true) }
        }
        // These live as long as the server; `shutdown` ends them and waits.
        work = [
            Task { await hall.run() }, Task { await twilio.connections.keepTime() },
            Task { await sendbird.connections.keepTime() }, Task { await hooks.run() },
        ]
    }

    private static func open(
        _ settings: ServerSettings
    ) async throws -> (WorldStore?, ServiceNames, World) {
        var world = World(
            limits: settings.limits, admins: settings.admins, privateChannels: settings.privateChannels,
            isStored: settings.state != nil)
        world.keepBack(settings.keptBack)
        guard let file = settings.state else { return (nil, settings.names ?? .fresh(), world) }
        let store = try await WorldStore.open(file)
        do {
            let names = try await store.names(settings.names)
            return (store, names, try await store.load(into: world))
        } catch {
            await store.close()
            throw error
        }
    }

    /// The port it listens on.
    package var port: UInt16 { http.port }

    /// What Sendbird's clients call this service.
    package var application: String { sendbird.application }

    /// `http://127.0.0.1:8080`, where the page is.
    package var address: String {
        let host = settings.host.contains(":") ? "[\(settings.host)]" : settings.host
        return "http://\(host):\(port)"
    }

    /// From now on nobody on the page takes one of these names without a token; whoever has one without has to go.
    package func keepBack(_ names: Set<String>) {
        hall.take { world in
            world.keepBack(names)
            let taken = world.users.keys.filter { world.reservation(of: $0) == .role }
            return { audience in
                for listener in taken.flatMap({ audience.listeners(of: $0) }) { listener.giveUpName() }
            }
        }
    }

    /// Says goodbye to all clients, stores what is not yet stored, and stops. Calling it again is fine.
    package func shutdown(grace: Duration = .seconds(5)) async {
        let isFirst = isStopped.withLock { isStopped in
            defer { isStopped = true }
            return !isStopped
        }
        guard isFirst else { return }
        for task in work.dropFirst() { task.cancel() }
        hooks.close()
        await http.shutdown(grace: grace)
        hall.close()
        for task in work { await task.value }
        await store?.close()
    }

    package static func isLoopback(_ host: String) -> Bool {
        let name = host.lowercased()
        return name == "localhost" || name == "::1" || name == "[::1]" || name.hasSuffix(".localhost")
            || (name.hasPrefix("127.") && name.split(separator: ".").count == 4
                && name.allSatisfy { $0.isNumber || $0 == "." })
    }
}
