package import Chat
internal import Glibc

/// One event's step, from what is remembered and the time to what is to be done. Nothing in it waits, and time is an
/// argument: live, in rehearsals and in replays it is the same code.
package struct Turn: Sendable {
    /// The account whose event it is.
    package struct Account: Sendable {
        package var name: String
        package var own: UserID?
        package var abilities: Abilities

        package init(name: String, own: UserID?, abilities: Abilities) {
            self.name = name
            self.own = own
            self.abilities = abilities
        }
    }

    package struct Failure: Sendable, Equatable {
        package var handler: String
        package var why: String
    }

    /// An event half way through its handlers.
    package struct Progress: Sendable {
        var situation: Situation
        /// The event's kind, as handlers name what they want.
        fileprivate let kind: UInt32
        fileprivate var queue: [HandlerTable.Entry]
        fileprivate var index = 0
        /// It goes to those who put it off, whatever their stage.
        fileprivate var isResumed = false
        fileprivate var isPrepared = false
        package var outcome = Outcome()
    }

    package var handlers: HandlerTable { didSet { if handlers.looksBack { memory.keepHistory() } } }
    package var directory: Directory { didSet { lastSituation = nil } }
    package let memory: Memory
    let limits: Limits
    private var loops: LoopGuard
    private var replies = ReplyChains()
    private var moderation: Moderation
    /// That of the event before: most of it is the same for the next.
    private var lastSituation: Situation?

    package struct Limits: Sendable {
        /// An event gets so many answers.
        package var answersPerEvent = 1
        /// An older event gets no answer; guards and observers still see it.
        package var staleAfter = Duration.seconds(600)
        /// A handler that takes longer is logged and counted.
        package var handlerTime = Duration.milliseconds(100)
        /// Nil: no guard.
        package var loops: LoopGuard.Limits? = LoopGuard.Limits()
        package var ceilings = Ceilings()
        /// The name of the channel where staff are told of ceilings, if there is such a channel.
        package var reportTo: String? = "staff"

        package init() {}
    }

    package init(
        handlers: HandlerTable, directory: Directory, memory: Memory, limits: Limits = Limits(),
        denied: @escaping @Sendable (_ account: String, ChannelID) -> Set<String> = { _, _ in [] }
    ) {
        self.handlers = handlers
        self.directory = directory
        self.memory = memory
        self.limits = limits
        loops = LoopGuard(limits.loops)
        moderation = Moderation(limits.ceilings, reportTo: limits.reportTo, denied: denied)
        if handlers.looksBack { memory.keepHistory() }
    }

    /// Who we are on an account, whichever account an event comes from.
    package mutating func know(_ account: String, as user: UserID, in realm: Realm) {
        moderation.know(account, as: user, in: realm)
    }

    /// Remembers which channel is meant by a name; false when the journal has to be asked for `memory.takeMissing()` first.
    func learn(_ name: String, of channel: ChannelID, account: String) -> Bool {
        let key = Moderation.nameKey(Place(account: account, channel: name))
        let known = memory.value(of: key)
        if memory.hasMissing { return false }
        return known == .text(channel.text) || memory.apply([.set(key, .text(channel.text), keep: nil)])
    }

    /// The whole step, for a memory that is complete.
    package mutating func take(_ event: ChatEvent, at now: Timestamp, as account: Account) -> Outcome {
        var progress = begin(event, at: now, as: account)
        while !advance(&progress, event) {
            // A complete memory misses nothing; were it not complete, what is missing counts as never seen.
            memory.insert([], for: memory.takeMissing())
        }
        return progress.outcome
    }

    package mutating func begin(_ event: ChatEvent, at now: Timestamp, as account: Account) -> Progress {
        var situation = situation(of: account)
        situation.now = now
        if event.isFromOutside, now - event.sentAt > limits.staleAfter { situation.isStale = true }
        return Progress(
            situation: situation, kind: event.digest.name.map(HandlerTable.bit) ?? .max,
            queue: handlers.entries)
    }

    /// Before anything is known of the event.
    private mutating func situation(of account: Account) -> Situation {
        if let lastSituation, lastSituation.isFor(own: account.own, account.abilities) {
            return lastSituation
        }
        let situation = Situation(
            now: Timestamp(milliseconds: 0), own: account.own, abilities: account.abilities,
            answersLeft: limits.answersPerEvent, memory: memory, directory: directory)
        lastSituation = situation
        return situation
    }

    /// Asks the handlers that are left. False when the journal has to be asked for `memory.takeMissing()` first; then
    /// go on with the same progress. A handler that missed something is asked again.
    package mutating func advance(_ progress: inout Progress, _ event: ChatEvent) -> Bool {
        if !progress.isPrepared {
            guard prepare(&progress, event) else { return false }
        }
        while progress.index < progress.queue.count {
            let entry = progress.queue[progress.index]
            if progress.asks(entry) {
                guard ask(entry, &progress, event) else { return false }
            }
            progress.index += 1
        }
        if !progress.outcome.isEmpty { tellOfSilence(&progress, event) }
        memory.note(event)
        return true
    }

    /// One of our own messages came back: it goes no further, but tells when we spoke.
    package mutating func heardOurselves(_ event: ChatEvent) {
        guard case .messageAdded(let message) = event.kind, let channel = event.channel?.id else { return }
        loops.heardOurselves(in: channel, at: event.sentAt)
        replies.heardOurselves(message, in: channel)
    }

    private mutating func prepare(_ progress: inout Progress, _ event: ChatEvent) -> Bool {
        guard let facts = memory.facts(about: event, at: progress.situation.now) else { return false }
        progress.situation.facts = facts
        progress.outcome.isStale = progress.situation.isStale
        if event.digest.name == nil, case .resumed(let continuation, _) = event.kind,
            Punishments.isEnd(continuation)
        {
            progress.queue = []
            guard end(continuation, &progress, event) else { return false }
        } else if memory.holdsAnybody {
            guard hold(&progress, event) else { return false }
        }
        progress.isPrepared = true
        if event.digest.name == nil, case .resumed(let continuation, _) = event.kind {
            progress.isResumed = true
            if Punishments.isEnd(continuation) { return true }
            progress.queue = handlers.handlers(resuming: continuation.owner)
            progress.outcome.isOrphan = progress.queue.isEmpty
            return true
        }
        let silenced = loops.heard(event)
        if !silenced.isEmpty { progress.outcome.silenced = silenced }
        return true
    }

    /// False when something was missing; then nothing was changed.
    private mutating func ask(
        _ entry: HandlerTable.Entry, _ progress: inout Progress, _ event: ChatEvent
    ) -> Bool {
        progress.situation.answersLeft = max(0, limits.answersPerEvent - progress.outcome.answers)
        let start = Stopwatch()
        var decision: Decision
        do {
            decision = try entry.handler.decide(event, in: progress.situation)
        } catch {
            if memory.hasMissing { return false }
            // A failed handler ends no stage, uses up no cooldown and counts no answer.
            progress.outcome.failures.append(Failure(handler: entry.name, why: "\(error)"))
            return true
        }
        if memory.hasMissing { return false }
        if start.elapsed > limits.handlerTime {
            let took = "took \(start.elapsed.milliseconds) ms to decide"
            progress.outcome.failures.append(Failure(handler: entry.name, why: took))
        }
        guard !decision.isEmpty else { return true }
        if entry.stage == .answer, !progress.isResumed,
            decision.answers > progress.situation.answersLeft
        {
            return true
        }
        fillIn(&decision, of: entry.name, event)
        dropSilenced(&decision, event)
        if !replies.isEmpty, limits.loops != nil, replies.holdNoHuman(event) {
            replies.drop(from: &decision, event)
        }
        guard accept(&decision, &progress, event) else { return false }
        if decision.removed, entry.stage == .guard, !progress.isResumed { progress.outcome.removed = true }
        return true
    }

    /// What is decided is remembered, and becomes actions. False when something was missing; then nothing was changed.
    private mutating func accept(
        _ decision: inout Decision, _ progress: inout Progress, _ event: ChatEvent
    ) -> Bool {
        var ruling = Moderation.Ruling()
        if !decision.actions.isEmpty {
            ruling = moderation.settle(&decision, event, in: progress.situation, memory)
            if memory.hasMissing { return false }
        }
        if !decision.charges.isEmpty {
            decision.changes.append(.add(.casesFiled, Int64(decision.charges.count), keep: nil))
        }
        guard memory.apply(decision.changes) else { return false }
        record(decision, ruling.settled, &progress, event)
        if !ruling.withheld.isEmpty {
            progress.outcome.withheld.merge(ruling.withheld, uniquingKeysWith: +)
        }
        return true
    }

    /// The guard before all others, asked only while somebody is punished. False when something was missing.
    private mutating func hold(_ progress: inout Progress, _ event: ChatEvent) -> Bool {
        guard memory.isHeld(event.member?.user, in: event.channel?.id) else { return true }
        let held = Punishments(memory: memory, event: event, situation: progress.situation).hold()
        if memory.hasMissing { return false }
        guard let held else { return true }
        guard carryOut(held.decision, &progress, event) else { return false }
        if held.decision.removed { progress.outcome.removed = true }
        if !held.decision.actions.isEmpty { progress.outcome.held = held.kind }
        return true
    }

    /// A punishment comes to its end. False when something was missing.
    private mutating func end(
        _ continuation: Continuation, _ progress: inout Progress, _ event: ChatEvent
    ) -> Bool {
        let decision = Punishments(memory: memory, event: event, situation: progress.situation)
            .end(continuation)
        if memory.hasMissing { return false }
        return carryOut(decision, &progress, event)
    }

    /// Does what steward itself decides.
    private mutating func carryOut(
        _ decision: Decision, _ progress: inout Progress, _ event: ChatEvent
    ) -> Bool {
        guard !decision.isEmpty else { return true }
        var decision = decision
        fillIn(&decision, of: Punishment.owner, event)
        return accept(&decision, &progress, event)
    }

    private func fillIn(_ decision: inout Decision, of name: String, _ event: ChatEvent) {
        for index in decision.actions.indices {
            if decision.actions[index].by.isEmpty { decision.actions[index].by = name }
            if decision.actions[index].path.isEmpty { decision.actions[index].path = "\(index)" }
            let place = decision.actions[index].place
            decision.actions[index].then?.fillIn(from: event, elsewhere: place)
        }
        for index in decision.charges.indices where decision.charges[index].by.isEmpty {
            decision.charges[index].by = name
        }
        for index in decision.later.indices { decision.later[index].fillIn(from: event, elsewhere: nil) }
    }

    /// What a rule that is silent towards the sender would have said; what it moderates stays.
    private mutating func dropSilenced(_ decision: inout Decision, _ event: ChatEvent) {
        guard case .messageAdded(let message) = event.kind else { return }
        let sender = message.author.user
        let before = decision.actions.count
        let isSilent = { [loops] (action: ChatAction) in
            action.isTalk && loops.isSilent(action.by, towards: sender, at: event.sentAt)
        }
        let silent = Set(decision.actions.lazy.filter(isSilent).map(\.by))
        guard !silent.isEmpty else { return }
        decision.actions.removeAll(where: isSilent)
        let speaking = Set(decision.actions.map(\.by))
        for rule in silent where !speaking.contains(rule) {
            // It did nothing, so it uses up no cooldown.
            decision.changes.removeAll { $0.key.owner == rule }
            decision.later.removeAll { $0.owner == rule }
        }
        decision.answers = max(0, decision.answers - (before - decision.actions.count))
    }

    mutating func record(
        _ decision: Decision, _ settled: [Int: ActionOutcome], _ progress: inout Progress, _ event: ChatEvent
    ) {
        var charged: [(key: ActionKey, action: ChatAction)] = []
        var speaking: Set<String> = []
        for (index, action) in decision.actions.enumerated() {
            // Two actions of one rule may have one path: a relay to several channels.
            var path = action.path
            var copies = 1
            while !progress.outcome.paths.insert(action.by + "\u{1F}" + path).inserted {
                copies += 1
                path = "\(action.path)#\(copies)"
            }
            let key = ActionKey(realm: event.realm.name, event: event.identity, by: action.by, path: path)
            if !decision.charges.isEmpty { charged.append((key, action)) }
            var open = OpenAction(
                key: key, action: action, event: event.id, realm: event.realm.name,
                since: min(progress.situation.now, event.sentAt))
            if !settled.isEmpty { open.settled = settled[index] }
            if case .deleteMessage(let message) = action.verb { open.author = author(of: message, event) }
            progress.outcome.actions.append(open)
            // An answer of several messages is one answer.
            if action.isTalk, action.place == event.place, action.by != Punishment.owner,
                speaking.insert(action.by).inserted
            {
                progress.outcome.silenced += loops.answered(event, by: action.by)
                if case .reply = action.verb { replies.answered(event) }
            }
        }
        for (index, continuation) in decision.later.enumerated() where continuation.due != nil {
            let key = stableHash(
                event.realm.name, event.identity, continuation.owner, continuation.step,
                "\(progress.outcome.later.count)/\(index)")
            progress.outcome.later.append(PendingContinuation(key: key, continuation: continuation))
        }
        if !decision.changes.isEmpty { progress.outcome.changes += decision.changes }
        if !decision.matched.isEmpty { progress.outcome.matched += decision.matched }
        if !decision.notes.isEmpty { progress.outcome.notes += decision.notes }
        progress.outcome.answers += decision.answers
        if !decision.charges.isEmpty { file(decision, charged, &progress) }
        if !decision.undone.isEmpty { progress.outcome.undone += decision.undone }
    }

    /// Nil when the message is neither the event's nor one of those that are looked back at.
    private func author(of message: MessageReference, _ event: ChatEvent) -> String? {
        if let own = event.message, own.id == message.id { return own.author.user.text }
        guard let channel = event.channel?.id else { return nil }
        return memory.history(of: channel).last { $0.message?.id == message.id }?.message?.author.user.text
    }

    /// Makes a case of each charge.
    private func file(
        _ decision: Decision, _ actions: [(key: ActionKey, action: ChatAction)], _ progress: inout Progress
    ) {
        memory.keepHistory()
        var filed: Int64 = 0
        if case .number(let count)? = memory.value(of: .casesFiled) { filed = count }
        let before = max(0, filed - Int64(decision.charges.count))
        for (index, charge) in decision.charges.enumerated() {
            let isOnly = decision.charges.count { $0.by == charge.by } == 1
            progress.outcome.filed.append(
                Filed(
                    name: "C\(before + Int64(index) + 1)", charge: charge,
                    actions: actions.filter {
                        $0.action.by == charge.by && !$0.action.isOfAChannel
                            && (isOnly || $0.action.concerns(charge))
                    },
                    strikes: decision.changes.compactMap { Case.Strike($0, of: charge.user, by: charge.by) }))
        }
    }
}

