import Chat
import Glibc
import SQLite
import Seeds
import Testing

@testable import Engine

@Suite(.timeLimit(.minutes(1))) struct Journals {
    let noon = Timestamp(milliseconds: 1_781_524_800_000)
    let file = TemporaryFile()

    private func lease(_ journal: any Journal, _ holder: String = "one", at: Timestamp? = nil) async throws
        -> Lease?
    {
        let now = at ?? noon
        guard
            case .taken(let lease) = try await journal.acquire(by: holder, at: now, until: now + .seconds(15))
        else { return nil }
        return lease
    }

    private func change(_ key: String, _ part: String = "", _ body: String?) -> RowChange {
        RowChange(RowKey(.memory, key, part), body.map { Array($0.utf8) })
    }

    private func texts(_ rows: [StoredRow]) -> [String] {
        rows.map { "\($0.key.key)/\($0.key.part)=\(String(decoding: $0.body, as: UTF8.self))" }.sorted()
    }

    @Test func `the last change of a row counts, before and after it has moved to its table`() async throws {
        let journal = try await SQLiteJournal.open(file.path)
        let lease = try #require(try await lease(journal))
        try await journal.append(
            [change("a", "x", "1"), change("a", "y", "2"), change("b", "x", "3")], under: lease)
        try await journal.append([change("a", "x", "4"), change("b", "x", nil)], under: lease)
        for _ in 0..<3 {
            #expect(texts(try await journal.rows(of: .memory, keys: ["a", "b"])) == ["a/x=4", "a/y=2"])
            #expect(texts(try await journal.rows(of: .memory)) == ["a/x=4", "a/y=2"])
            _ = try await journal.tidy(at: noon, under: lease)
        }
        try await journal.append([change("a", "y", nil)], under: lease)
        #expect(texts(try await journal.rows(of: .memory)) == ["a/x=4"])
    }

    @Test func `thousands of rows are written back in slices, and the log is cut behind them`() async throws {
        let journal = try await SQLiteJournal.open(
            file.path, pagesLimit: nil, tail: SQLiteJournal.TailLimits(rows: 300, entries: 1000))
        let lease = try #require(try await lease(journal))
        for round in 0..<20 {
            let changes = (0..<100).map { change("\(($0 * 7 + round * 31) % 700)", "", "\(round)") }
            try await journal.append(changes, under: lease)
        }
        await journal.close()
        let (logged, stored) = try counts()
        #expect(logged < 10)
        #expect(stored > 200)

        var expected: [String: Int] = [:]
        for round in 0..<20 {
            for number in 0..<100 { expected["\((number * 7 + round * 31) % 700)"] = round }
        }
        let again = try await SQLiteJournal.open(file.path)
        _ = try await self.lease(again, "two")
        let rows = try await again.rows(of: .memory)
        #expect(texts(rows) == expected.map { "\($0.key)/=\($0.value)" }.sorted())
        await again.close()
    }

    @Test func `rows that change all the time do not make the log longer and longer`() async throws {
        let journal = try await SQLiteJournal.open(
            file.path, pagesLimit: nil, tail: SQLiteJournal.TailLimits(rows: 300, entries: 20))
        let lease = try #require(try await lease(journal))
        for round in 0..<100 {
            try await journal.append(
                [change("a", "", "\(round)"), change("b", "\(round % 3)", "\(round)")], under: lease)
        }
        #expect(
            texts(try await journal.rows(of: .memory, keys: ["a", "b"])) == [
                "a/=99", "b/0=99", "b/1=97", "b/2=98",
            ])
        await journal.close()
        #expect(try counts().logged <= 21)
        let again = try await SQLiteJournal.open(file.path)
        _ = try await self.lease(again, "two")
        #expect(
            texts(try await again.rows(of: .memory)) == ["a/=99", "b/0=99", "b/1=97", "b/2=98"])
        await again.close()
    }

    @Test func `rows that change, go and come back while others move are what they were last`() async throws {
        let journal = try await SQLiteJournal.open(
            file.path, pagesLimit: nil, tail: SQLiteJournal.TailLimits(rows: 90, entries: 40))
        let lease = try #require(try await lease(journal))
        var random = SeededRandom(seed: 7)
        var expected: [String: String] = [:]
        for round in 0..<400 {
            var changes: [String: RowChange] = [:]
            for _ in 0..<Int.random(in: 0...40, using: &random) {
                let (key, part) = (
                    "\(Int.random(in: 0..<200, using: &random))", "\(Int.random(in: 0..<2, using: &random))"
                )
                let isGone = Int.random(in: 0..<3, using: &random) == 0
                changes["\(key)/\(part)"] = change(key, part, isGone ? nil : "\(round)")
                expected["\(key)/\(part)"] = isGone ? nil : "\(round)"
            }
            try await journal.append(Array(changes.values), under: lease)
            if round % 150 == 149 { while try await journal.tidy(at: noon, under: lease) {} }
            guard round % 20 == 0 else { continue }
            let texts = expected.map { "\($0.key)=\($0.value)" }.sorted()
            #expect(self.texts(try await journal.rows(of: .memory)) == texts)
            #expect(
                self.texts(try await journal.rows(of: .memory, keys: (0..<200).map { "\($0)" })) == texts)
            // As if it had been killed here.
            let other = try await SQLiteJournal.openForReading(file.path)
            #expect(self.texts(try await other.rows(of: .memory)) == texts)
            await other.close()
        }
        await journal.close()
        #expect(try counts().logged < 100)
    }

    @Test func `the file's own log is long before it is used`() async throws {
        func size() -> Int {
            var found = stat()
            return stat(file.path + "-wal", &found) == 0 ? Int(found.st_size) : 0
        }
        let journal = try await SQLiteJournal.open(file.path)
        let lease = try #require(try await lease(journal))
        #expect(size() == 4 << 20)
        try await journal.renew(lease, until: noon + .seconds(60))
        #expect(size() == 4 << 20)
        let large = String(repeating: "x", count: 1 << 20)
        for number in 0..<3 { try await journal.append([change("\(number)", "", large)], under: lease) }
        #expect(size() == 4 << 20)
        try await journal.renew(lease, until: noon + .seconds(60))
        #expect(size() == 16 << 20)
        #expect(try await journal.rows(of: .memory).count == 3)
        await journal.close()
    }

    @Test func `once steward is idle all rows move to their tables`() async throws {
        let journal = try await SQLiteJournal.open(file.path)
        let lease = try #require(try await lease(journal))
        try await journal.append((0..<500).map { change("\($0)", "", "x") }, under: lease)
        // Just now there was something to do.
        #expect(try await journal.tidy(at: noon, under: lease) == false)
        var slices = 0
        while try await journal.tidy(at: noon, under: lease) { slices += 1 }
        #expect(slices == 3)
        await journal.close()
        let (logged, stored) = try counts()
        #expect(logged == 0)
        #expect(stored == 500)
    }

    @Test func `what was to be remembered for a while is removed although its people never return`()
        async throws
    {
        func row(_ number: Int, keep: Duration?) -> RowChange {
            var row = OwnerRow(owner: "rule")
            let key = MemoryKey(owner: "rule", name: "cooldown", subject: .all)
            row.apply(.claim(key, at: noon, most: 1, keep: keep), at: noon)
            return RowChange(RowKey(.memory, "u\(number)", "rule"), row.body)
        }
        let journal = try await SQLiteJournal.open(file.path)
        let lease = try #require(try await lease(journal))
        var changes = (0..<1000).map { row($0, keep: .seconds($0 % 2 == 0 ? 60 : 7200)) }
        changes += [row(1000, keep: nil), change("u0", "", "facts")]
        try await journal.append(changes, under: lease)
        let later = noon + .seconds(3600)
        // A slice each time, once the log is empty.
        for _ in 0..<20 { _ = try await journal.tidy(at: later, under: lease) }
        let left = try await journal.rows(of: .memory)
        #expect(
            Set(left.map { "\($0.key.key)/\($0.key.part)" })
                == Set((0..<500).map { "u\($0 * 2 + 1)/rule" } + ["u1000/rule", "u0/"]))
        // The next round is a day later.
        for _ in 0..<20 { _ = try await journal.tidy(at: noon + .seconds(10_000), under: lease) }
        #expect(try await journal.rows(of: .memory).count == 502)
        for _ in 0..<20 { _ = try await journal.tidy(at: noon + .seconds(100_000), under: lease) }
        #expect(try await journal.rows(of: .memory).count == 2)
        await journal.close()
    }

    /// Entries of the log and rows of the memory's table, as the file has them.
    private func counts() throws -> (logged: Int64, stored: Int64) {
        let database = try Connection(file: file.path)
        defer { database.close() }
        return try database.first("SELECT (SELECT count(*) FROM log), (SELECT count(*) FROM memory)") {
            ($0.int(0), $0.int(1))
        } ?? (-1, -1)
    }

    @Test(arguments: [true, false])
    func `one steward works on a store, the other waits until it is released or runs out`(_ isSQLite: Bool)
        async throws
    {
        let one: any Journal
        let two: any Journal
        if isSQLite {
            one = try await SQLiteJournal.open(file.path)
            two = try await SQLiteJournal.open(file.path)
        } else {
            one = MemoryJournal()
            two = one
        }
        let first = try #require(try await lease(one))
        #expect(
            try await two.acquire(by: "two", at: noon, until: noon + .seconds(15))
                == .held(by: "one", until: noon + .seconds(15)))
        // Not renewed in time: taken over, and the first one is refused from then on.
        let second = try #require(try await lease(two, "two", at: noon + .seconds(15)))
        #expect(second.number > first.number)
        try await two.append([change("a", "", "two")], under: second)
        await #expect(throws: JournalError.self) {
            try await one.append([change("a", "", "one")], under: first)
        }
        await #expect(throws: JournalError.self) { try await one.renew(first, until: noon + .seconds(60)) }
        #expect(texts(try await two.rows(of: .memory)) == ["a/=two"])
        await one.release(first)
        await two.release(second)
        let third = try await lease(one, "three", at: noon + .seconds(16))
        #expect(third != nil)
        #expect(texts(try await one.rows(of: .memory)) == ["a/=two"])
    }

    @Test func `a killed steward's lease is free at once`() async throws {
        let killed = try await SQLiteJournal.open(file.path)
        #expect(try await lease(killed) != nil)
        // Closing frees the file's lock as the end of a process does; the lease stays in the store.
        await killed.close()
        let next = try await SQLiteJournal.open(file.path)
        #expect(try await lease(next, "two") != nil)
    }

    @Test func `a store that is taken away under a steward is not worked on any more`() async throws {
        let journal = try await SQLiteJournal.open(file.path)
        let lease = try #require(try await lease(journal))
        try await journal.renew(lease, until: noon + .seconds(30))
        for end in ["", "-wal", "-shm", ".lock"] { unlink(file.path + end) }
        let error = await #expect(throws: JournalError.self) {
            try await journal.renew(lease, until: noon + .seconds(60))
        }
        #expect(error?.description.contains("the store was taken away while steward worked on it") == true)
    }

    @Test func `a store of a later version is refused in plain words`() async throws {
        let later = try Connection(file: file.path)
        try later.setVersion(99)
        later.close()
        let error = await #expect(throws: JournalError.self) { try await SQLiteJournal.open(file.path) }
        #expect(
            error == .tooNew("\(file.path): written by a later version (schema 99, this one knows 3)"))
    }

    @Test func `a file that is no store is refused and left as it is`() async throws {
        let journal = try await SQLiteJournal.open(file.path)
        await journal.close()
        let connection = try Connection(file: file.path)
        try connection.run("INSERT INTO log (number, body) VALUES (1, ?)", [.blob([0xFF, 0xFF])])
        connection.close()
        let again = try await SQLiteJournal.open(file.path)
        let error = await #expect(throws: JournalError.self) { try await lease(again) }
        #expect(error == .damaged(file.path, "entry 1 of the log cannot be read"))
    }

    @Test func `a full disk changes nothing, and what was there stays`() async throws {
        let journal = try await SQLiteJournal.open(file.path, pagesLimit: 24)
        let lease = try #require(try await lease(journal))
        try await journal.append([change("a", "", "kept")], under: lease)
        let large = String(repeating: "x", count: 200_000)
        let error = await #expect(throws: JournalError.self) {
            try await journal.append([change("b", "", large)], under: lease)
        }
        #expect(error == .unwritable("\(file.path): database or disk is full"))
        try await journal.append([change("c", "", "small")], under: lease)
        #expect(texts(try await journal.rows(of: .memory)) == ["a/=kept", "c/=small"])
    }
}
