internal import Chat
internal import Engine
internal import FoundationEssentials
internal import JSON
internal import Rules

/// `steward rules`: all rules in the order in which they are asked, and how they have done.
enum RulesCommand {
    static let command = Command(
        name: "rules", summary: "list the rules, when each matched last and how often",
        details: """
            Lists all rules in the order in which they are asked: the stage, where each stands, when it matched last, how \
            often it matches a day over the last thirty days, and what went wrong with its actions last. A rule that did \
            not match for thirty days, or whose action failed, is marked with "!". The figures come from the store, also \
            while steward runs.
            """,
        options: [
            .config,
            .init(name: "json", value: nil, summary: "one JSON object a line, for programs"),
        ]
    ) { arguments in
        var listing: Listing?
        let end = Bots.look(arguments) { config, rules, _ in
            listing = Listing(rules: rules.outline, store: config.store.map(config.statePath))
            return .fine
        }
        guard let listing else { return end }
        do {
            let ledger = try await listing.ledger()
            let isJSON = arguments.has("json")
            let text = isJSON ? listing.json(ledger, at: .now) : listing.text(ledger, at: .now)
            if !text.isEmpty { print(text) }
            return .fine
        } catch {
            Terminal.complain("steward rules: \(error)\n")
            return .findings
        }
    }

    /// What is to be listed.
    struct Listing: Sendable {
        var rules: [RuleOutline]
        var store: String?

        /// Nothing where there is no store yet.
        func ledger() async throws -> RuleLedger? {
            guard let store, FileManager.default.fileExists(atPath: store) else { return nil }
            let journal = try await SQLiteJournal.openForReading(store)
            var ledger = RuleLedger()
            ledger.load(try await journal.rows(of: .rule))
            await journal.close()
            return ledger
        }

        func text(_ ledger: RuleLedger?, at now: Timestamp) -> String {
            guard !rules.isEmpty else { return "there are no rules" }
            let records = ledger?.records
            // Before that nobody can have failed to match for so long.
            let isOld = ledger.map { $0.days(until: now) >= RuleRecord.mostDays } ?? false
            var lines: [String] = []
            var stage: Stage?
            for (number, rule) in rules.enumerated() {
                if rule.stage != stage {
                    if stage != nil { lines.append("") }
                    stage = rule.stage
                    lines.append(["guards", "answers", "observers"][rule.stage.rawValue])
                }
                let record = ledger?.record(of: rule)
                let isOdd =
                    records != nil && rule.run == "live" && !rule.isBuiltIn
                    && Self.isOdd(record, isOld, at: now)
                let mark = isOdd ? "!" : " "
                let run = rule.run == "live" ? "" : " \(rule.run)"
                lines.append(
                    Columns.wrapped(
                        "\(mark) \(number + 1). \(rule.name)\(run)  (\(rule.place))", to: 80, indent: 7
                    )
                    .joined(separator: "\n"))
                guard records != nil else { continue }
                lines += Columns.wrapped("       " + Self.words(record, at: now), to: 80, indent: 9)
                if let failure = record?.lastFailure {
                    let ago = (now - failure.at).agoInWords
                    lines += Columns.wrapped("       failed \(ago): \(failure.why)", to: 80, indent: 9)
                }
            }
            if let failure = records?[Punishment.owner]?.lastFailure {
                let ago = (now - failure.at).agoInWords
                lines += ["", "! steward itself, which keeps mutes, bans, locks and slow mode"]
                lines += Columns.wrapped("       failed \(ago): \(failure.why)", to: 80, indent: 9)
            }
            if records == nil { lines += ["", "there is no store yet, so nothing is known of what matched"] }
            return lines.joined(separator: "\n")
        }

        func json(_ ledger: RuleLedger?, at now: Timestamp) -> String {
            let records = ledger?.records
            return rules.map { rule in
                let record = ledger?.record(of: rule)
                var object: [(String, JSON)] = [
                    ("rule", .string(rule.name)), ("stage", .string("\(rule.stage)")),
                    ("place", .string(rule.place)), ("run", .string(rule.run)),
                ]
                if records != nil {
                    object += [
                        ("last_match", record?.lastMatch.map { .int($0.milliseconds) } ?? .null),
                        ("matches_30d", .int(record?.matches(until: now) ?? 0)),
                        ("matches_a_day", .double(record?.matchesADay(until: now) ?? 0)),
                        ("last_failure", record?.lastFailure.map { .int($0.at.milliseconds) } ?? .null),
                        ("failure", record?.lastFailure.map { .string($0.why) } ?? .null),
                    ]
                }
                return JSON.object(JSONObject(object)).description
            }.joined(separator: "\n")
        }

        /// `isOld`: the store is older than thirty days.
        private static func isOdd(_ record: RuleRecord?, _ isOld: Bool, at now: Timestamp) -> Bool {
            if let failure = record?.lastFailure, now - failure.at < .seconds(7 * 86_400) { return true }
            guard let last = record?.lastMatch else { return isOld || record?.lastFailure != nil }
            return now - last > .seconds(30 * 86_400) || record?.lastFailure.map { $0.at >= last } == true
        }

        private static func words(_ record: RuleRecord?, at now: Timestamp) -> String {
            guard let record, let last = record.lastMatch else { return "has never matched" }
            let often = record.matchesADay(until: now)
            let tenths = Int((often * 10).rounded())
            let rounded =
                often >= 10 || tenths % 10 == 0 ? "\(Int(often.rounded()))" : "\(tenths / 10).\(tenths % 10)"
            let ago = "matched \((now - last).agoInWords)"
            if often == 0 { return "\(ago), not within thirty days" }
            if tenths == 0 { return "\(ago), less than once in ten days" }
            return "\(ago), \(rounded == "1" ? "once" : "\(rounded) times") a day"
        }
    }
}

extension RuleLedger {
    /// Of a rule that has another name now: what it did under the old one, until it has done something under the new.
    fileprivate func record(of rule: RuleOutline) -> RuleRecord? {
        records[rule.name] ?? rule.was.flatMap { records[$0] }
    }
}

extension Duration {
    /// `just now`, `5 minutes ago`.
    var agoInWords: String { self < .seconds(1) ? "just now" : "\(words) ago" }
}
