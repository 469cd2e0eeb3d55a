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

    /// What is known of the event's member, if it has one; nil when the journal has to be asked first. What is forgotten
    /// by `now` counts as forgotten from now on.
    func facts(about event: ChatEvent, at now: Timestamp) -> MemberFacts? {
        state.withLock { state in
            state.now = now
            let user = event.digest.user
            if user == 0 { return MemberFacts() }
            if let row = state.rows.row(user) { return row.pointee.facts.facts(in: event) }
            if state.isComplete { return MemberFacts() }
            defer { noteMissing(state) }
            if let user = event.member?.user { state.missing.insert(.user(user)) }
            return nil
        }
    }

    /// Whether anybody who is in memory, or any channel, may be held to a punishment.
    var holdsAnybody: Bool { holds.load(ordering: .relaxed) }

    /// Whether the user or the channel may be.
    func isHeld(_ user: UserID?, in channel: ChannelID?) -> Bool {
        state.withLock { state in
            user.map { state.rows.row($0.identity.number)?.pointee.holds ?? false } == true
                || channel.map { state.rows.row($0.identity.number)?.pointee.holds ?? false } == true
        }
    }

    /// Notes what an event says about its member.
    func note(_ event: ChatEvent) {
        if event.digest.user != 0 { state.withLock { $0.note(event) } }
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
            let new = SubjectRow(subject: .user(user))
            let row = state.rows.add(new, at: user.identity.number)
            if row.pointee.holds { state.holding -= 1 }
            // Known to be new, whatever the store says until the next commit.
            row.pointee = new
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

    /// Gets ready for these events: asks for the rows of everyone they are about, as far as they are not here, and
    /// touches the others all at once, so that the wait for memory far away is one for all and not one for each.
    package func want(_ events: some Sequence<ChatEvent>) {
        want(events, as: events.map { Expected($0) })
    }

    func want(_ events: some Sequence<ChatEvent>, as expected: [Expected]) {
        state.withLock { state in
            // Nothing else is done between one touch and the next: to count a reference would wait for the touch before.
            var isAllHere = true
            for next in expected {
                if next.user != 0 { isAllHere = state.touch(next.user) && isAllHere }
                if next.channel != 0 {
                    isAllHere = state.touch(next.channel) && isAllHere
                    if state.keepsHistory { state.touched &+= state.history.touch(next.channel) }
                }
            }
            guard !isAllHere, !state.isComplete else { return }
            for event in events {
                if let user = event.member?.user { state.want(.user(user)) }
                if let channel = event.channel?.id { state.want(.channel(channel)) }
            }
            noteMissing(state)
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
    var number: UInt32 {
        switch self {
        case .user(let user): user.identity.number
        case .channel(let channel): channel.identity.number
        case .all: 0
        }
    }
}

private struct State {
    let isComplete: Bool
    var now = Timestamp(milliseconds: 0)
    let rows = SubjectTable()
    var missing: Set<MemorySubject> = []
    var changed: [UInt32] = []
    /// What was read to have it near.
    var touched: UInt8 = 0
    /// How many rows hold somebody to something.
    var holding = 0
    var commits: UInt32 = 0
    var keepsHistory = false
    var history = History()

    init(isComplete: Bool) {
        self.isComplete = isComplete
    }

    mutating func value(of key: MemoryKey) -> MemoryValue? {
        guard let row = rows.row(key.subject.number) else {
            want(key.subject)
            return nil
        }
        return row.pointee.value(of: key, at: now)
    }

    /// False when there is no such row.
    func touch(_ number: UInt32) -> Bool {
        guard let row = rows.row(number) else { return false }
        row.pointee.used = commits
        return true
    }

    mutating func want(_ subject: MemorySubject) {
        if !isComplete, rows.row(subject.number) == nil { missing.insert(subject) }
    }

    mutating func note(_ event: ChatEvent) {
        if keepsHistory { history.note(event) }
        switch event.digest.name {
        case .messageAdded, .memberJoined, .memberLeft: break
        default: return
        }
        let number = event.digest.user
        let row: UnsafeMutablePointer<SubjectRow>
        if let known = rows.row(number) {
            row = known
            list(known, number)
        } else {
            guard let user = event.member?.user else { return }
            row = changing(.user(user))
        }
        row.pointee.facts.note(event)
        row.pointee.isFactsChanged = true
    }

    mutating func apply(_ changes: [MemoryChange]) -> Bool {
        if !isComplete {
            for change in changes { want(change.key.subject) }
            guard missing.isEmpty else { return false }
        }
        let now = now
        for change in changes {
            let row = changing(change.key.subject)
            row.pointee.apply(change, at: now)
            if change.key.owner == Punishment.owner { holding += row.pointee.noteHolding(at: now) }
        }
        return true
    }

    /// The row of a subject, which is about to be changed.
    private mutating func changing(_ subject: MemorySubject) -> UnsafeMutablePointer<SubjectRow> {
        let number = subject.number
        let row = rows.row(number) ?? rows.add(SubjectRow(subject: subject), at: number)
        list(row, number)
        return row
    }

    private mutating func list(_ row: UnsafeMutablePointer<SubjectRow>, _ number: UInt32) {
        row.pointee.used = commits
        if row.pointee.isListed { return }
        row.pointee.isListed = true
        changed.append(number)
    }

    mutating func insert(_ found: [StoredRow], for subjects: [MemorySubject]) {
        var new: [String: SubjectRow] = [:]
        for subject in subjects {
            new[subject.rowKey] = SubjectRow(subject: subject, used: commits)
        }
        for row in found {
            if row.key.part.isEmpty {
                new[row.key.key]?.facts = MemberFactsRow(row.body) ?? MemberFactsRow()
            } else if let owner = OwnerRow(row.body, owner: row.key.part) {
                new[row.key.key]?.owners.append(owner)
            }
        }
        for row in new.values {
            guard let number = row.subject?.number, rows.row(number) == nil else { continue }
            holding += rows.add(row, at: number).pointee.noteHolding(at: now)
        }
    }

    mutating func takeChanges() -> [RowChange] {
        commits &+= 1
        guard !changed.isEmpty else { return [] }
        var changes: [RowChange] = []
        changes.reserveCapacity(changed.count)
        for number in changed {
            guard let row = rows.row(number) else { continue }
            row.pointee.addChanges(to: &changes, at: now)
            if row.pointee.holds { holding += row.pointee.noteHolding(at: now) }
        }
        changed.removeAll(keepingCapacity: changed.count < 4096)
        return changes
    }

    mutating func evict(over most: Int) {
        guard !isComplete, rows.count > most, changed.isEmpty else { return }
        var ages: [UInt32] = []
        rows.forEach { row in
            if row.holds { holding += row.noteHolding(at: now) }
            ages.append(row.used)
        }
        ages.sort()
        // Half of them go at once, so that this is seldom done.
        let oldest = ages[ages.count - most / 2]
        rows.removeAll { $0.subject?.number != 0 && $0.used < oldest && !$0.holds }
        if rows.count > most { rows.removeAll { $0.subject?.number != 0 && $0.used <= oldest && !$0.holds } }
    }
}
