package import Chat
internal import Synchronization

/// What is remembered of users and channels, and for everybody: what steward notes by itself, and what rules and
/// plugins noted.
///
/// Rows come from the journal when they are first needed and go back to it with each commit; those not used for long
/// leave memory. Changes are seen at once.
package final class Memory: Recollection {
    private let state: Locked<State>
    /// Whether `missing` has any; read after each handler.
    private let isMissing = Atomic(false)
    /// Whether a punishment is in any row here; read for each event.
    private let holds = Atomic(false)

    /// `isComplete`: there is no journal behind, so what is not here does not exist.
    package init(isComplete: Bool) {
        state = Locked(State(isComplete: isComplete))
    }

    /// How many users and channels are in memory.
    package var count: Int { state.withLock { $0.rows.count } }

    package func value(of key: MemoryKey) -> MemoryValue? {
        state.withLock { state in
            defer { noteMissing(state) }
            return state.value(of: key)
        }
    }

    /// What is forgotten by then counts as forgotten from now on.
    package func setTime(_ now: Timestamp) {
        state.withLock { $0.now = now }
    }

    /// What is known of the user, if there is one; nil when the journal has to be asked first. What is forgotten by
    /// `now` counts as forgotten from now on.
    func facts(of user: UserID?, in channel: ChannelID?, at now: Timestamp) -> MemberFacts? {
        state.withLock { state in
            state.now = now
            guard let user else { return MemberFacts() }
            defer { noteMissing(state) }
            return state.facts(of: user, in: channel)
        }
    }

    /// Whether anybody who is in memory, or any channel, may be held to a punishment.
    var holdsAnybody: Bool { holds.load(ordering: .relaxed) }

    /// Whether the user or the channel may be.
    func isHeld(_ user: UserID?, in channel: ChannelID?) -> Bool {
        state.withLock { state in
            user.map { state.rows[$0.identity.number]?.holds ?? false } == true
                || channel.map { state.rows[$0.identity.number]?.holds ?? false } == true
        }
    }

    /// Notes what an event says about its member.
    func note(_ event: ChatEvent) {
        guard let user = event.member?.user else { return }
        state.withLock { $0.note(event, user) }
    }

    package func history(of channel: ChannelID) -> [ChatEvent] {
        state.withLock { $0.history[channel] }
    }

    /// From now on what is written is kept for a while, so that it can be looked back at.
    func keepHistory() {
        state.withLock { $0.keepsHistory = true }
    }

    /// A message of the past that was kept.
    func recall(_ event: ChatEvent) {
        state.withLock { if $0.keepsHistory { $0.history.note(event) } }
    }

    /// Whatever is known of the user.
    func forget(_ user: UserID) {
        state.withLock { state in
            if state.rows[user.identity.number]?.holds == true { state.holding -= 1 }
            // Known to be new, whatever the store says until the next commit.
            state.rows[user.identity.number] = SubjectRow(subject: .user(user))
            state.history.forget(user)
            noteHolding(state)
        }
    }

    /// Makes the changes, or none of them when a row that they are about is not in memory yet.
    package func apply(_ changes: [MemoryChange]) -> Bool {
        if changes.isEmpty { return true }
        return state.withLock { state in
            defer { noteMissing(state) }
            let isDone = state.apply(changes)
            noteHolding(state)
            return isDone
        }
    }

    /// Whether a handler asked for something that the journal has to be asked for first.
    var hasMissing: Bool { isMissing.load(ordering: .relaxed) }

    /// What has to be read from the journal, each once.
    package func takeMissing() -> [MemorySubject] {
        state.withLock { state in
            let missing = Array(state.missing)
            state.missing = []
            noteMissing(state)
            return missing
        }
    }

    private func noteMissing(_ state: borrowing State) {
        isMissing.store(!state.missing.isEmpty, ordering: .relaxed)
    }

    private func noteHolding(_ state: borrowing State) {
        let now = state.holding > 0
        if holds.load(ordering: .relaxed) != now { holds.store(now, ordering: .relaxed) }
    }

    /// Asks for the rows of everyone these events are about, as far as they are not here.
    package func want(_ events: some Sequence<ChatEvent>) {
        state.withLock { state in
            guard !state.isComplete else { return }
            defer { noteMissing(state) }
            for event in events {
                if let user = event.member?.user { state.want(.user(user)) }
                if let channel = event.channel?.id { state.want(.channel(channel)) }
            }
        }
    }

    /// Takes in what the journal has of these; the rest of them are known to be new.
    package func insert(_ rows: [StoredRow], for subjects: [MemorySubject]) {
        state.withLock { state in
            state.insert(rows, for: subjects)
            noteHolding(state)
        }
    }

    /// What changed since this was last asked, as rows for the journal.
    package func takeChanges() -> [RowChange] {
        state.withLock { $0.takeChanges() }
    }

    /// Lets go of rows that were not used lately when there are more than `most`. Only between a commit and the next
    /// turn.
    func evict(over most: Int) {
        state.withLock { state in
            state.evict(over: most)
            noteHolding(state)
        }
    }
}

/// Whom a row is about.
package typealias MemorySubject = MemoryKey.Subject

extension MemorySubject {
    /// The key of its rows in the journal.
    package var rowKey: String {
        switch self {
        case .user(let user): Self.rowKey("u", user.identity.realmName, user.text)
        case .channel(let channel): Self.rowKey("c", channel.identity.realmName, channel.text)
        case .all: "a"
        }
    }

