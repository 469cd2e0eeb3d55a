package import Chat

/// One event's step, from what is remembered and the time to what is to be done. Nothing in it waits, and time is an
/// argument: live, in rehearsals and in replays it is the same code.
package struct Turn: Sendable {
    package var handlers: HandlerTable { didSet { if handlers.looksBack { memory.keepHistory() } } }
    package var directory: Directory { didSet { lastSituation = nil } }
    package let memory: Memory
    let limits: Limits
    var loops: LoopGuard
    var replies = ReplyChains()
    var moderation: Moderation
    /// That of the event before: most of it is the same for the next.
    private var lastSituation: Situation?
    /// What comes next; it keeps its room.
    private var expected: [Expected] = []

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

    /// These come next, so what is known of them is looked for now: `memory` says what is missing.
    package mutating func expect(_ events: some Sequence<ChatEvent>) {
        expected.removeAll(keepingCapacity: true)
        for event in events { expected.append(Expected(event)) }
        memory.want(events, as: expected)
        for handler in handlers.recalling { handler.expect(expected) }
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
    mutating func situation(of account: Account) -> Situation {
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
}
