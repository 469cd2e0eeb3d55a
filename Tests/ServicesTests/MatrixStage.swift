import Chat
import ChatTesting
import Glibc
import HTTP
import JSON
import Synapse
import Testing
import WebSocket

@testable import Services

/// An account of steward's on a real homeserver, and somebody to talk to.
final class MatrixStage: ChatServiceStage {
    let synapse: Synapse
    let ana: MatrixPerson
    let bot: MatrixPerson
    let room: String
    let identities = Identities()
    let place: Place
    /// Where log-ins are kept; ends with the test.
    let folder: String
    let lines = Locked<[Log.Line]>([])
    private let loop: SocketLoop
    let http = HTTPClient()
    private let running = RunningServices()
    private let change: @Sendable (inout MatrixSettings) -> Void

    init(
        version: Int? = nil, on own: Synapse? = nil,
        _ change: @escaping @Sendable (inout MatrixSettings) -> Void = { _ in }
    ) async throws {
        if let own { synapse = own } else { synapse = try await Synapse.shared() }
        ana = try await synapse.person("ana")
        bot = try await synapse.person("bot")
        room = try await ana.createRoom("lobby", version: version)
        place = Place(account: "matrix", channel: room)
        folder = "/tmp/steward-matrix-\(UInt64.random(in: 0 ... .max))"
        mkdir(folder, 0o700)
        loop = try SocketLoop()
        self.change = change
    }

    var log: Log {
        Log(level: .debug) { line in
            Log.test.debug(line.text)
            self.lines.withLock { $0.append(line) }
        }
    }

    func settings() -> MatrixSettings {
        var settings = MatrixSettings(
            homeserver: synapse.homeserver,
            login: MatrixSettings.Login(user: bot.name, password: Secret(bot.password)), join: [room])
        change(&settings)
        return settings
    }

    func make(folder: Bool = true) -> MatrixService {
        var timing = MatrixTiming()
        timing.poll = .seconds(5)
        timing.longestPause = .seconds(1)
        timing.slack = .seconds(2)
        timing.request = .seconds(10)
        timing.behind = .milliseconds(50)
        timing.firstJoinPause = .milliseconds(200)
        return MatrixService(
            account: "matrix", settings: settings(),
            tools: ServiceTools(
                identities: identities, loop: loop, http: http, log: log, folder: folder ? self.folder : nil),
            timing: timing)
    }

    func service() async throws -> any ChatService { make() }

    /// Runs until `logout`.
    func login(_ inbox: TestInbox, folder: Bool = true) async throws -> MatrixService {
        let service = make(folder: folder)
        running.start(service, inbox)
        try await inbox.wait { $0.statuses.contains(.up) || $0.failure != nil }
        return service
    }

    func logout() async { await running.stop() }

    func end() async {
        await logout()
        await http.shutdown()
        await loop.shutdown(grace: .zero)
        unlink(folder + "/matrix-matrix.json")
        rmdir(folder)
    }

    func said(_ text: String) -> Bool { lines.withLock { $0.contains { $0.text.contains(text) } } }

    // MARK: What the contract asks for

    func say(_ text: String) async throws { try await ana.say(text, in: room) }

    func texts() async throws -> [String] {
        try await ana.events(in: room).compactMap { event in
            event["type"] == "m.room.message" ? event["content"]?["body"]?.string : nil
        }
    }

    func cut() async throws {
        await synapse.stop()
        await synapse.restart()
    }

    /// Tokens live so short here that one only has to wait for it.
    func expireToken() async throws {
        let before = try await tokenCount()
        while try await tokenCount() == before { try await Task.sleep(for: .milliseconds(100)) }
    }

    func tokenCount() async throws -> Int {
        lines.withLock { $0.count { $0.text.hasPrefix("new token(") } }
    }

    func limit() async throws -> Duration? {
        try await synapse.limit(bot.id, (perSecond: 1, burst: 2))
        return .milliseconds(500)
    }

    func unlimit() async throws { try await synapse.limit(bot.id, nil) }
}

func withMatrix(
    version: Int? = nil, on own: Synapse? = nil,
    _ change: @escaping @Sendable (inout MatrixSettings) -> Void = { _ in },
    _ body: (MatrixStage) async throws -> Void
) async throws {
    let stage = try await MatrixStage(version: version, on: own, change)
    try await ending {
        try await body(stage)
    } with: {
        await stage.end()
    }
}
