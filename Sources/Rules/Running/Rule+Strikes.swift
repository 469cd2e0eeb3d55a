internal import Chat

/// What the strike that was given can be printed as.
struct StrikeValues: Sendable {
    var points: Int64
    var reason: TemplateValue
    var total: Int64
}

extension Rule {
    /// Gives somebody points, and does what the highest step says that they newly reach. Says whether the rule goes on.
    func strike(_ step: BotStep, _ acting: inout Acting, into decision: inout Decision) -> Bool {
        guard let ladder = step.deed.ladder.flatMap({ ladders[$0.value] }) else { return true }
        guard let member = target(step, acting) else {
            return refuse(step, "nobody goes by that name", acting, into: &decision)
        }
        let points = step.deed.points.map { Int64($0.value(acting.values).plain.trimmed) ?? 0 } ?? 1
        guard points != 0, points.magnitude <= 1000 else { return true }
        // What is taken back is no punishment.
        if points > 0, let why = protection(of: member, from: step, acting) {
            return refuse(step, why, acting, into: &decision)
        }
        let now = acting.situation.now
        let key = StrikeLedger.key(ladder: ladder.name, user: member.user)
        // Two strikes of one event are both on the ledger.
        var ledger = StrikeLedger(decision.pending(key) ?? acting.situation.memory.value(of: key))
        let before = ledger.total(at: now, forgive: ladder.forgive)
        let reason = reason(step, acting)
        ledger.add(
            StrikeLedger.Entry(
                points: points, at: now, reason: reason, by: id, event: acting.event.id,
                moderator: command == nil ? nil : acting.event.member?.user.text))
        let total = ledger.total(at: now, forgive: ladder.forgive)
        decision.changes.append(.set(key, .text(ledger.text), keep: ladder.keep(total)))
        acting.values.strike = StrikeValues(
            points: points, reason: step.deed.reason?.value(acting.values) ?? .absent, total: total)
        if points > 0 {
            charge(member.user, acting, reason: reason, &decision)
            tellOfStranger(member, step, acting, &decision)
        }
        if points > 0, let event = told(member, ladder, points, total, acting) {
            decision.later.append(event)
        }
        let rung = step.branches.last { $0.points > before && $0.points <= total }
        if let rung { _ = perform(rung.steps[...], acting.about(member), into: &decision) }
        return true
    }

    /// Comes back to the rules that wait for strikes.
    private func told(
        _ member: Member, _ ladder: Ladder, _ points: Int64, _ total: Int64, _ acting: Acting
    ) -> Continuation? {
        guard modes.awaited.contains("strikes \(ladder.name)") else { return nil }
        var values = [
            "user": member.user.text, "name": member.name, "points": "\(points)", "total": "\(total)",
            "account": acting.event.account,
        ]
        values["reason"] = acting.values.strike?.reason.plain
        return Continuation(
            owner: StrikeEvents.owner, step: ladder.name, values: values, due: acting.situation.now)
    }

    /// Where the strikes are that `reset` forgets, if it is a ladder that it names.
    func ladderKey(_ count: BotCount, _ acting: Acting) -> MemoryKey? {
        guard let ladder = ladders[count.counter.value] else { return nil }
        let member: UserID?
        if let subject = count.subject {
            member = subject.value(acting.values).person(acting.event, acting.situation).map {
                acting.event.realm.user($0.id)
            }
        } else {
            member = acting.event.member?.user
        }
        return member.map { StrikeLedger.key(ladder: ladder.name, user: $0) }
    }
}

extension Decision {
    /// What a value will be once this is done; nil when this does not change it.
    func pending(_ key: MemoryKey) -> MemoryValue? {
        for change in changes.reversed() {
            if case .set(let changed, let value, _) = change, changed == key { return value }
        }
        return nil
    }
}

extension Ladder {
    /// How many points somebody has: who did it, or whom `of` names.
    func value(_ values: TemplateValues) -> CounterValue {
        let (event, situation, ladder) = (values.event, values.situation, self)
        let total = { @Sendable (user: UserID?) -> Int64 in
            guard let user else { return 0 }
            let key = StrikeLedger.key(ladder: ladder.name, user: user)
            return StrikeLedger(situation.memory.value(of: key)).total(
                at: situation.now, forgive: ladder.forgive)
        }
        return CounterValue(name: name, number: total(event.member?.user)) { subject in
            total(subject.person(event, situation).map { event.realm.user($0.id) })
        }
    }
}
