internal import Chat

// What steward itself has to say.
extension Decider {
    func started() -> ChatEvent {
        ChatEvent(
            id: "started/\(lease.number)", account: "", realm: parts.identities.realm("steward"),
            sentAt: parts.time.now, kind: .started)
    }

    func identified(_ account: String, as user: UserID, in realm: Realm) async throws {
        accounts[account]?.own = user
        lastAccount = nil
        realms[account] = realm
        turn.know(account, as: user, in: realm)
        intake.identified(as: user)
        for key in early.removeValue(forKey: account) ?? [] { try await resume(key) }
    }

    func changed(_ account: String, to status: ServiceStatus) async throws {
        guard let realm = realms[account] else { return }
        let kind: ChatEvent.Kind
        switch status {
        case .connecting: return
        case .up: kind = .serviceUp
        case .down(let reason), .failed(let reason): kind = .serviceDown(reason: reason)
        }
        // A service that tries again and again goes down once.
        let isUp = status == .up
        guard toldUp[account] != isUp else { return }
        toldUp[account] = isUp
        statusEvents += 1
        try await take(
            ChatEvent(
                id: "status/\(account)/\(lease.number)/\(statusEvents)", account: account, realm: realm,
                sentAt: parts.time.now, kind: kind))
    }

    /// An action is over; whoever waits for its result gets it in the same commit.
    func finish(_ open: OpenAction, _ outcome: ActionOutcome) async throws {
        pending.changes.append(RowChange(RowKey(.action, open.key.text), nil))
        let outcome = try await standIn(for: open, outcome)
        let realm = parts.identities.realm(open.realm)
        if case .done(let receipt) = outcome, let message = receipt.message {
            intake.sent(message.id, in: realms[open.action.place.account] ?? realm)
        }
        try await settle(open, outcome)
        if case .failed(let why) = outcome {
            ledger.fail(open.action.by, why, at: parts.time.now)
            try await tellUndeleted(open, why)
        }
        guard let continuation = open.action.then else { return }
        let answer: ChatEvent.Outcome =
            switch outcome {
            case .done(let receipt): .done(receipt)
            case .failed(let why): .failed(why)
            }
        try await take(resumed(continuation, answer, named: open.key.text))
    }

    func resume(_ key: String) async throws {
        guard let continuation = continuations[key] else { return }
        if let account = continuation.place?.account, accounts[account]?.own == nil {
            early[account, default: []].append(key)
            return
        }
        continuations[key] = nil
        pending.changes.append(RowChange(RowKey(.continuation, key), nil))
        try await take(resumed(continuation, .due, named: key))
    }

    /// A rule that wanted a message deleted tells staff that it is still there.
    private func tellUndeleted(_ open: OpenAction, _ why: String) async throws {
        // Of what was not even tried, such as what is over a ceiling, staff know already.
        guard case .deleteMessage = open.action.verb, open.settled == nil,
            !open.action.path.hasSuffix(".delete_after"),
            !turn.handlers.handlers(resuming: Undeleted.owner).isEmpty
        else { return }
        let name = open.cases?.first
        var author: String?
        if let name { author = try await storedCase(name)?.userName }
        var continuation = Undeleted.continuation(
            by: open.action.by, why: why, in: open.action.place, author: author, inCase: name,
            reportTo: parts.settings.limits.reportTo)
        continuation.event = open.event
        continuation.realm = open.realm
        try await take(resumed(continuation, .failed(why), named: "\(open.key.text)/undeleted"))
    }

    func resumed(_ continuation: Continuation, _ outcome: ChatEvent.Outcome, named key: String)
        -> ChatEvent
    {
        .resumed(
            continuation, outcome, named: key, realm: parts.identities.realm(continuation.realm),
            at: parts.time.now
        ) { channels[$0] }
    }
}
