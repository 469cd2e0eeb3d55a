import Chat
import ChatTesting
import HTTP
import JSON
import Testing
import WebSocket

@testable import ChatServer
@testable import Services

/// The client of Sendbird on the chat server that steward brings along: neither was written from the other.
private final class SendbirdDoorStage: ChatServiceStage {
    let place = Place(account: "sendbird", channel: "general")
    let loop: SocketLoop
    let http = HTTPClient()
    let server: ChatServer
    let channel: SID
    let source: ScriptedSource
    private let apiToken: Secret?
    private let join: [String]

    init(
        apiToken: Secret? = nil, join: [String] = ["general"],
        change: (inout ServerSettings) -> Void = { _ in }
    ) async throws {
        loop = try SocketLoop()
        var settings = ServerSettings()
        settings.writesPerSecond = nil
        settings.sendbird.reconnect = (interval: 0.05, longest: 0.5, factor: 2, tries: 5)
        settings.sendbird.apiToken = apiToken?.reveal()
        change(&settings)
        let server = try await ChatServer.start(settings, loop: loop)
        self.server = server
        self.apiToken = apiToken
        self.join = join
        channel = try await server.channel("general", as: "ana")
        try await server.join(channel, as: "ana")
        let (http, address) = (http, server.address)
        source = ScriptedSource { _ async throws(TokenError) in
            try await URLTokenSource(
                URLTokenSource.Settings(url: "\(address)/token"), identity: "bot", device: nil, http: http
            ).token()
        }
    }

    func service() async throws -> any ChatService { make() }

    func make(_ log: Log = .test) -> SendbirdService {
        let settings = Services.SendbirdSettings(
            app: server.application, user: "bot", apiToken: apiToken,
            endpoint: "ws" + server.address.dropFirst(4), join: join)
        return SendbirdService(
            account: "sendbird", settings: settings, source: source,
            tools: ServiceTools(identities: Identities(), loop: loop, http: http, log: log), timing: .quick)
    }

    func say(_ text: String) async throws { try await server.post(text, in: channel, as: "ana") }
    func texts() async throws -> [String] { server.messages(in: channel).map { $0.content.body ?? "" } }

    func cut() async throws {
        for connection in server.sendbird.connections.of("bot") { connection.socket.kill() }
    }

    func expireToken() async throws {
        let count = try await tokenCount()
        for connection in server.sendbird.connections.of("bot") { connection.warn(400302) }
        await eventually { source.asked.withLock { $0 } > count }
    }

    func tokenCount() async throws -> Int { source.asked.withLock { $0 } }

    func limit() async throws -> Duration? {
        server.add(Fault(.refuse(status: 429, code: 900200, retryAfter: 1), for: "bot"))
        return .seconds(1)
    }

    func unlimit() async throws { server.clearFaults() }

    func end() async {
        await server.shutdown(grace: .milliseconds(100))
        await http.shutdown()
        await loop.shutdown(grace: .zero)
    }

    /// With the account logged in.
    func run(_ body: (SendbirdService, TestInbox) async throws -> Void) async throws {
        let service = make()
        let inbox = TestInbox()
        try await running(service, inbox) {
            try await inbox.wait { $0.statuses.contains(.up) || $0.failure != nil }
            #expect(inbox.state.withLock { $0.failure } == nil)
            try await body(service, inbox)
        } end: {
            await end()
        }
    }
}

