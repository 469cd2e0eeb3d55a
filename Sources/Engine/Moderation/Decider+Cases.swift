internal import Chat

// Cases: filed with the decision that makes them, in the same commit; settled as their actions come to an end; undone.
extension Decider {
    /// Notes on actions and on what is put off which cases they belong to.
    func tag(_ outcome: inout Turn.Outcome, _ event: ChatEvent) {
        for filed in outcome.filed {
            let keys = Set(filed.actions.map(\.key))
            for index in outcome.actions.indices where keys.contains(outcome.actions[index].key) {
                outcome.actions[index].belong(to: [filed.name])
            }
            for index in outcome.later.indices
            where outcome.later[index].continuation.owner == filed.charge.by {
                outcome.later[index].continuation.belong(to: [filed.name])
            }
        }
        guard case .resumed(let continuation, _) = event.kind, let names = continuation.cases else { return }
        for index in outcome.actions.indices
        where outcome.actions[index].action.by == continuation.owner
            && !outcome.actions[index].action.isOfAChannel
        {
            outcome.actions[index].belong(to: names)
        }
        for index in outcome.later.indices
        where outcome.later[index].continuation.owner == continuation.owner {
            outcome.later[index].continuation.belong(to: names)
        }
    }

    /// Puts what the event makes of cases into the next commit.
    func file(_ outcome: Turn.Outcome, _ event: ChatEvent) async throws {
        let now = parts.time.now
        for filed in outcome.filed { file(filed, outcome, event, at: now) }
        if case .resumed(let continuation, _) = event.kind, let names = continuation.cases {
            for name in names {
                guard var found = try await storedCase(name) else { continue }
                let new = outcome.actions.filter { $0.cases?.contains(name) == true }
                guard !new.isEmpty else { continue }
                found.deeds += new.map { Case.Deed($0.action, key: $0.key, state: .asked, at: now) }
                cases[name] = found
            }
        }
        for name in outcome.undone { try await undo(name, asked: event) }
    }

    /// What lists of cases call the channel; a direct one has no name that says something.
    static func channelName(_ event: ChatEvent) -> String? {
        guard let channel = event.channel else { return nil }
        if channel.isDirect, let member = event.member { return "direct with \(member.name)" }
        return channel.uniqueName ?? (channel.title.isEmpty ? nil : channel.title)
    }

    private func file(_ filed: Turn.Filed, _ outcome: Turn.Outcome, _ event: ChatEvent, at now: Timestamp) {
        let charge = filed.charge
        let place =
            event.place ?? filed.actions.first?.action.place ?? Place(account: event.account, channel: "")
        var new = Case(
            name: filed.name, at: now, rule: charge.by, realm: event.realm.name, place: place,
            channelName: Self.channelName(event),
            user: charge.user.text, userName: charge.user.text, event: event.id, reason: charge.reason,
            messages: charge.messages.count)
        let history = event.channel.map { turn.memory.history(of: $0.id) } ?? []
        if let member = event.member, member.user == charge.user {
            new.userName = member.name
        } else {
            new.userName =
                history.last { $0.member?.user == charge.user }?.member?.name ?? charge.user.text
        }
        new.moderator = charge.moderator?.text
        new.deeds = filed.actions.map { Case.Deed($0.action, key: $0.key, state: .asked, at: now) }
        new.strikes = filed.strikes
        if let keeping = parts.settings.evidence {
            let evidence = evidence(for: filed, event, history, at: now)
            let until = now + (charge.keep ?? keeping.keep)
            new.evidenceUntil = until
            pending.changes.append(
                RowChange(RowKey(.evidence, filed.name), keeping.sealed(evidence, of: filed.name)))
            let list = CaseFile.listKey(CaseFile.hour(until))
            pending.changes.append(RowChange(RowKey(.cases, list, filed.name), []))
            if cases.cleaned == nil { noteCleaned(CaseFile.hour(now) - 1) }
        }
        for strike in filed.strikes {
            var line = AuditLine(
                at: now, state: .done, action: "strike", by: charge.by, cases: [filed.name],
                user: charge.user.text)
            line.account = place.account
            line.channel = place.channel
            line.event = event.id
            line.why = String(strike.name.dropFirst("strikes.".count))
            note(line)
        }
        cases[filed.name] = new
    }

