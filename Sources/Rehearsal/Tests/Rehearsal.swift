internal import Chat
internal import Engine
internal import Rules

/// A steward in which time stands until it is moved: the engine's own intake and turn, a chat that is made up, and a
/// store that is a dictionary. Nothing waits for anything, so what comes of an event is there at once.
struct Rehearsal {
    /// Something steward did, or tried to do.
    struct Deed {
        enum What {
            case action(ChatAction)
            /// What no chat service sees, such as a strike, and where it was given.
            case rule(RuleDeed, Place?)
        }

        var what: What
        /// The rule or plugin that does it.
        var by: String
        var at: Timestamp
        /// Why it was not done.
        var failure: String?
    }

    private(set) var now: Timestamp
    private(set) var deeds: [Deed] = []
    /// What rules matched, on dry run too.
    private(set) var matches: [(rule: String, event: ChatEvent)] = []
    /// What the log would say.
    private(set) var notes: [String] = []
    var chat: RehearsedChat

    private let handlers: [any EventHandler]
    private let directory: Directory
    private let limits: Turn.Limits
    private let rules: RuleSet?
    private let facts: (String, Timestamp) -> MemberFacts?
    private let start: Timestamp
    private var turn: Turn
    private var intake = Intake()
    /// The store's rows, by their keys.
    private var rows: [String: [String: [UInt8]]] = [:]
    private var continuations: [(key: String, continuation: Continuation)] = []
    private var waiting: [ChatEvent] = []
    private var starts = 0
    private var statusEvents = 0

    /// `facts`: what was known of a user at the start.
    init(
        _ handlers: [any EventHandler], directory: Directory, limits: Turn.Limits, chat: RehearsedChat,
        now: Timestamp, rules: RuleSet? = nil, facts: @escaping (String, Timestamp) -> MemberFacts?
    ) {
        self.handlers = handlers
        self.directory = directory
        self.limits = limits
        self.chat = chat
        self.now = now
        self.rules = rules
        self.facts = facts
        start = now
        turn = Turn(
            handlers: HandlerTable(handlers), directory: directory, memory: Memory(isComplete: false),
            limits: limits)
        for account in directory.accounts.keys { intake.identified(as: own(account)) }
        introduce()
    }

    private mutating func introduce() {
        for account in directory.accounts.keys {
            turn.know(account, as: own(account), in: chat.realm(of: account))
        }
    }

    /// Makes something remembered.
    mutating func remember(_ changes: [MemoryChange]) {
        turn.memory.setTime(now)
        while !turn.memory.apply(changes) { load() }
    }

    /// What was done since this was last asked, and what the log would have said.
    mutating func takeDeeds() -> (deeds: [Deed], matches: [(rule: String, event: ChatEvent)], notes: [String])
    {
        defer { (deeds, matches, notes) = ([], [], []) }
        return (deeds, matches, notes)
    }

    /// Lets time pass; what comes due meanwhile happens at its time.
    mutating func advance(to time: Timestamp) {
        while let next = continuations.indices.min(by: { isEarlier($0, $1) }),
            let due = continuations[next].continuation.due, due <= time
        {
            now = max(now, due)
            let (key, continuation) = continuations.remove(at: next)
            take(resumed(continuation, .due, named: key))
            settle()
        }
        now = max(now, time)
    }

    private func isEarlier(_ left: Int, _ right: Int) -> Bool {
        (continuations[left].continuation.due ?? .never, left)
            < (continuations[right].continuation.due ?? .never, right)
    }

    /// Events arrive, and all that follows at once happens.
    mutating func deliver(_ events: [ChatEvent]) {
        waiting += events
        settle()
        // What is put off until now.
        advance(to: now)
    }

    /// The connection of all accounts is lost for so long. What is due meanwhile is decided all the same.
    mutating func reconnect(after pause: Duration) {
        for account in directory.accountNames {
            take(status(account, .serviceDown(reason: "connection lost")))
        }
        settle()
        advance(to: now + pause)
        for account in directory.accountNames { take(status(account, .serviceUp)) }
        settle()
    }

    /// Steward ends and starts again so much later, from what is in its store.
    mutating func restart(after pause: Duration) {
        for change in turn.memory.takeChanges() {
            rows[change.key.key, default: [:]][change.key.part] = change.body
        }
        turn = Turn(
            handlers: HandlerTable(handlers), directory: directory, memory: Memory(isComplete: false),
            limits: limits)
        introduce()
        continuations = continuations.compactMap { key, continuation in
            JSONRow.value(Continuation.self, from: JSONRow.body(of: continuation)).map { (key, $0) }
        }
        now = now + pause
        starts += 1
        take(
            ChatEvent(
                id: "started/\(starts)", account: "", realm: chat.realm(named: "steward"), sentAt: now,
                kind: .started))
        for account in directory.accountNames { take(status(account, .serviceUp)) }
        settle()
        advance(to: now)
    }

