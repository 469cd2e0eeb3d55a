package import Chat

/// The one store: a log of changed rows, and the tables that the log ends up in.
///
/// Whoever writes holds the lease. Several processes may have the same store open; one of them has the lease, the
/// others stand by.
package protocol Journal: Sendable {
    /// Tries to take the lease, until `until`; what earlier holders wrote can be read afterwards.
    func acquire(by holder: String, at now: Timestamp, until: Timestamp) async throws(JournalError)
        -> LeaseAnswer

    /// Keeps the lease until `until`; throws `.leaseLost` when somebody else has it.
    func renew(_ lease: Lease, until: Timestamp) async throws(JournalError)

    /// Gives the lease back, so that whoever stands by takes over at once.
    func release(_ lease: Lease) async

    /// Makes all changes durable, or none. It may be repeated after an error: a change says what a row is, not how it
    /// differs.
    func append(_ changes: [RowChange], under lease: Lease) async throws(JournalError)

    /// All rows with one of these keys, in any order.
    func rows(of table: JournalTable, keys: [String]) async throws(JournalError) -> [StoredRow]

    /// The whole of a small table, in any order.
    func rows(of table: JournalTable) async throws(JournalError) -> [StoredRow]

    /// Called now and then when there is nothing else to do: moves a part of the log into its tables, and when all of it
    /// is there, removes some of what was to be remembered until `now` at most. True when there is more to move; false
    /// when something was appended since it was last asked.
    func tidy(at now: Timestamp, under lease: Lease) async throws(JournalError) -> Bool

    /// Where the store does its work, so that whoever appends all the time can work there, too, and need not hop; nil
    /// when that makes no difference.
    var executor: (any SerialExecutor & TaskExecutor)? { get }

    /// The bodies of `event` rows that end at that time or later, oldest first; no more than about so many bytes, and
    /// then the latest.
    func keptEvents(since: Timestamp, most: Int) async throws(JournalError) -> [[UInt8]]

    /// Whether others may leave orders while we work.
    var takesOrders: Bool { get }

    /// Orders that have no answer yet, oldest first.
    func openOrders() async throws(JournalError) -> [StoredOrder]

    /// Goes through `event` or `audit` from the beginning and puts what `change` makes of each body in its place; a
    /// body that it makes nothing of is taken away. For what is seldom done: it reads all of it.
    func rewrite(
        _ table: JournalTable, under lease: Lease,
        _ change: @escaping @Sendable ([UInt8]) -> Rewriting
    ) async throws(JournalError)

    /// The end: after it nothing is read or written, and a file is a whole copy by itself.
    func close() async
}

extension Journal {
    package func close() async {}
    package var executor: (any SerialExecutor & TaskExecutor)? { nil }
    package var takesOrders: Bool { false }

    package func keptEvents(since: Timestamp, most: Int) async throws(JournalError) -> [[UInt8]] { [] }
    package func openOrders() async throws(JournalError) -> [StoredOrder] { [] }
    package func rewrite(
        _ table: JournalTable, under lease: Lease,
        _ change: @escaping @Sendable ([UInt8]) -> Rewriting
    ) async throws(JournalError) {}
}

/// What becomes of a row that is looked through.
package enum Rewriting: Sendable {
    case stays
    case becomes([UInt8])
    case goes
}

/// What somebody asks of the steward that works on the store.
package struct StoredOrder: Sendable, Equatable {
    package var number: Int64
    package var body: [UInt8]
}

/// Whoever holds a newer one has overtaken the others: the store refuses what comes with an older number.
package struct Lease: Sendable, Equatable {
    package let number: Int64

    package init(number: Int64) {
        self.number = number
    }
}

package enum LeaseAnswer: Sendable, Equatable {
    case taken(Lease)
    /// Somebody else has it, until that time unless they renew it.
    case held(by: String, until: Timestamp)
}

/// The tables of the store.
package enum JournalTable: UInt8, Sendable, CaseIterable {
    /// Members, channels and what rules remember of them; many rows, read when first needed.
    case memory = 1
    /// How far each stream was decided.
    case stream = 2
    /// Actions that were decided and not yet done.
    case action = 3
    /// What waits for its time.
    case continuation = 4
    /// Our own users, so that they are known before the first log-in.
    case identity = 5
    /// How rules have done: when each matched last and how often.
    case rule = 6
    /// Events that were decided, for replays: never read by rows, and never written back.
    ///
    /// The key of a row is the time of its last event in milliseconds; a change to nothing takes away all that are
    /// older than its key.
    case event = 7
    /// Cases of moderation by their names, and when what belongs to them is to go.
    case cases = 8
    /// What people wrote and cases are about, sealed; by the names of the cases.
    case evidence = 9
    /// What was asked, done and failed of moderation: only ever appended, and not read by rows. The key is when it was,
    /// in milliseconds.
    case audit = 10
    /// What others ask of us; the body of a change is the answer. The key is the order's number.
    case order = 11

    /// Its rows are written where they stay, and do not pass through the log.
    package var isDirect: Bool {
        switch self {
        case .event, .audit, .order: true
        default: false
        }
    }
}

/// Which row of a table: `key` is what rows are read by, `part` tells rows of one key apart.
package struct RowKey: Sendable, Hashable {
    package var table: JournalTable
    package var key: String
    package var part: String

    package init(_ table: JournalTable, _ key: String, _ part: String = "") {
        self.table = table
        self.key = key
        self.part = part
    }
}

package struct StoredRow: Sendable, Equatable {
    package var key: RowKey
    package var body: [UInt8]

    package init(key: RowKey, body: [UInt8]) {
        self.key = key
        self.body = body
    }
}

/// What a row is from now on; nil when it is no more.
package struct RowChange: Sendable, Equatable {
    package var key: RowKey
    package var body: [UInt8]?

    package init(_ key: RowKey, _ body: [UInt8]?) {
        self.key = key
        self.body = body
    }
}

/// Why the store did not do it: a case for each reaction.
package enum JournalError: Error, Sendable, Equatable, CustomStringConvertible {
    /// Somebody else works on the store now; this process must stop writing.
    case leaseLost(String)
    /// No room, or not writable: nothing was changed, and it may work later.
    case unwritable(String)
    /// Repeating cannot help: it is no store at all, or not to be used as it is.
    case unusable(String)
    /// Repeating cannot help: it was written and cannot be read any more.
    case damaged(String)
    /// A later steward has worked on it; this one would not understand all of it.
    case tooNew(String)

    package var description: String {
        switch self {
        case .leaseLost(let why), .unwritable(let why), .unusable(let why), .damaged(let why),
            .tooNew(let why):
            why
        }
    }

    /// What is wrong with which store, and the way out.
    package static func damaged(_ file: String, _ what: String) -> JournalError {
        .damaged(
            """
            \(file): the store is damaged: \(what) - stop steward and bring back a whole copy; or save what can be read \
            with "steward state export FILE", move \(file) and \(file)-wal away, and "steward state import FILE"
            """)
    }
}
