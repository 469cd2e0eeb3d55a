import Chat
import HTTP
import JSON
import Testing
import WebSocket

@testable import Services

/// Logging in, staying logged in, and coming back.
@Suite(.timeLimit(.minutes(1))) struct SendbirdSessions {
    private func login(_ code: Int64) -> String {
        "LOGI{\"error\":true,\"code\":\(code),\"message\":\"no \(code)\"}\n"
    }

    private func expiry(_ reason: Int64?, in seconds: Int = 60) -> String {
        let reason = reason.map { ",\"reason\":\($0)" } ?? ""
        return "EXPR{\"expires_in\":\(seconds)\(reason),\"message\":\"soon\"}\n"
    }

    // MARK: Logging in

    @Test(arguments: [400300, 400301, 400310, 900021, 400304] as [Int64])
    func `where nothing of ours can help it stops and says why`(_ code: Int64) async throws {
        try await withSendbird(
            source: ScriptedSource { "token\($0)" },
            prepare: { peer in peer.state.withLock { $0.greetings = [login(code)] } }
        ) { peer, _, inbox in
            try await inbox.wait { $0.failure != nil }
            #expect(inbox.state.withLock { $0.failure } == "log-in: \(code): no \(code)")
            #expect(
                inbox.state.withLock { $0.statuses.last } == .failed(reason: "log-in: \(code): no \(code)"))
            #expect(peer.state.withLock { $0.visits.count } == 1)
        }
    }

    @Test func `a refused token is replaced once, and a second refusal of the only token is the end`()
        async throws
    {
        try await withSendbird(prepare: { peer in
            peer.state.withLock { $0.greetings = [login(400302), login(400302)] }
        }) { peer, _, inbox in
            try await inbox.wait { $0.failure != nil }
            #expect(inbox.state.withLock { $0.failure } == "log-in refused (400302: no 400302)")
            #expect(peer.state.withLock { $0.visits.map(\.token) } == ["token1", "token2"])
        }
    }

    @Test(arguments: [false, true])
    func `the only token there is, or none, is refused twice, and the account says what to do`(
        _ hasToken: Bool
    )
        async throws
    {
        let settings = SendbirdSettings(
            app: "APP-1", user: "bot", token: hasToken ? .fixed(Secret("wrong")) : nil,
            endpoint: "ws://127.0.0.1:8000")
        let lines = Locked<[String]>([])
        let log = Log(level: .info) { line in lines.withLock { $0.append(line.text) } }
        let (loop, http) = (try SocketLoop(), HTTPClient())
        let source = settings.source(
            ServiceTools(identities: Identities(), loop: loop, http: http, log: log, clock: .system))
        await http.shutdown()
        await loop.shutdown(grace: .zero)
        try await withSendbird(
            source: source, log: log,
            prepare: { peer in
                peer.state.withLock { $0.greetings = Array(repeating: login(400302), count: 9) }
            }
        ) { peer, _, inbox in
            try await inbox.wait { $0.failure != nil }
            let reason =
                hasToken
                ? "log-in refused (400302: no 400302): the configured token is not good, write another and start again"
                : "log-in refused (400302: no 400302): the name \"bot\" alone will not do, it is kept back or a token is wanted; write token: {url: \"http://127.0.0.1:8000/token\"} and start again"
            #expect(inbox.state.withLock { $0.failure } == reason)
            #expect(inbox.state.withLock { $0.statuses.last } == .failed(reason: reason))
            #expect(
                peer.state.withLock { $0.visits.map(\.token) }
                    == Array(repeating: hasToken ? "wrong" : nil, count: 2))
            #expect(lines.withLock { $0.count } == 1)
        }
    }

    @Test func `a token source that may do better is asked again and again`() async throws {
        try await withSendbird(
            source: ScriptedSource { "token\($0)" },
            prepare: { peer in
                peer.state.withLock { $0.greetings = [login(400302), login(400302)] }
            }
        ) { peer, _, inbox in
            try await inbox.waitUntilUp()
            #expect(peer.state.withLock { $0.visits.map(\.token) } == ["token1", "token2", "token3"])
        }
    }

    @Test func `a key that ended while we were away is given up for the token`() async throws {
        try await withSendbird { peer, _, inbox in
            try await inbox.waitUntilUp()
            peer.state.withLock { $0.greetings = [login(400309)] }
            peer.cut()
            try await inbox.waitUntilUp(times: 2)
            let visits = peer.state.withLock { $0.visits }
            #expect(visits.map(\.key) == [nil, "key1", nil])
            #expect(visits.map(\.token) == ["token1", nil, "token1"])
        }
    }

    @Test func `a server that says nothing is left after a while`() async throws {
        var timing = SendbirdTiming.quick
        timing.login = .seconds(2)
        try await withSendbird(
            timing: timing, prepare: { peer in peer.state.withLock { $0.greetings = [""] } }
        ) { peer, _, inbox in
            try await inbox.waitUntilUp()
            #expect(peer.state.withLock { $0.visits.count } == 2)
            let statuses = inbox.state.withLock { $0.statuses }
            #expect(
                statuses.contains {
                    if case .down(let why) = $0 { why.hasPrefix("no welcome") } else { false }
                })
        }
    }

    @Test func `a busy server is left alone as long as it wants, then tried again`() async throws {
        try await withSendbird(prepare: { peer in
            peer.state.withLock {
                $0.greetings = [#"BUSY{"retry_after":0.4,"reason_code":400599,"message":"server busy"}"#]
            }
        }) { peer, _, inbox in
            let begun = ContinuousClock.now
            try await inbox.waitUntilUp()
            #expect(ContinuousClock.now - begun >= .milliseconds(400))
            #expect(inbox.state.withLock { $0.statuses }.contains(.down(reason: "server busy")))
            #expect(peer.state.withLock { $0.visits.count } == 2)
        }
    }

    @Test func `BUSY may come later, too`() async throws {
        try await withSendbird { peer, _, inbox in
            try await inbox.waitUntilUp()
            peer.raw(#"BUSY{"retry_after":0.1,"message":"too much"}"# + "\n")
            try await inbox.waitUntilUp(times: 2)
            #expect(inbox.state.withLock { $0.statuses }.contains(.down(reason: "too much")))
        }
    }

    @Test func `pauses between attempts grow as the server wants, and no further`() throws {
        let pauses = try JSONReader().read(#"{"interval":3,"max_interval":24,"mul":2,"retry_cnt":5}"#) {
            SendbirdPauses($0)
        }
        #expect(
            (1...6).map { pauses.pause(before: $0, random: 0.5) }
                == [3, 6, 12, 24, 24, 24].map { Duration.seconds($0) })
        #expect(pauses.pause(before: 1, random: 0).milliseconds == 2400)
        #expect(pauses.pause(before: 1000, random: 1).milliseconds == 28_800)
        // Nonsense must not stop the world.
        let odd = try JSONReader().read(#"{"interval":0,"max_interval":-1,"mul":0}"#) { SendbirdPauses($0) }
        #expect(odd == SendbirdPauses())
    }

    // MARK: Keepalive

    @Test func `a server that does not answer a ping is left, and come back to`() async throws {
        try await withSendbird(prepare: { peer in
            peer.state.withLock {
                $0.welcome = ["ping_interval": 0.1, "pong_timeout": 0.1]
                $0.isSilent = true
            }
        }) { peer, _, inbox in
            try await inbox.waitUntilUp()
            try await inbox.wait { state in
                state.statuses.contains {
                    if case .down(let why) = $0 { why == "no answer to a ping in 100 ms" } else { false }
                }
            }
            peer.state.withLock { $0.isSilent = false }
            try await inbox.waitUntilUp(times: 2)
            #expect(peer.state.withLock { $0.commands.first { $0.letters == "PING" } }?.body["active"] == 1)
        }
    }

    @Test func `pings go on as before after the session was renewed`() async throws {
        try await withSendbird(prepare: { peer in
            peer.state.withLock { $0.welcome = ["ping_interval": 0.05, "pong_timeout": 5] }
        }) { peer, _, inbox in
            try await inbox.waitUntilUp()
            peer.raw(expiry(400309))
            await eventually { peer.commands.contains("LOGI") }
            let count = peer.commands.count { $0 == "PING" }
            await eventually { peer.commands.count { $0 == "PING" } > count + 3 }
            #expect(peer.state.withLock { $0.visits.count } == 1)
        }
    }

    // MARK: Sessions that end

    @Test(arguments: [400309, nil] as [Int64?])
    func `a session that ends soon is renewed with the token it has`(_ reason: Int64?) async throws {
        try await withSendbird { peer, service, inbox in
            try await inbox.waitUntilUp()
            peer.raw(expiry(reason))
            await eventually { await service.login.key == "key2" }
            let renewals = peer.state.withLock { $0.commands.filter { $0.letters == "LOGI" } }
            #expect(renewals.map { $0.body["token"] } == ["token1"])
            // What follows goes with the new key.
            _ = try await service.openChannels()
            #expect(peer.state.withLock { $0.requests.last?.key } == "key2")
            #expect(peer.state.withLock { $0.visits.count } == 1)
        }
    }

    @Test func `a server that warns again and again gets no new key each time`() async throws {
        try await withSendbird { peer, service, inbox in
            try await inbox.waitUntilUp()
            for number in 2...6 {
                peer.raw(expiry(400309))
                await eventually { await service.login.key == "key\(number)" }
            }
            for _ in 0..<20 { peer.raw(expiry(400309)) }
            peer.say("hello", by: "ana", in: "room")
            _ = try await inbox.story(of: 1)
            #expect(peer.commands.count { $0 == "LOGI" } == 5)
        }
    }

    @Test func `a token that is no longer good is replaced before the session is`() async throws {
        try await withSendbird { peer, service, inbox in
            try await inbox.waitUntilUp()
            peer.raw(expiry(400302))
            await eventually { await service.login.key == "key2" }
            let renewals = peer.state.withLock { $0.commands.filter { $0.letters == "LOGI" } }
            #expect(renewals.map { $0.body["token"] } == ["token2"])
        }
    }

    @Test(arguments: [400310, 400300, 400301] as [Int64])
    func `a revoked token or user ends the account`(_ reason: Int64) async throws {
        try await withSendbird { peer, _, inbox in
            try await inbox.waitUntilUp()
            peer.raw(expiry(reason))
            try await inbox.wait { $0.failure != nil }
            #expect(inbox.state.withLock { $0.failure } == "the session is over: \(reason): soon")
            #expect(!peer.commands.contains("LOGI"))
        }
    }

    @Test func `a session that has ended already is begun anew, and the log-in says what is wrong`()
        async throws
    {
        try await withSendbird { peer, _, inbox in
            try await inbox.waitUntilUp()
            peer.state.withLock { $0.greetings = [login(400310)] }
            peer.raw(expiry(nil, in: -1))
            try await inbox.wait { $0.failure != nil }
            #expect(inbox.state.withLock { $0.failure } == "log-in: 400310: no 400310")
        }
    }

    @Test func `a session is renewed in time though nobody says that it ends`() async throws {
        try await withSendbird(prepare: { peer in
            // Seconds, as this one field is told.
            peer.state.withLock { $0.welcome = ["expires_at": .int($0.now / 1000 + 1)] }
        }) { peer, service, inbox in
            try await inbox.waitUntilUp()
            await eventually { await service.login.key == "key2" }
            #expect(peer.state.withLock { $0.visits.count } == 1)
        }
    }

    @Test func `many requests whose session has ended renew it once, and all are answered`() async throws {
        try await withSendbird { peer, service, inbox in
            try await inbox.waitUntilUp()
            peer.judge { what, _ in
                guard what.hasPrefix("GET /open_channels") else { return .normal }
                return peer.state.withLock { $0.requests.last?.key } == "key1" ? .error(400309) : .normal
            }
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<8 { group.addTask { try await service.openChannels().elements.count } }
                for try await count in group { #expect(count == 1) }
            }
            #expect(peer.commands.count { $0 == "LOGI" } == 1)
        }
    }

    @Test func `a command whose session has ended is sent again under the same id`() async throws {
        try await withSendbird { peer, service, inbox in
            try await inbox.waitUntilUp()
            let isRefused = Locked(false)
            peer.judge { what, _ in
                guard what == "MESG" else { return .normal }
                return isRefused.withLock { isRefused in
                    defer { isRefused = true }
                    return isRefused ? .normal : .error(400302)
                }
            }
            _ = try await service.perform(sendbirdAction(.send(Outgoing("hi"))), key: ActionKey(text: "k"))
            let commands = peer.state.withLock { $0.commands }
            #expect(commands.map(\.letters).filter { $0 != "ENTR" } == ["MESG", "LOGI", "MESG"])
            #expect(
                commands.filter { $0.letters == "MESG" }.map { $0.body["req_id"] } == [
                    "steward-k", "steward-k",
                ])
            #expect(commands.first { $0.letters == "LOGI" }?.body["token"] == "token2")
        }
    }

    @Test func `after three tries the session is given up, and the token begins another`() async throws {
        try await withSendbird { peer, service, inbox in
            try await inbox.waitUntilUp()
            peer.judge { what, _ in
                what == "LOGI" || what.hasSuffix("/session_key") ? .error(500901) : .normal
            }
            peer.raw(expiry(400309))
            try await inbox.waitUntilUp(times: 2)
            #expect(peer.commands.count { $0 == "LOGI" } == 2)
            #expect(peer.paths("POST") == ["/users/bot/session_key"])
            let visit = try #require(peer.state.withLock { $0.visits.last })
            #expect(visit.key == nil)
            #expect(visit.token == "token1")
        }
    }

    @Test func `an answer to a renewal is no second welcome`() async throws {
        try await withSendbird { peer, service, inbox in
            try await inbox.waitUntilUp()
            let requests = peer.paths().count
            peer.raw(#"LOGI{"req_id":"of somebody else","new_key":"stray"}"# + "\n")
            peer.say("hello", by: "ana", in: "room")
            _ = try await inbox.story(of: 1)
            #expect(await service.login.key == "key1")
            #expect(peer.paths().count == requests)
        }
    }

    @Test func `session tokens come from the Platform API, for as long as is configured`() async throws {
        let peerLoop = try #require(try? await SendbirdTokenServer())
        let source = SessionTokenSource(
            address: peerLoop.address, user: "a/b", key: Secret("master"), life: .seconds(600),
            http: peerLoop.http, clock: .system)
        let before = Timestamp.now.milliseconds
        #expect(try await source.token() == "session-token")
        let request = try #require(peerLoop.peer.state.withLock { $0.requests.first })
        #expect(request.path == "/users/a/b/token")
        #expect(request.key == "platform master")
        let until = try #require(request.body["expires_at"]?.int)
        #expect((before + 600_000...before + 660_000).contains(until))
        peerLoop.peer.judge { _, _ in .error(400401) }
        await #expect(throws: TokenError.self) { try await source.token() }
        do {
            _ = try await source.token()
        } catch {
            #expect("\(error)".hasSuffix("400401: no 400401 - is \"api_token\" right?"))
        }
        await peerLoop.end()
    }
}

/// A scripted Sendbird that is only asked over HTTP.
private final class SendbirdTokenServer {
    let loop: SocketLoop
    let http = HTTPClient()
    let peer: ScriptedSendbird
    let address: String

    init() async throws {
        loop = try SocketLoop()
        peer = ScriptedSendbird(loop: loop)
        address = "http" + (try await peer.start()).dropFirst(2)
    }

    func end() async {
        await peer.stop()
        await http.shutdown()
        await loop.shutdown(grace: .zero)
    }
}
