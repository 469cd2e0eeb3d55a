import Chat
import HTTP
import JSON
import Testing

@testable import Services

/// What the service does when things do not go as they should.
@Suite(.timeLimit(.minutes(1))) struct SendbirdFaults {
    func perform(
        _ service: SendbirdService, _ verb: ChatAction.Verb, in channel: String = "room", key: String = "k"
    ) async -> Result<Receipt, ChatServiceError> {
        do {
            return .success(
                try await service.perform(sendbirdAction(verb, in: channel), key: ActionKey(text: key)))
        } catch {
            return .failure(error)
        }
    }

    func group(_ peer: ScriptedSendbird) {
        peer.addRoom("group", open: false, members: ["bot", "ana", "ben"])
    }

    /// The first of these is judged so, and all others as they are.
    func once(
        _ peer: ScriptedSendbird, _ what: String, _ verdict: ScriptedSendbird.Verdict
    ) {
        let isDone = Locked(false)
        peer.judge { found, _ in
            guard found == what else { return .normal }
            return isDone.withLock { isDone in
                defer { isDone = true }
                return isDone ? .normal : verdict
            }
        }
    }

    // MARK: Unknown outcomes

    @Test func `a message whose socket was cut is found, and not sent twice`() async throws {
        try await withSendbird { peer, service, inbox in
            try await inbox.waitUntilUp()
            let begun = Timestamp(milliseconds: peer.tick())
            once(peer, "MESG", .doneAndCut)
            guard case .failure(.unknownOutcome) = await perform(service, .send(Outgoing("hi"))) else {
                return #expect(Bool(false))
            }
            try await inbox.waitUntilUp(times: 2)
            let action = sendbirdAction(.send(Outgoing("hi")))
            let found = try await service.find(action, key: ActionKey(text: "k"), since: begun)
            #expect(found?.message?.id == "70001")
            #expect(try await service.find(action, key: ActionKey(text: "other"), since: begun) == nil)
            #expect(peer.state.withLock { $0.rooms["room"]?.messages.count } == 1)
            // It is heard as our own, once, from what was missed.
            try await inbox.wait { $0.events.contains { $0.message?.text == "hi" } }
            #expect(inbox.state.withLock { $0.events.count { $0.message?.text == "hi" } } == 1)
        }
    }

    @Test func `a missing acknowledgement is an unknown outcome, and a late one is no second message`()
        async throws
    {
        var timing = SendbirdTiming.quick
        timing.reply = .seconds(1)
        try await withSendbird(timing: timing) { peer, service, inbox in
            try await inbox.waitUntilUp()
            once(peer, "MESG", .doneInSilence)
            guard case .failure(.unknownOutcome(let why)) = await perform(service, .send(Outgoing("hi")))
            else {
                return #expect(Bool(false))
            }
            #expect(why == "no acknowledgement in time")
            // It comes after all, under the id for which nobody waits any more.
            var message = try #require(peer.state.withLock { $0.rooms["room"]?.messages.first })
            message["req_id"] = "steward-k"
            peer.emit("MESG", .object(message), in: "room")
            try await inbox.wait { $0.events.contains { $0.message?.text == "hi" } }
            let found = try await service.find(
                sendbirdAction(.send(Outgoing("hi"))), key: ActionKey(text: "k"),
                since: Timestamp(milliseconds: 0))
            #expect(found?.message?.id == message["msg_id"]?.int.map { "\($0)" })
        }
    }

    @Test func `of a message with files only what is missing is sent again`() async throws {
        try await withSendbird { peer, service, inbox in
            try await inbox.waitUntilUp()
            let outgoing = Outgoing(
                "look", attachments: [.init(name: "a\"b.txt", contentType: "text/plain", bytes: [1, 2, 3])])
            once(peer, "FILE", .error(500901))
            guard case .failure(.unknownOutcome) = await perform(service, .send(outgoing)) else {
                return #expect(Bool(false))
            }
            let key = ActionKey(text: "k")
            #expect(
                try await service.find(
                    sendbirdAction(.send(outgoing)), key: key, since: Timestamp(milliseconds: 0)) == nil)
            let receipt = try await service.perform(sendbirdAction(.send(outgoing)), key: key)
            #expect(peer.commands.filter { $0 == "MESG" || $0 == "FILE" } == ["MESG", "FILE", "FILE"])
            #expect(
                try await service.find(
                    sendbirdAction(.send(outgoing)), key: key, since: Timestamp(milliseconds: 0))
                    == receipt)
            let file = try #require(peer.state.withLock { $0.commands.last { $0.letters == "FILE" } })
            #expect(file.body["url"] == "https://files.example/1")
            #expect(file.body["req_id"] == "steward-k-1")
            #expect(file.body["size"] == 3)
        }
    }

    @Test func `a file that is too large is not even uploaded`() async throws {
        try await withSendbird(prepare: { peer in
            peer.state.withLock { $0.welcome = ["file_upload_size_limit": 1] }
        }) { peer, service, inbox in
            try await inbox.waitUntilUp()
            let file = Outgoing.File(
                name: "big", contentType: "x/y", bytes: [UInt8](repeating: 0, count: 1 << 20 + 1))
            #expect(
                await perform(service, .send(Outgoing("", attachments: [file])))
                    == .failure(.rejected("\"big\" is larger than 1 MB")))
            #expect(!peer.paths("POST").contains("/storage/file"))
        }
    }

    // MARK: Refusals

    @Test(
        arguments: [
            900020, 900021, 900023, 900040, 900041, 900050, 900060, 900061, 900080, 900081, 900100, 900300,
        ] as [Int64])
    func `what moderation refuses is not tried again`(_ code: Int64) async throws {
        try await withSendbird { peer, service, inbox in
            try await inbox.waitUntilUp()
            peer.judge { what, _ in what == "MESG" ? .error(code) : .normal }
            let result = await perform(service, .send(Outgoing("hi")))
            #expect(result == .failure(.rejected("\(code): no \(code)")))
            #expect(peer.commands.count { $0 == "MESG" } == 1)
            // It costs no connection either.
            #expect(inbox.state.withLock { $0.failure } == nil)
        }
    }

    @Test func `too much is waited for, as long as the service says`() async throws {
        try await withSendbird { peer, service, inbox in
            try await inbox.waitUntilUp()
            peer.judge { what, _ in
                switch what {
                case "MESG": .error(900200)
                case "PUT /open_channels/room":
                    .error(500910, status: 429, headers: [("X-RateLimit-RetryAfter", "7")])
                case "DELETE /open_channels/room/messages/1": .error(500901, status: 500)
                default: .normal
                }
            }
            #expect(
                await perform(service, .send(Outgoing("hi")))
                    == .failure(.rateLimited(after: .seconds(1), "900200: no 900200")))
            #expect(
                await perform(service, .setChannelTitle("New"))
                    == .failure(.rateLimited(after: .seconds(7), "500910: no 500910")))
            // To delete twice is to delete once.
            #expect(
                await perform(service, .deleteMessage(MessageReference(id: "1")))
                    == .failure(.rateLimited(after: .seconds(1), "500901: no 500901")))
        }
    }

    @Test func `a list that is limited is asked for again when the pause is over`() async throws {
        try await withSendbird(prepare: { peer in
            once(
                peer, "GET /users/bot/my_group_channels",
                .error(500910, status: 429, headers: [("X-RateLimit-RetryAfter", "0.3")]))
        }) { peer, _, inbox in
            try await inbox.waitUntilUp()
            #expect(peer.paths().count { $0 == "/users/bot/my_group_channels" } == 2)
        }
    }

    @Test func `what was deleted already is deleted`() async throws {
        try await withSendbird { peer, service, inbox in
            try await inbox.waitUntilUp()
            let gone = MessageReference(id: "5")
            #expect(
                await perform(service, .deleteMessage(gone))
                    == .success(Receipt(message: gone, channel: "room")))
        }
    }

    @Test func `without being an operator moderation is refused for good`() async throws {
        try await withSendbird { peer, service, inbox in
            try await inbox.waitUntilUp()
            peer.judge { what, _ in what == "POST /open_channels/room/mute" ? .error(400108) : .normal }
            #expect(
                await perform(service, .mute(user: "ana", until: nil, reason: nil))
                    == .failure(.rejected("400108: no 400108")))
        }
    }

    // MARK: Marks

    @Test func `one read mark a while, and one acknowledgement settles those before it`() async throws {
        try await withSendbird(prepare: group) { peer, service, inbox in
            try await inbox.waitUntilUp()
            await withTaskGroup(of: Void.self) { tasks in
                for number in 1...10 {
                    tasks.addTask {
                        _ = await perform(service, .advanceReadHorizon(to: Int64(number)), in: "group")
                    }
                }
            }
            #expect(peer.commands.count { $0 == "READ" } <= 2)
        }
    }

    @Test func `the acknowledgement of one read mark settles the one before it, of another channel, too`()
        async throws
    {
        try await withSendbird(prepare: { peer in
            peer.addRoom("g1", open: false, members: ["bot", "ana"])
            peer.addRoom("g2", open: false, members: ["bot", "ana"])
        }) { peer, service, inbox in
            try await inbox.waitUntilUp()
            peer.judge { what, body in
                what == "READ" && body["channel_url"] == "g1" ? .silence : .normal
            }
            async let first = perform(service, .advanceReadHorizon(to: 1), in: "g1")
            await eventually { peer.commands.contains("READ") }
            let second = await perform(service, .advanceReadHorizon(to: 1), in: "g2")
            #expect(second == .success(Receipt(channel: "g2")))
            #expect(await first == .success(Receipt(channel: "g1")))
        }
    }

    @Test func `delivery is not marked for the application, ourselves and super groups that want none`()
        async throws
    {
        try await withSendbird(prepare: { peer in
            peer.state.withLock { $0.welcome = ["disable_supergroup_mack": true] }
            peer.addRoom("super", open: false, members: ["bot", "ana"]) { $0.isSuper = true }
            group(peer)
        }) { peer, service, inbox in
            try await inbox.waitUntilUp()
            peer.say("to many", by: "ana", in: "super")
            let notice = peer.state.withLock { $0.nextID } + 50
            peer.raw(
                "ADMM{\"msg_id\":\(notice),\"channel_url\":\"group\",\"ts\":\(peer.tick()),\"message\":\"n\"}\n"
            )
            _ = await perform(service, .send(Outgoing("of ours")), in: "group", key: "own")
            peer.say("last", by: "ana", in: "group")
            _ = try await inbox.story(of: 3)
            await eventually { peer.commands.contains("MACK") }
            let marked = peer.state.withLock { $0.commands.filter { $0.letters == "MACK" } }
            #expect(marked.map { $0.body["channel_url"] } == ["group"])
        }
    }

    @Test func `times are asked for as whole numbers, and replies are not left out`() async throws {
        try await withSendbird(prepare: group) { peer, service, inbox in
            try await inbox.waitUntilUp()
            peer.say("one", by: "ana", in: "group")
            _ = try await inbox.story(of: 1)
            peer.cut()
            try await inbox.waitUntilUp(times: 2)
            _ = try await service.messages(in: "group")
            let queries = peer.state.withLock { state in
                state.requests.filter { $0.path.hasSuffix("/messages") }.map(\.query)
            }
            #expect(queries.count >= 4)
            #expect(queries.allSatisfy { Int64($0["message_ts"] ?? "") != nil })
            #expect(queries.allSatisfy { $0["include_reply_type"] == "all" })
        }
    }

    @Test func `typing is said once a second, and not in open channels`() async throws {
        var timing = SendbirdTiming.quick
        timing.marks = .seconds(60)
        try await withSendbird(timing: timing, prepare: group) { peer, service, inbox in
            try await inbox.waitUntilUp()
            for _ in 0..<3 { _ = await perform(service, .typing, in: "group") }
            _ = await perform(service, .typing, in: "room")
            try await service.stopTyping(in: "group")
            await eventually { peer.commands.contains("TPEN") }
            #expect(peer.commands.filter { $0.hasPrefix("TP") } == ["TPST", "TPEN"])
        }
    }

    @Test func `what others say in a group channel is marked as delivered, once for many`() async throws {
        try await withSendbird(prepare: group) { peer, _, inbox in
            try await inbox.waitUntilUp()
            for number in 1...5 { peer.say("\(number)", by: "ana", in: "group") }
            let last = peer.say("last", by: "ana", in: "group")
            peer.say("open", by: "ana", in: "room")
            _ = try await inbox.story(of: 7)
            await eventually {
                peer.state.withLock { $0.commands.last { $0.letters == "MACK" }?.body["msg_id"]?.int } == last
            }
            #expect(peer.commands.count { $0 == "MACK" } <= 3)
        }
    }

    // MARK: Limits of our own

    @Test func `each kind of request has its own bucket, a second and a minute long`() {
        var paces = SendbirdLimits.sendbird.paces
        let now = Timestamp(milliseconds: 0)
        func wait(_ bucket: SendbirdLimits.Bucket, at moment: Timestamp) -> Duration {
            (paces[bucket] ?? []).indices.map { paces[bucket]?[$0].next(at: moment) ?? .zero }.max() ?? .zero
        }
        #expect((1...5).map { _ in wait(.send, at: now) }.allSatisfy { $0 == .zero })
        #expect(wait(.send, at: now) == .milliseconds(200))
        #expect(wait(.mark, at: now) == .zero)
        var reads = 0
        // 20 a second, and no more than 120 in a minute.
        for second in 0..<60 {
            for _ in 0..<20 where wait(.read, at: now + .seconds(second)) == .zero { reads += 1 }
        }
        #expect((120...240).contains(reads))
    }

    // MARK: Moderation

    @Test func `an operator moderates with the session, and the Platform API's key does where there is one`()
        async throws
    {
        for key in [nil, Secret("master")] {
            try await withSendbird(apiToken: key, prepare: group) { peer, service, inbox in
                try await inbox.waitUntilUp()
                let until = Timestamp.now + .seconds(90)
                for verb: ChatAction.Verb in [
                    .mute(user: "ana", until: until, reason: "spam"), .unmute(user: "ana"),
                    .ban(user: "a/b", until: nil, reason: String(repeating: "x", count: 300)),
                    .unban(user: "a/b"),
                    .removeMember(user: "ben"), .lock(until: nil, reason: nil), .unlock,
                ] {
                    guard case .success = await perform(service, verb, in: "group") else {
                        #expect(Bool(false), "\(verb)")
                        continue
                    }
                }
                let requests = peer.state.withLock { $0.requests.filter { $0.method != "GET" } }
                #expect(
                    requests.map { "\($0.method) \($0.path.dropFirst(22))" } == [
                        "POST mute", "DELETE mute/ana", "POST ban", "DELETE ban/a/b",
                        key == nil ? "POST ban" : "PUT leave", "PUT freeze", "PUT freeze",
                    ])
                #expect(requests.allSatisfy { $0.key == (key == nil ? "key1" : "platform master") })
                #expect(requests[0].body["seconds"]?.int.map { (89...91).contains($0) } == true)
                #expect(requests[2].body["seconds"] == -1)
                #expect(requests[2].body["description"]?.string?.count == 250)
                if key == nil { #expect(requests[4].body["seconds"] == 1) }
                #expect(requests[5].body == ["freeze": true])
                #expect(requests[6].body == ["freeze": false])
            }
        }
    }
}
