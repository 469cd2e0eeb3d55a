import Chat
import ChatServer
import Foundation
import JSON
import SQLite
import Testing

@testable import Engine
@testable import steward

/// Cases on the built-in chat server, and the commands for whoever looks after a community.
@Suite(.timeLimit(.minutes(2))) struct CaseCommands {
    static let bot = """
        version: 1
        ladders:
          conduct: {forgive: never, steps: {9: [{warn: "enough"}]}}
        rules:
          no-spam:
            when: [messageAdded, messageEdited]
            if: {text: [cheap pills]}
            do:
              - delete
              - strike: {reason: adverts}
              - mute: 1h
          undo:
            when: {command: {name: undo, args: {case: word}}}
            if: {user: {role: moderator}}
            do:
              - undo: "{{ args.case }}"
        """

    func run(_ bed: TestBed, _ words: String...) async -> ExitCode {
        await Program.run(words + ["--config", bed.folder.appending(path: "config.yaml").path()])
    }

    func store(_ bed: TestBed) -> String { bed.folder.appending(path: "steward.db").path() }

    /// The case of that name, as it is in the store.
    func found(_ name: String, _ bed: TestBed) async throws -> Case? {
        let journal = try await SQLiteJournal.openForReading(store(bed))
        let row = try await journal.rows(of: .cases, keys: [name]).first
        await journal.close()
        return row.flatMap { JSONRow.value(Case.self, from: $0.body) }
    }

    /// Ana advertises, and is moderated for it.
    func offend(_ bed: TestBed, _ general: SID, _ text: String = "buy cheap pills now") async throws {
        try await bed.server.post(text, in: general, as: "ana")
        await bed.server.wait(in: general) { messages in
            !messages.contains { $0.content.body == text }
        }
    }

    @Test(.timeLimit(.minutes(1)))
    func `a case is shown with its texts, and undone at once by a steward that runs`() async throws {
        try await TestBed.run { bed, general in
            let steward = try bed.steward(bot: Self.bot)
            await steward.transcript.wait(for: "ready: ")
            try await bed.server.post("hello", in: general, as: "ana")
            try await offend(bed, general)
            #expect(await run(bed, "cases") == .fine)
            #expect(await run(bed, "cases", "c1", "--json") == .fine)
            #expect(await run(bed, "cases", "C9") == .findings)
            var text = try await report("C1", bed)
            // The message is gone a moment before it is written down that it is.
            while text.contains("not done yet") { text = try await report("C1", bed) }
            #expect(text.contains("user      ana"))
            #expect(text.contains("rule      no-spam"))
            #expect(text.contains("  delete: done"))
            #expect(text.contains("  mute ana until"))
            #expect(text.contains("found\n  cheap pills"))
            #expect(text.contains("Z ana: buy cheap pills now"))
            #expect(text.contains("before\n") && text.contains("Z ana: hello"))
            #expect(await run(bed, "undo", "C1") == .fine)
            await bed.wait(for: "ana wrote: buy cheap pills now", in: general)
            // She is heard again.
            try await bed.server.post("thank you", in: general, as: "ana")
            try await bed.server.post("and good bye", in: general, as: "ana")
            #expect(await run(bed, "undo", "C1") == .findings)
            #expect(await run(bed, "audit", "--since", "1h", "--json") == .fine)
            #expect(await run(bed, "audit", "--since", "some time") == .usage)
            #expect(try await steward.stop() == .fine)
            #expect(bed.texts(in: general).suffix(2) == ["thank you", "and good bye"])
            let undone = try #require(try await found("C1", bed)?.undone)
            #expect(undone.what == "ana unmuted, 1 strike of ana taken back, 1 message posted again")
            #expect(undone.by.hasSuffix("(command line)"))
        }
    }

    func report(_ name: String, _ bed: TestBed) async throws -> String {
        let config = try ConfigReader.read(
            file: bed.folder.appending(path: "config.yaml").path(), environment: [:])
        let journal = try await SQLiteJournal.openForReading(store(bed))
        let row = try await journal.rows(of: .cases, keys: [name]).first
        let body = try await journal.rows(of: .evidence, keys: [name]).first?.body
        await journal.close()
        let found = try #require(row.flatMap { JSONRow.value(Case.self, from: $0.body) })
        return CaseReport(found, CaseReport.Texts(found, body, config)).text
    }

    @Test func `while steward is stopped, undo is ordered, and done when it starts`() async throws {
        try await TestBed.run { bed, general in
            let first = try bed.steward(bot: Self.bot)
            await first.transcript.wait(for: "ready: ")
            try await offend(bed, general)
            #expect(try await first.stop() == .fine)
            #expect(await run(bed, "undo", "C1") == .fine)
            #expect(await run(bed, "undo", "C1") == .fine)
            #expect(try await found("C1", bed)?.undone == nil)
            let second = try bed.steward(bot: Self.bot)
            await bed.wait(for: "ana wrote: buy cheap pills now", in: general)
            #expect(try await second.stop() == .fine)
            #expect(try await found("C1", bed)?.undone != nil)
            #expect(bed.texts(in: general).count { $0.contains(" wrote: ") } == 1)
        }
    }

    @Test func `a moderator undoes a case in the channel, and is told what was restored`() async throws {
        try await TestBed.run { bed, general in
            let roles = bed.usualConfig + "\nroles: {moderator: {users: [\"twilio:mo\"]}}\n"
            let steward = try bed.steward(roles, bot: Self.bot)
            await steward.transcript.wait(for: "ready: ")
            try await bed.server.join(general, as: "mo")
            try await offend(bed, general)
            try await bed.server.post("!undo c1", in: general, as: "mo")
            await bed.wait(
                for: "C1: ana unmuted, 1 strike of ana taken back, 1 message posted again", in: general)
            #expect(bed.texts(in: general).contains("ana wrote: buy cheap pills now"))
            #expect(try await steward.stop() == .fine)
        }
    }

    @Test func `what people wrote before a restart still counts for a rate`() async throws {
        try await TestBed.run { bed, general in
            let bot = """
                version: 1
                rules:
                  thrice:
                    when: messageAdded
                    if: {rate: 3 messages in 1h per user}
                    cooldown: 1h per rule
                    do:
                      - reply: "That was the third."
                """
            let config = bed.usualConfig.replacing(
                "{file: steward.db}", with: "{file: steward.db, keep_events: 2h}")
            try bed.write(config.replacing("2h", with: "1h"), to: "config.yaml")
            try bed.write(bot, to: "bots/bot.yaml")
            let file = bed.folder.appending(path: "config.yaml").path()
            let short = try ConfigReader.read(file: file, environment: [:])
            #expect(
                Bots.gap(short, try Bots.load(short).rules)
                    == "rates look back up to 1 hour, and events are kept for 1 hour: after a restart some are not counted - write at least keep_events: 2h"
            )
            for number in 1...3 {
                let steward = try bed.steward(config, bot: bot)
                await steward.transcript.wait(for: "ready: ")
                try await bed.server.post("message \(number)", in: general, as: "ana")
                if number == 3 { await bed.wait(for: "That was the third.", in: general) }
                #expect(try await steward.stop() == .fine)
            }
            #expect(bed.texts(in: general).count == 4)
        }
    }

    @Test func `the key is made beside the store for its owner alone, and without it the texts stay closed`()
        async throws
    {
        try await TestBed.run { bed, general in
            let steward = try bed.steward(bot: Self.bot)
            await steward.transcript.wait(for: "ready: ")
            try await offend(bed, general)
            #expect(try await steward.stop() == .fine)
            let key = store(bed) + ".key"
            let rights = try FileManager.default.attributesOfItem(atPath: key)[.posixPermissions] as? Int
            #expect(rights == 0o600)
            #expect(try await report("C1", bed).contains("buy cheap pills now"))
            let bytes = try Data(contentsOf: URL(filePath: store(bed)))
            let log = (try? Data(contentsOf: URL(filePath: store(bed) + "-wal"))) ?? Data()
            #expect((bytes + log).range(of: Data("cheap pills".utf8)) == nil)
            // With the same key nothing is closed, and nobody is told so.
            let again = try bed.steward(bot: Self.bot)
            await again.transcript.wait(for: "ready: ")
            #expect(try await again.stop() == .fine)
            #expect(!again.transcript.lines.contains { $0.contains("another key") })
            // With another key.
            try FileManager.default.removeItem(atPath: key)
            #expect(try await report("C1", bed).contains("sealed with another key"))
            // One that others can read is refused.
            try Data(String(repeating: "ab", count: 32).utf8).write(to: URL(filePath: key))
            chmod(key, 0o644)
            #expect(
                try await report("C1", bed).contains("the texts are closed: \(key): others can read the key"))
            let open = try bed.steward(bot: Self.bot)
            #expect(try await open.complaint().contains("\(key): others can read the key"))
        }
    }

    @Test func `a key that is lost is made anew, with a word on the texts that it leaves closed`()
        async throws
    {
        try await TestBed.run { bed, general in
            let first = try bed.steward(bot: Self.bot)
            await first.transcript.wait(for: "ready: ")
            try await offend(bed, general)
            #expect(try await first.stop() == .fine)
            let key = store(bed) + ".key"
            try FileManager.default.removeItem(atPath: key)
            for _ in 1...2 {
                let steward = try bed.steward(bot: Self.bot)
                await steward.transcript.wait(for: "ready: ")
                await steward.transcript.wait(
                    for:
                        "the texts of 1 case were sealed with another key and stay closed - bring \(key) back"
                )
                #expect(try await steward.stop() == .fine)
            }
        }
    }

    @Test func `an unusable key ends steward with 78, and cases are shown without their texts`() async throws
    {
        try await TestBed.run { bed, general in
            let first = try bed.steward(bot: Self.bot)
            await first.transcript.wait(for: "ready: ")
            try await offend(bed, general)
            #expect(try await first.stop() == .fine)
            let key = store(bed) + ".key"
            let config = bed.folder.appending(path: "config.yaml").path()
            for make in [
                { try Data("rubbish".utf8).write(to: URL(filePath: key)) },
                { try FileManager.default.createDirectory(atPath: key, withIntermediateDirectories: false) },
            ] {
                try FileManager.default.removeItem(atPath: key)
                try make()
                chmod(key, 0o600)
                #expect(await Program.run(["run", "--config", config]) == .configuration)
                #expect(await run(bed, "cases") == .fine)
                #expect(await run(bed, "cases", "C1") == .fine)
                #expect(await run(bed, "state", "export", "--user", "ana") == .fine)
                #expect(try await report("C1", bed).contains("the texts are closed: \(key): this is no"))
            }
        }
    }

    @Test func `an export without its last lines is refused`() async throws {
        try await TestBed.run { bed, general in
            let steward = try bed.steward(bot: Self.bot)
            await steward.transcript.wait(for: "ready: ")
            try await offend(bed, general)
            #expect(try await steward.stop() == .fine)
            let dump = bed.folder.appending(path: "dump.jsonl").path()
            #expect(await run(bed, "state", "export", dump) == .fine)
            for end in ["", "-wal", "-shm"] {
                try? FileManager.default.removeItem(atPath: store(bed) + end)
            }
            let lines = try String(contentsOfFile: dump, encoding: .utf8).split(separator: "\n")
            let short = bed.folder.appending(path: "short.jsonl").path()
            for part in [
                Array(lines.dropLast()), Array(lines.prefix(1)), Array(lines.dropFirst()),
                lines + lines.prefix(1), [],
            ] {
                try part.map { $0 + "\n" }.joined().write(toFile: short, atomically: true, encoding: .utf8)
                #expect(await run(bed, "state", "import", short) == .findings)
                #expect(!FileManager.default.fileExists(atPath: store(bed)))
            }
            #expect(await run(bed, "state", "import", dump) == .fine)
        }
    }

    @Test func `a person's strikes and mutes are exported in words`() async throws {
        try await TestBed.run { bed, general in
            let steward = try bed.steward(bot: Self.bot)
            await steward.transcript.wait(for: "ready: ")
            try await offend(bed, general)
            #expect(try await steward.stop() == .fine)
            let file = bed.folder.appending(path: "ana.json").path()
            #expect(await run(bed, "state", "export", file, "--user", "ana") == .fine)
            let text = try String(contentsOfFile: file, encoding: .utf8)
            #expect(!text.contains("\\t") && !text.contains("u001"))
            let known = try JSON(parsing: Array(text.utf8))
            let remembered = (0..<9).compactMap { known["remembered"]?[$0] }
            let strikes = remembered.first { $0["name"]?.string == "strikes.conduct" }?["strikes"]?[0]
            #expect(strikes?["points"]?.int == 1 && strikes?["reason"]?.string == "adverts")
            let mute = remembered.first { $0["name"]?.string?.hasPrefix("mute:") == true }
            #expect(
                mute?["holds"]?[0]?["by"]?.string == "no-spam"
                    && mute?["until"]?.string?.hasSuffix("Z") == true)
        }
    }

    @Test func `what a muted person writes has their name in the audit log, and the channel its own`()
        async throws
    {
        try await TestBed.run { bed, general in
            let steward = try bed.steward(bot: Self.bot)
            await steward.transcript.wait(for: "ready: ")
            try await offend(bed, general)
            try await offend(bed, general, "but why")
            #expect(try await steward.stop() == .fine)
            let journal = try await SQLiteJournal.openForReading(store(bed))
            let lines = try await journal.auditLines(since: Timestamp(milliseconds: 0)).compactMap {
                JSONRow.value(AuditLine.self, from: $0)
            }
            await journal.close()
            let held = lines.filter { $0.by == "steward" && $0.action == "delete" }
            #expect(!held.isEmpty && held.allSatisfy { $0.user == "ana" })
            #expect(lines.allSatisfy { $0.user == "ana" && $0.channelName == "general" })
            for line in lines {
                let rows = AuditCommand.text(line).split(separator: "\n")
                #expect(rows[0].contains("in twilio:general by "))
                #expect(rows.allSatisfy { $0.count <= 80 })
            }
        }
    }

    @Test func `the list of cases says how many strikes each gave, the latest first`() {
        var found = Case(
            name: "C9", at: Timestamp(milliseconds: 0), rule: "warn", realm: "r",
            place: Place(account: "twilio", channel: "general"), user: "max", userName: "max", event: "e",
            messages: 0)
        found.deeds = [
            Case.Deed(
                key: "k", action: "react", place: found.place, state: .done, at: Timestamp(milliseconds: 0))
        ]
        func line(_ points: Int64?) -> String {
            found.strikes = [Case.Strike(name: "strikes.conduct", keep: nil, points: points)]
            return CaseReport(found, nil).line(at: Timestamp(milliseconds: 0))
        }
        #expect(line(1).hasSuffix("max in general: warn (strike, react)"))
        #expect(line(3).hasSuffix("max in general: warn (3 strikes, react)"))
        #expect(line(-2).contains("max in general: warn (2 strikes pardoned,"))
        var next = found
        next.name = "C10"
        #expect([found, next].sorted(by: CaseReport.isLater).map(\.name) == ["C10", "C9"])
    }

    @Test func `a case of a store that cannot be written is not undone, and who may is said`() async throws {
        try await TestBed.run { bed, general in
            let steward = try bed.steward(bot: Self.bot)
            await steward.transcript.wait(for: "ready: ")
            try await offend(bed, general)
            #expect(try await steward.stop() == .fine)
            guard getuid() != 0 else { return }
            chmod(store(bed), 0o400)
            let file = store(bed)
            let error = await #expect(throws: JournalError.self) {
                let desk = try await OrderDesk.open(file)
                do { _ = try await desk.place(.undo(case: "C1", by: "x"), at: .now) } catch {
                    await desk.close()
                    throw error
                }
                await desk.close()
            }
            #expect(error?.description.hasSuffix("order it as the user that steward runs as") == true)
            chmod(store(bed), 0o600)
        }
    }
}
