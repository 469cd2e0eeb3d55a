internal import Chat
internal import Engine
internal import FoundationEssentials
internal import JSON
internal import Rehearsal
internal import Rules

/// `steward replay`: events of the past through the present rules, or through others beside them.
enum ReplayCommand {
    static let command = Command(
        name: "replay", summary: "show what the rules would make of past events",
        details: """
            Takes the events that the store keeps (storage: {keep_events: 7d}), or those of a file, through the rules on \
            a clock of their own and shows how often each rule matches, with samples. With --rules it takes them through \
            the rules of another folder too, and shows what only one of the two matches. Nothing is sent or remembered. \
            --export writes the events of the store into a file instead: one JSON object a line.
            """,
        options: [
            .config,
            .init(name: "since", value: "TIME", summary: "how far back: 7d when missing, all of a file"),
            .init(name: "events", value: "FILE", summary: "events from a file instead of the store"),
            .init(
                name: "rules", value: "FOLDER", summary: "other rules, to be compared with the present ones"),
            .init(
                name: "export", value: "FILE", summary: "writes the events into a file, and replays nothing"),
            .init(name: "json", value: nil, summary: "one JSON object a rule, for programs"),
        ]
    ) { arguments in
        await Bots.look(
            arguments,
            waiting: { config, rules in
                do {
                    return try await run(arguments, config, rules)
                } catch let error as BotsError {
                    Terminal.print(findings: error.description)
                    return .findings
                } catch {
                    Terminal.complain("steward replay: \(error)\n")
                    return .findings
                }
            })
    }

    private static func run(_ arguments: Arguments, _ config: Config, _ rules: RuleSet) async throws
        -> ExitCode
    {
        let since: Duration
        do {
            since = try Duration(text: arguments["since"] ?? "7d")
        } catch {
            Terminal.complain("steward replay: \(error.problem) - \(error.hint ?? "try 7d")\n")
            return .usage
        }
        let identities = Identities()
        let events: [ChatEvent]
        if let file = arguments["events"] {
            let all = try EventLines.read(file, account: config.accounts.first?.name ?? "chat", identities)
            // A file was chosen by hand, so all of it counts unless something else is said.
            events = arguments.has("since") ? all.filter { $0.sentAt >= .now - since } : all
        } else {
            events = try await stored(config, since: .now - since, identities)
        }
        if let file = arguments["export"] {
            try EventLines.write(events, to: file)
            print("\(counted(events.count, "event")) in \(file)")
            return .fine
        }
        var other = config
        var others: RuleSet?
        if let folder = arguments["rules"] {
            other.bots =
                folder.hasPrefix("/") ? folder : FileManager.default.currentDirectoryPath + "/" + folder
            guard (try? FileManager.default.contentsOfDirectory(atPath: other.botsFolder)) != nil else {
                throw SettingsMistake("\(folder): the folder of the other rules cannot be read")
            }
            others = try Bots.read(other).0
        }
        guard let first = events.first else {
            Terminal.complain("steward replay: there are no events since then\n")
            return .fine
        }
        var replay = Replay(
            rules, beside: others, limits: config.turnLimits, identities: identities, from: first.sentAt)
        for event in events { replay.take(event) }
        let report = ReplayReport(
            replay: replay, rules: replay.rules(rules, others), compares: others != nil)
        print(arguments.has("json") ? report.json : report.text)
        return .fine
    }

    private static func stored(_ config: Config, since: Timestamp, _ identities: Identities) async throws
        -> [ChatEvent]
    {
        guard let store = config.store.map(config.statePath), FileManager.default.fileExists(atPath: store)
        else {
            throw SettingsMistake("there is no store yet - name a file of events with --events")
        }
        let journal = try await SQLiteJournal.openForReading(store)
        let bodies = try await journal.keptEvents(since: since)
        await journal.close()
        if bodies.isEmpty, config.keepEvents == nil {
            throw SettingsMistake(
                "the store keeps no events - write storage: {keep_events: 7d}, or name a file with --events")
        }
        let groups = bodies.map { EventCoding.events(in: $0, realms: identities) }
        // Of events that are not from outside nothing is kept.
        let broken = zip(bodies, groups).count { !$0.isEmpty && $1.isEmpty }
        guard broken == 0 else {
            throw JournalError.damaged(store, "\(counted(broken, "group")) of kept events cannot be read")
        }
        return groups.joined().filter { $0.sentAt >= since }.sorted { $0.sentAt < $1.sentAt }
    }
}

/// The tallies of a replay, for people and for programs.
struct ReplayReport {
    let replay: Replay
    /// In the order in which they are asked.
    let rules: [String]
    let compares: Bool

    var text: String {
        var lines = ["\(counted(replay.events, "event"))", ""]
        let former = Dictionary(replay.renamed.map { ($1, $0) }) { first, _ in first }
        let titles = rules.map { rule in former[rule].map { "\($0) → \(rule)" } ?? rule }
        let width = min(44, (titles.map(Columns.width).max() ?? 0) + 2)
        lines.append(
            Columns.padded("rule", to: width) + (compares ? "     old     new  change" : " matches"))
        for (rule, title) in zip(rules, titles) {
            let tally = replay.tallies[rule] ?? Replay.Tally()
            var line = Columns.padded(title, to: width) + Self.right(tally.old, 8)
            if compares {
                let change = tally.new - tally.old
                line += Self.right(tally.new, 8)
                line += change == 0 ? "" : "  " + (change > 0 ? "+\(change)" : "\(change)")
            }
            lines.append(line)
            for (mark, samples) in [("  ", tally.samples), ("- ", tally.onlyOld), ("+ ", tally.onlyNew)] {
                for sample in samples {
                    let short = sample.count > 200 ? sample.prefix(199) + "…" : sample
                    lines += Columns.wrapped("    \(mark)\(short)", to: 80, indent: 8)
                }
            }
        }
        return lines.joined(separator: "\n")
    }

    var json: String {
        rules.map { rule in
            let tally = replay.tallies[rule] ?? Replay.Tally()
            var object: [(String, JSON)] = [("rule", .string(rule)), ("matches", .int(Int64(tally.old)))]
            let list = { (texts: [String]) in JSON.array(texts.map { .string($0) }) }
            if let old = replay.renamed.first(where: { $0.value == rule })?.key {
                object.append(("was", .string(old)))
            }
            if compares {
                object += [
                    ("matches_new", .int(Int64(tally.new))), ("only_old", list(tally.onlyOld)),
                    ("only_new", list(tally.onlyNew)),
                ]
            } else {
                object.append(("samples", list(tally.samples)))
            }
            return JSON.object(JSONObject(object)).description
        }.joined(separator: "\n")
    }

    private static func right(_ number: Int, _ width: Int) -> String {
        let text = "\(number)"
        return String(repeating: " ", count: max(1, width - text.count)) + text
    }
}