    private func evidence(
        for filed: Turn.Filed, _ event: ChatEvent, _ history: [ChatEvent], at now: Timestamp
    ) -> Evidence {
        var evidence = Evidence()
        evidence.fragment = filed.charge.fragment
        // What is to be deleted, too, wherever it is.
        var wanted: [(MessageReference, ChannelID?)] = filed.charge.messages.map { ($0, event.channel?.id) }
        for (_, action) in filed.actions {
            guard case .deleteMessage(let message) = action.verb,
                !wanted.contains(where: { $0.0.id == message.id })
            else { continue }
            wanted.append((message, event.realm.channel(action.place.channel)))
        }
        for (reference, channel) in wanted {
            let known =
                event.message?.id == reference.id
                ? event
                : (channel.map { turn.memory.history(of: $0) } ?? history).last {
                    $0.message?.id == reference.id
                }
            if let known, let message = known.message {
                evidence.messages.append(Evidence.Line(known, message))
            } else {
                evidence.messages.append(
                    Evidence.Line(id: reference.id, index: reference.index, channel: channel?.text ?? ""))
            }
        }
        if let channel = event.channel?.id {
            evidence.historyOf = cases.historian(of: channel, for: filed.name, at: now)
            if evidence.historyOf == nil {
                let about = Set(wanted.map(\.0.id))
                let before = history.filter { !about.contains($0.message?.id ?? "") }
                evidence.history = before.suffix(Self.historyInEvidence).compactMap { event in
                    event.message.map { Evidence.Line(event, $0) }
                }
            }
        }
        return evidence
    }

    private static let historyInEvidence = 20
    /// What concerns nobody has no case.
    private static let noCase =
        "there is no such case (locks, slow mode and modes against nobody have none: a rule's unlock, "
        + "slowmode: none and leave_mode end them)"

    func noteAsked(_ open: OpenAction, _ outcome: Turn.Outcome) {
        var line = AuditLine(open, .asked, at: parts.time.now)
        if line.user == nil, let name = open.cases?.first {
            line.user = outcome.filed.first { $0.name == name }?.charge.user.text ?? cases[name]?.user
        }
        note(line)
    }

    /// Notes in its cases and in the audit log how an action came to its end.
    func settle(_ open: OpenAction, _ outcome: ActionOutcome) async throws {
        let now = parts.time.now
        var user: String?
        for name in open.cases ?? [] {
            guard var found = try await storedCase(name) else { continue }
            user = user ?? found.user
            if found.settle(open.key, outcome, at: now) { cases[name] = found }
            // It was undone while nobody knew yet whether they were in.
            if found.undone != nil, case .done(let receipt) = outcome, receipt.tookOut == true {
                try await carryOutUndoing(found, late: open.key.text)
            }
        }
        guard open.action.isModeration else { return }
        var line =
            switch outcome {
            case .done: AuditLine(open, .done, at: now)
            case .failed(let why): AuditLine(open, .failed, at: now, why: why)
            }
        line.user = line.user ?? user
        note(line)
    }

    func note(_ line: AuditLine) {
        var line = line
        line.channelName = name(of: line)
        auditLines += 1
        pending.changes.append(line.change("\(lease.number)/\(auditLines)"))
    }

    private func name(of line: AuditLine) -> String? {
        guard let name = line.account, let id = line.channel, !id.isEmpty,
            let own = account(named: name).own
        else { return nil }
        let channel = channel(parts.identities.realm(own.identity.realmName).channel(id))
        return channel.uniqueName ?? (channel.title.isEmpty ? nil : channel.title)
    }

    /// As it is now; nil when there is none.
    func storedCase(_ name: String) async throws -> Case? {
        if let known = cases[name] { return known }
        guard CaseFile.isName(name) else { return nil }
        let rows = try await untilItWorks { (_: isolated Decider, journal) throws(JournalError) in
            try await journal.rows(of: .cases, keys: [name])
        }
        guard let found = rows.first.flatMap({ JSONRow.value(Case.self, from: $0.body) }) else { return nil }
        cases.learn(found)
        return found
    }

    /// All cases of a person as they are now, the first of them first.
    private func cases(of user: String, in realm: String) async throws -> [Case] {
        let rows = try await untilItWorks { (_: isolated Decider, journal) throws(JournalError) in
            try await journal.rows(of: .cases)
        }
        var found: [String: Case] = [:]
        for row in rows where CaseFile.isName(row.key.key) {
            found[row.key.key] = JSONRow.value(Case.self, from: row.body)
        }
        for known in cases.inWork { found[known.name] = known }
        return found.values.filter { $0.user == user && $0.realm == realm }.sorted { $0.number < $1.number }
    }

    // MARK: Undoing

