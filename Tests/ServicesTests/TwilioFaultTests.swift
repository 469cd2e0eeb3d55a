import Chat
import HTTPServer
import JSON
import Testing
import WebSocket

@testable import Services

@Suite(.timeLimit(.minutes(1))) struct TwilioFaults {
    private let general = "CH00000000000000000000000000000001"

    private func oneChannel(_ peer: ScriptedTwilio) {
        _ = peer.addChannel(1, name: "general", members: ["ana", "ben"])
    }

    private func say(_ text: String) -> ChatAction {
        ChatAction(.send(Outgoing(text)), in: Place(account: "twilio", channel: "general"))
    }

    private func status(_ code: Int64, error: Int64? = nil, _ words: String = "no") -> JSON {
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

    // MARK: Acting

    @Test func `one answer for one message, though the reply is lost`() async throws {
        try await withAccount(prepare: oneChannel) { peer, service, inbox in
            try await inbox.waitUntilUp()
            peer.judge { method, path in
                method == "POST" && path.hasSuffix("/Messages") ? .doneAndCut : .normal
            }
            let key = ActionKey(text: "0123456789abcdef0123456789abcdef")
            let error = await #expect(throws: ChatServiceError.self) {
                try await service.perform(say("hi"), key: key)
            }
            guard case .unknownOutcome? = error else { return #expect(Bool(false), "\(error as Any)") }
            peer.judge { _, _ in .normal }
            try await inbox.waitUntilUp(times: 2)
            let found = try await service.find(say("hi"), key: key, since: .now)
            #expect(found == Receipt(message: MessageReference(id: "IM0010", index: 0), channel: general))
            #expect(try await service.find(say("hi"), key: ActionKey(text: "another"), since: .now) == nil)
        }
    }

    @Test func `a request that did not arrive is not found`() async throws {
        try await withAccount(prepare: oneChannel) { peer, service, inbox in
            try await inbox.waitUntilUp()
            for number in 0..<20 { peer.say("\(number)", by: "ana", in: general) }
            peer.judge { method, path in method == "POST" && path.hasSuffix("/Messages") ? .cut : .normal }
            let key = ActionKey(text: "0123456789abcdef0123456789abcdef")
            await #expect(throws: ChatServiceError.self) { try await service.perform(say("hi"), key: key) }
            peer.judge { _, _ in .normal }
            try await inbox.waitUntilUp(times: 2)
            #expect(try await service.find(say("hi"), key: key, since: Timestamp(milliseconds: 0)) == nil)
            _ = try await service.perform(say("hi"), key: key)
            #expect(try await service.find(say("hi"), key: key, since: .now)?.message?.index == 20)
        }
    }

    @Test func `each refusal asks for its own reaction`() async throws {
        try await withAccount(prepare: oneChannel) { peer, service, inbox in
            try await inbox.waitUntilUp()
            func outcome(of verdict: ScriptedTwilio.Verdict, _ action: ChatAction) async -> ChatServiceError?
            {
                peer.judge { method, path in
                    method != "GET" && path.contains("/Messages") ? verdict : .normal
                }
                return await #expect(throws: ChatServiceError.self) {
                    try await service.perform(action, key: ActionKey(text: "k"))
                }
            }
            @Sendable func body(_ code: Int64) -> JSON {
                ["status": 0, "code": .int(code), "message": "words"]
            }
            let delete = ChatAction(
                .deleteMessage(MessageReference(id: "IM1", index: 0)),
                in: Place(account: "twilio", channel: "general"))
            #expect(
                await outcome(of: .answer(status: 429, body(50063), headers: ["Retry-After": "3"]), say("x"))
                    == .rateLimited(after: .seconds(3), "429, error 50063: words"))
            #expect(
                await outcome(of: .answer(status: 429, body(50063)), say("x"))
                    == .rateLimited(after: nil, "429, error 50063: words"))
            #expect(
                await outcome(of: .answer(status: 403, body(50107)), say("x"))
                    == .rejected("403, error 50107: words"))
            #expect(
                await outcome(of: .answer(status: 503, body(1)), say("x"))
                    == .unknownOutcome("503, error 1: words"))
            #expect(
                await outcome(of: .answer(status: 503, body(1)), delete)
                    == .rateLimited(after: .seconds(1), "503, error 1: words"))
            #expect(
                await outcome(
                    of: .transport(
                        status(429, error: 51202), payload: ["backoff_policy": ["reconnect_min_ms": 700]]),
                    say("x")) == .rateLimited(after: .milliseconds(700), "429, error 51202: no"))
            #expect(await outcome(of: .silence, say("x")) == .unknownOutcome("no reply in time"))
            // To delete what is gone already is no failure.
            peer.judge { method, _ in method == "DELETE" ? .answer(status: 404, body(50300)) : .normal }
            #expect(
                try await service.perform(delete, key: ActionKey(text: "k"))
                    == Receipt(message: MessageReference(id: "IM1", index: 0), channel: general))
            let missing = ChatAction(.send(Outgoing("x")), in: Place(account: "twilio", channel: "nowhere"))
            await #expect(throws: ChatServiceError.rejected("there is no channel \"nowhere\" in twilio")) {
                try await service.perform(missing, key: ActionKey(text: "k"))
            }
        }
    }

    @Test func `a request that finds its token refused is sent again with another`() async throws {
        try await withAccount(prepare: oneChannel) { peer, service, inbox in
            try await inbox.waitUntilUp()
            peer.judge { method, path in
                guard method == "POST", path.hasSuffix("/Messages") else { return .normal }
                return peer.state.withLock { $0.updates.isEmpty }
                    ? .answer(status: 401, ["code": 20104, "message": "expired"]) : .normal
            }
            let receipt = try await service.perform(say("hi"), key: ActionKey(text: "k"))
            #expect(receipt.message?.index == 0)
            #expect(peer.state.withLock { $0.updates.count } == 1)
            #expect(peer.state.withLock { $0.inits.count } == 1)
        }
    }

    @Test func `a new token that is refused leads to one more connection`() async throws {
        try await withAccount(prepare: { peer in
            oneChannel(peer)
            peer.state.withLock { $0.updateStatus = [status(401, error: 20107)] }
        }) { peer, _, inbox in
            try await inbox.waitUntilUp()
            peer.send(["method": "client_update", "client_update_type": "token_about_to_expire"])
            try await inbox.waitUntilUp(times: 2)
            let tokens = peer.state.withLock { $0.inits.map { $0["token"]?.string } + $0.updates }
            #expect(tokens.count == 3)
            #expect(Set(tokens).count == 3)
        }
    }

    @Test func `a change that is only begun is waited for`() async throws {
        try await withAccount(prepare: oneChannel) { peer, service, inbox in
            try await inbox.waitUntilUp()
            let asked = Locked(0)
            let resource = "https://aim.us1.twilio.com/Client/v2/resource"
            peer.judge { method, path in
                if method == "POST", path.hasSuffix("/Messages") {
                    return .answer(status: 202, ["resource_sid": "IM9", "resource_url": .string(resource)])
                }
                guard path.hasSuffix("/resource") else { return .normal }
                let times = asked.withLock { asked in
                    asked += 1
                    return asked
                }
                return times < 3
                    ? .answer(status: 404, [:]) : .answer(status: 200, ["sid": "IM9", "index": 4])
            }
            let receipt = try await service.perform(say("hi"), key: ActionKey(text: "k"))
            #expect(receipt == Receipt(message: MessageReference(id: "IM9", index: 4), channel: general))
        }
    }

    @Test func `messages of one channel leave in the order in which they were asked for`() async throws {
        try await withAccount(prepare: oneChannel) { peer, service, inbox in
            try await inbox.waitUntilUp()
            // The first is held up, so that the others form a line.
            let isOpen = Locked(false)
            peer.judge { method, path in
                method == "POST" && path.hasSuffix("/Messages") && !isOpen.withLock { $0 }
                    ? .answer(status: 429, [:]) : .normal
            }
            _ = try? await service.perform(say("refused"), key: ActionKey(text: "x"))
            isOpen.withLock { $0 = true }
            for number in 0..<20 {
                _ = try await service.perform(say("\(number)"), key: ActionKey(text: "\(number)"))
            }
            let tasks = peer.state.withLock { $0.requests.compactMap { $0.body["body"]?.string } }.dropFirst()
            #expect(Array(tasks) == (0..<20).map { "\($0)" })
        }
    }

    @Test func `everything else that it does arrives in Twilio's words`() async throws {
        try await withAccount(prepare: { peer in
            oneChannel(peer)
            peer.say("hello", by: "ana", in: general)
        }) { peer, service, inbox in
            try await inbox.waitUntilUp()
            func requests(for verb: ChatAction.Verb, in channel: String = "general") async throws -> [String]
            {
                let before = peer.state.withLock { $0.requests.count }
                _ = try await service.perform(
                    ChatAction(verb, in: Place(account: "twilio", channel: channel)),
                    key: ActionKey(text: "k"))
                return peer.state.withLock { state in
                    state.requests[before...].filter { $0.method != "GET" && $0.path != "/v4/Subscriptions" }
                        .map {
                            let path = $0.path.split(separator: "/").drop { $0 != "Conversations" }.joined(
                                separator: "/")
                            return "\($0.method) \(path.isEmpty ? $0.path : path) \($0.body)"
                        }
                }
            }
            let message = MessageReference(id: "IM0010", index: 0)
            let room = "Conversations/\(general)"
            #expect(
                try await requests(for: .reply(Outgoing("hi", attributes: "{\"a\":1}"), to: message)) == [
                    #"POST \#(room)/Messages {"body":"hi","attributes":"{\"a\":1,\"steward\":{\"key\":\"k\",\"reply_to\":\"IM0010\"}}"}"#
                ])
            #expect(
                try await requests(for: .editMessage(message, text: "new")) == [
                    #"POST \#(room)/Messages/IM0010 {"body":"new"}"#
                ])
            #expect(
                try await requests(for: .react("👍", to: message)) == [
                    #"POST \#(room)/Messages/IM0010 {"attributes":"{\"reactions\":{\"👍\":[\"bot\"]}}"}"#
                ])
            #expect(try await requests(for: .react("👍", to: message)) == [])
            #expect(
                try await requests(for: .react("👍", to: MessageReference(id: "IM0010"))) == [])
            #expect(try await requests(for: .deleteMessage(message)) == ["DELETE \(room)/Messages/IM0010 {}"])
            #expect(
                try await requests(for: .addMember(user: "zoe & co")) == [
                    #"POST \#(room)/Participants {"identity":"zoe & co"}"#
                ])
            #expect(
                try await requests(for: .setMemberAttributes(user: "ana", "{}")) == [
                    #"POST \#(room)/Participants/MBana {"attributes":"{}"}"#
                ])
            #expect(
                try await requests(for: .removeMember(user: "a/b c")) == [
                    "DELETE \(room)/Participants/a%2Fb%20c {}"
                ])
            #expect(
                try await requests(for: .setChannelAttributes("{}")) == [
                    #"POST \#(room) {"attributes":"{}"}"#
                ])
            #expect(
                try await requests(for: .advanceReadHorizon(to: 3)) == [
                    #"POST \#(room) {"last_read_message_index":3}"#
                ])
            #expect(
                try await requests(for: .typing) == [
                    #"POST /v1/Instances/\#(peer.service)/Typing "ChannelSid=\#(general)""#
                ])
            #expect(try await requests(for: .typing) == [])
            let direct = DirectChannel.name("ana", "bot")
            #expect(direct == DirectChannel.name("bot", "ana"))
            #expect(
                try await requests(for: .direct(Outgoing("psst"), user: "ana")) == [
                    #"POST Conversations {"friendly_name":"ana, bot","unique_name":"\#(direct)","attributes":"{}","type":"private"}"#,
                    #"POST Conversations/CH00000000000000000000000000000002/Participants {"identity":"bot"}"#,
                    #"POST Conversations/CH00000000000000000000000000000002/Participants {"identity":"ana"}"#,
                    #"POST Conversations/CH00000000000000000000000000000002/Messages {"body":"psst","attributes":"{\"steward\":{\"key\":\"k\"}}"}"#,
                ])
            #expect(
                try await requests(for: .createChannel(title: "Help", attributes: nil), in: "help") == [
                    #"POST Conversations {"friendly_name":"Help","unique_name":"help","attributes":"{\"steward\":{\"key\":\"k\"}}"}"#,
                    #"POST Conversations/CH00000000000000000000000000000003/Participants {"identity":"bot"}"#,
                ])
            #expect(
                try await requests(for: .destroyChannel, in: "help") == [
                    "DELETE Conversations/CH00000000000000000000000000000003 {}"
                ])
        }
    }
}
