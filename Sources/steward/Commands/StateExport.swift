internal import Chat
internal import Engine
internal import FoundationEssentials
internal import Glibc
internal import JSON
internal import Rules

/// `steward state export`: all that the store holds, or all that is known of one person.
enum StateExport {
    static func run(_ arguments: Arguments, _ config: Config, _ store: String) async throws -> ExitCode {
        do {
            let journal = try await SQLiteJournal.openForReading(store)
            let lines = await result {
                guard let user = arguments["user"] else { return try await all(of: journal, store) }
                return [
                    try await RememberedPerson(user, arguments["realm"], config, journal).json.description
                ]
            }
            await journal.close()
            try write(try lines.get(), to: arguments.operands.first)
            return .fine
        } catch JournalError.damaged where !arguments.has("user") {
            return try await saveWhatIsLeft(of: store, to: arguments.operands.first)
        }
    }

    private static func result(_ body: () async throws -> [String]) async -> Result<[String], any Error> {
        do { return .success(try await body()) } catch { return .failure(error) }
    }

    private static func all(of journal: SQLiteJournal, _ store: String) async throws -> [String] {
        var rows: [StoredRow] = []
        for table in JournalTable.allCases where !table.isDirect { rows += try await journal.rows(of: table) }
        let start = Timestamp(milliseconds: 0)
        let events = try await journal.keptEvents(since: start)
        let auditLines = try await journal.auditLines(since: start)
        let direct =
            events.map { StoredRow(key: RowKey(.event, "a group of kept events"), body: $0) }
            + auditLines.map { StoredRow(key: RowKey(.audit, "a line of the audit log"), body: $0) }
        if let bad = (rows + direct).first(where: { !$0.isReadable }) {
            throw JournalError.damaged(store, "\(bad.key.key) cannot be read")
        }
        return lines(rows, events, auditLines)
    }

    private static func lines(
        _ rows: [StoredRow], _ events: [[UInt8]], _ auditLines: [[UInt8]]
    ) -> [String] {
        let start = Timestamp(milliseconds: 0)
        let identities = Identities()
        let lines =
            rows.map { StateLine.text($0.key.table, $0.key.key, $0.key.part, $0.body) }
            + events.map { body in
                let last = EventCoding.events(in: body, realms: identities).map(\.sentAt).max() ?? start
                return StateLine.text(.event, "\(last.milliseconds)", "", body)
            }
            + auditLines.map { body in
                let at = JSONRow.value(AuditLine.self, from: body)?.at ?? start
                return StateLine.text(.audit, "\(at.milliseconds)", "", body)
            }
        return lines + [StateLine.end(of: lines.count)]
    }

    private static func saveWhatIsLeft(of store: String, to file: String?) async throws -> ExitCode {
        let saved = (try? await SQLiteJournal.save(store)) ?? SavedStore()
        guard !saved.isEmpty else {
            throw SettingsMistake(
                "\(store): the store is damaged, and nothing in it can be read - bring back a whole copy; without one move it away, and steward begins anew"
            )
        }
        let lines = lines(saved.rows, saved.events, saved.auditLines)
        try write(lines, to: file)
        Terminal.complain(
            """
            steward state: \(store): the store is damaged; \(counted(lines.count - 1, "row")) could be read, and what could not is missing:
            \(saved.losses.prefix(20).map { "  \($0)\n" }.joined())
            """)
        return .findings
    }

    private static func write(_ lines: [String], to file: String?) throws {
        let text = lines.map { $0 + "\n" }.joined()
        guard let file, file != "-" else {
            print(text, terminator: "")
            return
        }
        // A device, a pipe or a link stays what it is.
        var there = stat()
        if lstat(file, &there) == 0, there.st_mode & S_IFMT != S_IFREG {
            do {
                return try Data(text.utf8).write(to: URL(filePath: file))
            } catch {
                throw SettingsMistake("\(file): cannot be written")
            }
        }
        // What people wrote, and whom it was about, is for nobody else.
        guard
            FileManager.default.createFile(
                atPath: file, contents: Data(text.utf8), attributes: [.posixPermissions: 0o600])
        else { throw SettingsMistake("\(file): cannot be written") }
    }
}