    /// For a decision: whoever asked for it is told in their channel what came of it.
    private func undo(_ name: String, asked event: ChatEvent) async throws {
        let by = event.member?.user.text ?? event.account
        let answer = try await undo(name, by: by)
        guard let place = event.place else { return }
        var decision = Decision()
        let text = Outgoing("\(name): \(answer.text)")
        let verb: ChatAction.Verb =
            event.message.map { .reply(text, to: MessageReference($0)) } ?? .send(text)
        decision.actions = [ChatAction(verb, in: place, path: "undo/\(name)")]
        try await carryOut(decision, about: event)
    }

    func undo(_ name: String, by: String) async throws -> OrderAnswer {
        let now = parts.time.now
        guard var found = try await storedCase(name) else {
            return OrderAnswer(isDone: false, text: Self.noCase)
        }
        if let undone = found.undone {
            return OrderAnswer(isDone: false, text: "undone before, by \(undone.by)")
        }
        let words = try await carryOutUndoing(found)
        var line = AuditLine(
            at: now, state: .done, action: "undo", by: by, cases: [name], user: found.user, why: words)
        line.account = found.place.account
        line.channel = found.place.channel
        note(line)
        found = try await storedCase(name) ?? found
        found.undone = Case.Undone(at: now, by: by, what: words)
        cases[name] = found
        parts.log.info("\(name) is undone by \(by): \(words)")
        return OrderAnswer(isDone: true, text: words)
    }

    /// Does what undoes a case, and notes it there; says what was restored. `late`: what follows a kick or ban of it that was on
    /// its way when the case was undone.
    @discardableResult
    private func carryOutUndoing(_ found: Case, late: String? = nil) async throws -> String {
        let now = parts.time.now
        let realm = parts.identities.realm(found.realm)
        let evidence = try await evidence(of: found, at: now)
        let abilities = account(named: found.place.account).abilities
        let memory = turn.memory
        let others = try await cases(of: found.user, in: found.realm)
        func look() -> Undoing {
            Undoing(
                found, besides: others, late: late, evidence: evidence, realm: realm, abilities: abilities,
                at: now
            ) { memory.value(of: $0) }
        }
        var undoing = look()
        while memory.hasMissing {
            try await load()
            undoing = look()
        }
        let event = ChatEvent(
            id: "undo/\(found.name)", account: found.place.account, realm: realm,
            channel: found.place.channel.isEmpty
                ? nil : channel(realm.channel(found.place.channel)),
            sentAt: now, kind: .resumed(Continuation(owner: MemoryKey.casesFiled.owner, step: "undo"), .due))
        let actions = try await carryOut(undoing.decision, about: event, in: [found.name])
        guard !actions.isEmpty, var found = try await storedCase(found.name) else { return undoing.words }
        for open in actions {
            found.deeds.append(Case.Deed(open.action, key: open.key, state: .asked, at: now))
            if let settled = open.settled { _ = found.settle(open.key, settled, at: now) }
        }
        cases[found.name] = found
        return undoing.words
    }

    private func evidence(of found: Case, at now: Timestamp) async throws -> Evidence? {
        guard let keeping = parts.settings.evidence, let until = found.evidenceUntil, now < until else {
            return nil
        }
        let name = found.name
        // It may be in what is about to be committed.
        let own = RowKey(.evidence, name)
        if let new = pending.changes.last(where: { $0.key == own }) {
            return new.body.flatMap { keeping.opened($0, of: name) }
        }
        let rows = try await untilItWorks { (_: isolated Decider, journal) throws(JournalError) in
            try await journal.rows(of: .evidence, keys: [name])
        }
        return rows.first.flatMap { keeping.opened($0.body, of: name) }
    }

    /// Does what steward itself decides; answers what is to be done.
    @discardableResult
    func carryOut(
        _ decision: Decision, about event: ChatEvent, in names: [String] = []
    ) async throws -> [OpenAction] {
        let account = account(named: decision.actions.first?.place.account ?? event.account)
        while true {
            if var outcome = turn.carryOut(decision, about: event, at: parts.time.now, as: account) {
                if !names.isEmpty {
                    for index in outcome.actions.indices { outcome.actions[index].belong(to: names) }
                }
                enqueue(outcome)
                try await finishSettled(outcome)
                return outcome.actions
            }
            try await load()
        }
    }
}

extension OpenAction {
    fileprivate mutating func belong(to names: [String]) {
        cases = (cases ?? []) + names.filter { cases?.contains($0) != true }
        // What follows something that steward said is about that, such as to take it back.
        if !action.isTalk { action.then?.belong(to: names) }
    }
}

extension Continuation {
    fileprivate mutating func belong(to names: [String]) {
        cases = (cases ?? []) + names.filter { cases?.contains($0) != true }
    }
}
