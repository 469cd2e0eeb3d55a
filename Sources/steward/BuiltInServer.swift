internal import Chat
internal import ChatServer
internal import WebSocket

/// The chat server of the `server:` block. It is open while this steward works on the store, and not while it stands by:
/// then the other one's is.
final class BuiltInServer: Sendable {
    private let settings: ServerSettings
    private let loop: SocketLoop
    private let log: Log
    private let state: Locked<State>

    private struct State {
        var open: ChatServer?
        /// Names that nobody on the page takes.
        var keptBack: Set<String>
    }

    /// Throws when it could not be opened later either.
    init(_ block: Config.ServerBlock, _ config: Config, _ loop: SocketLoop, _ log: Log) throws {
        settings = try Stores.settings(of: block, config)
        try ChatServer.check(settings)
        self.loop = loop
        self.log = log
        state = Locked(State(keptBack: settings.keptBack))
    }

    /// Opens the server, does the work, and closes it.
    func run(_ work: @Sendable () async throws -> Void) async throws {
        var settings = settings
        settings.keptBack = state.withLock(\.keptBack)
        let server = try await ChatServer.start(settings, loop: loop, log: log.with("part", "server"))
        let names = state.withLock { state in
            state.open = server
            return state.keptBack
        }
        if names != settings.keptBack { server.keepBack(names) }
        log.info("the built-in chat server is open at \(server.address)")
        log.info("to Sendbird's clients it is application \(server.application)")
        let end: Result<Void, any Error>
        do { end = .success(try await work()) } catch { end = .failure(error) }
        state.withLock { $0.open = nil }
        await server.shutdown()
        try end.get()
    }

    /// From now on nobody on the page takes one of these names without a token, also when it is opened later.
    func keepBack(_ names: Set<String>) {
        let server = state.withLock { state in
            state.keptBack = names
            return state.open
        }
        server?.keepBack(names)
    }
}
