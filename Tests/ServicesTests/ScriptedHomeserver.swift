import Chat
import Glibc
import HTTP
import HTTPServer
import JSON
import WebSocket

@testable import Services

/// A homeserver that does as a test says: what is not scripted is answered as a well-behaved one would.
final class ScriptedHomeserver: Sendable {
    struct State {
        var calls: [Call] = []
        /// Answers to requests whose method and path begin so, in order; the first that fits is used up.
        var script: [(String, @Sendable (Call) -> HTTPReply)] = []
        /// Answers to syncs after the first, in order; when they are over a sync waits.
        var syncs: [String] = []
        var first = #"{"next_batch":"s0"}"#
        var tokens = 0
        var good: Set<String> = []
        var refreshes: Set<String> = []
        var life = 60_000
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    struct Call: Sendable {
        var method: String
        /// Decoded, without `/_matrix/client/v3`.
        var path: String
        var query: [String: String]
        var token: String?
        var body: JSON
    }

    let state = Locked(State())
    private let loop: SocketLoop
    private let http = HTTPClient()
    private let server: Locked<HTTPServer?>
    let folder = "/tmp/steward-scripted-\(UInt64.random(in: 0 ... .max))"
    let lines = Locked<[String]>([])
    private let running = RunningServices()

    init() async throws {
        loop = try SocketLoop()
        server = Locked(nil)
        mkdir(folder, 0o700)
        let started = try await HTTPServer.start(host: "127.0.0.1", port: 0, loop: loop) {
            [weak self] request in
            guard let self else { return .text(500, "gone") }
            return await self.answer(request)
        }
        server.withLock { $0 = started }
    }

    var address: String { "http://127.0.0.1:\(server.withLock { $0?.port ?? 0 })" }
    var file: String { folder + "/matrix-matrix.json" }

    func end() async {
        await logout()
        for waiter in state.withLock({ $0.waiting }) { waiter.resume() }
        let server = server.withLock { $0 }
        await server?.shutdown(grace: .milliseconds(100))
        await http.shutdown()
        await loop.shutdown(grace: .zero)
        unlink(file)
        rmdir(folder)
    }

    func logout() async { await running.stop() }

    /// For a service that is only made.
    var tools: ServiceTools {
        ServiceTools(identities: Identities(), loop: loop, http: http, log: .silent, folder: folder)
    }

    func login(
        _ inbox: TestInbox, folder: String? = nil, identities: Identities = Identities(),
        _ change: (inout MatrixSettings) -> Void = { _ in }
    ) -> MatrixService {
        var settings = MatrixSettings(
            homeserver: address, login: MatrixSettings.Login(user: "bot", password: Secret("pw")))
        change(&settings)
        var timing = MatrixTiming()
        timing.poll = .seconds(5)
        timing.firstPause = .milliseconds(10)
        timing.longestPause = .milliseconds(50)
        timing.behind = .milliseconds(10)
        timing.firstJoinPause = .milliseconds(20)
        let log = Log(level: .debug) { line in
            Log.test.debug(line.text)
            self.lines.withLock { $0.append(line.text) }
        }
        let service = MatrixService(
            account: "matrix", settings: settings,
            tools: ServiceTools(
                identities: identities, loop: loop, http: http, log: log, folder: folder ?? self.folder),
            timing: timing)
        running.start(service, inbox)
        return service
    }

    // MARK: What a test says and sees

    func on(_ request: String, _ answer: @escaping @Sendable (Call) -> HTTPReply) {
        state.withLock { $0.script.append((request, answer)) }
    }

    func on(_ request: String, _ status: Int, _ body: String, headers: [(String, String)] = []) {
        on(request) { _ in .json(status, Array(body.utf8), headers: headers) }
    }

    /// As a proxy answers for a homeserver that is away.
    func onProxy(_ request: String, _ status: Int, headers: [(String, String)] = []) {
        on(request) { _ in .text(status, "<html>\(status)</html>", headers: headers) }
    }

    func sync(_ answer: String) {
        let waiting = state.withLock { state in
            state.syncs.append(answer)
            defer { state.waiting = [] }
            return state.waiting
        }
        for waiter in waiting { waiter.resume() }
    }

