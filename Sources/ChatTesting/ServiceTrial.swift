internal import Chat

/// One promise of a service, tried on a stage.
final class ServiceTrial<Stage: ChatServiceStage>: Sendable {
    /// A service that runs.
    private struct Login {
        var service: any ChatService
        var inbox: ContractInbox
        var running: Task<Void, Never>
    }

    private let stage: Stage
    private let promise: String
    private let patience: Duration
    private let logins = Locked<[Login]>([])

    init(stage: Stage, promise: String, patience: Duration) {
        self.stage = stage
        self.promise = promise
        self.patience = patience
    }

    func logOut() async {
        let logins = logins.withLock { logins in
            defer { logins = [] }
            return logins
        }
        for login in logins { login.running.cancel() }
        for login in logins { await login.running.value }
    }

    // MARK: The promises

    func tellsOfItself() async throws {
        let (_, inbox) = try await logIn()
        let state = inbox.now
        guard state.own != nil, state.realm != nil else { throw broken("it is up and never said who it is") }
        guard state.statuses.first == .connecting else {
            throw broken("its first status is \(state.statuses.first.map { "\($0)" } ?? "none")")
        }
    }

    func keepsOrder() async throws {
        let (_, inbox) = try await logIn()
        let expected = try await say(25, "line")
        let state = try await inbox.hears(expected, in: self)
        let ids = state.events.map(\.id)
        guard Set(ids).count == ids.count else { throw broken("two events have one id: \(ids)") }
        for event in state.events where event.name == .messageAdded {
            guard event.channel != nil, event.account == stage.place.account, event.realm == state.realm
            else { throw broken("a message without its account, realm or channel: \(event.id)") }
        }
        guard !state.cursors.isEmpty else { throw broken("no event carries a cursor") }
    }

    func leavesHistory() async throws {
        _ = try await say(3, "before")
        let (_, inbox) = try await logIn()
        _ = try await inbox.hears(try await say(1, "after"), in: self)
    }

    func knowsItself() async throws {
        let (service, inbox) = try await logIn()
        let receipt = try await service.perform(send("of my own"), key: key(1))
        let isThere = try await inbox.wait(patience) { $0.texts(own: true) == ["of my own"] }
        let state = inbox.now
        guard isThere else {
            throw broken("its own messages: \(state.texts(own: true)); others': \(state.texts(own: false))")
        }
        let own = state.events.last { $0.message?.author.user == state.own }
        guard let told = own?.message?.id, let sent = receipt.message?.id, told == sent else {
            throw broken(
                "the receipt says \(receipt.message?.id ?? "nothing"), the event \(own?.message?.id ?? "-")")
        }
    }

    func reconnects() async throws {
        let (service, inbox) = try await logIn()
        var expected = try await say(2, "before")
        _ = try await inbox.hears(expected, in: self)
        for round in 1...3 {
            let ups = inbox.now.ups
            try await stage.cut()
            expected += try await say(3, "after cut \(round)")
            // Some lines are mended before anybody notices: then nothing has to be said of it.
            _ = try await inbox.hears(expected, in: self)
            _ = try await inbox.wait(.zero) { $0.ups > ups }
        }
        try await acts(service, "still here", key: key(2))
    }

    func resumes() async throws {
        let (_, first) = try await logIn()
        _ = try await first.hears(try await say(4, "while there"), in: self)
        await logOut()
        let missed = try await say(4, "while away")
        let (_, second) = try await logIn(cursors: first.now.cursors)
        _ = try await second.hears(missed, in: self)
        await logOut()
        let (_, third) = try await logIn(cursors: second.now.cursors)
        _ = try await third.hears(try await say(1, "and again"), in: self)
    }

    func refreshes() async throws {
        let (service, inbox) = try await logIn()
        var expected: [String] = []
        for round in 1...3 {
            let before = try await stage.tokenCount()
            try await stage.expireToken()
            expected += try await say(2, "token \(round)")
            _ = try await inbox.hears(expected, in: self)
            try await acts(service, "with token \(round)", key: key(round))
            let after = try await stage.tokenCount()
            guard after > before else { throw broken("it goes on without another token") }
        }
    }