    // MARK: One event after another

    private mutating func settle() {
        while !waiting.isEmpty {
            let event = waiting.removeFirst()
            switch intake.admit(event) {
            case .new: take(event)
            case .own: turn.heardOurselves(event)
            case .duplicate: break
            }
        }
    }

    private mutating func take(_ event: ChatEvent) {
        let account = Turn.Account(
            name: event.account, own: event.account.isEmpty ? nil : own(event.account),
            abilities: directory.accounts[event.account]?.abilities ?? .none)
        turn.memory.want([event])
        load()
        var progress = turn.begin(event, at: now, as: account)
        while !turn.advance(&progress, event) { load() }
        let outcome = progress.outcome
        for rule in outcome.matched { matches.append((rule, event)) }
        note(outcome, event)
        for later in outcome.later { continuations.append((later.key, later.continuation)) }
        noteDeeds(outcome, event)
        // What staff are told of silent rules is among the notes.
        for open in outcome.actions where open.action.path != Turn.silencePath { perform(open) }
    }

    /// What no service sees: what rules remember.
    private mutating func noteDeeds(_ outcome: Turn.Outcome, _ event: ChatEvent) {
        for change in outcome.changes {
            guard let deed = rules?.deed(of: change) else { continue }
            deeds.append(
                Deed(what: .rule(deed, event.place), by: deed.rule ?? outcome.matched.last ?? "", at: now))
        }
    }

    private mutating func load() {
        let subjects = turn.memory.takeMissing()
        var found: [StoredRow] = []
        for subject in subjects {
            let key = subject.rowKey
            let stored = rows[key] ?? [:]
            found += stored.map { StoredRow(key: RowKey(.memory, key, $0.key), body: $0.value) }
            if stored[""] == nil, case .user(let user) = subject, let facts = facts(user.text, start) {
                found.append(.facts(facts, of: user))
            }
        }
        turn.memory.insert(found, for: subjects)
    }

    private mutating func perform(_ open: OpenAction) {
        var (outcome, echo): (ChatEvent.Outcome, ChatEvent?) = (.done(Receipt()), nil)
        switch open.settled {
        case nil: (outcome, echo) = chat.perform(open.action, at: now)
        case .done(let receipt): outcome = .done(receipt)
        case .failed(let why): outcome = .failed(why)
        }
        var deed = Deed(what: .action(open.action), by: open.action.by, at: now)
        if case .failed(let why) = outcome { deed.failure = why }
        deeds.append(deed)
        if case .done(let receipt) = outcome, let message = receipt.message {
            intake.sent(message.id, in: chat.realm(of: open.action.place.account))
        }
        if let echo { waiting.append(echo) }
        guard let continuation = open.action.then else { return }
        take(resumed(continuation, outcome, named: open.key.text))
    }

    private func resumed(_ continuation: Continuation, _ outcome: ChatEvent.Outcome, named key: String)
        -> ChatEvent
    {
        .resumed(
            continuation, outcome, named: key, realm: chat.realm(named: continuation.realm), at: now
        ) { chat.channel($0) }
    }

    private mutating func status(_ account: String, _ kind: ChatEvent.Kind) -> ChatEvent {
        statusEvents += 1
        return ChatEvent(
            id: "status/\(account)/\(statusEvents)", account: account, realm: chat.realm(of: account),
            sentAt: now, kind: kind)
    }

    private func own(_ account: String) -> UserID { chat.realm(of: account).user(RehearsedChat.own) }

    /// What would stand in the log, for whoever wonders why something did not happen.
    private mutating func note(_ outcome: Turn.Outcome, _ event: ChatEvent) {
        var new: [String] = []
        if outcome.isStale { new.append("events are too old for answers") }
        for name in outcome.matched where name.hasSuffix(" (dry)") {
            new.append("\(name) matched, and nothing is done")
        }
        for failure in outcome.failures { new.append("\(failure.handler): \(failure.why)") }
        for silenced in outcome.silenced {
            new.append("\(silenced.rule) is silent towards \(silenced.sender) for a while: \(silenced.why)")
        }
        if outcome.isOrphan, case .resumed(let continuation, _) = event.kind {
            new.append("\(continuation.owner) is gone, so its step \(continuation.step) is dropped")
        }
        for note in new where !notes.contains(note) { notes.append(note) }
    }
}

extension Abilities {
    fileprivate static let none = Abilities(events: [], actions: [], textLimit: .init(0, .bytes))
}
