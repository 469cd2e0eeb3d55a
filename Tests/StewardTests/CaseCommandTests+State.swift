import Chat
import ChatServer
import Foundation
import JSON
import SQLite
import Testing

@testable import Engine
@testable import steward

/// What is remembered, from one store to another.
extension CaseCommands {
    @Test func `what is remembered is exported, imported into a new store, and forgotten`() async throws {
        try await TestBed.run { bed, general in
            let keeping = bed.usualConfig.replacing(
                "{file: steward.db}", with: "{file: steward.db, keep_events: 7d}")
            let steward = try bed.steward(keeping, bot: Self.bot)
            await steward.transcript.wait(for: "ready: ")
            try await offend(bed, general)
            let dump = bed.folder.appending(path: "dump.jsonl").path()
            let person = bed.folder.appending(path: "ana.json").path()
            #expect(await run(bed, "state", "export", person, "--user", "ana") == .fine)
            let known = try JSON(parsing: Array(try Data(contentsOf: URL(filePath: person))))
            #expect(known["messages"]?.int == 1)
            #expect(known["cases"]?[0]?["messages"]?[0]?["text"]?.string == "buy cheap pills now")
            #expect(known["events"]?[0]?["text"]?.string == "buy cheap pills now")
            #expect(await run(bed, "state", "export", "--user", "nobody", dump) == .findings)
            #expect(await run(bed, "state", "forget", "ana") == .fine)
            #expect(await run(bed, "state", "forget", "ana") == .findings)
            #expect(try await found("C1", bed) == nil)
            try await offend(bed, general, "more cheap pills")
            #expect(try await steward.stop() == .fine)
            #expect(await run(bed, "state", "export", dump) == .fine)
            #expect(await run(bed, "state", "import", dump) == .findings)
            for end in ["", "-wal", "-shm"] {
                try? FileManager.default.removeItem(atPath: store(bed) + end)
            }
            #expect(await run(bed, "state", "import", dump) == .fine)
            #expect(try await found("C2", bed)?.user == "ana")
            #expect(try await report("C2", bed).contains("more cheap pills"))
            let again = bed.folder.appending(path: "again.jsonl").path()
            #expect(await run(bed, "state", "export", again) == .fine)
            let lines = { try String(contentsOfFile: $0, encoding: .utf8).split(separator: "\n").sorted() }
            #expect(try lines(again) == lines(dump))
            #expect(await run(bed, "state", "tidy") == .usage)
            // Where there is a link or a device it is written through.
            let (link, target) = (dump + ".link", dump + ".target")
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: target)
            #expect(await run(bed, "state", "export", link) == .fine)
            #expect(try lines(target) == lines(dump))
            #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == target)
            // It goes on where it was.
            let second = try bed.steward(keeping, bot: Self.bot)
            await second.transcript.wait(for: "ready: ")
            #expect(try await second.stop() == .fine)
        }
    }

    @Test func `a store of a later steward is refused in clear words`() async throws {
        try await TestBed.run { bed, general in
            let first = try bed.steward(bot: Self.bot)
            await first.transcript.wait(for: "ready: ")
            try await offend(bed, general)
            #expect(try await first.stop() == .fine)
            try await setVersion(99, of: store(bed))
            let second = try bed.steward(bot: Self.bot)
            let complaint = try await second.complaint()
            #expect(
                complaint.hasPrefix(
                    "the store cannot be opened: \(store(bed)): written by a later version (schema 99, this one knows "
                ))
            #expect(complaint.contains("run the steward that wrote it"))
            #expect(await run(bed, "cases") == .findings)
            #expect(await run(bed, "undo", "C1") == .findings)
            #expect(await run(bed, "state", "export") == .findings)
        }
    }

    private func setVersion(_ version: Int, of file: String) async throws {
        let database = try await Database.open(file)
        try await database.run { try $0.setVersion(version) }
        await database.close()
    }
}