    func calls(_ request: String) -> [Call] {
        state.withLock { $0.calls.filter { "\($0.method) \($0.path)".hasPrefix(request) } }
    }

    func said(_ text: String) -> Bool { lines.withLock { $0.contains { $0.contains(text) } } }

    // MARK: Answering

    private func answer(_ request: HTTPRequest) async -> HTTPReply {
        var query: [String: String] = [:]
        for (name, value) in request.query { query[name] = value }
        let token = request.header("Authorization").map { String($0.dropFirst("Bearer ".count)) }
        let parts = request.segments
        let path =
            "/" + parts.dropFirst(parts.starts(with: ["_matrix", "client"]) ? 3 : 0).joined(separator: "/")
        let call = Call(
            method: request.method, path: path, query: query, token: token,
            body: (try? JSON(parsing: request.body)) ?? .null)
        let scripted = state.withLock { state -> (@Sendable (Call) -> HTTPReply)? in
            state.calls.append(call)
            guard let place = state.script.firstIndex(where: { "\(call.method) \(path)".hasPrefix($0.0) })
            else {
                return nil
            }
            return state.script.remove(at: place).1
        }
        if let scripted { return scripted(call) }
        switch (call.method, parts.last) {
        case ("POST", "login"): return login(call)
        case ("POST", "refresh"): return refresh(call)
        default: break
        }
        guard let token, state.withLock({ $0.good.contains(token) }) else {
            return error(401, "M_UNKNOWN_TOKEN", #","soft_logout":true"#)
        }
        if path == "/sync" { return await sync(call) }
        if path.hasPrefix("/rooms/"), call.method == "PUT" {
            return .json(200, Array(#"{"event_id":"$sent-\#(parts.last ?? "")"}"#.utf8))
        }
        if call.method == "GET" { return error(404, "M_NOT_FOUND", "") }
        return .json(200, Array("{}".utf8))
    }

    func error(_ status: Int, _ code: String, _ more: String = "") -> HTTPReply {
        .json(status, Array(#"{"errcode":"\#(code)","error":"because"\#(more)}"#.utf8))
    }

    private func login(_ call: Call) -> HTTPReply {
        state.withLock { state in
            state.good = []
            return Self.pair(
                &state, #","user_id":"@bot:t","device_id":"\#(call.body["device_id"]?.string ?? "")""#)
        }
    }

    private func refresh(_ call: Call) -> HTTPReply {
        state.withLock { state in
            guard let old = call.body["refresh_token"]?.string, state.refreshes.contains(old) else {
                return error(403, "M_FORBIDDEN")
            }
            return Self.pair(&state, "")
        }
    }

    private static func pair(_ state: inout State, _ more: String) -> HTTPReply {
        state.tokens += 1
        state.good.insert("a\(state.tokens)")
        state.refreshes.insert("r\(state.tokens)")
        let body =
            #"{"access_token":"a\#(state.tokens)","refresh_token":"r\#(state.tokens)","expires_in_ms":\#(state.life)\#(more)}"#
        return .json(200, Array(body.utf8))
    }

    private func sync(_ call: Call) async -> HTTPReply {
        guard let since = call.query["since"] else {
            return .json(200, Array(state.withLock { $0.first }.utf8))
        }
        while true {
            let found = state.withLock { $0.syncs.isEmpty ? nil : $0.syncs.removeFirst() }
            if let found { return .json(200, Array(found.utf8)) }
            if call.query["timeout"] == "0" {
                return .json(200, Array(#"{"next_batch":"\#(since)"}"#.utf8))
            }
            await withCheckedContinuation { continuation in
                let isThere = state.withLock { state in
                    if state.syncs.isEmpty { state.waiting.append(continuation) }
                    return !state.syncs.isEmpty
                }
                if isThere { continuation.resume() }
            }
            if Task.isCancelled { return .text(503, "stopping") }
            if state.withLock({ $0.syncs.isEmpty }) { return .text(503, "stopping") }
        }
    }
}

func withHomeserver(_ body: (ScriptedHomeserver) async throws -> Void) async throws {
    let server = try await ScriptedHomeserver()
    try await ending {
        try await body(server)
    } with: {
        await server.end()
    }
}
