import Chat
import HTTPServer
import JSON
import Testing
import WebSocket

@testable import Services

@Suite(.timeLimit(.minutes(1))) struct TwilioFaults {
    let general = "CH00000000000000000000000000000001"

    func oneChannel(_ peer: ScriptedTwilio) {
        _ = peer.addChannel(1, name: "general", members: ["ana", "ben"])
    }

    func say(_ text: String) -> ChatAction {
        ChatAction(.send(Outgoing(text)), in: Place(account: "twilio", channel: "general"))
    }

    func status(_ code: Int64, error: Int64? = nil, _ words: String = "no") -> JSON {
        ["code": .int(code), "status": .string(words), "errorCode": error.map { .int($0) } ?? .null]
    }

    // MARK: Logging in

    @Test func `a refused token is replaced, and then there is one more connection`() async throws {
        let source = ScriptedSource { token($0, life: 3600, at: .now) }
        try await withAccount(
            source: source,
            prepare: { peer in
                oneChannel(peer)
                peer.state.withLock { $0.initStatus = [(status(401, error: 20104, "Token expired"), .null)] }
            }
        ) { peer, _, inbox in
            try await inbox.waitUntilUp()
            let tokens = peer.state.withLock { $0.inits.map { $0["token"]?.string } }
            #expect(tokens.count == 2)
            #expect(tokens[0] != tokens[1])
            #expect(source.asked.withLock { $0 } == 2)
        }
    }

    @Test func `where no token of ours helps it stops and says why`() async throws {
        let source = ScriptedSource(mayImprove: false) { token($0, life: 3600, at: .now, identity: "ana") }
        try await withAccount(
            source: source,
            prepare: { peer in
                oneChannel(peer)
                peer.state.withLock {
                    $0.initStatus = Array(
                        repeating: (status(401, error: 20107, "Unauthorized"), .null), count: 9)
                }
            }
        ) { peer, _, inbox in
            try await inbox.wait { $0.failure != nil }
            let reason = inbox.state.withLock { $0.failure } ?? ""
            #expect(reason.hasPrefix("log-in refused (401, error 20107: Unauthorized); token(…"))
            #expect(reason.hasSuffix("): it is for \"ana\" and not for \"bot\""))
            #expect(inbox.state.withLock { $0.statuses.last } == .failed(reason: reason))
            #expect(peer.state.withLock { $0.inits.count } == 2)
        }
    }

    @Test func `a token server whose tokens are refused for a while costs no account`() async throws {
        let source = ScriptedSource { token($0, life: 3600, at: .now, identity: "ana") }
        try await withAccount(
            source: source,
            prepare: { peer in
                oneChannel(peer)
                peer.state.withLock {
                    $0.initStatus = Array(repeating: (status(401, error: 20107), .null), count: 2)
                }
            }
        ) { peer, _, inbox in
            try await inbox.waitUntilUp()
            #expect(peer.state.withLock { $0.inits.count } == 3)
            #expect(inbox.state.withLock { $0.failure } == nil)
        }
    }

    @Test func `a token source that says no at the first log-in is asked again, and says why`() async throws {
        let source = ScriptedSource { number throws(TokenError) in
            guard number > 1 else { throw TokenError(.act, "localhost/token answered 404") }
            return token(number, life: 3600, at: .now)
        }
        try await withAccount(source: source, prepare: oneChannel) { peer, _, inbox in
            try await inbox.waitUntilUp()
            #expect(
                inbox.state.withLock { $0.statuses } == [
                    .connecting, .down(reason: "localhost/token answered 404"), .connecting, .up,
                ])
            #expect(peer.state.withLock { $0.inits.count } == 1)
        }
    }

    @Test func `too many log-ins make it wait as long as the server wants`() async throws {
        try await withAccount(prepare: { peer in
            oneChannel(peer)
            let policy: JSON = ["backoff_policy": ["reconnect_min_ms": 400, "reconnect_max_ms": 500]]
            peer.state.withLock { $0.initStatus = [(status(429, error: 51202), policy)] }
        }) { peer, _, inbox in
            let begun = ContinuousClock.now
            try await inbox.waitUntilUp()
            #expect(ContinuousClock.now - begun >= .milliseconds(400))
            #expect(ContinuousClock.now - begun < .seconds(5))
            #expect(peer.state.withLock { $0.inits.count } == 2)
        }
    }

    @Test func `a server in trouble is tried again`() async throws {
        try await withAccount(prepare: { peer in
            oneChannel(peer)
            peer.state.withLock { $0.initStatus = [(status(500), .null), (status(503), .null)] }
        }) { peer, _, inbox in
            try await inbox.waitUntilUp()
            #expect(peer.state.withLock { $0.inits.count } == 3)
        }
    }

    @Test func `cut while it opens its channels it opens them all the same`() async throws {
        let isCut = Locked(false)
        try await withAccount(prepare: { peer in
            oneChannel(peer)
            _ = peer.addChannel(2, name: "other", members: ["ana"])
            peer.judge { _, path in
                guard path.contains("/Lists/") else { return .normal }
                return isCut.withLock { isCut in
                    defer { isCut = true }
                    return isCut ? .normal : .cut
                }
            }
        }) { peer, service, inbox in
            try await inbox.waitUntilUp()
            peer.say("hello", by: "ana", in: general)
            #expect(try await inbox.story(of: 1) == ["general + ana: hello"])
            #expect(try await service.channelList().count == 2)
        }
    }

    @Test func `cut while it opens a channel it was added to it opens that later`() async throws {
        let cuts = Locked(0)
        try await withAccount(prepare: oneChannel) { peer, service, inbox in
            try await inbox.waitUntilUp()
            peer.judge { _, path in
                guard path.hasSuffix("Lists/CH00000000000000000000000000000002.messages") else {
                    return .normal
                }
                return cuts.withLock { cuts in
                    cuts += 1
                    return cuts < 3 ? .cut : .normal
                }
            }
            let other = peer.addChannel(2, name: "other", members: ["ana"])
            #expect(try await inbox.story(of: 1) == ["other added"])
            peer.say("hello", by: "ana", in: other)
            #expect(try await inbox.story(of: 2).last == "other + ana: hello")
        }
    }

    @Test func `an invitation is accepted`() async throws {
        try await withAccount(product: .chat, prepare: oneChannel) { peer, service, inbox in
            try await inbox.waitUntilUp()
            let other = peer.addChannel(2, name: "other", members: ["ana"], joined: false)
            peer.invite(to: other)
            #expect(try await inbox.story(of: 1) == ["other added"])
            #expect(peer.state.withLock { $0.requests.contains { $0.path == "/Client/v1/Configuration" } })
        }
    }

    // MARK: While connected

    @Test func `told that its token is about to expire it gives the server another, on the same socket`()
        async throws
    {
        try await withAccount(prepare: oneChannel) { peer, service, inbox in
            try await inbox.waitUntilUp()
            for round in 1...3 {
                peer.send(["method": "client_update", "client_update_type": "token_about_to_expire"])
                await eventually { peer.state.withLock { $0.updates.count } == round }
                let given = peer.state.withLock { $0.updates.last }
                await eventually { await service.token?.text == given }
            }
            #expect(Set(peer.state.withLock { $0.updates }).count == 3)
            #expect(peer.state.withLock { $0.inits.count } == 1)
        }
    }

    @Test func `tokens of a second are refreshed without a reconnect`() async throws {
        let source = ScriptedSource { number in
            let now = Timestamp.now.milliseconds
            return SignedTokenSource.sign(
                [
                    "jti": .int(Int64(number)), "iat": .double(Double(now) / 1000),
                    "exp": .double(Double(now + 200) / 1000),
                    "grants": ["identity": "bot", "chat": ["service_sid": "IS01"]],
                ], secret: "x")
        }
        try await withAccount(source: source, prepare: oneChannel) { peer, _, inbox in
            try await inbox.waitUntilUp()
            await eventually { peer.state.withLock { $0.updates.count } >= 20 }
            #expect(peer.state.withLock { $0.inits.count } == 1)
            let all = peer.state.withLock { $0.updates }
            #expect(Set(all).count == all.count)
        }
    }

    @Test func `without network it tries one connection at a time, however short its tokens live`()
        async throws
    {
        let source = ScriptedSource { number in
            let now = Timestamp.now.milliseconds
            return SignedTokenSource.sign(
                [
                    "jti": .int(Int64(number)), "iat": .double(Double(now) / 1000),
                    "exp": .double(Double(now + 200) / 1000),
                    "grants": ["identity": "bot", "chat": ["service_sid": "IS01"]],
                ], secret: "x")
        }
        struct Tries {
            var open = 0
            var most = 0
            var all = 0
        }
        let tries = Locked(Tries())
        try await withAccount(source: source, prepare: oneChannel) { peer, _, inbox in
            try await inbox.waitUntilUp()
            let port = try #require(peer.server.withLock { $0?.port })
            await peer.stop()
            let loop = try SocketLoop()
            let asked = source.asked.withLock { $0 }
            let begun = ContinuousClock.now
            // A line on which nothing comes through: each try is held until several more tokens are over.
            let silence = try await HTTPServer.start(host: "127.0.0.1", port: port, loop: loop) { _ in
                tries.withLock { tries in
                    tries.open += 1
                    tries.all += 1
                    tries.most = max(tries.most, tries.open)
                }
                try? await Task.sleep(for: .milliseconds(500))
                tries.withLock { $0.open -= 1 }
                return .text(503, "no")
            }
            await eventually { tries.withLock { $0.all } == 4 }
            // A token for each time that one is used up, and none beyond.
            let lives = Int((ContinuousClock.now - begun) / .milliseconds(100)) + 4
            #expect(source.asked.withLock { $0 } - asked <= lives)
            #expect(tries.withLock { $0.most } == 1)
            await silence.shutdown(grace: .zero)
            await loop.shutdown(grace: .zero)
            _ = try await peer.start(port: port)
            try await inbox.waitUntilUp(times: 2)
        }
    }

    @Test func `closed because its token expired it connects once with another`() async throws {
        try await withAccount(prepare: oneChannel) { peer, _, inbox in
            try await inbox.waitUntilUp()
            peer.send(["method": "close", "status": status(410, error: 51207, "Token expired")])
            try await inbox.waitUntilUp(times: 2)
            let tokens = peer.state.withLock { $0.inits.map { $0["token"]?.string } }
            #expect(tokens.count == 2)
            #expect(tokens[0] != tokens[1])
        }
    }

    @Test(arguments: [Int64(308), 503, 406])
    func `closed for another reason it is back within two seconds`(code: Int64) async throws {
        try await withAccount(timing: TwilioTiming(), prepare: oneChannel) { peer, _, inbox in
            try await inbox.waitUntilUp()
            let begun = ContinuousClock.now
            peer.send(["method": "close", "status": status(code)])
            peer.say("meanwhile", by: "ana", in: general)
            try await inbox.waitUntilUp(times: 2)
            var took = ContinuousClock.now - begun
            // A busy machine may hold it up once, not each time.
            for turn in 3...5 where took >= .seconds(2) {
                let begun = ContinuousClock.now
                peer.send(["method": "close", "status": status(code)])
                try await inbox.waitUntilUp(times: turn)
                took = ContinuousClock.now - begun
            }
            #expect(took < .seconds(2))
            #expect(try await inbox.story(of: 1) == ["general + ana: meanwhile"])
            let last = peer.state.withLock { $0.inits.last?["continuation_token"] }
            #expect(last == (code == 406 ? .null : "continue-me"))
        }
    }

    @Test func `moved elsewhere it waits as long as the server wants`() async throws {
        try await withAccount(prepare: oneChannel) { peer, _, inbox in
            try await inbox.waitUntilUp()
            let begun = ContinuousClock.now
            peer.send(
                ["method": "close", "status": status(308), "payload_type": "application/json"],
                payload: ["backoff_policy": ["reconnect_min_ms": 500]])
            try await inbox.waitUntilUp(times: 2)
            #expect(ContinuousClock.now - begun >= .milliseconds(500))
        }
    }

    @Test func `a socket on which nothing is heard is given up`() async throws {
        var timing = TwilioTiming.quick
        timing.silence = .seconds(1)
        try await withAccount(timing: timing, prepare: oneChannel) { _, _, inbox in
            try await inbox.waitUntilUp(times: 2)
            #expect(inbox.state.withLock { $0.statuses.contains(.down(reason: "nothing was heard for 1 s")) })
        }
    }
}
