import Chat
import ChatTesting
import Testing

@testable import Engine

/// What is kept of moderation: cases with their texts, the audit log, and how a case is undone.
@Suite(.timeLimit(.minutes(1))) struct Cases {
    let noon = Timestamp(milliseconds: 1_781_524_800_000)

    /// Deletes what is bad, gives a strike for it and reports; `!undo NAME` undoes a case.
    static let moderation = Handler("moderation", .guard, needs: Needs(looksBack: true)) { event, situation in
        guard case .messageAdded(let message) = event.kind, let place = event.place else { return .nothing }
        let words = message.text.split(separator: " ")
        var decision = Decision()
        if words.first == "!undo", words.count > 1 {
            decision.undone = [String(words[1])]
            decision.removed = true
            return decision
        }
        guard message.text.contains("bad") else { return .nothing }
        let user = message.author.user
        let name = situation.memory.caseName()
        decision.actions = [
            ChatAction(.deleteMessage(MessageReference(message)), in: place, by: "no-bad", path: "do[0]"),
            ChatAction(
                .send(Outgoing("\(name): \(user) wrote something bad")),
                in: Place(account: place.account, channel: "staff"), by: "no-bad", path: "do[2]"),
        ]
        var ledger = StrikeLedger(situation.memory.value(of: StrikeLedger.key(ladder: "conduct", user: user)))
        ledger.add(.init(points: 1, at: situation.now, by: "no-bad", event: event.id))
        decision.changes = [
            .set(StrikeLedger.key(ladder: "conduct", user: user), .text(ledger.text), keep: nil)
        ]
        decision.charges = [
            Decision.Charge(
                by: "no-bad", user: user, fragment: "bad", reason: "bad words",
                messages: [MessageReference(message)])
        ]
        decision.removed = true
        return decision
    }

    /// Bytes turned round, so that a test sees whether they were sealed.
    static let keeping = EvidenceKeeping(
        keep: .seconds(3600),
        seal: { Array(Array($1.utf8) + [0] + $0).map { $0 ^ 0x55 } },
        open: { sealed, context in
            let plain = sealed.map { $0 ^ 0x55 }
            let mark = Array(context.utf8) + [0]
            return plain.starts(with: mark) ? Array(plain.dropFirst(mark.count)) : nil
        })

    static func rig(_ handlers: [any EventHandler] = [moderation], journal: any Journal, chat: FakeChat)
        -> Rig
    {
        var rig = Rig(handlers, journal: journal, chat: chat)
        rig.settings.evidence = keeping
        return rig
    }

    static func cases(in journal: any Journal) async throws -> [String: Case] {
        var cases: [String: Case] = [:]
        for row in try await journal.rows(of: .cases) where CaseFile.isName(row.key.key) {
            let found: Case = try #require(JSONRow.value(Case.self, from: row.body))
            cases[row.key.key] = found
        }
        return cases
    }

    static func evidence(_ name: String, in journal: any Journal) async throws -> Evidence? {
        try await journal.rows(of: .evidence, keys: [name]).first.flatMap {
            keeping.opened($0.body, of: name)
        }
    }

    static func audit(in journal: SQLiteJournal) async throws -> [AuditLine] {
        try await journal.auditLines(since: Timestamp(milliseconds: 0)).compactMap {
            JSONRow.value(AuditLine.self, from: $0)
        }
    }

    /// Somebody writes something bad, and what comes of it is done.
    func offend(_ chat: FakeChat, _ text: String = "really bad", as user: String = "ana") async {
        let before = chat.performed.count
        chat.say(text, as: user, in: "lobby")
        await chat.wait { $0.performed.count == before + 2 }
    }

    @Test func `a case has who, why, what was done, and under seal what was written before`() async throws {
        let chat = FakeChat()
        let journal = try await SQLiteJournal.open(":memory:")
        try await Self.rig(journal: journal, chat: chat).runReady { _ in
            chat.say("hello", as: "ben", in: "lobby")
            await offend(chat)
        }
        let found = try #require(try await Self.cases(in: journal)["C1"])
        #expect(found.rule == "no-bad")
        #expect(found.user == "ana")
        #expect(found.moderator == nil)
        #expect(found.reason == "bad words")
        #expect(found.place == Place(account: "fake", channel: "lobby"))
        #expect(found.deeds.map(\.action) == ["delete", "send"])
        #expect(found.deeds.map(\.state) == [.done, .done])
        #expect(found.strikes.map(\.name) == ["strikes.conduct"])
        #expect(chat.messages(in: "staff").map(\.text) == ["C1: ana wrote something bad"])
        let evidence = try #require(try await Self.evidence("C1", in: journal))
        #expect(evidence.fragment == "bad")
        #expect(evidence.messages.map(\.text) == ["really bad"])
        #expect(evidence.history.map(\.text) == ["hello"])
        let bodies = try await journal.rows(of: .cases) + journal.rows(of: .evidence)
        #expect(!bodies.contains { String(decoding: $0.body, as: UTF8.self).contains("really") })
        let audit = try await Self.audit(in: journal)
        #expect(audit.map(\.action) == ["delete", "strike", "delete"])
        #expect(audit.map(\.state) == [.asked, .done, .done])
        #expect(audit.allSatisfy { $0.cases == ["C1"] && $0.by == "no-bad" && $0.user == "ana" })
    }

    @Test func `a case of a direct channel says with whom that is`() {
        var event = ChatEvent.message("really bad", in: "CH17")
        event.channel?.uniqueName = "steward-dm-0011"
        #expect(Decider.channelName(event) == "steward-dm-0011")
        event.channel?.isDirect = true
        #expect(Decider.channelName(event) == "direct with ana")
    }

    @Test func `what failed says why, in the case and in the audit log`() async throws {
        let chat = FakeChat()
        let journal = try await SQLiteJournal.open(":memory:")
        try await Self.rig(journal: journal, chat: chat).runReady { _ in
            chat.script([.fails(.rejected("not allowed"))])
            chat.say("bad", as: "ana", in: "lobby")
            await chat.wait { !$0.messages(in: "staff").isEmpty }
        }
        let found = try #require(try await Self.cases(in: journal)["C1"])
        // Either may go first: the two channels are served side by side.
        #expect(found.deeds.count { $0.state == .failed && $0.why == "not allowed" } == 1)
        #expect(found.deeds.count { $0.state == .done } == 1)
    }

    @Test func `names are counted on after a restart`() async throws {
        let chat = FakeChat()
        let file = TemporaryFile()
        for _ in 1...2 {
            let journal = try await SQLiteJournal.open(file.path)
            try await Self.rig(journal: journal, chat: chat).runReady { _ in await offend(chat) }
            await journal.close()
        }
        let journal = try await SQLiteJournal.openForReading(file.path)
        #expect(try await Self.cases(in: journal).keys.sorted() == ["C1", "C2"])
        #expect(chat.messages(in: "staff").map(\.text.first) == ["C", "C"])
    }

    @Test func `texts go when their time is over, and the case stays`() async throws {
        let file = TemporaryFile()
        let clock = ManualClock(noon)
        let chat = FakeChat(now: { clock.now })
        let journal = try await SQLiteJournal.open(file.path)
        var rig = Self.rig(journal: journal, chat: chat)
        rig.time = clock
        try await rig.runReady { _ in
            await offend(chat)
        }
        #expect(try await Self.evidence("C1", in: journal) != nil)
        clock.advance(by: .seconds(2 * 3600 + 1))
        try await rig.runReady { _ in
            await offend(chat)
            chat.say("!undo C1", as: "mod", in: "lobby")
            await chat.wait { $0.performed.count == 5 }
        }
        #expect(try await Self.evidence("C1", in: journal) == nil)
        #expect(try await Self.evidence("C2", in: journal) != nil)
        #expect(try await Self.cases(in: journal).keys.sorted() == ["C1", "C2"])
        #expect(
            chat.messages(in: "lobby").last?.text
                == "C1: 1 strike of ana taken back; not restored: 1 text not kept, or not any more")
        await journal.close()
    }

    @Test func `a charge says how long its texts are kept, whatever is usual`() async throws {
        let file = TemporaryFile()
        let clock = ManualClock(noon)
        let chat = FakeChat(now: { clock.now })
        let journal = try await SQLiteJournal.open(file.path)
        let keepsLonger = Handler("moderation", .guard, needs: Needs(looksBack: true)) { event, situation in
            var decision = try Self.moderation.decide(event, in: situation)
            if !decision.charges.isEmpty { decision.charges[0].keep = .seconds(10 * 3600) }
            return decision
        }
        var rig = Self.rig([keepsLonger], journal: journal, chat: chat)
        rig.time = clock
        try await rig.runReady { _ in await offend(chat) }
        clock.advance(by: .seconds(9 * 3600))
        try await rig.runReady { _ in
            await offend(chat)
            chat.say("!undo C1", as: "mod", in: "lobby")
            await chat.wait { $0.performed.count == 6 }
        }
        #expect(chat.messages(in: "lobby").contains { $0.text == "ana wrote: really bad" })
        clock.advance(by: .seconds(3 * 3600))
        try await rig.runReady { _ in await offend(chat) }
        #expect(try await journal.rows(of: .evidence).map(\.key.key).sorted() == ["C2", "C3"])
        await journal.close()
    }

    @Test func `an order left in the store is carried out at once, or when steward starts`() async throws {
        let file = TemporaryFile()
        let chat = FakeChat()
        let journal = try await SQLiteJournal.open(file.path)
        let rig = Self.rig(journal: journal, chat: chat)
        let desk = try await OrderDesk.open(file.path)
        try await rig.runReady { _ in
            await offend(chat)
            #expect(desk.isServed)
            let number = try await desk.place(.undo(case: "C1", by: "root"), at: .now)
            await chat.wait { $0.messages(in: "lobby").contains { $0.text == "ana wrote: really bad" } }
            let answer = try await desk.answer(to: number)
            #expect(
                answer
                    == OrderAnswer(
                        isDone: true, text: "1 strike of ana taken back, 1 message posted again"))
            await offend(chat, as: "ben")
        }
        #expect(!desk.isServed)
        let number = try await desk.place(.undo(case: "C2", by: "root"), at: .now)
        #expect(try await desk.waiting() == [.undo(case: "C2", by: "root")])
        #expect(try await desk.answer(to: number) == nil)
        try await rig.runReady { _ in
            await chat.wait { $0.messages(in: "lobby").contains { $0.text == "ben wrote: really bad" } }
        }
        #expect(try await desk.answer(to: number)?.isDone == true)
        #expect(try await desk.waiting() == [])
        await desk.close()
        await journal.close()
    }

    @Test func `a user is forgotten: memory, cases, texts and kept events, and the audit log names nobody`()
        async throws
    {
        let file = TemporaryFile()
        let chat = FakeChat()
        let journal = try await SQLiteJournal.open(file.path)
        var rig = Self.rig(journal: journal, chat: chat)
        rig.settings.keepEvents = .seconds(86_400)
        let desk = try await OrderDesk.open(file.path)
        try await rig.runReady { _ in
            await offend(chat)
            await offend(chat, as: "ben")
            _ = try await desk.place(.forget(user: "ana", realm: "fake", by: "root"), at: .now)
            while try await !desk.waiting().isEmpty { await Task.yield() }
        }
        let key = MemorySubject.user(chat.realm.user("ana")).rowKey
        #expect(try await journal.rows(of: .memory, keys: [key]) == [])
        #expect(try await Self.cases(in: journal).keys.sorted() == ["C2"])
        #expect(try await journal.rows(of: .evidence).map(\.key.key) == ["C2"])
        let kept = try await journal.keptEvents(since: Timestamp(milliseconds: 0)).flatMap {
            EventCoding.events(in: $0, realms: chat.identities)
        }
        #expect(Set(kept.compactMap { $0.member?.user.text }) == ["ben"])
        let users = try await Self.audit(in: journal).map(\.user)
        #expect(!users.contains("ana") && users.contains("ben") && users.contains(AuditLine.forgotten))
        await desk.close()
        await journal.close()
    }

    @Test
    func `handlers are told of kept events after a restart, and the history of channels is there again`()
        async throws
    {
        let file = TemporaryFile()
        let chat = FakeChat()
        let heard = Locked([String]())
        let start = Timestamp.now - .seconds(60)
        let looking = Handler("looking", needs: Needs(looksBack: true)) { event, situation in
            guard case .messageAdded(let message) = event.kind, message.text == "now",
                let channel = event.channel?.id
            else { return .nothing }
            let before = situation.memory.history(of: channel).compactMap { $0.message?.text }
            return .reply(before.joined(separator: ", "), to: event)
        }
        for run in 1...2 {
            let journal = try await SQLiteJournal.open(file.path)
            var rig = Rig([looking, Recalling(heard: heard)], journal: journal, chat: chat)
            rig.settings.keepEvents = .seconds(86_400)
            try await rig.runReady { _ in
                if run == 1 {
                    chat.say("one", as: "ana", in: "lobby", at: start)
                    chat.say("two", as: "ana", in: "lobby", at: start + .seconds(1))
                }
                chat.say("now", as: "ana", in: "lobby", at: start + .seconds(run + 1))
                await chat.wait { $0.performed.count == run }
            }
            await journal.close()
        }
        #expect(
            chat.messages(in: "lobby").filter { $0.key != nil }.map(\.text) == ["one, two", "one, two, now"])
        #expect(heard.withLock { $0 } == ["one new", "two", "now"])
    }
}

/// Notes what it is told of the past.
private struct Recalling: RecallingHandler {
    let heard: Locked<[String]>
    let name = "recalling"
    let stage = Stage.observe
    let needs = Needs()
    let recalls = Duration.seconds(3600)

    func decide(_ event: ChatEvent, in situation: Situation) throws -> Decision { .nothing }

    func recall(_ event: ChatEvent, in situation: Situation) {
        let mark = situation.facts.firstSeen == nil ? " new" : ""
        heard.withLock { $0.append((event.message?.text ?? "") + mark) }
    }
}
