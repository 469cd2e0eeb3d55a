import Chat
import ChatTesting
@testable import Engine

/// A store whose power is cut at its Nth append: nothing is written from then on.
final class PowerCutJournal: Journal {
    private let inner: any Journal
    private let cutAt: Int
    /// The last append is on the disk, and nobody was told.
    private let isAfterwards: Bool
    private let appends = Locked(0)
    private let changed = Signal()

    init(_ inner: any Journal, cutAt: Int, afterwards: Bool) {
        self.inner = inner
        self.cutAt = cutAt
        isAfterwards = afterwards
    }

    var isCut: Bool { appends.withLock { $0 >= cutAt } }

    func waitForCut() async {
        while !isCut, !Task.isCancelled {
            let version = changed.version
            if isCut { return }
            await changed.wait(past: version)
        }
    }

    /// Runs the rig until the power is cut, or it is done.
    func run(_ rig: Rig, until isDone: @escaping @Sendable (FakeChat) -> Bool) async {
        let run = Task { try await rig.run { [chat = rig.chat] _ in await chat.wait(until: isDone) } }
        let cut = Task {
            await waitForCut()
            run.cancel()
        }
        _ = await run.result
        cut.cancel()
    }

    func append(_ changes: [RowChange], under lease: Lease) async throws(JournalError) {
        let number = appends.withLock {
            $0 += 1; return $0
        }
        if number < cutAt || (number == cutAt && isAfterwards) {
            try await inner.append(changes, under: lease)
        }
        if number >= cutAt {
            changed.fire()
            throw .unwritable("power cut")
        }
    }

    func acquire(by holder: String, at now: Timestamp, until: Timestamp) async throws(JournalError)
        -> LeaseAnswer
    {
        try await inner.acquire(by: holder, at: now, until: until)
    }

    func renew(_ lease: Lease, until: Timestamp) async throws(JournalError) {
        if isCut { throw .unwritable("power cut") }
        try await inner.renew(lease, until: until)
    }

    // A process that is gone gives nothing back.
    func release(_ lease: Lease) async {
        if !isCut { await inner.release(lease) }
    }

    func rows(of table: JournalTable, keys: [String]) async throws(JournalError) -> [StoredRow] {
        try await inner.rows(of: table, keys: keys)
    }

    func rows(of table: JournalTable) async throws(JournalError) -> [StoredRow] {
        try await inner.rows(of: table)
    }

    var takesOrders: Bool { inner.takesOrders }

    func openOrders() async throws(JournalError) -> [StoredOrder] { try await inner.openOrders() }

    func tidy(at now: Timestamp, under lease: Lease) async throws(JournalError) -> Bool {
        if isCut { throw .unwritable("power cut") }
        return try await inner.tidy(at: now, under: lease)
    }
}
