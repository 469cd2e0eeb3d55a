internal import Chat
internal import Engine
internal import JSON
internal import Rules
internal import Zones

/// `steward cases`: who was moderated, by which rule, why, and what became of it.
enum CasesCommand {
    static let command = Command(
        name: "cases", summary: "list cases of moderation, or show one",
        details: """
            Lists the cases of moderation, the latest first: when, who, by which rule, and what was done. With a NAME such \
            as C17 it shows all of one: the messages it is about, what was written before, each action and what came of \
            it. Texts are shown as long as they are kept (storage: {keep_evidence: 30d}). It works while steward runs.
            """,
        options: [
            .config,
            .init(
                name: "user", value: "USER", summary: "only cases of that user: an id, or the name people see"
            ),
            .init(name: "rule", value: "RULE", summary: "only cases of that rule"),
            .init(name: "since", value: "TIME", summary: "only cases since then: 7d, or a moment"),
            .init(name: "json", value: nil, summary: "one JSON object a line, for programs"),
        ],
        operands: .init(names: "NAME", count: 0...1)
    ) { arguments in
        await Look.intoStore(of: "cases", arguments) { config, store in
            let since = try Look.since(arguments)
            let journal = try await SQLiteJournal.openForReading(store)
            let (file, broken) = try await read(journal, arguments)
            let damage =
                broken.isEmpty
                ? nil
                : JournalError.damaged(
                    store,
                    "\(counted(broken.count, "case")) cannot be read: \(broken.prefix(20).joined(separator: ", "))"
                )
            if let name = arguments.operands.first {
                guard let found = file.first else {
                    await journal.close()
                    if let damage { throw damage }
                    throw SettingsMistake("there is no case \"\(name)\" - steward cases lists all")
                }
                let row = try await journal.rows(of: .evidence, keys: [found.name]).first
                await journal.close()
                let texts = CaseReport.Texts(found, row?.body, config)
                let report = CaseReport(found, texts)
                print(arguments.has("json") ? report.json : report.text)
                return .fine
            }
            await journal.close()
            let wanted = file.filter { $0.at >= since }.sorted(by: CaseReport.isLater)
            for found in wanted {
                let report = CaseReport(found, nil)
                print(arguments.has("json") ? report.json : report.line(at: .now))
            }
            if let damage { throw damage }
            if wanted.isEmpty, !arguments.has("json") { print("there are no such cases") }
            return .fine
        }
    }

    /// The cases, and the names of those that cannot be read.
    private static func read(
        _ journal: SQLiteJournal, _ arguments: Arguments
    ) async throws -> ([Case], broken: [String]) {
        let rows: [StoredRow]
        if let name = arguments.operands.first {
            rows = try await journal.rows(of: .cases, keys: [name.uppercased()])
        } else {
            rows = try await journal.rows(of: .cases)
        }
        let cases = rows.compactMap { JSONRow.value(Case.self, from: $0.body) }.filter { found in
            (arguments["user"].map { [found.user, found.userName].contains($0) } ?? true)
                && (arguments["rule"].map { $0 == found.rule } ?? true)
        }
        return (cases, rows.filter { !$0.isReadable }.map(\.key.key))
    }
}

/// One case for people and for programs.
struct CaseReport {
    /// What people wrote, or why it is not shown.
    enum Texts {
        case shown(Evidence)
        case missing(String)

        /// Without a key that can be used the rest of the case is shown all the same.
        init(_ found: Case, _ body: [UInt8]?, _ config: Config) {
            do {
                self.init(found, body, try EvidenceKey.forReading(config))
            } catch {
                self = .missing("the texts are closed: \(error)")
            }
        }

        init(_ found: Case, _ body: [UInt8]?, _ keeping: EvidenceKeeping?) {
            guard let until = found.evidenceUntil else {
                self = .missing("no texts were kept")
                return
            }
            guard let body, until > .now else {
                self = .missing("the texts are gone: they were kept until \(Look.moment(until))")
                return
            }
            guard let evidence = keeping?.opened(body, of: found.name) else {
                self = .missing("the texts were sealed with another key than this configuration has")
                return
            }
            self = .shown(evidence)
        }
    }

    let found: Case
    let texts: Texts?

    init(_ found: Case, _ texts: Texts?) {
        self.found = found
        self.texts = texts
    }

    /// Of cases of one moment, the one with the higher number.
    static func isLater(_ left: Case, than right: Case) -> Bool {
        (left.at, left.number) > (right.at, right.number)
    }

    /// `C17  5 minutes ago  ana in general  no-adverts  delete, mute`
    func line(at now: Timestamp) -> String {
        var actions: [String] = []
        for deed in found.deeds where deed.action != "send" && deed.action != "reply" {
            let word = deed.state == .failed ? "\(deed.action) failed" : deed.action
            if !actions.contains(word) { actions.append(word) }
        }
        actions.insert(contentsOf: strikes, at: 0)
        var parts = [
            Columns.padded(found.name, to: 6), Columns.padded((now - found.at).agoInWords, to: 26),
            "\(name) in \(channel): \(found.rule)",
        ]
        if !actions.isEmpty { parts.append("(\(actions.joined(separator: ", ")))") }
        if found.undone != nil { parts.append("undone") }
        return Columns.wrapped(parts.joined(separator: " "), to: 80, indent: 33).joined(separator: "\n")
    }

