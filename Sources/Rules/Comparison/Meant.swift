internal import YAML

/// What a part of a bot's file means, whichever of its forms it is written in.
indirect enum Meant: Equatable {
    case text(String)
    case list([Meant])
    case keys([String: Meant])

    /// On one line, for people.
    var words: String {
        switch self {
        case .text(let text): text.isEmpty ? "nothing" : "\"\(text.shortened)\""
        case .list(let items): "[" + items.map(\.words).joined(separator: ", ") + "]"
        case .keys(let keys):
            keys.sorted { $0.key < $1.key }.map { name, value in
                if case .text("") = value { return name }
                return "\(name): \(value.words)"
            }.joined(separator: ", ")
        }
    }
}

/// Reads meanings by the tables of the language: they know where one text and a list of one are the same.
struct MeaningReader {
    private let tables: [String: [String: ValueShape]]

    init(_ language: LanguageReference) {
        tables = Dictionary(
            language.tables.map { table in
                (table.name, Dictionary(table.keys.map { ($0.name, $0.takes) }) { first, _ in first })
            }
        ) { first, _ in first }
    }

    /// The key that is meant where a mapping could stand and something shorter does.
    private static let shortForms = [
        "text": "has_any", "reply": "text", "send": "text", "dm": "text", "warn": "text", "relay": "to",
    ]

    /// What is so when nothing is written.
    private static let usual = ["run": "live", "also": "false", "continue": "false", "delete": "message"]

    private static let timeKeys: Set<String> = [
        "cooldown", "delete_after", "member_for", "account_age", "away", "batch", "clears_after",
    ]

    /// A mapping with the keys of a table.
    func meaning(of node: YAMLNode, table: String) -> Meant {
        meaning(of: node, key: "", shape: ValueShape(table: table))
    }

    private func meaning(of node: YAMLNode, key: String, shape: ValueShape?) -> Meant {
        switch node.kind {
        case .scalar(let text, _): return scalar(text, key, shape)
        case .sequence(let items):
            let list = Meant.list(items.map { meaning(of: $0, key: key, shape: shape?.items.first) })
            guard let shape, let table = shape.table, !shape.isOneKey, let short = Self.shortForms[table]
            else {
                return list
            }
            return .keys([short: list])
        case .mapping(let entries):
            var keys: [String: Meant] = [:]
            for entry in entries {
                guard let name = entry.key.text else { continue }
                let inner = shape?.entries.first ?? shape?.table.flatMap { tables[$0]?[name] }
                let value = meaning(of: entry.value, key: name, shape: inner)
                if case .text(let text) = value, Self.usual[name] == text, name != "delete" { continue }
                keys[name] = name == "delete" && value == .text("message") ? .text("") : value
            }
            return .keys(keys)
        case .unreadable: return .text("?")
        }
    }

    private func scalar(_ text: String, _ key: String, _ shape: ValueShape?) -> Meant {
        let meant = Meant.text(Self.timeKeys.contains(key) ? Self.sameTime(text) : text)
        guard let shape else { return meant }
        if let table = shape.table, shape.isOneKey, tables[table]?[text] != nil {
            return .keys([text: .text("")])
        }
        let listed = shape.items.isEmpty || key == "exempt" || text == "none" ? meant : .list([meant])
        guard let table = shape.table, !shape.isOneKey, let short = Self.shortForms[table] else {
            return listed
        }
        return .keys([short: tables[table]?[short]?.items.isEmpty == false ? .list([meant]) : meant])
    }

    /// Times in one form: `90m per user` and `1h30m per user` are the same.
    private static func sameTime(_ text: String) -> String {
        text.split(separator: " ").map { word in
            (try? Duration(text: String(word)).short) ?? String(word)
        }.joined(separator: " ")
    }
}
