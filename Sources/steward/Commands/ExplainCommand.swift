internal import Chat
internal import JSON
internal import Rules
internal import Services

/// `steward explain`: why each rule would or would not act on a message.
enum ExplainCommand {
    static let command = Command(
        name: "explain", summary: "show what a message would cause, and why",
        details: """
            Shows every rule that would be looked at for a message, in order: why it did or did not match, the part of \
            the text that matched, and what would be done. Nothing is sent, and nothing is remembered.
            """,
        options: [
            .config,
            .init(name: "say", value: "TEXT", summary: "the message", isRequired: true),
            .init(name: "as", value: "USER", summary: "who writes it; \"someone\" when missing"),
            .init(name: "in", value: "CHANNEL", summary: "where; the first that is joined when missing"),
            .init(name: "role", value: "NAMES", summary: "roles the writer has, with commas"),
            .init(name: "json", value: nil, summary: "one JSON object a rule, for programs"),
        ]
    ) { arguments in
        Bots.look(arguments) { config, rules, _ in explain(arguments, config, rules) }
    }

    /// An object a line.
    static func json(of explanation: Explanation) -> String {
        explanation.entries.map { entry in
            JSON.object(
                JSONObject([
                    ("rule", .string(entry.rule)), ("number", .int(Int64(entry.number))),
                    ("stage", .string("\(entry.stage)")), ("place", .string(entry.place)),
                    ("matches", .bool(entry.matches)), ("reason", .string(entry.reason)),
                    ("actions", .array(entry.actions.map { .string($0) })),
                ])
            ).description
        }.joined(separator: "\n")
    }

    private static func explain(_ arguments: Arguments, _ config: Config, _ rules: RuleSet) -> ExitCode {
        guard let channel = arguments["in"] ?? config.accounts.lazy.compactMap(\.settings.joins.first).first
        else {
            Terminal.complain("steward explain: no account joins a channel: name one with --in\n")
            return .usage
        }
        let roles = (arguments["role"] ?? "").split(separator: ",").map(String.init)
        let explanation = rules.explain(
            say: arguments["say"] ?? "", as: arguments["as"] ?? "someone", in: channel, roles: roles,
            now: .now)
        guard let explanation else {
            let known = Set(config.channels.keys).union(config.accounts.flatMap(\.settings.joins)).sorted()
            let near = Suggestion.hint(for: channel, among: known).map { " - \($0)" } ?? ""
            Terminal.complain("steward explain: no account has a channel \"\(channel)\"\(near)\n")
            if !known.isEmpty { Terminal.complain("channels here: \(known.joined(separator: ", "))\n") }
            return .usage
        }
        print(arguments.has("json") ? json(of: explanation) : explanation.description)
        return .fine
    }
}
