import Chat
import ChatServer
import Glibc
import HTTP
import Testing
import WebSocket

@testable import Services

/// Cut sockets, tokens that end and servers that start again: nothing is lost, and nothing comes twice.
@Suite(.timeLimit(.minutes(2))) struct TroubleOnTheBuiltInServer {
    private let place = Place(account: "twilio", channel: "general")

    @Test func `fifty cut sockets lose and double nothing`() async throws {
        try await BuiltInServerStage.run { stage in
            let (server, general, inbox) = try await stage.start()
            let before = inbox.story.count
            for number in 0..<1000 {
                if number % 20 == 10 { server.drop("bot") }
                if number % 7 == 0 { server.add(Fault(.misorder, for: "bot")) }
                if number % 11 == 0 { server.add(Fault(.duplicate, for: "bot")) }
                if number % 101 == 0 { server.add(Fault(.lose, for: "bot")) }
                try await server.post("\(number)", in: general, as: "ana")
            }
            server.clearFaults()
            try await server.post("last", in: general, as: "ana")
            try await inbox.wait { $0.events.contains { $0.message?.text == "last" } }
            let story = inbox.story.dropFirst(before).filter { $0.contains("+") }
            #expect(story == (0..<1000).map { "general + ana: \($0)" } + ["general + ana: last"])
        }
    }

    @Test func `each answer once, cut before and after the post was taken`() async throws {
        try await BuiltInServerStage.run { stage in
            let server = stage.now
            let general = try await server.channel("general", as: "ana")
            let inbox = TestInbox()
            let service = try stage.login(inbox: inbox)
            try await inbox.waitUntilUp()
            for number in 0..<20 {
                server.add(Fault(number % 2 == 0 ? .cutBeforePost : .cutAfterPost, for: "bot"))
                let action = ChatAction(.send(Outgoing("\(number)")), in: place)
                let key = ActionKey(text: "key-\(number)")
                // What the outbox does.
                while true {
                    do throws(ChatServiceError) {
                        _ = try await service.perform(action, key: key)
                        break
                    } catch {
                        guard case .unknownOutcome = error else {
                            await Task.yield()
                            continue
                        }
                        let ups = inbox.state.withLock { $0.statuses.count { $0 == .up } }
                        try await inbox.waitUntilUp(times: ups)
                        guard try await isDone(action, key, service) else { continue }
                        break
                    }
                }
            }
            #expect(server.messages(in: general).map(\.content.body) == (0..<20).map { "\($0)" })
        }
    }

    private func isDone(
        _ action: ChatAction, _ key: ActionKey, _ service: TwilioService
    ) async throws -> Bool {
        while true {
            try Task.checkCancellation()
            do throws(ChatServiceError) {
                return try await service.find(action, key: key, since: .now) != nil
            } catch {
                await Task.yield()
            }
        }
    }

    @Test func `tokens of four seconds are refreshed on the same socket`() async throws {
        try await BuiltInServerStage.run { stage in
            let server = stage.now
            let general = try await server.channel("general", as: "ana")
            try await server.join(general, as: "ana")
            let inbox = TestInbox()
            _ = try stage.login(life: 4, inbox: inbox)
            try await inbox.waitUntilUp()
            let before = inbox.story.count
            let end = ContinuousClock.now + .seconds(13)
            var sent = 0
            while ContinuousClock.now < end {
                try await server.post("\(sent)", in: general, as: "ana")
                sent += 1
                _ = try await inbox.story(of: before + sent)
            }
            #expect(inbox.state.withLock { $0.statuses } == [.connecting, .up])
        }
    }

    @Test func `a token server that is wrong for a while costs no account that has worked`() async throws {
        try await BuiltInServerStage.run { stage in
            let inbox = TestInbox()
            _ = try stage.login(inbox: inbox)
            try await inbox.waitUntilUp()
            stage.now.add(Fault(.refuseToken(status: 404), times: 2))
            stage.now.expire("bot")
            try await inbox.waitUntilUp(times: 2)
            #expect(inbox.state.withLock { $0.failure } == nil)
        }
    }

    @Test func `refused, expired and moved it is back with everything`() async throws {
        try await BuiltInServerStage.run { stage in
            let server = stage.now
            let general = try await server.channel("general", as: "ana")
            try await server.join(general, as: "ana")
            server.add(Fault(.refuseInit(status: 401, code: 20104, backoff: nil), for: nil))
            server.add(Fault(.refuseInit(status: 429, code: 51202, backoff: .milliseconds(100)), for: nil))
            server.add(Fault(.notEstablished, for: nil))
            let inbox = TestInbox()
            _ = try stage.login(inbox: inbox)
            try await inbox.waitUntilUp()
            var ups = 1
            for code in [410, 308, 503, 401] {
                server.close(code, for: "bot")
                try await server.post("\(code)", in: general, as: "ana")
                ups += 1
                try await inbox.waitUntilUp(times: ups)
            }
            server.warn("bot")
            try await inbox.wait { $0.events.count { $0.message?.author.name == "ana" } == 4 }
            #expect(
                inbox.story.filter { $0.contains("+") }
                    == [410, 308, 503, 401].map { "general + ana: \($0)" })
        }
    }

    @Test func `a server that is started again with its state misses nothing`() async throws {
        let file = "/tmp/steward-world-\(getpid())-\(UInt32.random(in: 0 ... .max)).db"
        defer { for end in ["", "-wal", "-shm"] { unlink(file + end) } }
        var settings = ServerSettings()
        settings.state = file
        try await BuiltInServerStage.run(settings) { stage in
            let general = try await stage.now.channel("general", as: "ana")
            try await stage.now.join(general, as: "ana")
            let inbox = TestInbox()
            _ = try stage.login(inbox: inbox)
            try await inbox.waitUntilUp()
            settings.port = stage.now.port
            for round in 0..<5 {
                try await stage.now.post("a\(round)", in: general, as: "ana")
                await stage.now.shutdown(grace: .milliseconds(50))
                let again = try await ChatServer.start(settings, loop: stage.loop)
                stage.server.withLock { $0 = again }
                try await again.post("b\(round)", in: general, as: "ana")
                try await inbox.waitUntilUp(times: round + 2)
            }
            try await stage.now.post("end", in: general, as: "ana")
            try await inbox.wait { $0.events.contains { $0.message?.text == "end" } }
            // And we: another process would begin where the last one was.
            await stage.logout()
            try await stage.now.post("while we were away", in: general, as: "ana")
            let next = TestInbox(cursors: inbox.state.withLock { $0.cursors })
            _ = try stage.login(inbox: next)
            try await next.waitUntilUp()
            let expected = (0..<5).flatMap { ["general + ana: a\($0)", "general + ana: b\($0)"] }
            #expect(
                inbox.story.filter { $0.contains("+") } == expected + ["general + ana: end"])
            #expect(next.story.filter { $0.contains("+") } == ["general + ana: while we were away"])
        }
    }

    @Test(arguments: [302, 403, 404])
    func `a token server that is wrong at the first log-in is asked until it is right`(status: Int)
        async throws
    {
        try await BuiltInServerStage.run { stage in
            stage.now.add(Fault(.refuseToken(status: status)))
            let inbox = TestInbox()
            _ = try stage.login(inbox: inbox)
            try await inbox.waitUntilUp()
            let (statuses, failure) = inbox.state.withLock { ($0.statuses, $0.failure) }
            #expect(failure == nil)
            guard case .down(let reason) = statuses.dropFirst().first else {
                Issue.record("not down: \(statuses)")
                return
            }
            #expect(reason.hasPrefix("127.0.0.1:\(stage.now.port)/token answered \(status)"))
        }
    }
}
