internal import Chat
internal import Zones

/// Which forms of writing are the same: short ones and long ones, defaults and their absence, spans of time.
enum WrittenForms {
    /// The key that is meant where a mapping with the keys of a table could stand and something shorter does.
    static let short = [
        "condition": "all", "text": "has_any", "reply": "text", "send": "text", "dm": "text", "warn": "text",
        "relay": "to",
        "log": "text", "report": "text", "confirm": "text", "name": "text", "create": "title",
        "invite": "user", "links": "count", "mentions": "at_least", "strikes": "total", "time": "any",
        "command": "name", "count": "by", "strike": "points", "punishment": "for", "lock": "for",
        "slowmode": "to", "pardon": "user", "kick": "reason", "unlock": "in", "permit": "what",
    ]

    /// What is so when nothing is written, in any mapping.
    private static let usual = ["run": "live", "also": "false", "continue": "false"]

    /// The same, in a mapping with the keys of a table.
    private static let usualOf: [String: [String: Meant]] = [
        "text": [
            "match": .text("word"), "fields": .list([.text("body")]), "fold": .text("plain"),
            "skip": .list([.text("code"), .text("links"), .text("quotes")]),
        ],
        "rate": ["across": .text("channel")],
        "mentions": ["at_least": .text("1+")],
        "strike": ["points": .text("1")],
        "count": ["by": .text("1")],
        "confirm": ["within": .text("30s"), "by": .text("same_user")],
        "window": ["days": .text(Days.all.description)],
        "commands": [
            "prefix": .text("!"), "unknown": .text("silent"), "wrong_args": .text("usage"),
            "zone": .text("UTC"),
        ],
    ]

    private static let times: Set<String> = [
        "cooldown", "delete_after", "member_for", "account_age", "away", "batch", "clears_after", "for",
        "within", "forget_after", "keep_copy",
    ]

    /// Expressions stay as they are; in their way, braces are something else.
    private static let literal: Set<String> = ["regex"]

    /// One text behind a key of a table, in the form that all its ways of writing have in common.
    static func common(_ text: String, key: String, table: String?) -> String {
        switch (table, key) {
        case ("rate", "count"): text.hasSuffix("+") ? String(text.dropLast()) : text
        case ("rate", "of"): (try? BotRate.kind(text))?.rawValue ?? text
        case ("rate", "in"), ("slowmode", "to"): sameTime(text)
        case ("mentions", "at_least"): text.hasSuffix("+") ? text : text + "+"
        case ("condition", "length"), ("condition", "lines"), ("condition", "emoji"),
            ("condition", "attachments"), ("user", "messages"), ("links", "count"), ("strikes", "total"):
            sameRange(text)
        case ("count", "by"): text.hasPrefix("+") ? String(text.dropFirst()) : text
        case ("command", "name"), ("command", "aliases"): text.lowercased()
        case _ where times.contains(key): sameTime(text)
        case _ where literal.contains(key): text
        default: text.contains("{{") ? sameTemplate(text) : text
        }
    }

    /// The keys of a mapping in the one form, without those that say what is so anyhow.
    static func common(_ keys: [String: Meant], table: String?) -> [String: Meant] {
        var keys = keys
        if table == "window", let days = keys["days"] { keys["days"] = sameDays(days) }
        if table == "text", case .list(let items)? = keys["skip"] {
            keys["skip"] = .list(items.sorted { $0.words < $1.words })
        }
        let usualHere = table.flatMap { usualOf[$0] } ?? [:]
        // Beside an expression a fold that is written says what the expression sees.
        let isTold = keys["regex"] != nil
        return keys.filter { key, value in
            if key == "fold", isTold { return true }
            if let usual = usualHere[key], usual == value { return false }
            return usual[key].map { .text($0) != value } ?? true
        }
    }

    /// The parts of a rate that is written as one text.
    static func rate(_ text: String, at spot: Spot) -> [String: Meant]? {
        guard let rate = try? BotRate(text: text, spot: spot) else { return nil }
        var keys: [String: Meant] = [
            "count": .text("\(rate.count)"), "of": .text(rate.kind.rawValue), "in": .text(rate.time.short),
        ]
        keys["per"] = rate.per.map { .text($0.rawValue) }
        keys["across"] = .text(rate.across.rawValue)
        return common(keys, table: "rate")
    }

    /// Times in one form: `90m per user` and `1h30m per user` are the same.
    private static func sameTime(_ text: String) -> String {
        guard !text.contains("{{") else { return sameTemplate(text) }
        return text.split(separator: " ").map { word in
            let isOpen = word.hasSuffix("+")
            let time = try? Duration(text: String(isOpen ? word.dropLast() : word))
            return time.map { $0.short + (isOpen ? "+" : "") } ?? String(word)
        }.joined(separator: " ")
    }

    /// Of whole numbers, `over 10` and `11+` are the same.
    private static func sameRange(_ text: String) -> String {
        guard let range = try? Bounds(numbers: text), range.isOpen, let lowest = range.lowest,
            lowest < .max
        else { return text }
        return "\(lowest + 1)+"
    }

    private static func sameDays(_ days: Meant) -> Meant {
        let texts: [String] =
            switch days {
            case .text(let text): [text]
            case .list(let items): items.map { if case .text(let text) = $0 { text } else { "" } }
            case .keys: []
            }
        return (try? Days(texts)).map { .text($0.description) } ?? days
    }

    /// Space between the parts of a value makes no difference, space inside of quotes does.
    private static func sameTemplate(_ text: String) -> String {
        var result = ""
        var rest = text[...]
        while let start = rest.firstRange(of: "{{") {
            result += rest[..<start.lowerBound] + "{{"
            rest = rest[start.upperBound...]
            var quote: Character?
            var word = ""
            var words: [String] = []
            while let letter = rest.first, quote != nil || !rest.hasPrefix("}}") {
                rest.removeFirst()
                if let end = quote {
                    word.append(letter)
                    if letter == end { quote = nil }
                    continue
                }
                switch letter {
                case "\"", "'":
                    quote = letter
                    word.append(letter)
                case _ where letter.isWhitespace || "|(),".contains(letter):
                    if !word.isEmpty { words.append(word) }
                    word = ""
                    if !letter.isWhitespace { words.append(String(letter)) }
                default: word.append(letter)
                }
            }
            if !word.isEmpty { words.append(word) }
            result += " " + words.joined(separator: " ") + " "
        }
        return result + rest
    }
}
