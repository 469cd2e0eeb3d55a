import Chat
import ChatTesting
import Glibc
import Testing

@testable import Engine

@Suite(.timeLimit(.minutes(1))) struct Supervision {
    @Test
    func
        `a connection that hears nothing is made anew, and the watchdog starves only when that helps nothing`()
        async throws
    {
        let clock = ManualClock()
        let rig = Rig([.echo], time: clock)
        try await rig.runReady { engine in
            rig.services[0].setFaults { $0.isDeaf = true }
            for round in 1...3 {
                #expect(engine.mayFeedWatchdog)
                while rig.chat.connections == round {
                    clock.advance(by: .seconds(5))
                    await Task.yield()
                }
                await engine.wait { $0.isReady }
            }
            #expect(!engine.mayFeedWatchdog)
            // A service that is down is no reason for a new process.
            rig.chat.setReachable(false)
            await engine.wait { !$0.isReady }
            #expect(engine.mayFeedWatchdog)
            rig.services[0].setFaults { $0.isDeaf = false }
            rig.chat.setReachable(true)
            await engine.wait { $0.isReady }
            rig.chat.say("hi", as: "ana", in: "lobby")
            await rig.chat.wait { $0.performed.count == 1 }
        }
    }

    @Test func `memory can be given back`() {
        Allocator.trim()
        #expect(dlsym(nil, "malloc_trim") != nil)
    }

    @Test func `a decider that stands still starves the watchdog`() {
        let noon = Timestamp(milliseconds: 1_781_524_800_000)
        let heartbeat = Heartbeat()
        heartbeat.begin(at: noon)
        let pulse = Pulse(settings: EngineSettings(), inboxes: [], heartbeat: heartbeat)
        #expect(pulse.mayFeedWatchdog(at: noon + .seconds(60)))
        #expect(!pulse.mayFeedWatchdog(at: noon + .seconds(61)))
        heartbeat.end()
        #expect(pulse.mayFeedWatchdog(at: noon + .seconds(61)))
    }

    @Test func `a second steward stands by, says so, and takes over when the first one ends`() async throws {
        let file = TemporaryFile()
        let chat = FakeChat()
        let (one, two) = (try await SQLiteJournal.open(file.path), try await SQLiteJournal.open(file.path))
        var first = Rig([.echo], journal: one, chat: chat)
        first.settings.holder = "first"
        var second = Rig([.echo], journal: two, chat: chat)
        second.settings.holder = "second"
        second.settings.lease = .milliseconds(150)
        let lines = Locked<[String]>([])
        second.log = Log { line in lines.withLock { $0.append(line.text) } }
        let isOver = Flag()
        let standby = try await first.runReady { [second] _ in
            let standby = Task {
                try await second.run { engine in
                    await engine.wait { $0.phase == .standingBy(for: "first") }
                    chat.say("one", as: "ana", in: "lobby")
                    await chat.wait { $0.performed.count == 1 }
                    isOver.set()
                    await engine.wait { $0.isReady }
                    chat.say("two", as: "ana", in: "lobby")
                    await chat.wait { $0.performed.count == 2 }
                }
            }
            while !isOver.isSet { await Task.yield() }
            return standby
        }
        try await standby.value
        #expect(
            lines.withLock { $0 }.prefix(2) == [
                "first works on this store already; standing by", "the other steward is gone; taking over",
            ])
        #expect(chat.allMessages(in: "lobby").compactMap(\.key).count == 2)
    }

    @Test func `a steward that was overtaken stops and writes nothing more`() async throws {
        let file = TemporaryFile()
        let (one, two) = (try await SQLiteJournal.open(file.path), try await SQLiteJournal.open(file.path))
        let rig = Rig([.echo], journal: one)
        let error = await #expect(throws: JournalError.self) {
            try await rig.runReady { _ in
                // As if this process had been suspended for long.
                let future = Timestamp.now + .seconds(3600)
                let answer = try await two.acquire(by: "two", at: future, until: future + .seconds(15))
                guard case .taken = answer else { return }
                rig.chat.say("hi", as: "ana", in: "lobby")
                await rig.chat.wait { !$0.performed.isEmpty }
            }
        }
        #expect(error == .leaseLost("\(file.path): another steward has taken over"))
        #expect(rig.chat.performed.isEmpty)
    }

    @Test func `however long a disk was full, the store is tried again within three seconds`() {
        var backoff = EngineSettings().storeBackoff
        #expect((0..<40).allSatisfy { _ in backoff.next() <= .seconds(3) })
    }

    @Test func `a full disk stops events, not the connection, and everything goes on when there is room`()
        async throws
    {
        let inner = MemoryJournal()
        let journal = TroubledJournal(inner)
        var rig = Rig([.echo], journal: journal)
        // What is tried again elsewhere may take its time.
        rig.settings.backoff = Backoff(first: .seconds(600), most: .seconds(600))
        try await rig.runReady { [rig] engine in
            journal.setTrouble("state.db: disk is full")
            for number in 0..<50 { rig.chat.say("\(number)", as: "ana", in: "lobby") }
            await engine.wait { $0.storeTrouble == "state.db: disk is full" }
            #expect(!engine.state.isReady)
            #expect(engine.state.accounts["fake"]?.status == .up)
            let inbox = try await engine.inbox("fake")
            let taken = await inbox.deliver([.message("late", realm: rig.chat.realm)])
            #expect(taken == .behind)
            #expect(rig.chat.performed.isEmpty)
            journal.setTrouble(nil)
            await rig.chat.wait { $0.performed.count == 50 }
            await engine.wait { $0.isReady }
        }
        #expect(
            rig.chat.messages(in: "lobby").filter { $0.key != nil }.map(\.text)
                == (0..<50).map { "re: \($0)" })
    }
}

/// A store that cannot be written while there is trouble.
private final class TroubledJournal: Journal {
    private let inner: any Journal
    private let trouble = Locked<String?>(nil)

    init(_ inner: any Journal) {
        self.inner = inner
    }

    func setTrouble(_ why: String?) {
        trouble.withLock { $0 = why }
    }

    func append(_ changes: [RowChange], under lease: Lease) async throws(JournalError) {
        if let why = trouble.withLock({ $0 }) { throw .unwritable(why) }
        try await inner.append(changes, under: lease)
    }

    func acquire(by holder: String, at now: Timestamp, until: Timestamp) async throws(JournalError)
        -> LeaseAnswer
    {
        try await inner.acquire(by: holder, at: now, until: until)
    }

    func renew(_ lease: Lease, until: Timestamp) async throws(JournalError) {
        try await inner.renew(lease, until: until)
    }

    func release(_ lease: Lease) async { await inner.release(lease) }

    func rows(of table: JournalTable, keys: [String]) async throws(JournalError) -> [StoredRow] {
        try await inner.rows(of: table, keys: keys)
    }

    func rows(of table: JournalTable) async throws(JournalError) -> [StoredRow] {
        try await inner.rows(of: table)
    }

    func tidy(at now: Timestamp, under lease: Lease) async throws(JournalError) -> Bool { false }
}
