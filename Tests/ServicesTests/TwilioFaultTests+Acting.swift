import Chat
import HTTPServer
import JSON
import Testing
import WebSocket

@testable import Services

/// What becomes of actions when something goes wrong.
extension TwilioFaults {
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
