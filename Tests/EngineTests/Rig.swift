import Chat
import ChatTesting
@testable import Engine

/// An engine with everything around it, for tests.
struct Rig: Sendable {
    var settings = EngineSettings()
    var chat: FakeChat
    var services: [FakeChatService]
    var handlers: [any EventHandler]
    var journal: any Journal
    var time: any TimeSource
    var identities: Identities
    var log = Log.silent

    init(
        _ handlers: [any EventHandler], journal: any Journal = MemoryJournal(), chat: FakeChat? = nil,
        time: any TimeSource = SystemTime(), services: [FakeChatService]? = nil
    ) {
        let chat = chat ?? FakeChat(now: { time.now })
        identities = chat.identities
        self.chat = chat
        self.services = services ?? [FakeChatService(chat, channels: ["lobby", "staff"])]
        self.handlers = handlers
        self.journal = journal
        self.time = time
        settings.backoff = Backoff(first: .milliseconds(1), most: .milliseconds(50))
        settings.lookUpAfter = .milliseconds(1)
        settings.limits.loops = nil
    }

    func run<Result: Sendable>(_ body: @escaping @Sendable (Engine) async throws -> Result) async throws
        -> Result
    {
        try await Engine.run(
            settings, accounts: services.map { EngineAccount(name: $0.name, service: $0) },
            handlers: handlers,
            directory: Directory(), journal: journal, identities: identities, time: time, log: log, body: body
        )
    }

    /// The same, once all accounts are logged in.
    func runReady<Result: Sendable>(
        _ body: @escaping @Sendable (Engine) async throws -> Result
    ) async throws -> Result {
        try await run { engine in
            await engine.wait { $0.isReady }
            return try await body(engine)
        }
    }
}

/// A handler made of a closure.
struct Handler: EventHandler {
    var name: String
    var stage: Stage
    var needs = Needs()
    var body: @Sendable (ChatEvent, Situation) throws -> Decision

    init(
        _ name: String = "test", _ stage: Stage = .answer, needs: Needs = Needs(),
        _ body: @escaping @Sendable (ChatEvent, Situation) throws -> Decision
    ) {
        self.name = name
        self.stage = stage
        self.needs = needs
        self.body = body
    }

    func decide(_ event: ChatEvent, in situation: Situation) throws -> Decision { try body(event, situation) }

    /// Answers every message with its own text.
    static let echo = Handler("echo") { event, _ in
        guard case .messageAdded(let message) = event.kind else { return .nothing }
        return .reply("re: \(message.text)", to: event)
    }
}
