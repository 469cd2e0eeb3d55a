import Chat
import ChatServer
import Foundation
import Testing
import WebSocket

@testable import steward

/// A chat server and stewards that log in to it, in this process, with a folder of their own.
struct TestBed {
    let folder: URL
    let loop: SocketLoop
    let server: ChatServer

    /// Runs `body` with a server that has a channel *general* with *ana* in it.
    static func run(_ body: (TestBed, SID) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "steward-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: folder.appending(path: "bots"), withIntermediateDirectories: true)
        let loop = try SocketLoop()
        var settings = ServerSettings()
        settings.admins = ["steward"]
        let server = try await ChatServer.start(settings, loop: loop)
        let bed = TestBed(folder: folder, loop: loop, server: server)
        let general = try await server.channel("general")
        try await server.join(general, as: "ana")
        do {
            try await body(bed, general)
        } catch {
            await bed.end()
            throw error
        }
        await bed.end()
    }

    private func end() async {
        await server.shutdown()
        await loop.shutdown(grace: .seconds(1))
        try? FileManager.default.removeItem(at: folder)
    }

    static let bot = """
        version: 1
        rules:
          greeting:
            when: messageAdded
            if: {text: [hello]}
            do:
              - reply: "Hello, {{ user.name }}."
        """

    var usualConfig: String {
        """
        accounts:
          twilio: {service: twilio, identity: steward, endpoint: "\(endpoint)", token: {url: "\(tokens)"}, join: [general]}
        storage: {file: steward.db}
        plugins: {last-seen: {}}
        """
    }

    /// The same account on Sendbird; `more` stands behind it in the file.
    func sendbirdConfig(join: String = "general", _ more: String = "") -> String {
        """
        accounts:
          sendbird:
            service: sendbird
            app: \(server.application)
            user: steward
            endpoint: "ws://127.0.0.1:\(server.port)"
            token: {url: "\(tokens)"}
            join: [\(join)]
        storage: {file: steward.db}

        """ + more
    }

    var endpoint: String { "ws://127.0.0.1:\(server.port)/v3/wsconnect" }
    var tokens: String { "\(server.address)/token" }

    func write(_ text: String, to file: String) throws {
        try Data(text.utf8).write(to: folder.appending(path: file))
    }

    /// Starts a steward as the program does.
    func steward(
        _ text: String? = nil, bot: String = bot, environment: [String: String] = [:]
    ) throws -> RunningSteward {
        try write(text ?? usualConfig, to: "config.yaml")
        try write(bot, to: "bots/bot.yaml")
        let file = folder.appending(path: "config.yaml").path()
        let config = try ConfigReader.read(file: file, environment: environment)
        return try RunningSteward(
            file: file, config: config, bots: try Bots.load(config), environment: environment)
    }

    /// Waits until the channel holds so many messages with that text.
    func wait(for text: String, count: Int = 1, in channel: SID) async {
        await server.wait(in: channel) { messages in
            messages.filter { $0.content.body == text }.count >= count
        }
    }

    func texts(in channel: SID) -> [String] {
        server.messages(in: channel).compactMap(\.content.body)
    }
}

/// One steward, in this process or in one of its own (see `Program`), steered by the signals it gets.
final class RunningSteward: Sendable {
    let transcript = Transcript()
    private let way: Way

    private enum Way {
        case here(AsyncStream<Signals.Wish>.Continuation, Task<ExitCode, any Error>)
        case program(StewardProcess)
    }

    init(file: String, config: Config, bots: Bots, environment: [String: String] = [:]) throws {
        if let other = Program.other {
            way = .program(
                try StewardProcess(other, file: file, environment: environment, transcript: transcript))
            return
        }
        let (stream, continuation) = AsyncStream<Signals.Wish>.makeStream()
        let daemon = Daemon(file: file, config: config, environment: environment, log: transcript.log)
        way = .here(continuation, Task { try await daemon.run(bots, stream) })
    }

    func signal(_ wish: Signals.Wish) {
        switch way {
        case .here(let signals, _): signals.yield(wish)
        case .program(let process): process.signal(wish)
        }
    }

    func stop() async throws -> ExitCode {
        signal(.stop)
        return try await end()
    }

    func end() async throws -> ExitCode {
        switch way {
        case .here(_, let task): try await task.value
        case .program(let process): try await process.end(transcript)
        }
    }

    /// Why it ended without being told to.
    func complaint() async throws -> String {
        switch way {
        case .here(_, let task):
            switch await task.result {
            case .success(let code): return "none: it ended with \(code)"
            case .failure(let error): return "\(error)"
            }
        case .program(let process):
            let code = try await process.end(transcript)
            return code == .fine ? "none" : transcript.lines.last ?? "nothing"
        }
    }
}

/// The log's lines, which a test may wait for.
final class Transcript: Sendable {
    private struct State {
        var lines: [String] = []
        var waiting: [(id: Int, text: String, times: Int, continuation: CheckedContinuation<Void, Never>)] =
            []
        var nextID = 0
        /// There will be no more.
        var hasEnded = false

        func has(_ text: String, times: Int) -> Bool {
            hasEnded || lines.count { $0.contains(text) } >= times
        }
    }

    private let state = Locked(State())

    var lines: [String] { state.withLock { $0.lines } }

    var log: Log {
        Log(level: .info) { line in
            self.add(line.text + line.fields.map { " \($0)=\($1)" }.joined())
        }
    }

    func add(_ line: String) { change { $0.lines.append(line) } }

    func end() { change { $0.hasEnded = true } }

    private func change(_ change: (inout State) -> Void) {
        let ready: [CheckedContinuation<Void, Never>] = state.withLock { state in
            change(&state)
            let (ready, waiting) = (
                state.waiting.filter { state.has($0.text, times: $0.times) },
                state.waiting.filter { !state.has($0.text, times: $0.times) }
            )
            state.waiting = waiting
            return ready.map(\.continuation)
        }
        for continuation in ready { continuation.resume() }
    }

    /// Ends early when the test's time is over, or whoever writes has ended.
    func wait(for text: String, times: Int = 1) async {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    if Task.isCancelled || state.has(text, times: times) { return true }
                    state.waiting.append((id, text, times, continuation))
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            let waiting = state.withLock { state in
                let index = state.waiting.firstIndex { $0.id == id }
                return index.map { state.waiting.remove(at: $0) }
            }
            waiting?.continuation.resume()
        }
    }
}
