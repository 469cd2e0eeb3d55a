internal import Chat

/// All that is remembered about one user, one channel, or for everybody.
struct SubjectRow {
    /// Holds the user's or channel's number: it is given to nobody else meanwhile. Nil: there is no row.
    var subject: MemorySubject?
    var facts = MemberFactsRow()
    var owners: [OwnerRow] = []
    var isFactsChanged = false
    /// It is in the list of what goes into the next commit.
    var isListed = false
    /// A punishment is in it, or was lately; then it stays in memory.
    private(set) var holds = false
    /// When it was last used, counted in commits.
    var used: UInt32 = 0

    init(subject: MemorySubject? = nil, used: UInt32 = 0) {
        self.subject = subject
        self.used = used
    }

    /// Looks anew; says how that changes how many rows hold something.
    mutating func noteHolding(at now: Timestamp) -> Int {
        let before = holds
        let own = owners.first { $0.owner == Punishment.owner }
        holds =
            own?.entries.contains { entry in
                Punishment.isName(entry.name) && entry.until.map { $0 > now } ?? true
            } ?? false
        return (holds ? 1 : 0) - (before ? 1 : 0)
    }

    func value(of key: MemoryKey, at now: Timestamp) -> MemoryValue? {
        guard let owner = owners.first(where: { $0.owner == key.owner }) else { return nil }
        guard let entry = owner.entries.first(where: { $0.name == key.name }) else { return nil }
        return entry.until.map({ $0 <= now }) == true ? nil : entry.value
    }

    mutating func apply(_ change: MemoryChange, at now: Timestamp) {
        let index =
            owners.firstIndex { $0.owner == change.key.owner }
            ?? {
                owners.append(OwnerRow(owner: change.key.owner))
                return owners.count - 1
            }()
        owners[index].apply(change, at: now)
    }

    mutating func addChanges(to changes: inout [RowChange], at now: Timestamp) {
        isListed = false
        guard let key = subject?.rowKey else { return }
        if isFactsChanged {
            isFactsChanged = false
            changes.append(RowChange(RowKey(.memory, key), facts.body))
        }
        for index in owners.indices where owners[index].isChanged {
            owners[index].isChanged = false
            owners[index].forget(at: now)
            let body = owners[index].entries.isEmpty ? nil : owners[index].body
            changes.append(RowChange(RowKey(.memory, key, owners[index].owner), body))
        }
        owners.removeAll(where: \.entries.isEmpty)
    }
}

extension MemoryChange {
    var key: MemoryKey {
        switch self {
        case .claim(let key, _, _, _), .add(let key, _, _), .set(let key, _, _), .forget(let key): key
        }
    }
}

/// Rows by the numbers of their subjects, which are one sequence.
///
/// They lie in pages of plain memory and are changed where they lie: with a hundred thousand people nearly each row
/// that an event needs is far from the processor, and to count references on the way to it would be to wait for each.
/// So it is used by one at a time, which the lock of the memory sees to.
final class SubjectTable {
    private typealias Page = UnsafeMutablePointer<SubjectRow>

    private var pages: [Page?] = []
    private(set) var count = 0

    private static let pageSize = 32

    deinit {
        for case let page? in pages { Self.free(page) }
    }

    /// Where the row is; nil when there is none. Good until rows are removed.
    func row(_ number: UInt32) -> UnsafeMutablePointer<SubjectRow>? {
        let (page, place) = Self.place(of: number)
        guard page < pages.count, let rows = pages[page], rows[place].subject != nil else { return nil }
        return rows + place
    }

    /// Puts a row where there is none; gives the one that is there otherwise.
    func add(_ row: SubjectRow, at number: UInt32) -> UnsafeMutablePointer<SubjectRow> {
        let (page, place) = Self.place(of: number)
        if page >= pages.count { pages.append(contentsOf: repeatElement(nil, count: page + 1 - pages.count)) }
        let rows = pages[page] ?? Self.newPage()
        pages[page] = rows
        if rows[place].subject == nil {
            rows[place] = row
            count += 1
        }
        return rows + place
    }

    func forEach(_ body: (inout SubjectRow) -> Void) {
        for case let page? in pages {
            for place in 0..<Self.pageSize where page[place].subject != nil { body(&page[place]) }
        }
    }

    func removeAll(where isUnwanted: (borrowing SubjectRow) -> Bool) {
        for index in pages.indices {
            guard let page = pages[index] else { continue }
            var left = 0
            for place in 0..<Self.pageSize where page[place].subject != nil {
                if isUnwanted(page[place]) {
                    page[place] = SubjectRow()
                    count -= 1
                } else {
                    left += 1
                }
            }
            guard left == 0 else { continue }
            Self.free(page)
            pages[index] = nil
        }
    }

    private static func place(of number: UInt32) -> (page: Int, place: Int) {
        (Int(number) / pageSize, Int(number) % pageSize)
    }

    private static func newPage() -> Page {
        let page = Page.allocate(capacity: pageSize)
        page.initialize(repeating: SubjectRow(), count: pageSize)
        return page
    }

    private static func free(_ page: Page) {
        page.deinitialize(count: pageSize)
        page.deallocate()
    }
}
