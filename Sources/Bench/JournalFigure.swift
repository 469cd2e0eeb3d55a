internal import Chat
internal import Engine
internal import Rules
internal import Services

/// The whole way without sockets: frames, events, decisions, each on the disk before it counts, and actions performed by
/// a service that does nothing.
enum JournalFigure {
    private static let events = 200_000

    static func measure() async throws {
        let vocabulary = Vocabulary(keywords: 10)
        let frames = Frames(Traffic(events, afterAll: true, vocabulary: vocabulary))
        Table.section(
            "frame to durable decision to outbox, two cores (\(events) frames by \(Traffic.users) known users; median of 3)"
        )
        let sync = try await DiskSync.measure(100).median
        var rates = Samples()
        var metrics = EngineMetrics()
        for run in 0..<3 {
            let (rate, counted) = try await once(frames, vocabulary, run)
            rates.add(rate)
            metrics = counted
        }
        let each = Double(metrics.decided) / Double(max(1, metrics.commits))
        Table.line(
            "with the journal, synchronous=FULL", "\(rates.median.rate)/s", "100,000/s",
            "best \(rates.most.rate)/s; \(metrics.actions[.done] ?? 0) actions; \(each.fixed(0)) events a commit; "
                + "bare fdatasync \((sync * 1e6).fixed(0)) µs")
    }

    private static func once(
        _ frames: Frames, _ vocabulary: Vocabulary, _ run: Int
    ) async throws -> (rate: Double, EngineMetrics) {
        let folder = try Workspace("journal-\(run)")
        let journal = try await SQLiteJournal.open("\(folder.path)/steward.db")
        let rules = try KeywordRules.load(vocabulary.keywords)
        let identities = Identities()
        let service = FrameService(frames, identities)
        let result = try await Engine.run(
            EngineSettings(), accounts: [EngineAccount(name: KeywordRules.account, service: service)],
            handlers: rules.handlers, directory: KeywordRules.directory, journal: journal,
            identities: identities, log: .silent
        ) { engine in
            await engine.wait { $0.isReady }
            // Who has never been seen is looked for in the store: that is behind it when the time is taken.
            service.give(Traffic.users)
            let known = try await decided(Traffic.users, by: engine)
            let start = Stopwatch.now
            service.give(frames.count)
            var metrics = try await decided(frames.count, by: engine)
            metrics.commits -= known.commits
            metrics.decided -= known.decided
            metrics.actions[.done, default: 0] -= known.actions[.done] ?? 0
            return (Double(events) / (Stopwatch.now - start), metrics)
        }
        await journal.close()
        return result
    }
}

extension JournalFigure {
    private static func decided(_ count: Int, by engine: Engine) async throws -> EngineMetrics {
        let start = Stopwatch.now
        while true {
            let metrics = await engine.metrics
            if metrics.decided >= count, metrics.outboxes.values.allSatisfy({ $0 == 0 }) { return metrics }
            guard Stopwatch.now - start < 60 else {
                throw BenchError("only \(metrics.decided) events were decided in a minute")
            }
            try await Task.sleep(for: .milliseconds(2))
        }
    }
}

/// An account whose frames are there already, and whose actions are done at once.
private final class FrameService: ChatService {
    let abilities = TwilioService.abilities
    private let frames: Frames
    private let identities: Identities
    /// So many may be read.
    private let given = Locked(0)

    init(_ frames: Frames, _ identities: Identities) {
        self.frames = frames
        self.identities = identities
    }

    func give(_ count: Int) { given.withLock { $0 = count } }

    func run(_ inbox: any Inbox) async throws {
        let book = Pipeline.book(identities: identities)
        await inbox.identified(as: book.own, in: book.realm)
        inbox.report(.up)
        var reader = TwilioReader(book: book)
        var start = 0
        while start < frames.count {
            let end = min(start + 64, given.withLock(\.self))
            guard start < end else {
                try await Task.sleep(for: .milliseconds(1))
                continue
            }
            defer { start = end }
            frames.read(start..<end) { reader.read($0, at: .now) }
            _ = reader.takeAcknowledgements()
            let events = reader.book?.takeEvents() ?? []
            // A real service would read them again later; here the source waits.
            while await inbox.deliver(events) == .behind { try await Task.sleep(for: .milliseconds(1)) }
        }
        try await Task.sleep(for: .seconds(3600))
    }

    func perform(_ action: ChatAction, key: ActionKey) async throws(ChatServiceError) -> Receipt {
        Receipt(message: MessageReference(id: key.text), channel: action.place.channel)
    }

    func find(
        _ action: ChatAction, key: ActionKey, since: Timestamp
    ) async throws(ChatServiceError) -> Receipt? { nil }
}
