internal import Chat

extension Turn {
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
