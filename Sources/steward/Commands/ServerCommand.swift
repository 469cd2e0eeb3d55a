internal import Chat
internal import ChatServer
internal import Glibc
internal import WebSocket

/// `steward server`: the built-in chat server alone.
enum ServerCommand {
    static let usualAddress = "127.0.0.1:8000"

    static let command = Command(
        name: "server", summary: "run the built-in chat server alone",
        details: """
            Runs the built-in chat server, with its page for people, until SIGTERM. Off loopback it gives tokens only to \
            those who present the secret in the variable STEWARD_SERVER_SECRET. Sendbird's Platform API is open to those \
            who present the token in STEWARD_SERVER_API_TOKEN.
            """,
        options: [
            .init(
                name: "listen", value: "HOST:PORT", summary: "where to listen; \(usualAddress) when missing"),
            .init(name: "state", value: "FILE", summary: "keeps the world; in memory when missing"),
            .init(
                name: "admins", value: "NAMES", summary: "who may delete and remove everywhere, with commas"),
            .init(
                name: "writes", value: "NUMBER",
                summary: "writes a second that a channel takes; 30 when missing, 0 for no limit"),
            .init(
                name: "app", value: "ID",
                summary: "what Sendbird's clients call the application; kept with the state when missing"),
            .init(name: "faults", value: nil, summary: "lets POST /faults make things go wrong, for tests"),
        ]
    ) { arguments in
        let environment = Environment.current
        let log = LogWriter.log(level: .info, environment: environment)
        let settings: ServerSettings
        do {
            settings = try Self.settings(from: arguments, environment)
        } catch {
            Terminal.complain("steward server: \(error)\n")
            return .usage
        }
        do {
            try ChatServer.check(settings)
        } catch {
            log.error("\(error)")
            return .configuration
        }
        return await run(settings, Signals.wishes(), log)
    }

    private static func run(
        _ settings: ServerSettings, _ wishes: AsyncStream<Signals.Wish>, _ log: Log
    ) async -> ExitCode {
        do {
            let loop = try SocketLoop()
            let server = try await ChatServer.start(settings, loop: loop, log: log)
            log.info("the chat server is open at \(server.address)")
            log.info("to Sendbird's clients it is application \(server.application)")
            for await wish in wishes where wish == .stop { break }
            // What was acknowledged is stored, so a second wish need not wait for a disk that hangs.
            Task { for await wish in wishes where wish == .stop { _exit(ExitCode.findings.rawValue) } }
            await server.shutdown()
            await loop.shutdown(grace: .seconds(2))
            return .fine
        } catch {
            log.error("\(error)")
            return .findings
        }
    }

    private static func settings(
        from arguments: Arguments, _ environment: [String: String]
    ) throws -> ServerSettings {
        var settings = try settings(listen: arguments["listen"] ?? usualAddress)
        settings.state = try arguments["state"].map(Stores.prepared)
        settings.admins = Set((arguments["admins"] ?? "").split(separator: ",").map(String.init))
        if let text = arguments["writes"] {
            guard let number = Int(text), number >= 0 else {
                throw SettingsMistake("\"\(text)\" is not a number of writes")
            }
            settings.writesPerSecond = number == 0 ? nil : number
        }
        settings.secret = environment["STEWARD_SERVER_SECRET"]
        settings.sendbird.application = arguments["app"]
        settings.sendbird.apiToken = environment["STEWARD_SERVER_API_TOKEN"].flatMap { $0.isEmpty ? nil : $0 }
        settings.faultsOverHTTP = arguments.has("faults")
        return settings
    }

    /// `127.0.0.1:8000` or `[::1]:8000`.
    static func settings(listen address: String) throws -> ServerSettings {
        var settings = ServerSettings()
        guard let colon = address.lastIndex(of: ":"),
            let port = UInt16(address[address.index(after: colon)...])
        else {
            throw SettingsMistake(
                "\"\(address)\" is not an address - write HOST:PORT, such as \(usualAddress)")
        }
        var host = String(address[..<colon])
        if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
        guard !host.isEmpty else {
            throw SettingsMistake("\"\(address)\" has no host - write HOST:PORT, such as \(usualAddress)")
        }
        settings.host = host
        settings.port = port
        return settings
    }
}