    /// Such as `2 strikes`.
    private var strikes: [String] {
        found.strikes.map { strike in
            switch strike.points ?? 1 {
            case 1: "strike"
            case 2...: "\(strike.points ?? 1) strikes"
            case 0: "strikes cleared"
            case let less: "\(less.magnitude) \(less == -1 ? "strike" : "strikes") pardoned"
            }
        }
    }

    var text: String {
        var lines = ["\(found.name), \(Look.moment(found.at))", ""]
        func add(_ label: String, _ value: String?) {
            guard let value else { return }
            lines += Columns.wrapped("  \(Columns.padded(label, to: 10))\(value)", to: 80, indent: 12)
        }
        add("user", found.userName == found.user ? found.user : "\(name) (\(found.user))")
        add("channel", "\(channel) of \(found.place.account)")
        add("rule", found.rule)
        add("by", found.moderator)
        add("reason", found.reason.map(Look.printable))
        if let undone = found.undone {
            add("undone", "\(Look.moment(undone.at)) by \(undone.by): \(undone.what)")
        }
        lines += ["", "actions"]
        for deed in found.deeds {
            let whom = deed.user.map { " \($0)" } ?? ""
            let until = deed.until.map { " until \(Look.moment($0))" } ?? ""
            let state =
                switch deed.state {
                case .asked: "not done yet"
                case .done: "done"
                case .failed: "failed: \(deed.why ?? "")"
                }
            lines += Columns.wrapped("  \(deed.action)\(whom)\(until): \(state)", to: 80, indent: 4)
        }
        for strike in found.strikes { lines.append("  strike on \(strike.name.dropFirst("strikes.".count))") }
        switch texts {
        case .shown(let evidence):
            if let fragment = evidence.fragment {
                lines += ["", "found", "  \(Look.printable(fragment))"]
            }
            if !evidence.messages.isEmpty {
                lines += ["", "messages"] + evidence.messages.flatMap(Self.lines)
            }
            if !evidence.history.isEmpty { lines += ["", "before"] + evidence.history.flatMap(Self.lines) }
            if let other = evidence.historyOf { lines += ["", "what was written before is with \(other)"] }
        case .missing(let why): lines += ["", why]
        case nil: break
        }
        return lines.joined(separator: "\n")
    }

    private static func lines(_ line: Evidence.Line) -> [String] {
        let when = line.at.map { Look.moment($0).suffix(9) + " " } ?? ""
        let files = line.files.map { " [\($0.joined(separator: ", "))]" } ?? ""
        let text = line.text.map(Look.printable) ?? "(not kept)"
        return Columns.wrapped("  \(when)\(line.name ?? line.user ?? ""): \(text)\(files)", to: 80, indent: 4)
    }

    private var name: String { Look.printable(found.userName) }
    private var channel: String { Look.printable(found.channelName ?? found.place.channel) }

    var json: String {
        var object: [(String, JSON)] = [
            ("case", .string(found.name)), ("at", .string(ISO8601.text(found.at.milliseconds))),
            ("rule", .string(found.rule)), ("account", .string(found.place.account)),
            ("realm", .string(found.realm)), ("channel", .string(found.place.channel)),
            ("channel_name", found.channelName.map { .string($0) } ?? .null),
            ("user", .string(found.user)), ("name", .string(found.userName)),
            ("moderator", found.moderator.map { .string($0) } ?? .null),
            ("reason", found.reason.map { .string($0) } ?? .null), ("event", .string(found.event)),
            ("actions", .array(found.deeds.map(Self.json))),
            ("strikes", .array(found.strikes.map { .string(String($0.name.dropFirst("strikes.".count))) })),
            ("texts_until", Self.moment(found.evidenceUntil)),
            (
                "undone",
                found.undone.map { undone in
                    .object(
                        JSONObject([
                            ("at", Self.moment(undone.at)), ("by", .string(undone.by)),
                            ("what", .string(undone.what)),
                        ]))
                } ?? .null
            ),
        ]
        switch texts {
        case .shown(let evidence):
            object += [
                ("fragment", evidence.fragment.map { .string($0) } ?? .null),
                ("messages", .array(evidence.messages.map(Self.json))),
                ("before", .array(evidence.history.map(Self.json))),
            ]
        case .missing(let why): object.append(("no_texts", .string(why)))
        case nil: break
        }
        return JSON.object(JSONObject(object)).description
    }

    private static func json(_ deed: Case.Deed) -> JSON {
        .object(
            JSONObject([
                ("action", .string(deed.action)), ("state", .string(deed.state.rawValue)),
                ("user", deed.user.map { .string($0) } ?? .null),
                ("channel", .string(deed.place.channel)),
                ("message", deed.message.map { .string($0.id) } ?? .null),
                ("until", moment(deed.until)), ("why", deed.why.map { .string($0) } ?? .null),
            ]))
    }

    private static func json(_ line: Evidence.Line) -> JSON {
        .object(
            JSONObject([
                ("message", .string(line.id)), ("channel", .string(line.channel)),
                ("user", line.user.map { .string($0) } ?? .null),
                ("name", line.name.map { .string($0) } ?? .null), ("at", moment(line.at)),
                ("text", line.text.map { .string($0) } ?? .null),
                ("files", .array((line.files ?? []).map { .string($0) })),
            ]))
    }

    private static func moment(_ time: Timestamp?) -> JSON {
        time.map { .string(ISO8601.text($0.milliseconds)) } ?? .null
    }
}
