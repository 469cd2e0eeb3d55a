internal import Chat
internal import Crypto
internal import Engine
internal import FoundationEssentials
internal import JSON
internal import Rules
internal import Zones

/// `steward state`: what the store holds, taken out, put into a new store, or forgotten about one person.
enum StateCommand {
    static let command = Command(
        name: "state", summary: "export or import what is remembered, or forget a person",
        details: """
            export writes all that the store holds, one JSON object a line, to FILE or to standard output; with --user all \
            that is known of one person, with the texts that are kept, to be read. import makes a new store of such a \
            file. forget removes what is remembered of a person: facts, counters, strikes, mutes, bans, cases with their \
            texts, and kept events; the audit log keeps what was done, and no longer to whom. A steward that runs forgets \
            at once, otherwise it does when it starts. Of a damaged store export writes what can be read, says what it \
            lacks and ends with 1.
            """,
        options: [
            .config,
            .init(name: "user", value: "USER", summary: "export: only that person, by their id"),
            .init(
                name: "realm", value: "REALM",
                summary: "where the person's id means something, when several services know it"),
        ],
        operands: .init(names: "FILE|USER", count: 0...1),
        words: { ["export", "import", "forget"] }
    ) { arguments in
        switch arguments.word {
        case "export":
            await Look.intoStore(of: "state", arguments) { config, store in
                try await StateExport.run(arguments, config, store)
            }
        case "import": await StateImport.run(arguments)
        case "forget":
            await Look.intoStore(of: "state", arguments) { _, store in try await forget(arguments, store) }
        default: mistake("say what to do: export, import or forget")
        }
    }

    static func mistake(_ text: String) -> ExitCode {
        Terminal.complain("steward state: \(text)\nsteward help state shows how it is called\n")
        return .usage
    }

    private static func forget(_ arguments: Arguments, _ store: String) async throws -> ExitCode {
        guard let user = arguments.operands.first else {
            throw UsageMistake("forget whom? steward state forget USER")
        }
        let journal = try await SQLiteJournal.openForReading(store)
        let realms = try await RememberedPerson.realms(of: user, in: journal)
        await journal.close()
        let realm = try RememberedPerson.one(of: realms, user, arguments["realm"])
        return try await Orders.place(
            .forget(user: user, realm: realm, by: Orders.who), in: store, about: user)
    }
}

/// One row of the store as a line of an export: the body as JSON where it is that, else in base 64.
enum StateLine {
    private static let names: [JournalTable: String] = [
        .memory: "memory", .stream: "stream", .action: "action", .continuation: "continuation",
        .identity: "identity", .rule: "rule", .event: "event", .cases: "case", .evidence: "evidence",
        .audit: "audit",
    ]

    static func text(_ table: JournalTable, _ key: String, _ part: String, _ body: [UInt8]) -> String {
        var object: [(String, JSON)] = [("table", .string(names[table] ?? "")), ("key", .string(key))]
        if !part.isEmpty { object.append(("part", .string(part))) }
        let json = body.first == UInt8(ascii: "{") ? try? JSON(parsing: body) : nil
        object.append(json.map { ("json", $0) } ?? ("bytes", .string(Base64.standard.encode(body))))
        return JSON.object(JSONObject(object)).description
    }

    /// The last line, by which a file is known to be whole.
    static func end(of count: Int) -> String { "{\"table\":\"end\",\"rows\":\(count)}" }

    /// How many rows are before the line; nil when it is not the last.
    static func count(before line: [UInt8]) -> Int64? {
        guard let json = try? JSON(parsing: line), json["table"]?.string == "end" else { return nil }
        return json["rows"]?.int
    }

    static func change(_ line: [UInt8]) throws -> RowChange {
        let json = try JSON(parsing: line)
        let name = json["table"]?.string ?? ""
        guard let table = names.first(where: { $0.value == name })?.key, let key = json["key"]?.string else {
            throw SettingsMistake("no row of a store, or one of a later version")
        }
        let body = json["json"]?.bytes() ?? json["bytes"]?.string.flatMap(Base64.standard.decode)
        guard let body else { throw SettingsMistake("a row without a body") }
        return RowChange(RowKey(table, key, json["part"]?.string ?? ""), body)
    }
}

/// `steward state import`: a new store from an export.
enum StateImport {
    static func run(_ arguments: Arguments) async -> ExitCode {
        guard let file = arguments.operands.first else { return StateCommand.mistake("import which file?") }
        guard let config = Look.config(arguments) else { return .configuration }
        do {
            guard let store = config.store.map(config.statePath) else {
                throw SettingsMistake("there is no place for it - write storage: {file: state/steward.db}")
            }
            guard !FileManager.default.fileExists(atPath: store) else {
                throw SettingsMistake("\(store): there is a store already - move it away first")
            }
            guard let data = try? Data(contentsOf: URL(filePath: file)) else {
                throw SettingsMistake("\(file): the file cannot be read")
            }
            // All of it is read before anything is made.
            let changes = try changes(in: data, file)
            try await write(changes, to: try Stores.prepared(store))
            print("\(counted(changes.count, "row")) in \(store)")
            return .fine
        } catch {
            Terminal.complain("steward state: \(error)\n")
            return .findings
        }
    }

    private static func changes(in data: Data, _ file: String) throws -> [RowChange] {
        var changes: [RowChange] = []
        let lines = data.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        var count: Int64?
        for (number, line) in lines.enumerated() where !line.isEmpty {
            guard count == nil else {
                throw SettingsMistake("\(file):\(number + 1): there is more behind the end - export again")
            }
            count = StateLine.count(before: Array(line))
            if count != nil { continue }
            do {
                changes.append(try StateLine.change(Array(line)))
            } catch {
                throw SettingsMistake("\(file):\(number + 1): \(error)")
            }
        }
        guard let count else {
            throw SettingsMistake(
                "\(file): it was cut short: after \(counted(changes.count, "row")) the line is missing that says it is whole - copy or export it again"
            )
        }
        guard count == Int64(changes.count) else {
            throw SettingsMistake(
                "\(file): it is not whole: \(changes.count) rows, and \(count) were written - copy or export it again"
            )
        }
        return changes
    }

    private static func write(_ changes: [RowChange], to store: String) async throws {
        let journal = try await SQLiteJournal.open(store)
        let now = Timestamp.now
        guard
            case .taken(let lease) = try await journal.acquire(
                by: "steward state import", at: now, until: now + .seconds(60))
        else { throw SettingsMistake("\(store): a steward works on it") }
        var rest = changes[...]
        while !rest.isEmpty {
            try await journal.append(Array(rest.prefix(1000)), under: lease)
            rest = rest.dropFirst(1000)
        }
        await journal.release(lease)
        await journal.close()
    }
}
