import Chat
import ChatServer
import Foundation
import SQLite
import Testing

@testable import Engine
@testable import steward

/// A store whose bytes are not those that steward wrote, as the person at the terminal meets it.
@Suite(.timeLimit(.minutes(2))) struct DamagedStoreCommands {
    private func run(
        _ bed: TestBed, _ words: String...
    ) async throws -> (code: Int32?, text: String, errors: String) { try await run(bed, words) }

    private func store(_ bed: TestBed) -> String { bed.folder.appending(path: "steward.db").path() }

    /// A store with one case, left by a steward that was stopped.
    private func make(_ bed: TestBed, _ general: SID) async throws {
        let config = bed.usualConfig.replacing(
            "{file: steward.db}", with: "{file: steward.db, keep_events: 7d}")
        let steward = try bed.steward(config, bot: CaseCommands.bot)
        await steward.transcript.wait(for: "ready: ")
        try await bed.server.post("cheap pills", in: general, as: "ana")
        await bed.server.wait(in: general) {
            $0.isEmpty || $0.allSatisfy { $0.content.body != "cheap pills" }
        }
        #expect(try await steward.stop() == .fine)
    }

    private func damage(_ bed: TestBed) throws {
        let file = URL(filePath: store(bed))
        var bytes = try Data(contentsOf: file)
        let middle = bytes.count / 4096 / 2 * 4096
        bytes.replaceSubrange(middle..<middle + 4096, with: Data(repeating: 0xAA, count: 4096))
        try bytes.write(to: file)
    }

    @Test func `a steward that has stopped leaves its store in one file`() async throws {
        try await TestBed.run { bed, general in
            try await make(bed, general)
            let names = try FileManager.default.contentsOfDirectory(atPath: bed.folder.path())
            #expect(
                names.filter { $0.hasPrefix("steward.db") }.sorted() == [
                    "steward.db", "steward.db.key", "steward.db.lock",
                ])
        }
    }

    @Test func `every command that reads the store says that it is damaged, and what can be read is saved`()
        async throws
    {
        try await TestBed.run { bed, general in
            try await make(bed, general)
            try damage(bed)
            for command in [
                ["cases"], ["cases", "C1"], ["audit"], ["replay"], ["rules"], ["explain", "--say", "hi"],
                ["undo", "C1"], ["state", "export", "--user", "ana"], ["state", "forget", "ana"],
            ] {
                let end = try await run(bed, command)
                #expect(end.code == 1, "\(command)")
                #expect(
                    end.errors.contains("\(store(bed)): the store is damaged: ")
                        && end.errors.contains("state export FILE"), "\(command): \(end.errors)")
                #expect(!end.text.contains("no such cases"))
            }
            let start = try await run(bed, "run")
            #expect(start.code == 78)
            #expect(start.errors.contains("the store is damaged: "))

            let saved = bed.folder.appending(path: "saved.jsonl").path()
            let export = try await run(bed, "state", "export", saved)
            #expect(export.code == 1)
            #expect(export.errors.contains("could be read, and what could not is missing:\n  "))
            for end in ["", "-wal", "-shm"] {
                try? FileManager.default.removeItem(atPath: store(bed) + end)
            }
            #expect(try await run(bed, "state", "import", saved).code == 0)
            let report = try await run(bed, "cases", "C1")
            #expect(report.code == 0 && report.text.contains("cheap pills"))
            let again = try bed.steward(bot: CaseCommands.bot)
            await again.transcript.wait(for: "ready: ")
            #expect(try await again.stop() == .fine)
        }
    }

    @Test func `starting again does not help with a store of a later steward, which the exit code says`()
        async throws
    {
        try await TestBed.run { bed, general in
            try await make(bed, general)
            let database = try await Database.open(store(bed))
            try await database.run { try $0.setVersion(99) }
            await database.close()
            let start = try await run(bed, "run")
            #expect(start.code == 78)
            #expect(start.errors.contains("written by a later version (schema 99"))
        }
    }

    @Test func `what does not fit where standard output goes is said`() async throws {
        try await TestBed.run { bed, general in
            try await make(bed, general)
            let config = bed.folder.appending(path: "config.yaml").path()
            for command in ["state export", "audit", "check", "rules"] {
                let line = "'\(try Program.file().path())' \(command) --config '\(config)' > /dev/full"
                let end = try await ChildProcess.run(["/bin/sh", "-c", line], timeout: .seconds(60))
                #expect(end.exitCode == 1, "\(command)")
                #expect(
                    String(decoding: end.errors, as: UTF8.self).contains(
                        "standard output: not all could be written"), "\(command)")
            }
        }
    }

    @Test func `a case and a line of the audit log that are no more what was written are told of`()
        async throws
    {
        try await TestBed.run { bed, general in
            try await make(bed, general)
            let database = try await Database.open(store(bed))
            try await database.run { connection in
                try connection.run("DELETE FROM log")
                try connection.run("INSERT INTO cases (key, part, body) VALUES ('C9', '', x'AAAA')")
                try connection.run("UPDATE audit SET body = x'AAAA' WHERE number = 1")
            }
            await database.close()
            let cases = try await run(bed, "cases")
            #expect(cases.code == 1)
            #expect(cases.errors.contains("the store is damaged: 1 case cannot be read: C9"))
            let audit = try await run(bed, "audit")
            #expect(audit.code == 1)
            #expect(audit.errors.contains("the store is damaged: 1 line of the audit log cannot be read"))
            // An export that takes them along would only carry the damage on.
            let saved = bed.folder.appending(path: "saved.jsonl").path()
            #expect(try await run(bed, "state", "export", saved).code == 1)
            #expect(try !String(contentsOfFile: saved, encoding: .utf8).contains("\"C9\""))
        }
    }

    private func run(
        _ bed: TestBed, _ words: [String]
    ) async throws -> (code: Int32?, text: String, errors: String) {
        let program = try Program.file().path()
        let file = bed.folder.appending(path: "config.yaml").path()
        let result = try await ChildProcess.run(
            [program] + words + ["--config", file], timeout: .seconds(60))
        return (
            result.exitCode, String(decoding: result.output, as: UTF8.self),
            String(decoding: result.errors, as: UTF8.self)
        )
    }
}
