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
            the text that matched, and what would be done. Where all of that does not fit a screen, rules that do not \
            match get one line. Nothing is sent, nothing is remembered, and what the store remembers is not looked \
            at: a line says so, with the numbers of the rules for which that decides.
            """,
        options: [
            .config,
            .init(name: "say", value: "TEXT", summary: "the message", isRequired: true),
            .init(name: "as", value: "USER", summary: "who writes it; \"someone\" when missing"),
            .init(
                name: "in", value: "CHANNEL",
                summary: "where, or direct; the first that is joined when missing"),
            .init(name: "role", value: "NAMES", summary: "roles the writer has, with commas"),
            .init(name: "rule", value: "ID", summary: "tells of this rule alone"),
            .init(name: "all", value: nil, summary: "tells all of each rule, however long"),
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
                    ("asks_memory", .bool(entry.asksMemory)),
                ])
            ).description
        }.joined(separator: "\n")
    }

    /// The lines of the smallest terminal that people have, without the two with the command and the next prompt.
    private static let screen = 22

    private static func explain(_ arguments: Arguments, _ config: Config, _ rules: RuleSet) -> ExitCode {
        guard let channel = arguments["in"] ?? config.accounts.lazy.compactMap(\.settings.joins.first).first
        else {
            Terminal.complain("steward explain: no account joins a channel: name one with --in\n")
            return .usage
        }
        let roles = (arguments["role"] ?? "").split(separator: ",").map(String.init)
        for role in roles where config.roles[role] == nil {
            let names = config.roles.keys.sorted()
            let hint =
                Suggestion.hint(for: role, among: names) ?? "roles here: \(names.joined(separator: ", "))"
            Terminal.complain("steward explain: there is no role \"\(role)\" - \(hint)\n")
            return .usage
        }
        var explanation = rules.explain(
            say: arguments["say"] ?? "", as: arguments["as"] ?? "someone", in: channel, roles: roles,
            now: .now)
        guard explanation != nil else {
            let known = Set(config.channels.keys).union(config.accounts.flatMap(\.settings.joins)).sorted()
            let near = Suggestion.hint(for: channel, among: known).map { " - \($0)" } ?? ""
            Terminal.complain("steward explain: no account has a channel \"\(channel)\"\(near)\n")
            if !known.isEmpty { Terminal.complain("channels here: \(known.joined(separator: ", "))\n") }
            return .usage
        }
        if let rule = arguments["rule"] { explanation?.narrow(to: rule) }
        guard let explanation, !explanation.entries.isEmpty || arguments["rule"] == nil else {
            let rule = arguments["rule"] ?? ""
            let hint = Suggestion.hint(for: rule, among: rules.ruleNames).map { " - \($0)" } ?? ""
            Terminal.complain("steward explain: there is no rule \"\(rule)\"\(hint)\n")
            return .usage
        }
        if arguments.has("json") {
            print(json(of: explanation))
        } else {
            print(arguments.has("all") ? explanation.description : explanation.description(in: screen))
        }
        return .fine
    }
}