    func honoursLimits() async throws {
        let (service, _) = try await logIn()
        guard let pause = try await stage.limit() else { return }
        let begun = ContinuousClock.now
        var told: Duration?
        // It may wait by itself, or say how long.
        for number in 1...20 where told == nil {
            switch await attempt(send("limited \(number)"), key(number), by: service) {
            case .success: break
            case .failure(.rateLimited(let after?, _)) where after > .zero: told = after
            case .failure(let error): throw broken("a limit was told as: \(error)")
            }
        }
        let taken = ContinuousClock.now - begun
        guard told != nil || taken >= pause / 2 else {
            throw broken("a limit of \(pause) was over after \(taken)")
        }
        try await stage.unlimit()
        try await acts(service, "after the limit", key: key(99))
        let texts = try await stage.texts()
        guard Set(texts).count == texts.count else { throw broken("something was sent twice: \(texts)") }
    }

    func fallsBehind() async throws {
        let (service, inbox) = try await logIn()
        var expected = try await say(1, "before")
        _ = try await inbox.hears(expected, in: self)
        inbox.change { $0.answer = .behind }
        expected += try await say(10, "too much")
        guard try await inbox.wait(patience, until: { $0.refused > 0 }) else {
            throw broken("nothing was delivered")
        }
        try await acts(service, "while behind", key: key(3))
        inbox.change { $0.answer = .taken }
        expected += try await say(2, "enough again")
        _ = try await inbox.hears(expected, in: self)
    }

    func staysForTheEnd() async throws {
        let (service, inbox) = try await logIn()
        inbox.change { $0.answer = .closed }
        _ = try await say(2, "too late")
        guard try await inbox.wait(patience, until: { $0.refused > 0 }) else {
            throw broken("nothing was delivered")
        }
        try await acts(service, "a last word", key: key(4))
        if let end = inbox.now.end { throw broken("it ended: \(end)") }
    }

    func actsOnce() async throws {
        let began = Timestamp.now
        let (first, _) = try await logIn()
        let action = send("only once")
        let sent = try await first.perform(action, key: key(5))
        try await isFound(sent, by: first, action, since: began)
        guard try await first.find(send("never sent"), key: key(6), since: began) == nil else {
            throw broken("it found what was never sent")
        }
        await logOut()
        // Another process, that does not know what became of the action.
        let (second, _) = try await logIn()
        try await isFound(sent, by: second, action, since: began)
        try await stands(["only once"])
    }

    func saysUnreachable() async throws {
        let service = try await stage.service()
        switch await attempt(send("into the void"), key(7), by: service) {
        case .failure(.unreachable): break
        case .failure(let error): throw broken("not connected it says: \(error)")
        case .success: throw broken("not connected it says that it acted")
        }
        let texts = try await stage.texts()
        guard !texts.contains("into the void") else { throw broken("it was sent all the same") }
    }

    func ends() async throws {
        let (_, inbox) = try await logIn()
        logins.withLock { $0.last?.running.cancel() }
        guard try await inbox.wait(.seconds(5), until: { $0.end != nil }) else {
            throw broken("it still runs after 5 s")
        }
    }

    // MARK: What they are made of

    private func logIn(
        cursors: [String: Position] = [:]
    ) async throws -> (service: any ChatService, inbox: ContractInbox) {
        let inbox = ContractInbox(cursors: cursors)
        let service = try await stage.service()
        // Not a child task: it runs until the trial is over.
        let running = Task {
            do {
                try await service.run(inbox)
                inbox.change { $0.end = "it returned" }
            } catch {
                inbox.change { $0.end = "\(error)" }
            }
        }
        logins.withLock { $0.append(Login(service: service, inbox: inbox, running: running)) }
        let isUp = try await inbox.wait(patience) { $0.ups > 0 || $0.end != nil }
        guard isUp, inbox.now.end == nil else {
            throw broken("it is not up: \(inbox.now.end ?? "\(inbox.now.statuses)")")
        }
        return (service, inbox)
    }

