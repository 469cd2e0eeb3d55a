import Chat
import ChatServer
import HTTP
import WebSocket

@testable import Services

/// A server, and accounts on it that end with the test.
final class BuiltInServerStage: Sendable {
    let loop: SocketLoop
    let http = HTTPClient()
    let identities = Identities()
    let server: Locked<ChatServer>
    private let running = RunningServices()

    init(_ settings: ServerSettings) async throws {
        loop = try SocketLoop()
        server = Locked(try await ChatServer.start(settings, loop: loop))
    }

    var now: ChatServer { server.withLock { $0 } }

    func login(
        _ identity: String = "bot", join: [String] = ["general"], product: TwilioSettings.Product? = nil,
        life: Int = 3600, bots: [String] = [], inbox: TestInbox
    ) throws -> TwilioService {
        let address = now.address
        let source = URLTokenSource(
            URLTokenSource.Settings(
                url: "\(address)/token", fields: ["ttl": HiddenText("\(life)")]),
            identity: identity, device: "test", http: http)
        let settings = TwilioSettings(
            identity: identity, token: .file(SettingsPath("-")),
            endpoint: "ws" + address.dropFirst(4) + "/v3/wsconnect", product: product, join: join,
            bots: bots)
        let service = TwilioService(
            account: "twilio", settings: settings, source: source,
            tools: ServiceTools(identities: identities, loop: loop, http: http, log: .test),
            timing: .quick)
        running.start(service, inbox)
        return service
    }

    func logout() async { await running.stop() }

    func end() async {
        await logout()
        await now.shutdown(grace: .milliseconds(100))
        await http.shutdown()
        await loop.shutdown(grace: .zero)
    }

    /// A channel *general* with *ana* in it, and an account of ours that is up.
    func start() async throws -> (server: ChatServer, general: SID, inbox: TestInbox) {
        let server = now
        let general = try await server.channel("general", as: "ana")
        try await server.join(general, as: "ana")
        let inbox = TestInbox()
        _ = try login(inbox: inbox)
        try await inbox.waitUntilUp()
        return (server, general, inbox)
    }

    /// Runs `body` with one that ends with it; nothing is limited unless the settings say so.
    static func run(
        _ settings: ServerSettings = ServerSettings(), _ body: (BuiltInServerStage) async throws -> Void
    ) async throws {
        var settings = settings
        settings.writesPerSecond = settings.writesPerSecond == 30 ? nil : settings.writesPerSecond
        let stage = try await BuiltInServerStage(settings)
        try await ending {
            try await body(stage)
        } with: {
            await stage.end()
        }
    }
}
