import Chat
import ChatServer
import ChatTesting
import HTTP
import Testing
import WebSocket

@testable import Services

/// The client of Twilio on the chat server that steward brings along.
private final class TwilioStage: ChatServiceStage {
    let place = Place(account: "twilio", channel: "general")
    private let loop: SocketLoop
    private let http = HTTPClient()
    private let server: ChatServer
    private let channel: SID
    private let tokens: CountingSource

    init() async throws {
        loop = try SocketLoop()
        var settings = ServerSettings()
        settings.writesPerSecond = nil
        server = try await ChatServer.start(settings, loop: loop)
        channel = try await server.channel("general", as: "ana")
        try await server.join(channel, as: "ana")
        tokens = CountingSource(
            URLTokenSource(
                URLTokenSource.Settings(url: "\(server.address)/token"), identity: "bot", device: "test",
                http: http))
    }

    func service() async throws -> any ChatService {
        let settings = TwilioSettings(
            identity: "bot", token: .file(SettingsPath("-")),
            endpoint: "ws" + server.address.dropFirst(4) + "/v3/wsconnect", join: ["general"])
        return TwilioService(
            account: "twilio", settings: settings, source: tokens,
            tools: ServiceTools(identities: Identities(), loop: loop, http: http, log: .test), timing: .quick)
    }

    func say(_ text: String) async throws { try await server.post(text, in: channel, as: "ana") }
    func texts() async throws -> [String] { server.messages(in: channel).map { $0.content.body ?? "" } }
    func cut() async throws { server.drop("bot") }
    func expireToken() async throws { server.expire("bot") }
    func tokenCount() async throws -> Int { tokens.count.withLock { $0 } }

    func limit() async throws -> Duration? {
        server.add(Fault(.refuse(status: 429, code: 20429, retryAfter: 1), for: "bot"))
        return .seconds(1)
    }

    func unlimit() async throws { server.clearFaults() }

    func end() async {
        await server.shutdown(grace: .milliseconds(100))
        await http.shutdown()
        await loop.shutdown(grace: .zero)
    }
}

private struct CountingSource: TokenSource {
    let count = Locked(0)
    private let source: URLTokenSource

    init(_ source: URLTokenSource) { self.source = source }

    var place: String { source.place }

    func token() async throws(TokenError) -> String {
        count.withLock { $0 += 1 }
        return try await source.token()
    }
}

@Suite(.timeLimit(.minutes(2))) struct TwilioKeepsTheContract {
    @Test(arguments: ChatServiceContract.allCases)
    func `on the built-in server`(_ promise: ChatServiceContract) async throws {
        let stage = try await TwilioStage()
        try await ending {
            try await promise.check(on: stage)
        } with: {
            await stage.end()
        }
    }
}
