import Chat
import Glibc
import HTTP
import JSON
import Testing
import WebSocket

@testable import Services

@Suite(.timeLimit(.minutes(1))) struct TwilioAccounts {
    /// Runs an account against a scripted Twilio.
    private func withAccount(
        join: [String] = [], cursors: [String: Position] = [:], timing: TwilioTiming = .quick,
        source: (any TokenSource)? = nil, log: Log = .test,
        prepare: (ScriptedTwilio) throws -> Void = { _ in },
        _ body: (ScriptedTwilio, TwilioService, TestInbox) async throws -> Void
    ) async throws {
        let loop = try SocketLoop()
        let peer = ScriptedTwilio(loop: loop)
        try prepare(peer)
        let endpoint = try await peer.start()
        let http = HTTPClient()
        let settings = TwilioSettings(identity: "bot", token: .file("-"), endpoint: endpoint, join: join)
        let service = TwilioService(
            account: "twilio", settings: settings,
            source: source ?? ScriptedSource { token($0, life: 3600, at: .now) },
            tools: ServiceTools(identities: Identities(), loop: loop, http: http, log: log), timing: timing)
        let inbox = TestInbox(cursors: cursors)
        let running = Task { try await service.run(inbox) }
        let result: Result<Void, any Error>
        do {
            try await body(peer, service, inbox)
            result = .success(())
        } catch {
            result = .failure(error)
        }
        running.cancel()
        _ = await running.result
        await peer.stop()
        await http.shutdown()
        await loop.shutdown(grace: .zero)
        try result.get()
    }

    private let general = "CH00000000000000000000000000000001"

    @Test func `it logs in, hears what is said and answers`() async throws {
        try await withAccount(prepare: { peer in
            _ = peer.addChannel(1, name: "general", members: ["ana"])
            peer.say("before us", by: "ana", in: general)
        }) { peer, service, inbox in
            try await inbox.waitUntilUp()
            peer.say("hello", by: "ana", in: general)
            #expect(try await inbox.story(of: 1) == ["general + ana: hello"])
            let receipt = try await service.perform(
                ChatAction(.send(Outgoing("hi")), in: Place(account: "twilio", channel: "general")),
                key: ActionKey(text: "k1"))
            #expect(receipt == Receipt(message: MessageReference(id: "IM0012", index: 2), channel: general))
            let event = try #require(inbox.state.withLock { $0.events.first })
            #expect(event.message?.author.roles == ["channel user"])
            #expect(event.channel?.title == "Channel general")
            #expect(event.channel?.memberCount == 2)
            #expect(event.id == "IM0011")
            try await inbox.wait { $0.cursors["ES" + general.dropFirst(2)] == .number(3, index: 2) }
            await eventually { peer.state.withLock { $0.sent.isSubset(of: $0.acknowledged) } }
        }
    }
}

extension Log {
    /// Silent, unless a test is looked into.
    static var test: Log {
        guard let level = getenv("STEWARD_TEST_LOG") else { return .silent }
        return Log(level: String(cString: level) == "debug" ? .debug : .info) { line in
            let bytes = Array("\(line.level) \(line.text)\n".utf8)
            write(2, bytes, bytes.count)
        }
    }
}

extension TwilioTiming {
    static var quick: TwilioTiming {
        var timing = TwilioTiming()
        timing.tick = .milliseconds(10)
        timing.reorder = .milliseconds(50)
        timing.firstPause = .milliseconds(20)
        timing.behind = .milliseconds(20)
        timing.reply = .seconds(2)
        return timing
    }
}