@Suite(.timeLimit(.minutes(2))) struct SendbirdOnTheBuiltInServer {
    @Test(arguments: ChatServiceContract.allCases)
    func `the contract is kept`(_ promise: ChatServiceContract) async throws {
        let stage = try await SendbirdDoorStage()
        try await ending {
            try await promise.check(on: stage)
        } with: {
            await stage.end()
        }
    }

    private func perform(
        _ service: SendbirdService, _ verb: ChatAction.Verb, in channel: String = "general", key: String = "k"
    ) async throws -> Receipt {
        try await service.perform(sendbirdAction(verb, in: channel), key: ActionKey(text: key))
    }

    @Test func `messages, edits, deletions, typing, reading and reactions go both ways`() async throws {
        let stage = try await SendbirdDoorStage()
        try await stage.run { service, inbox in
            try await stage.say("hello")
            _ = try await inbox.story(of: 1)
            let event = try #require(inbox.state.withLock { $0.events.last { $0.message?.text == "hello" } })
            let hello = MessageReference(try #require(event.message))
            let sent = try await perform(service, .reply(Outgoing("hi", attributes: "{\"a\":1}"), to: hello))
            let message = try #require(sent.message)
            try await inbox.wait { $0.events.contains { $0.message?.text == "hi" } }
            let told = inbox.state.withLock { $0.events.first { $0.message?.text == "hi" } }
            #expect(told?.message?.replyTo == hello.id)
            _ = try await perform(service, .editMessage(message, text: "hi!"), key: "k2")
            try await inbox.wait { $0.events.contains { $0.name == .messageEdited } }
            _ = try await perform(service, .react("thumbs", to: hello), key: "k3")
            try await inbox.wait { $0.events.contains { $0.name == .reactionAdded } }
            _ = try await perform(service, .deleteMessage(message), key: "k4")
            try await inbox.wait { $0.events.contains { $0.name == .messageDeleted } }
            #expect(try await stage.texts() == ["hello"])
            _ = try await perform(service, .typing, key: "k5")
            _ = try await perform(service, .advanceReadHorizon(to: 1), key: "k6")
        }
    }

    @Test func `an open channel is made, entered, and entered again after a cut`() async throws {
        let stage = try await SendbirdDoorStage(join: ["general", "room"])
        try await stage.run { service, inbox in
            _ = try await perform(service, .send(Outgoing("one")), in: "room")
            try await stage.cut()
            try await inbox.waitUntilUp(times: 2)
            let sid = try #require(stage.server.look { $0.channelURLs["room"] })
            try await stage.server.change { world throws(WorldError) in
                _ = try world.user("ana", at: .now)
                _ = try? world.join(sid, "ana", as: "ana", at: .now)
                _ = try world.post(.init(body: "two"), in: sid, as: "ana", at: .now)
            }
            try await inbox.wait { $0.events.contains { $0.message?.text == "two" } }
            #expect(await service.rights().first { $0.channel.id.text == "room" }?.roles == ["operator"])
            let lists = try await service.openChannels()
            #expect(lists.elements.map(\.channel.id.text).contains("room"))
        }
    }

    @Test func `a direct channel is one, a file goes through, and history is read back`() async throws {
        let stage = try await SendbirdDoorStage()
        try await stage.run { service, inbox in
            let url = try await service.directChannel(to: "ana")
            #expect(try await service.directChannel(to: "ana") == url)
            let outgoing = Outgoing(
                "look",
                attachments: [.init(name: "x.txt", contentType: "text/plain", bytes: Array("abc".utf8))])
            let receipt = try await perform(service, .direct(outgoing, user: "ana"))
            #expect(receipt.channel == url)
            let found = try await service.find(
                sendbirdAction(.direct(outgoing, user: "ana")), key: ActionKey(text: "k"),
                since: Timestamp(milliseconds: 0))
            #expect(found == receipt)
            let page = try await service.messages(in: url)
            #expect(page.elements.map(\.text) == ["look", ""])
            #expect(page.elements.last?.attachments.first?.name == "x.txt")
            #expect(page.elements.last?.attachments.first?.size == 3)
            let list = try await service.groupChannels()
            #expect(list.elements.contains { $0.channel.id.text == url && $0.channel.isDirect })
        }
    }

    @Test(arguments: [nil, Secret("master of all")])
    func `moderation is native: by an operator, or with the Platform API's key`(_ key: Secret?) async throws {
        let stage = try await SendbirdDoorStage(apiToken: key) { settings in
            if key == nil { settings.admins = ["bot"] }
        }
        try await stage.run { service, inbox in
            try await stage.server.join(stage.channel, as: "ben")
            try await inbox.wait { $0.events.contains { $0.short == "general joined ben" } }
            let until = Timestamp.now + .seconds(60)
            _ = try await perform(service, .mute(user: "ben", until: until, reason: "spam"))
            try await inbox.wait { $0.events.contains { $0.name == .memberMuted } }
            _ = try await perform(service, .unmute(user: "ben"))
            try await inbox.wait { $0.events.contains { $0.name == .memberUpdated } }
            _ = try await perform(service, .lock(until: nil, reason: nil))
            try await inbox.wait { $0.events.contains { $0.name == .channelFrozen } }
            _ = try await perform(service, .unlock)
            try await inbox.wait { $0.events.contains { $0.name == .channelUpdated } }
            _ = try await perform(service, .ban(user: "ben", until: nil, reason: nil))
            try await inbox.wait { $0.events.contains { $0.name == .memberBanned } }
            _ = try await perform(service, .unban(user: "ben"))
            try await stage.server.join(stage.channel, as: "cat")
            try await inbox.wait { $0.events.contains { $0.short == "general joined cat" } }
            _ = try await perform(service, .removeMember(user: "cat"))
            try await inbox.wait {
                $0.events.contains {
                    [.memberLeft, .memberBanned].contains($0.name) && $0.member?.name == "cat"
                }
            }
            #expect(
                inbox.state.withLock {
                    $0.events.count { $0.name == .memberBanned && $0.member?.name == "ben" }
                } == 1)
            #expect(
                inbox.state.withLock {
                    $0.events.count { $0.name == .memberLeft && $0.member?.name == "ben" }
                } == 0)
        }
    }

    @Test func `every fault of the server costs nothing`() async throws {
        for kind: Fault.Kind in [
            .misorder, .duplicate, .oldTime, .gzip, .glued, .unended, .lose, .noPong,
        ] {
            let stage = try await SendbirdDoorStage { $0.sendbird.pingInterval = 1 }
            try await stage.run { service, inbox in
                stage.server.add(Fault(kind, for: "bot"))
                for number in 1...4 { try await stage.say("\(number)") }
                if kind == .lose {
                    // Nothing says that it is missing; the next connection finds it.
                    try await stage.cut()
                }
                let story = try await inbox.story(of: 4)
                #expect(story.sorted() == (1...4).map { "general + ana: \($0)" }, "\(kind)")
            }
        }
    }

    @Test func `cut around a post, unanswered or refused, it is posted once`() async throws {
        for kind: Fault.Kind in [
            .cutBeforePost, .cutAfterPost, .noReply, .refuse(status: 500, code: 500901, retryAfter: nil),
        ] {
            let stage = try await SendbirdDoorStage()
            try await stage.run { service, inbox in
                let begun = Timestamp.now
                stage.server.add(Fault(kind, for: "bot"))
                let action = sendbirdAction(.send(Outgoing("once")), in: "general")
                let key = ActionKey(text: "k")
                while true {
                    do throws(ChatServiceError) {
                        _ = try await service.perform(action, key: key)
                        break
                    } catch {
                        if case .rejected = error { throw error }
                        guard case .unknownOutcome = error else {
                            // Else nobody else gets to run.
                            await Task.yield()
                            continue
                        }
                        var found: Receipt?
                        await eventually {
                            do {
                                found = try await service.find(action, key: key, since: begun)
                                return true
                            } catch {
                                return false
                            }
                        }
                        if found != nil { break }
                    }
                }
                let texts = try await stage.texts()
                #expect(texts == ["once"], "\(kind)")
            }
        }
    }
}
