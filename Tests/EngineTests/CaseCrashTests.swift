import Chat
import ChatTesting
import Testing

@testable import Engine

/// Steward is killed between each two steps of "delete, strike, report", and started again on the same store: then the
/// ledger, the channel, the case and the report say the same.
@Suite(.timeLimit(.minutes(2))) struct CrashesWhileModerating {
    static let offenders = ["ana", "ben", "cho"]

    private let file = TemporaryFile()
    private let chat = FakeChat()

    private func rig(_ journal: any Journal) -> Rig {
        var rig = Cases.rig(journal: journal, chat: chat)
        rig.settings.batchLimit = 1
        return rig
    }

    /// A first run, so that the streams have begun, then people write while nobody reads.
    private func prepare() async throws {
        let journal = try await SQLiteJournal.open(file.path)
        _ = try await rig(journal).runReady { _ in }
        await journal.close()
        for user in Self.offenders {
            chat.say("fine", as: user, in: "lobby")
            chat.say("bad of \(user)", as: user, in: "lobby")
        }
    }

    private static func isComplete(_ chat: FakeChat) -> Bool {
        chat.messages(in: "staff").count == offenders.count
            && !chat.messages(in: "lobby").contains { $0.text.hasPrefix("bad") }
    }

    /// Runs until nothing is left to do, and looks at what there is.
    private func finish(_ when: Comment) async throws {
        let journal = try await SQLiteJournal.open(file.path)
        try await rig(journal).runReady { [chat] _ in
            await chat.wait { Self.isComplete($0) }
        }
        let cases = try await Cases.cases(in: journal)
        #expect(cases.keys.sorted() == ["C1", "C2", "C3"], when)
        #expect(cases.values.map(\.user).sorted() == Self.offenders, when)
        for found in cases.values {
            #expect(found.deeds.map(\.action) == ["delete", "send"], when)
            #expect(found.deeds.allSatisfy { $0.state == .done }, when)
            let reports = chat.allMessages(in: "staff").filter { $0.text.hasPrefix("\(found.name): ") }
            #expect(reports.map(\.text) == ["\(found.name): \(found.user) wrote something bad"], when)
            let evidence = try await Cases.evidence(found.name, in: journal)
            #expect(evidence?.messages.map(\.text) == ["bad of \(found.user)"], when)
            let memory = Memory(isComplete: true)
            let subject = MemorySubject.user(chat.realm.user(found.user))
            memory.insert(try await journal.rows(of: .memory, keys: [subject.rowKey]), for: [subject])
            let key = StrikeLedger.key(ladder: "conduct", user: chat.realm.user(found.user))
            #expect(StrikeLedger(memory.value(of: key)).entries.map(\.event) == [found.event], when)
        }
        #expect(chat.messages(in: "lobby").map(\.text) == ["fine", "fine", "fine"], when)
        let audit = try await Cases.audit(in: journal)
        for name in cases.keys {
            let lines = audit.filter { $0.cases?.contains(name) == true }
            #expect(
                lines.map { "\($0.action) \($0.state)" }.sorted() == [
                    "delete asked", "delete done", "strike done",
                ], when)
        }
        await journal.close()
    }

    @Test(arguments: Array(1...14), [false, true])
    func `a power cut at any append leaves all of a case or nothing of it`(_ number: Int, _ afterwards: Bool)
        async throws
    {
        try await prepare()
        let inner = try await SQLiteJournal.open(file.path)
        let journal = PowerCutJournal(inner, cutAt: number, afterwards: afterwards)
        await journal.run(rig(journal)) { Self.isComplete($0) }
        await inner.close()
        try await finish("append \(number)\(afterwards ? ", which was written" : "")")
    }

    @Test(arguments: Array(0...6), [false, true])
    func `a kill at any action leaves the ledger, the channel, the case and the report in agreement`(
        _ number: Int, _ afterwards: Bool
    ) async throws {
        try await prepare()
        let journal = try await SQLiteJournal.open(file.path)
        chat.script(
            [FakeChat.Fault](repeating: .none, count: number) + [afterwards ? .hangsAfterwards : .hangs])
        let rig = rig(journal)
        let run = Task {
            try await rig.run { [chat] _ in await chat.wait { Self.isComplete($0) || $0.hanging > 0 } }
        }
        let cut = Task { [chat] in
            await chat.wait { $0.hanging > 0 }
            run.cancel()
        }
        _ = await run.result
        cut.cancel()
        chat.clearScript()
        await journal.close()
        try await finish("action \(number)\(afterwards ? ", which was done" : "")")
    }

    @Test(arguments: Array(1...6), [false, true])
    func `a case is undone once, wherever the power is cut meanwhile`(_ number: Int, _ afterwards: Bool)
        async throws
    {
        try await prepare()
        try await finish("before")
        let desk = try await OrderDesk.open(file.path)
        _ = try await desk.place(.undo(case: "C1", by: "root"), at: .now)
        let inner = try await SQLiteJournal.open(file.path)
        let journal = PowerCutJournal(inner, cutAt: number, afterwards: afterwards)
        let isUndone = { @Sendable (chat: FakeChat) in
            chat.messages(in: "lobby").contains { $0.text.contains(" wrote: bad of ") }
        }
        await journal.run(rig(journal), until: isUndone)
        await inner.close()
        let last = try await SQLiteJournal.open(file.path)
        try await self.rig(last).runReady { [chat] _ in await chat.wait(until: isUndone) }
        let found = try #require(try await Cases.cases(in: last)["C1"])
        #expect(found.undone != nil)
        #expect(found.deeds.map(\.state) == [.done, .done, .done])
        #expect(chat.allMessages(in: "lobby").count { $0.text.contains(" wrote: bad of ") } == 1)
        #expect(try await Cases.audit(in: last).count { $0.action == "undo" } == 1)
        #expect(try await desk.waiting() == [])
        await last.close()
        await desk.close()
    }
}
