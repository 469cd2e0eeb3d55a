import Chat
import ChatTesting
import HTTP
import JSON
import Testing
import WebSocket

@testable import Services

/// The client of Sendbird on a scripted server.
private final class SendbirdStage: ChatServiceStage {
    let place = Place(account: "sendbird", channel: "room")
    private let loop: SocketLoop
    private let http = HTTPClient()
    private let peer: ScriptedSendbird
    private let endpoint: String
    private let source = ScriptedSource { "token\($0)" }

    init() async throws {
        loop = try SocketLoop()
        peer = ScriptedSendbird(loop: loop)
        peer.addRoom("room")
        endpoint = try await peer.start()
    }

    func service() async throws -> any ChatService {
        SendbirdService(
            account: "sendbird",
            settings: SendbirdSettings(app: "APP-1", user: "bot", endpoint: endpoint, join: ["room"]),
            source: source, tools: ServiceTools(identities: Identities(), loop: loop, http: http, log: .test),
            timing: .quick)
    }

    func say(_ text: String) async throws { peer.say(text, by: "ana", in: "room") }

    func texts() async throws -> [String] {
        peer.state.withLock { ($0.rooms["room"]?.messages ?? []).compactMap { $0["message"]?.string } }
    }

    func cut() async throws { peer.cut() }

    func expireToken() async throws {
        let count = try await tokenCount()
        peer.raw(#"EXPR{"expires_in":60,"reason":400302,"message":"token"}"# + "\n")
        try await source.isAsked(moreThan: count)
    }

    func tokenCount() async throws -> Int { source.asked.withLock { $0 } }

    func limit() async throws -> Duration? {
        let isOver = Locked(false)
        peer.judge { what, _ in
            guard what == "MESG" else { return .normal }
            return isOver.withLock { isOver in
                defer { isOver = true }
                return isOver ? .normal : .error(900200)
            }
        }
        return .seconds(1)
    }

    func unlimit() async throws { peer.judge { _, _ in .normal } }

    func end() async {
        await peer.stop()
        await http.shutdown()
        await loop.shutdown(grace: .zero)
    }
}

extension ScriptedSource {
    /// Waits until it was asked once more.
    fileprivate func isAsked(moreThan count: Int) async throws {
        await eventually { asked.withLock { $0 } > count }
        try Task.checkCancellation()
    }
}

@Suite(.timeLimit(.minutes(2))) struct SendbirdKeepsTheContract {
    @Test(arguments: ChatServiceContract.allCases)
    func `on a scripted server`(_ promise: ChatServiceContract) async throws {
        let stage = try await SendbirdStage()
        try await ending {
            try await promise.check(on: stage)
        } with: {
            await stage.end()
        }
    }
}