    private static func rowKey(_ kind: String, _ realm: String, _ text: String) -> String {
        var key = ""
        key.reserveCapacity(realm.utf8.count + text.utf8.count + 2)
        key += kind
        key += realm
        key += "\u{1F}"
        key += text
        return key
    }

    /// Its place in memory: the numbers of users and channels are one sequence that starts at 1.
    fileprivate var number: UInt32 {
        switch self {
        case .user(let user): user.identity.number
        case .channel(let channel): channel.identity.number
        case .all: 0
        }
    }
}

/// All that is remembered about one user, one channel, or for everybody.
private final class SubjectRow {
    /// Holds the user's or channel's number: it is given to nobody else meanwhile.
    let subject: MemorySubject
    var facts = MemberFactsRow()
    var owners: [OwnerRow] = []
    var isFactsChanged = false
    /// When it was last used, counted in commits.
    var used: UInt32 = 0
    /// It is in the list of what goes into the next commit.
    var isListed = false
    /// A punishment is in it, or was lately; then it stays in memory.
    private(set) var holds = false

    init(subject: MemorySubject) {
        self.subject = subject
    }

    /// Looks anew; says how that changes how many rows hold something.
    func noteHolding(at now: Timestamp) -> Int {
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
}

private struct State {
    let isComplete: Bool
    var now = Timestamp(milliseconds: 0)
    var rows = IdentityTable<SubjectRow>()
    var missing: Set<MemorySubject> = []
    var changed: [UInt32] = []
    /// How many rows hold somebody to something.
    var holding = 0
    var commits: UInt32 = 0
    var keepsHistory = false
    var history = History()

    init(isComplete: Bool) {
        self.isComplete = isComplete
    }

    mutating func value(of key: MemoryKey) -> MemoryValue? {
        guard let row = rows[key.subject.number] else {
            want(key.subject)
            return nil
        }
        return row.value(of: key, at: now)
    }

    mutating func want(_ subject: MemorySubject) {
        if !isComplete, rows[subject.number] == nil { missing.insert(subject) }
    }

    mutating func facts(of user: UserID, in channel: ChannelID?) -> MemberFacts? {
        guard let row = rows[user.identity.number] else {
            if isComplete { return MemberFacts() }
            missing.insert(.user(user))
            return nil
        }
        return row.facts.facts(in: channel)
    }

    mutating func note(_ event: ChatEvent, _ user: UserID) {
        if keepsHistory { history.note(event) }
        let isNoted: Bool =
            switch event.kind {
            case .messageAdded, .memberJoined, .memberLeft: true
            default: false
            }
        guard isNoted else { return }
        let row = changing(.user(user))
        row.facts.note(event)
        row.isFactsChanged = true
    }

    mutating func apply(_ changes: [MemoryChange]) -> Bool {
        if !isComplete {
            for change in changes { want(change.key.subject) }
            guard missing.isEmpty else { return false }
        }
        let now = now
        for change in changes {
            let row = changing(change.key.subject)
            let index =
                row.owners.firstIndex { $0.owner == change.key.owner }
                ?? {
                    row.owners.append(OwnerRow(owner: change.key.owner))
                    return row.owners.count - 1
                }()
            row.owners[index].apply(change, at: now)
            if change.key.owner == Punishment.owner { holding += row.noteHolding(at: now) }
        }
        return true
    }

    /// The row of a subject, which is about to be changed.
    private mutating func changing(_ subject: MemorySubject) -> SubjectRow {
        let number = subject.number
        let row: SubjectRow
        if let known = rows[number] {
            row = known
        } else {
            row = SubjectRow(subject: subject)
            rows[number] = row
        }
        row.used = commits
        if !row.isListed {
            row.isListed = true
            changed.append(number)
        }
        return row
    }

    mutating func insert(_ found: [StoredRow], for subjects: [MemorySubject]) {
        var new: [String: SubjectRow] = [:]
        for subject in subjects {
            let row = SubjectRow(subject: subject)
            row.used = commits
            new[subject.rowKey] = row
        }
        for row in found {
            if row.key.part.isEmpty {
                new[row.key.key]?.facts = MemberFactsRow(row.body) ?? MemberFactsRow()
            } else if let owner = OwnerRow(row.body, owner: row.key.part) {
                new[row.key.key]?.owners.append(owner)
            }
        }
        for row in new.values where rows[row.subject.number] == nil {
            rows[row.subject.number] = row
            holding += row.noteHolding(at: now)
        }
    }

    mutating func takeChanges() -> [RowChange] {
        commits &+= 1
        guard !changed.isEmpty else { return [] }
        var changes: [RowChange] = []
        changes.reserveCapacity(changed.count)
        for number in changed {
            guard let row = rows[number] else { continue }
            row.addChanges(to: &changes, at: now)
            if row.holds { holding += row.noteHolding(at: now) }
        }
        changed.removeAll(keepingCapacity: changed.count < 4096)
        return changes
    }

    mutating func evict(over most: Int) {
        guard !isComplete, rows.count > most, changed.isEmpty else { return }
        for row in rows.values where row.holds { holding += row.noteHolding(at: now) }
        // Half of them go at once, so that this is seldom done.
        let ages = rows.values.map(\.used).sorted()
        let oldest = ages[ages.count - most / 2]
        rows.removeAll { $0.subject.number != 0 && $0.used < oldest && !$0.holds }
        if rows.count > most { rows.removeAll { $0.subject.number != 0 && $0.used <= oldest && !$0.holds } }
    }
}

extension SubjectRow {
    func addChanges(to changes: inout [RowChange], at now: Timestamp) {
        isListed = false
        let key = subject.rowKey
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