extension Turn {
    /// What steward itself decides, such as to undo a case; nil when the journal has to be asked for
    /// `memory.takeMissing()` first. `event` is what it comes of.
    mutating func carryOut(
        _ decision: Decision, about event: ChatEvent, at now: Timestamp, as account: Account
    ) -> Outcome? {
        var progress = begin(event, at: now, as: account)
        var decision = decision
        memory.setTime(now)
        fillIn(&decision, of: MemoryKey.casesFiled.owner, event)
        return accept(&decision, &progress, event) ? progress.outcome : nil
    }

    /// Tells handlers of an event of the past, and notes what was written; false when the journal has to be asked
    /// first.
    mutating func recall(
        _ event: ChatEvent, by handlers: [any RecallingHandler], fillsHistory: Bool, at now: Timestamp,
        as account: Account
    ) -> Bool {
        guard var facts = memory.facts(about: event, at: now) else { return false }
        // As they were before it.
        if let first = facts.firstSeen, first >= event.sentAt { facts.firstSeen = nil }
        var situation = situation(of: account)
        situation.now = event.sentAt
        situation.facts = facts
        for handler in handlers where now - event.sentAt <= handler.recalls {
            handler.recall(event, in: situation)
        }
        if fillsHistory { memory.recall(event) }
        return true
    }
}

