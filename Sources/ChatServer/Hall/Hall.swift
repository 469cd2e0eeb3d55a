internal import Chat
internal import SQLite

/// The world and everyone who listens to it.
///
/// Changes are made one at a time and at once; what they lead to – events, replies – goes out in the same order, but
/// only after the store has them. So nothing that anybody was told is ever lost, and nobody is told twice.
final class Hall: Sendable {
    /// What one change leads to once it is stored.
    typealias Outcome = @Sendable (inout Audience) -> Void

    private struct State {
        var world: World
        var waiting: [Entry] = []
        /// How much waits: changes and their events.
        var load = 0
        var writer: CheckedContinuation<Void, Never>?
        var isClosed = false
        /// The writer has gone home: nothing is stored any more.
        var isOver = false
        /// Why nothing can be stored just now.
        var trouble: String?
        /// Who is told of that, whether they have come in or not.
        var watchers: [ObjectIdentifier: any Listener] = [:]

        /// Answers who has to be told; nobody when that is no news.
        mutating func setTrouble(_ new: String?) -> [any Listener]? {
            defer { trouble = new }
            return trouble == new ? nil : Array(watchers.values)
        }
    }

    private struct Entry: Sendable {
        var news: World.News
        var outcome: Outcome?
    }

    private let state: Locked<State>
    private let store: WorldStore?
    private let log: Log
    /// Above this many changes and events that are not yet stored, those who bring more should wait.
    private let bound = 8000

    init(_ world: World, store: WorldStore?, log: Log) {
        state = Locked(State(world: world))
        self.store = store
        self.log = log
    }

    /// Changes the world, or reads it, and says what to do when that is stored. The outcomes run one after the other
    /// in the order of the changes; they must not wait.
    func take(_ turn: (inout World) -> Outcome?) {
        let (writer, late): (CheckedContinuation<Void, Never>?, Outcome?) = state.withLock { state in
            let outcome = turn(&state.world)
            let news = state.world.takeNews()
            if state.isOver { return (nil, outcome) }
            guard outcome != nil || !news.events.isEmpty || !news.changes.isEmpty else { return (nil, nil) }
            state.waiting.append(Entry(news: news, outcome: outcome))
            state.load += 1 + news.events.count
            defer { state.writer = nil }
            return (state.writer, nil)
        }
        writer?.resume()
        // Nobody listens any more, but whoever waits must be answered.
        var nobody = Audience()
        late?(&nobody)
    }

    /// Only looks; sees changes that are not stored yet.
    func look<Result: Sendable, Failure>(
        _ body: (World) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try state.withLock { state throws(Failure) in try body(state.world) }
    }

    /// Changes the world and returns when the change is stored and all who listen have been told.
    @discardableResult
    func change<Result: Sendable>(
        _ body: @Sendable (inout World) throws(WorldError) -> Result
    ) async throws(WorldError) -> Result {
        let result: Swift.Result<Result, WorldError> = await withCheckedContinuation { continuation in
            take { world in
                do throws(WorldError) {
                    let result = try body(&world)
                    return { _ in continuation.resume(returning: .success(result)) }
                } catch {
                    return { _ in continuation.resume(returning: .failure(error)) }
                }
            }
        }
        return try result.get()
    }

    /// Returns when all that came before is stored and told.
    func settled() async {
        await withCheckedContinuation { continuation in
            take { _ in { _ in continuation.resume() } }
        }
    }

    /// Waits while too much is not yet stored.
    func ready() async {
        if state.withLock({ $0.load > bound }) { await settled() }
    }

    /// Stores and tells until `close` was called and everything is done.
    func run() async {
        var audience = Audience()
        while let entries = await next() {
            if let store {
                await write(entries.flatMap(\.news.changes), to: store)
            }
            for entry in entries {
                for event in entry.news.events { audience.tell(event) }
                entry.outcome?(&audience)
            }
        }
    }

    func close() {
        let writer: CheckedContinuation<Void, Never>? = state.withLock { state in
            state.isClosed = true
            defer { state.writer = nil }
            return state.writer
        }
        writer?.resume()
    }

    private func next() async -> [Entry]? {
        while true {
            let (entries, isClosed) = state.withLock { state in
                defer {
                    state.waiting.removeAll()
                    state.load = 0
                }
                state.isOver = state.isClosed && state.waiting.isEmpty
                return (state.waiting, state.isClosed)
            }
            if !entries.isEmpty { return entries }
            if isClosed { return nil }
            await withCheckedContinuation { continuation in
                let isNeeded = state.withLock { state in
                    if state.waiting.isEmpty, !state.isClosed {
                        state.writer = continuation
                        return false
                    }
                    return true
                }
                if isNeeded { continuation.resume() }
            }
        }
    }

    /// Why nothing can be stored just now; nil when all is well. Who brings something new meanwhile should be sent away:
    /// what was taken already waits, and nobody can say for how long.
    var trouble: String? { state.withLock { $0.trouble } }

    /// Tells from now on of troubles and their ends, and at once of one that there is.
    func watch(_ listener: any Listener) {
        state.withLock { state in
            state.watchers[ObjectIdentifier(listener)] = listener
            // Under the lock, so that the trouble's end cannot be told before it.
            if let trouble = state.trouble { listener.hear(trouble: trouble) }
        }
    }

    func unwatch(_ listener: any Listener) {
        state.withLock { $0.watchers[ObjectIdentifier(listener)] = nil }
    }

    /// Tries until it works: what was not stored must not be told.
    private func write(_ changes: [WorldChange], to store: WorldStore) async {
        guard !changes.isEmpty else { return }
        var report = Timestamp(milliseconds: 0)
        while true {
            do {
                try await store.write(changes)
                return recover()
            } catch {
                let trouble = "the server cannot store anything just now: \(Self.reason(for: error))"
                let watchers = state.withLock { $0.setTrouble(trouble) }
                for watcher in watchers ?? [] { watcher.hear(trouble: trouble) }
                if watchers != nil || Timestamp.now - report >= .seconds(60) {
                    log.error(
                        "chat server: \(error); what waits is stored when that is mended, what is new is refused"
                    )
                    report = .now
                }
                guard (try? await Task.sleep(for: .seconds(1))) != nil else { return }
            }
        }
    }

    /// For people at the page, whom the server's paths do not concern.
    private static func reason(for error: any Error) -> String {
        switch (error as? DatabaseError)?.kind {
        case .full: "its disk is full"
        case .readOnly, .cannotOpen: "it may not write its file"
        case .busy: "another program holds its file"
        case .corrupt, .notADatabase: "its file is damaged"
        default: "its disk fails"
        }
    }

    private func recover() {
        guard let watchers = state.withLock({ $0.setTrouble(nil) }) else { return }
        log.info("chat server: its state can be written again")
        for watcher in watchers { watcher.hear(trouble: nil) }
    }
}
