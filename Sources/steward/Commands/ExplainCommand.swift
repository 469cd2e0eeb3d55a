internal import Chat
internal import Engine
internal import FoundationEssentials
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
            match get one line, and those with one reason share it. Nothing is sent and nothing is remembered. Strikes, \
            counters, cooldowns, modes and all else that is remembered come from the store, also while steward runs; \
            where there is none a line says so, with the numbers of the rules for which that decides. The writer's name \
            and roles, and the direct channel with them, come from the events that the store keeps, and a line says \
            which of them it does not know.
            """,
        options: [
            .config,
            .init(name: "say", value: "TEXT", summary: "the message", isRequired: true),
            .init(name: "as", value: "USER", summary: "who writes it; \"someone\" when missing"),
            .init(
                name: "in", value: "CHANNEL",
                summary: "where, or direct; the first that is joined when missing"),
            .init(name: "role", value: "NAMES", summary: "roles the writer has, with commas"),
            .init(
                name: "realm", value: "NAME", summary: "which service it is, where the store knows several"),
            .init(name: "rule", value: "ID", summary: "tells of this rule alone"),
            .init(name: "all", value: nil, summary: "tells all of each rule, however long"),
            .init(name: "json", value: nil, summary: "one JSON object a rule, for programs"),
        ]
    ) { arguments in
        await Bots.look(arguments, waiting: { await explain(arguments, $0, $1) })
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

    private static func explain(
        _ arguments: Arguments, _ config: Config, _ rules: RuleSet
    ) async -> ExitCode {
        guard let channel = arguments["in"] ?? config.accounts.lazy.compactMap(\.settings.joins.first).first
        else {
            Terminal.complain("steward explain: no account joins a channel: name one with --in\n")
            return .usage
        }
        let roles = (arguments["role"] ?? "").split(separator: ",").map(String.init)
        let known = config.directory.roles
        for role in roles where known[role] == nil {
            let names = known.keys.sorted()
            let hint =
                Suggestion.hint(for: role, among: names) ?? "roles here: \(names.joined(separator: ", "))"
            Terminal.complain("steward explain: there is no role \"\(role)\" - \(hint)\n")
            return .usage
        }
        guard let place = rules.place(ofExplained: channel) else {
            let known = Set(config.channels.keys).union(config.accounts.flatMap(\.settings.joins)).sorted()
            let near = Suggestion.hint(for: channel, among: known).map { " - \($0)" } ?? ""
            Terminal.complain("steward explain: no account has a channel \"\(channel)\"\(near)\n")
            if !known.isEmpty { Terminal.complain("channels here: \(known.joined(separator: ", "))\n") }
            return .usage
        }
        let message = Supposed(
            text: arguments["say"] ?? "", user: arguments["as"], place: place, roles: roles)
        var explanation: Explanation
        var end = ExitCode.fine
        do {
            explanation = try await remembering(message, arguments["realm"], config, rules)
        } catch let error as UsageMistake {
            Terminal.complain("steward explain: \(error)\n")
            return .usage
        } catch {
            Terminal.complain("steward explain: the store cannot be looked at: \(error)\n")
            explanation = message.explained(by: rules)
            end = .findings
        }
        if let rule = arguments["rule"] { explanation.narrow(to: rule) }
        guard !explanation.entries.isEmpty || arguments["rule"] == nil else {
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
        return end
    }

    /// A message that is only spoken of.
    private struct Supposed {
        var text: String
        /// Nil: somebody who was never seen.
        var user: String?
        var place: Place
        var roles: [String]

        var name: String { user ?? "someone" }

        /// As if nothing was remembered.
        func explained(by rules: RuleSet) -> Explanation {
            rules.explain(say: text, as: name, in: place, roles: roles, now: .now)
        }
    }

    /// With what the store remembers; without it where there is none yet.
    private static func remembering(
        _ message: Supposed, _ wanted: String?, _ config: Config, _ rules: RuleSet
    ) async throws -> Explanation {
        guard let store = config.store.map(config.statePath), FileManager.default.fileExists(atPath: store)
        else { return message.explained(by: rules) }
        let journal = try await SQLiteJournal.openForReading(store)
        do {
            let now = Timestamp.now
            let stored = StoredMemory(journal, at: now)
            let identities = Identities()
            let own = try await stored.identities()
            let channel = try await stored.channel(message.place) ?? message.place.channel
            let name = try await realm(
                of: message, in: channel, wanted, own.keys.sorted(), stored, identities)
            let realm = identities.realm(name)
            let met = try await stored.met(message.name, of: realm, realms: identities)
            let isDirect = message.place.channel == "direct"
            var place = message.place
            if isDirect, let direct = met.direct { place.account = direct.account }
            var (event, situation) = rules.suppose(
                say: message.text, as: message.name, in: place,
                id: (isDirect ? met.direct?.channel : nil) ?? channel, of: realm, author: met.member,
                roles: message.roles, at: now)
            situation.memory = stored.memory
            situation.own = own[name].map(realm.user)
            let hasPast = try await stored.recall(by: rules.handlers, in: situation, realms: identities)
            situation.facts = try await stored.facts(about: event)
            let (asked, known) = (event, situation)
            let removal = try await stored.removal(of: asked, in: known).map { why($0, message.name) }
            var explanation = try await stored.look { rules.explain(asked, in: known, removal: removal) }
            var source = "with what \(store) remembers"
            if let user = message.user, try await !stored.knows(.user(realm.user(user))) {
                source += ", which is nothing of a user \"\(user)\": users go by their ids"
            }
            explanation.isTrue(by: source, withPast: hasPast)
            explanation.unknown = unknown(of: message, met)
            await journal.close()
            return explanation
        } catch {
            await journal.close()
            throw error
        }
    }

    /// What of the writer and of the direct channel no kept event tells.
    private static func unknown(of message: Supposed, _ met: StoredMemory.Met) -> [String] {
        guard let user = message.user else { return [] }
        var lines: [String] = []
        if !met.namesakes.isEmpty {
            let ids = met.namesakes.prefix(3).map { "--as \($0)" }.joined(separator: " or ")
            lines.append("\"\(user)\" is a name that people see: did you mean \(ids)?")
        }
        if met.member == nil, message.roles.isEmpty {
            lines.append("no event of \(user) is kept, so their roles are not known: --role NAMES lends them")
        }
        if message.place.channel == "direct", met.direct == nil {
            lines.append("no event of a direct channel with \(user) is kept, so nothing of it is looked up")
        }
        return lines
    }

    private static func why(_ kind: Punishment.Kind, _ user: String) -> String {
        switch kind {
        case .mute: "\(user) is muted here"
        case .ban: "\(user) is banned here"
        case .lock: "the channel is locked"
        case .slowmode: "\(user) wrote just now, and the channel is slow"
        }
    }

    /// The service in which the store knows the channel, or the user.
    private static func realm(
        of message: Supposed, in channel: String, _ wanted: String?, _ names: [String],
        _ stored: StoredMemory, _ identities: Identities
    ) async throws -> String {
        if let wanted {
            guard names.contains(wanted) else {
                throw UsageMistake(
                    "the store knows no service \"\(wanted)\" - "
                        + (Suggestion.hint(for: wanted, among: names)
                            ?? "it knows \(names.joined(separator: ", "))"))
            }
            return wanted
        }
        var (ofChannel, ofUser): ([String], [String]) = ([], [])
        for name in names {
            let realm = identities.realm(name)
            if try await stored.knows(.channel(realm.channel(channel))) { ofChannel.append(name) }
            if try await stored.knows(.user(realm.user(message.name))) { ofUser.append(name) }
        }
        if ofChannel.count == 1 { return ofChannel[0] }
        guard ofUser.count < 2 else {
            throw UsageMistake(
                "several services know a \"\(message.name)\" - add one of: "
                    + ofUser.map { "--realm \($0)" }.joined(separator: ", "))
        }
        // Where it knows neither, nothing is remembered of them.
        return ofUser.first ?? names.first ?? ""
    }
}