extension Case.Strike {
    /// Nil for a change that puts nothing into a ledger of that user.
    fileprivate init?(_ change: MemoryChange, of user: UserID, by rule: String) {
        guard case .set(let key, let value, let keep) = change, key.owner == "steward",
            key.name.hasPrefix("strikes."), key.subject == .user(user)
        else { return nil }
        let entries = StrikeLedger(value).entries
        let given = entries.filter { $0.by == rule && $0.event == entries.last?.event }
        self.init(
            name: key.name, keep: keep?.milliseconds,
            points: given.isEmpty ? nil : given.reduce(0) { $0 + $1.points })
    }
}

extension Turn.Progress {
    /// Whether the event goes to that handler.
    fileprivate func asks(_ entry: HandlerTable.Entry) -> Bool {
        guard entry.wants & kind != 0 else { return false }
        if isResumed { return true }
        return switch entry.stage {
        case .guard: !outcome.removed
        case .answer: !outcome.removed && !situation.isStale
        case .observe: true
        }
    }
}

extension ChatEvent {
    /// Something that a service told, in contrast to what steward itself says.
    var isFromOutside: Bool {
        switch digest.name {
        case .started, .serviceUp, .serviceDown, nil: false
        default: true
        }
    }

    /// The event among all of its realm: ids are unique in a channel only.
    var identity: String { (channel?.id.text ?? "") + "\u{1F}" + id }
}

extension ChatAction {
    /// It says something that somebody may answer.
    var isTalk: Bool {
        switch verb {
        case .send, .reply, .direct: true
        default: false
        }
    }
}

extension Continuation {
    fileprivate mutating func fillIn(from event: ChatEvent, elsewhere: Place?) {
        if self.event.isEmpty { self.event = event.id }
        if realm.isEmpty { realm = event.realm.name }
        if place == nil { place = event.place ?? elsewhere }
    }
}

/// Measures how long something took; the result is only logged, it decides nothing.
private struct Stopwatch {
    private let start = Self.nanoseconds

    var elapsed: Duration { .nanoseconds(Self.nanoseconds - start) }

    // The coarse clock ticks every few milliseconds, which is fine enough, and is read in a few nanoseconds.
    private static var nanoseconds: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC_COARSE, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