    private func say(_ count: Int, _ text: String) async throws -> [String] {
        let texts = (1...count).map { "\(text), \($0)" }
        for text in texts { try await stage.say(text) }
        return texts
    }

    private func send(_ text: String) -> ChatAction {
        ChatAction(.send(Outgoing(text)), in: stage.place, by: "contract", path: "do[0]")
    }

    /// As the engine's keys are: 32 hexadecimal digits.
    private func key(_ number: Int) -> ActionKey {
        let digits = String(number, radix: 16)
        return ActionKey(text: String(repeating: "a", count: 32 - digits.count) + digits)
    }

    /// Acts as the outbox does: again where it may, looked for where nobody knows; and it stands there once.
    private func acts(_ service: any ChatService, _ text: String, key: ActionKey) async throws {
        let action = send(text)
        let began = Timestamp.now
        let end = ContinuousClock.now + patience
        while true {
            switch await attempt(action, key, by: service) {
            case .success: return try await stands([text])
            case .failure(.unreachable(let why)):
                guard ContinuousClock.now < end else { throw broken("it does not come back: \(why)") }
                try await Task.sleep(for: .milliseconds(50))
            case .failure(.rateLimited(let after, _)):
                try await Task.sleep(for: min(after ?? .seconds(1), patience))
            case .failure(.unknownOutcome):
                if try await find(action, key, since: began, by: service, until: end) != nil {
                    return try await stands([text])
                }
            case .failure(let error): throw error
            }
        }
    }

    /// Looks for it as soon as the service is there.
    private func find(
        _ action: ChatAction, _ key: ActionKey, since: Timestamp, by service: any ChatService,
        until end: ContinuousClock.Instant
    ) async throws -> Receipt? {
        while true {
            do {
                return try await service.find(action, key: key, since: since)
            } catch {
                guard case .unreachable = error, ContinuousClock.now < end else { throw error }
            }
            try await Task.sleep(for: .milliseconds(50))
        }
    }

    private func attempt(
        _ action: ChatAction, _ key: ActionKey, by service: any ChatService
    ) async -> Result<Receipt, ChatServiceError> {
        do {
            return .success(try await service.perform(action, key: key))
        } catch {
            return .failure(error)
        }
    }

    private func stands(_ wanted: [String]) async throws {
        let texts = try await stage.texts()
        for text in wanted {
            let count = texts.count { $0 == text }
            guard count == 1 else { throw broken("\"\(text)\" stands there \(count) times: \(texts)") }
        }
    }

    private func isFound(
        _ receipt: Receipt, by service: any ChatService, _ action: ChatAction, since: Timestamp
    ) async throws {
        let found = try await service.find(action, key: key(5), since: since)
        guard let id = found?.message?.id, id == receipt.message?.id else {
            throw broken(
                "sent as \(receipt.message?.id ?? "nothing"), found as \(found?.message?.id ?? "nothing")")
        }
    }

    func broken(_ what: String) -> ContractBroken { ContractBroken(description: "\(promise): \(what)") }

    var limit: Duration { patience }
}

extension ContractInbox {
    /// Waits until others' new messages are these, and gives all there is; anything else breaks the promise.
    fileprivate func hears<Stage>(
        _ texts: [String], in trial: ServiceTrial<Stage>
    ) async throws -> State {
        let isThere = try await wait(trial.limit) {
            $0.texts(own: false).count >= texts.count || $0.end != nil
        }
        let state = now
        guard isThere, state.texts(own: false) == texts else {
            throw trial.broken(
                "said were \(texts), told were \(state.texts(own: false))"
                    + (state.end.map { "; it ended: \($0)" } ?? ""))
        }
        return state
    }
}
