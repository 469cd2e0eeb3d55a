import Chat
import Foundation
import SQLite
import Testing

@testable import Engine

@Suite(.timeLimit(.minutes(1))) struct DamagedStores {
    private let noon = Timestamp(milliseconds: 1_781_524_800_000)
    private let file = TemporaryFile()

    /// A store with so many rows in its tables, and nothing in its log.
    private func make(rows count: Int) async throws {
        let journal = try await SQLiteJournal.open(file.path)
        guard
            case .taken(let lease) = try await journal.acquire(
                by: "one", at: noon, until: noon + .seconds(15))
        else { return }
        let body = [UInt8](repeating: 7, count: 500)
        let rows = (0..<count).map { RowChange(RowKey(.evidence, "C\(1000 + $0)"), body) }
        for start in stride(from: 0, to: count, by: 10) {
            try await journal.append(Array(rows[start..<min(start + 10, count)]), under: lease)
        }
        while try await journal.tidy(at: noon, under: lease) {}
        _ = try await journal.tidy(at: noon, under: lease)
        while try await journal.tidy(at: noon, under: lease) {}
        await journal.release(lease)
        await journal.close()
    }

    /// Where the page begins that has that key.
    private static func page(of key: String, in bytes: Data) -> Int {
        (bytes.range(of: Data(key.utf8))?.lowerBound ?? 0) / 4096 * 4096
    }

    private func damage(_ change: (inout Data) -> Void) throws {
        var bytes = try Data(contentsOf: URL(filePath: file.path))
        change(&bytes)
        try bytes.write(to: URL(filePath: file.path))
    }

    @Test(arguments: ["overwritten", "shortened by a page", "cut off"])
    func `a store that was damaged in its middle is refused, with the way out`(_ how: String) async throws {
        try await make(rows: 400)
        try damage { bytes in
            let page = Self.page(of: "C1200", in: bytes)
            switch how {
            case "overwritten":
                bytes.replaceSubrange(page..<page + 4096, with: Data(repeating: 0xAA, count: 4096))
            case "cut off": bytes.removeSubrange(page...)
            // All that is behind it is whole pages, in a wrong place.
            default: bytes.removeSubrange(page..<page + 4096)
            }
        }
        let before = try Data(contentsOf: URL(filePath: file.path))
        let errors = [
            await #expect(throws: JournalError.self) { _ = try await SQLiteJournal.open(file.path) },
            await #expect(throws: JournalError.self) {
                _ = try await SQLiteJournal.openForReading(file.path)
            },
        ]
        for error in errors {
            guard case .damaged(let why) = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
            #expect(why.hasPrefix("\(file.path): the store is damaged: "))
            #expect(why.contains("\"steward state export FILE\""))
        }
        #expect(try Data(contentsOf: URL(filePath: file.path)) == before)
    }

    @Test func `what is on both sides of the damage is saved, each row once`() async throws {
        try await make(rows: 400)
        try damage { bytes in
            let page = Self.page(of: "C1200", in: bytes)
            bytes.replaceSubrange(page..<page + 4096, with: Data(repeating: 0xAA, count: 4096))
        }
        let saved = try await SQLiteJournal.save(file.path)
        let keys = saved.rows.map(\.key.key)
        #expect(keys.contains("C1000") && keys.contains("C1399"))
        #expect((380..<400).contains(keys.count) && Set(keys).count == keys.count)
        #expect(saved.rows.allSatisfy { $0.body == [UInt8](repeating: 7, count: 500) })
        #expect(saved.losses == ["a part of \"evidence\": database disk image is malformed"])
    }

    @Test func `of a store that is cut off what comes before is saved`() async throws {
        try await make(rows: 400)
        try damage { bytes in bytes.removeSubrange((bytes.count - 8192)...) }
        let saved = try await SQLiteJournal.save(file.path)
        #expect((300..<400).contains(saved.rows.count))
        #expect(!saved.losses.isEmpty)
    }

    @Test func `what was still to be done is left out when nobody knows whether it was done since`()
        async throws
    {
        let journal = try await SQLiteJournal.open(file.path)
        guard
            case .taken(let lease) = try await journal.acquire(
                by: "one", at: noon, until: noon + .seconds(15))
        else { return }
        try await journal.append(
            [RowChange(RowKey(.action, "a"), Array("{}".utf8)), RowChange(RowKey(.evidence, "C1"), [7])],
            under: lease)
        await journal.close()
        let connection = try Connection(file: file.path)
        try connection.run("INSERT INTO log (number, body) VALUES (2, ?)", [.blob([0xFF, 0xFF])])
        connection.close()
        let saved = try await SQLiteJournal.save(file.path)
        #expect(saved.rows.map(\.key) == [RowKey(.evidence, "C1")])
        #expect(saved.losses == ["entry 2 of the log", "1 actions that may have been done or not"])
    }

    @Test func `of a store that nothing is wrong with all is saved, and nothing is said to be lost`()
        async throws
    {
        try await make(rows: 20)
        let saved = try await SQLiteJournal.save(file.path)
        #expect(saved.rows.count == 20 && saved.losses == [])
    }

    @Test func `a file of which nothing can be read is refused, not saved`() async throws {
        try await make(rows: 20)
        try damage { $0.replaceSubrange(0..<4096, with: Data(repeating: 0xAA, count: 4096)) }
        let error = await #expect(throws: JournalError.self) { try await SQLiteJournal.save(file.path) }
        #expect(error == .damaged(file.path, "file is not a database"))
    }
}
