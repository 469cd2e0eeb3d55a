internal import Chat

// What others ask, and what is to go.
extension Decider {
    func take(_ orders: [StoredOrder]) async throws {
        // Whoever waited for an answer of yesterday has gone.
        let yesterday = parts.time.now - .seconds(86_400)
        pending.changes.append(RowChange(RowKey(.order, "\(yesterday.milliseconds)"), nil))
        for stored in orders where stored.number > lastOrder {
            lastOrder = stored.number
            let answer: OrderAnswer
            switch JSONRow.value(Order.self, from: stored.body) {
            case .undo(let name, let by)?: answer = try await undo(name, by: by)
            case .forget(let user, let realm, let by)?: answer = try await forget(user, in: realm, by: by)
            case nil: answer = OrderAnswer(isDone: false, text: "this steward does not know such an order")
            }
            pending.changes.append(RowChange(RowKey(.order, "\(stored.number)"), JSONRow.body(of: answer)))
        }
    }

    /// Takes away the texts whose time is over, and old answers to orders.
    func clean() async throws {
        let now = parts.time.now
        let hour = CaseFile.hour(now)
        // There was no case yet.
        guard let cleaned = cases.cleaned else { return }
        var next = cleaned + 1
        var isWorthANote = hour - next > Self.hoursBetweenNotes
        while next < hour {
            let keys = (next..<min(hour, next + 1000)).map(CaseFile.listKey)
            next += 1000
            let rows = try await untilItWorks { (_: isolated Decider, journal) throws(JournalError) in
                try await journal.rows(of: .cases, keys: keys)
            }
            isWorthANote = isWorthANote || !rows.isEmpty
            for row in rows {
                pending.changes.append(RowChange(RowKey(.evidence, row.key.part), nil))
                pending.changes.append(RowChange(row.key, nil))
            }
        }
        if isWorthANote { noteCleaned(hour - 1) }
    }

    /// Notes that up to that hour nothing is left that was to go.
    func noteCleaned(_ hour: Int64) {
        cases.cleaned = hour
        pending.changes.append(RowChange(RowKey(.cases, CaseFile.cleanedKey), Array("\(hour)".utf8)))
    }

    /// Looking for nothing costs little, so it is not noted each time.
    private static let hoursBetweenNotes: Int64 = 24

    /// What is remembered of a user goes: facts, what rules remember, cases with their texts, kept events. In the
    /// audit log stays what was done, and no longer to whom.
    func forget(_ user: String, in realm: String, by: String) async throws -> OrderAnswer {
        let id = parts.identities.realm(realm).user(user)
        let key = MemorySubject.user(id).rowKey
        let (rows, stored) = try await untilItWorks { (_: isolated Decider, journal) throws(JournalError) in
            (
                try await journal.rows(of: .memory, keys: [key]), try await journal.rows(of: .cases)
            )
        }
        pending.changes += rows.map { RowChange($0.key, nil) }
        turn.memory.forget(id)
        var found = 0
        for row in stored where CaseFile.isName(row.key.key) {
            guard let known = JSONRow.value(Case.self, from: row.body), known.user == user,
                known.realm == realm
            else { continue }
            found += 1
            cases.forget(known.name)
            pending.changes.append(RowChange(row.key, nil))
            pending.changes.append(RowChange(RowKey(.evidence, known.name), nil))
            if let until = known.evidenceUntil {
                let list = CaseFile.listKey(CaseFile.hour(until))
                pending.changes.append(RowChange(RowKey(.cases, list, known.name), nil))
            }
        }
        let (lease, identities) = (lease, parts.identities)
        try await untilItWorks { (_: isolated Decider, journal) throws(JournalError) in
            try await journal.rewrite(.event, under: lease) { body in
                EventCoding.rewriting(body, without: id, realms: identities)
            }
            try await journal.rewrite(.audit, under: lease) { body in
                guard var line = JSONRow.value(AuditLine.self, from: body), line.user == user else {
                    return .stays
                }
                line.user = AuditLine.forgotten
                line.why = nil
                return .becomes(JSONRow.body(of: line))
            }
        }
        note(AuditLine(at: parts.time.now, state: .done, action: "forget", by: by))
        let words =
            "what was remembered of them is gone, "
            + (found == 0 ? "" : found == 1 ? "with one case, " : "with \(found) cases, ")
            + "and what was kept of their events"
        return OrderAnswer(isDone: true, text: words)
    }
}
