internal import Chat
internal import Engine
internal import JSON
internal import Rules
internal import Zones

/// `steward audit`: each action of moderation that was asked, done or failed.
enum AuditCommand {
    static let command = Command(
        name: "audit", summary: "print the audit log of moderation",
        details: """
            Prints a line for each action of moderation that was asked, was done or failed, oldest first: when, what, by \
            which rule, whom it was about and why it failed. The log is only ever appended to. With --json each line is a \
            JSON object, to be kept elsewhere. It works while steward runs.
            """,
        options: [
            .config,
            .init(name: "since", value: "TIME", summary: "only what came since then: 7d, or a moment"),
            .init(name: "json", value: nil, summary: "one JSON object a line, for programs"),
        ]
    ) { arguments in
        await Look.intoStore(of: "audit", arguments) { _, store in
            let since = try Look.since(arguments)
            let journal = try await SQLiteJournal.openForReading(store)
            let bodies = try await journal.auditLines(since: since)
            await journal.close()
            let lines = bodies.compactMap { JSONRow.value(AuditLine.self, from: $0) }
            for line in lines { print(arguments.has("json") ? json(line) : text(line)) }
            guard lines.count == bodies.count else {
                let count = counted(bodies.count - lines.count, "line")
                throw JournalError.damaged(store, "\(count) of the audit log cannot be read")
            }
            return .fine
        }
    }

    static func text(_ line: AuditLine) -> String {
        var parts = [Look.moment(line.at), Columns.padded(line.state.rawValue, to: 6), line.action]
        if let user = line.user { parts.append(Look.printable(user)) }
        if let account = line.account, let channel = line.channelName ?? line.channel {
            parts.append("in \(account):\(Look.printable(channel))")
        }
        parts.append("by \(Look.printable(line.by))")
        if let cases = line.cases, !cases.isEmpty { parts.append("(\(cases.joined(separator: ", ")))") }
        let text = parts.joined(separator: " ")
        let whole = line.why.map { "\(text): \(Look.printable($0))" } ?? text
        return Columns.wrapped(whole, to: 80, indent: 4).joined(separator: "\n")
    }

    static func json(_ line: AuditLine) -> String {
        var object: [(String, JSON)] = [
            ("at", .string(ISO8601.text(line.at.milliseconds))), ("state", .string(line.state.rawValue)),
            ("action", .string(line.action)), ("by", .string(line.by)),
            ("cases", .array((line.cases ?? []).map { .string($0) })),
        ]
        let more = [
            ("account", line.account), ("channel", line.channel), ("channel_name", line.channelName),
            ("user", line.user),
            ("message", line.message), ("event", line.event), ("why", line.why),
        ]
        object += more.map { name, value in (name, value.map { .string($0) } ?? .null) }
        return JSON.object(JSONObject(object)).description
    }
}
