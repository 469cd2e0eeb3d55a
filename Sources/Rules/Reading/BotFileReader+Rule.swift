internal import Chat
internal import YAML

extension BotFileReader {
    func rule(_ id: String, _ entry: YAMLNode.Entry) -> BotRule {
        var rule = BotRule(id: Placed(id, at: spot(entry.key)))
        // The commonest slip in a long file: two blanks too many.
        var hint: String?
        if id == "tests", case .sequence = entry.value.kind {
            hint = "\"tests\" stands beside \"rules\", without blanks before it"
        }
        guard let entries = mapping(entry.value, "a rule", hint: hint) else { return rule }
        for part in entries {
            read(part, BotTables.rule, into: &rule)
            if let name = part.key.text { rule.written.insert(name) }
        }
        applyLimits(to: &rule)
        checkPresets(of: rule)
        for name in ["when", "do"] where !rule.written.contains(name) {
            let near = rule.written.contains {
                BotTables.rule[$0] == nil && BotTables.rule.hint(for: $0).contains("\"\(name)\"")
            }
            // A misspelt key was noted already.
            if !near {
                findings.error("rule \"\(id)\" has no \"\(name)\"", at: rule.id.spot, code: .missingKey)
            }
        }
        rule.signature = ["when", "in", "not_in", "if", "exempt"].map { name in
            entry.value[name].map(Self.signature) ?? "-"
        }.joined(separator: "\u{1}")
        return rule
    }

    /// A name that people choose: letters, digits, `-` and `_`.
    func name(_ node: YAMLNode, _ what: String) -> String? {
        guard let name = node.text else { return nil }
        let isGood =
            !name.isEmpty && name.count <= 64
            && name.unicodeScalars.allSatisfy {
                $0.properties.isAlphabetic || $0.properties.numericType != nil || $0 == "-" || $0 == "_"
            }
        if !isGood {
            error(
                "\"\(name.shortened)\" is not a name for \(what == "argument" ? "an" : "a") \(what)",
                at: node,
                hint: "use letters, digits, - and _")
        }
        return isGood ? name : nil
    }

    func events(_ node: YAMLNode, into rule: inout BotRule) {
        if case .mapping = node.kind { return read(node, BotTables.specialEvents, into: &rule) }
        for item in items(node, "when") ?? [] {
            if case .mapping = item.kind {
                read(item, BotTables.specialEvents, into: &rule)
                continue
            }
            guard let text = text(item) else { continue }
            witness?.took(EventName.allCases.map(\.rawValue), item)
            if let name = EventName(rawValue: text) {
                if rule.when.contains(where: { $0.value == name }) {
                    error("\"\(text)\" stands here twice", at: item, hint: "remove one")
                }
                rule.when.append(Placed(name, at: spot(item)))
            } else if let special = BotTables.specialEvents[text] {
                if special.read == nil {
                    notBuilt(text, at: item)
                } else {
                    error("\"\(text)\" does not say which", at: item, hint: "write {\(text): {name: …}}")
                }
            } else {
                let names = EventName.allCases.map(\.rawValue) + BotTables.specialEvents.names
                error(
                    "unknown event \"\(text.shortened)\"", at: item,
                    hint: Suggestion.hint(for: text, among: names)
                        ?? "the usual ones are messageAdded and memberJoined", code: .unknownName)
            }
        }
        if rule.command != nil, rule.when.count > 1 {
            error("a command stands alone", at: node, hint: "make two rules of this one")
        }
    }

    func once(_ node: YAMLNode, into rule: inout BotRule) {
        guard let text = text(node) else { return }
        witness?.took(
            ["per user", "per channel", "per user per window", "per channel per window"], node)
        switch text {
        case "per user", "per user per window": rule.once = .user
        case "per channel", "per channel per window": rule.once = .channel
        default:
            error(
                "\"\(text.shortened)\" is not a \"once\"", at: node,
                hint: "use per user, per channel or per user per window")
        }
        rule.isOncePerWindow = text.hasSuffix(" per window")
    }

    func exempt(_ node: YAMLNode) -> Exempt? {
        if isWord(node, "none") { return Exempt() }
        var exempt = Exempt()
        switch node.kind {
        case .mapping:
            read(node, BotTables.exempt, into: &exempt)
            return exempt
        case .unreadable: return nil
        default:
            error("\"exempt\" is none, or keys with values", at: node, hint: "try {roles: [moderator]}")
            return nil
        }
    }

    /// The same text for the same content.
    private static func signature(_ node: YAMLNode) -> String {
        switch node.kind {
        case .scalar(let text, _): return "\u{2}\(text)\u{3}"
        case .sequence(let items): return "[" + items.map(signature).joined() + "]"
        case .mapping(let entries):
            return "{" + entries.map { signature($0.key) + signature($0.value) }.sorted().joined() + "}"
        case .unreadable: return "?\(node.place)"
        }
    }
}

extension Cooldown {
    /// Reads `5m per user`, `15m per rule`, `3 in 1d per user`.
    init(text: String) throws(ShortFormError) {
        let words = text.split(separator: " ").map(String.init)
        guard words.count >= 2, words[words.count - 2] == "per" else {
            throw ShortFormError(
                problem: "\"\(text.shortened)\" does not say per what",
                hint: "try \"5m per user\", \"5m per channel\" or \"15m per rule\"")
        }
        guard words.count == 3 || words.count == 5 && words[1] == "in" else {
            throw ShortFormError(
                problem: "\"\(text.shortened)\" is not a cooldown",
                hint: "try \"5m per user\" or \"3 in 1d per user\"")
        }
        var mistakes = ShortFormMistakes()
        let per = Per(rawValue: words[words.count - 1])
        if per == nil {
            let names = Per.allCases.map(\.rawValue)
            mistakes.add(
                "unknown \"per \(words[words.count - 1])\" in \"\(text.shortened)\"",
                hint: Suggestion.hint(for: words[words.count - 1], among: names)
                    ?? "use user, channel or rule")
        }
        let most = words.count == 3 ? 1 : Int(words[0]) ?? 0
        if !(1...1000).contains(most) {
            mistakes.add("\"\(words[0])\" is not a number of times", hint: "try \"3 in 1d per user\"")
        }
        let time = mistakes.read { () throws(ShortFormError) in try Duration(text: words[words.count - 3]) }
        if let time, time <= .zero {
            mistakes.add("a cooldown of no time does nothing", hint: "try \"5m per user\"")
        }
        try mistakes.end()
        self.init(most: most, time: time ?? .zero, per: per ?? .rule)
    }
}
