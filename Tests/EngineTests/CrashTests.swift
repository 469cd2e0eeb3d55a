import Chat
import ChatTesting
@testable import Engine
import Testing

/// Steward is killed at every point where something becomes durable or goes out, and started again on the same store.
@Suite(.timeLimit(.minutes(3))) struct Crashes {
    static let channels = ["lobby", "staff"]
    static let messages = 12

    /// Answers questions, removes what is forbidden, and takes its answers to "soon" back later.
    static let handlers: [any EventHandler] = [
        Handler("forbidden", .guard) { event, _ in
            guard case .messageAdded(let message) = event.kind, message.text.contains("bad"),
                let place = event.place
            else { return .nothing }
            var decision = Decision()
            decision.actions = [ChatAction(.deleteMessage(MessageReference(message)), in: place)]
            decision.removed = true
            return decision
        },
        Handler("counts") { event, situation in
            let key = MemoryKey(owner: "counts", name: "answers", subject: .all)
            switch event.kind {
            case .messageAdded(let message):
                guard let place = event.place else { return .nothing }
                var count: Int64 = 0
                if case .number(let known)? = situation.memory.value(of: key) { count = known }
                var action = ChatAction(
                    .reply(Outgoing("\(message.text) is \(count + 1)"), to: MessageReference(message)),
                    in: place)
                if message.text.hasPrefix("soon") {
                    action.then = Continuation(owner: "counts", step: "delete_after")
                }
                var decision = Decision()
                decision.actions = [action]
                decision.changes = [.add(key, 1, keep: nil)]
                decision.answers = 1
                return decision
            case .resumed(let continuation, .done(let receipt)):
                var later = continuation
                later.due = situation.now
                later.values["message"] = receipt.message?.id
                var decision = Decision()
                decision.later = [later]
                return decision
            case .resumed(let continuation, .due):
                guard let place = continuation.place, let message = continuation.values["message"] else {
                    break
                }
                var decision = Decision()
                decision.actions = [ChatAction(.deleteMessage(MessageReference(id: message)), in: place)]
                return decision
            default: break
            }
            return .nothing
        },
    ]

    private let file = TemporaryFile()
    private let chat = FakeChat()

    private func rig(_ journal: any Journal) -> Rig {
        var rig = Rig(Self.handlers, journal: journal, chat: chat)
        rig.settings.batchLimit = 3
        return rig
    }

    private func speak() {
        for number in 0..<Self.messages {
            for channel in Self.channels {
                let kind = number % 4 == 1 ? "bad" : number % 4 == 2 ? "soon" : "fine"
                chat.say("\(kind) \(number)", as: "user\(number % 5)", in: channel)
            }
        }
    }

    /// A first run, so that the streams have begun, then people write while nobody reads.
    private func prepare() async throws {
        let journal = try await SQLiteJournal.open(file.path)
        _ = try await rig(journal).runReady { _ in }
        await journal.close()
        speak()
    }

    /// Runs until nothing is left to do.
    private func finish() async throws {
        let journal = try await SQLiteJournal.open(file.path)
        try await rig(journal).runReady { [chat] _ in
            await chat.wait { Self.isComplete($0) }
        }
        await journal.close()
    }

    private static func isComplete(_ chat: FakeChat) -> Bool {
        channels.allSatisfy { channel in
            let all = chat.messages(in: channel)
            let answered = chat.allMessages(in: channel).count { $0.key != nil }
            let isClean = !all.contains {
                $0.text.hasPrefix("bad") || ($0.key != nil && $0.text.hasPrefix("soon"))
            }
            return answered >= messages * 3 / 4 && isClean
        }
    }

    /// Every question has one answer, in order; all that was to go is gone; every answer was counted once.
    private func check(_ when: Comment) {
        var counts: [Int] = []
        for channel in Self.channels {
            let answers = chat.allMessages(in: channel).filter { $0.key != nil }
            let asked = (0..<Self.messages).filter { $0 % 4 != 1 }
            let words = answers.map { $0.text.split(separator: " ") }
            #expect(words.compactMap { Int($0[1]) } == asked, when)
            let kept = answers.filter { $0.text.hasPrefix("soon") && !$0.isDeleted }
            #expect(kept == [], when)
            counts += words.compactMap { Int($0[3]) }
        }
        #expect(counts.sorted() == Array(1...counts.count), when)
    }

    private static let appendPoints = Array(1...24)

    @Test(arguments: appendPoints, [false, true])
    func `a power cut at any append loses nothing and doubles nothing`(_ number: Int, _ afterwards: Bool)
        async throws
    {
        try await prepare()
        let inner = try await SQLiteJournal.open(file.path)
        let journal = PowerCutJournal(inner, cutAt: number, afterwards: afterwards)
        await journal.run(rig(journal)) { Self.isComplete($0) }
        await inner.close()
        try await finish()
        check("append \(number)\(afterwards ? ", which was written" : "")")
    }

    @Test(arguments: Array(0...24), [false, true])
    func `a kill at any action loses nothing and doubles nothing`(_ number: Int, _ afterwards: Bool)
        async throws
    {
        try await prepare()
        let journal = try await SQLiteJournal.open(file.path)
        chat.script(
            [FakeChat.Fault](repeating: .none, count: number) + [afterwards ? .hangsAfterwards : .hangs])
        let rig = rig(journal)
        let run = Task {
            try await rig.run { [chat] _ in await chat.wait { Self.isComplete($0) || $0.hanging > 0 } }
        }
        let cut = Task { [chat] in
            await chat.wait { $0.hanging > 0 }
            run.cancel()
        }
        _ = await run.result
        cut.cancel()
        chat.clearScript()
        await journal.close()
        try await finish()
        check("action \(number)\(afterwards ? ", which was done" : "")")
    }

    /// Everything at once, differently each time: faults of the service, cut lines, and kills.
    @Test(arguments: 1...40)
    func `trouble of all kinds loses nothing and doubles nothing`(_ seed: Int) async throws {
        try await prepare()
        var random = Dice(seed: UInt64(seed))
        for _ in 0..<4 {
            chat.clearScript()
            chat.script(
                (0..<30).map { _ in
                    switch random.roll(8) {
                    case 0: .fails(.unknownOutcome("cut"))
                    case 1: .failsAfterwards(.unknownOutcome("cut"))
                    case 2: .fails(.unreachable("gone"))
                    case 3: .fails(.rateLimited(after: .zero, "slower"))
                    case 4: .fails(.unauthorized("token"))
                    default: .none
                    }
                })
            let inner = try await SQLiteJournal.open(file.path)
            let journal = PowerCutJournal(
                inner, cutAt: 1 + random.roll(15), afterwards: random.roll(2) == 0)
            let rig = rig(journal)
            let trouble = Task { [chat] in
                while !journal.isCut, !Task.isCancelled {
                    chat.setReachable(false)
                    await Task.yield()
                    chat.setReachable(true)
                    for _ in 0..<300 { await Task.yield() }
                }
            }
            await journal.run(rig) { Self.isComplete($0) }
            trouble.cancel()
            await trouble.value
            await inner.close()
            chat.setReachable(true)
        }
        chat.clearScript()
        try await finish()
        check("seed \(seed)")
    }
}

/// The same numbers for the same seed.
private struct Dice {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed &* 0x9E37_79B9_7F4A_7C15
    }

    mutating func roll(_ sides: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int((state >> 33) % UInt64(sides))
    }
}
