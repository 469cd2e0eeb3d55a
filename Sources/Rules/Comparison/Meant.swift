internal import YAML

/// What a part of a bot's file means, whichever of its forms it is written in.
indirect enum Meant: Sendable, Equatable {
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

    /// A mapping with the keys of a table.
    func meaning(of node: YAMLNode, table: String) -> Meant {
        meaning(of: node, key: "", shape: ValueShape(table: table))
    }

    /// `owner` is the table whose key it stands behind.
    private func meaning(of node: YAMLNode, key: String, shape: ValueShape?, owner: String? = nil) -> Meant {
        switch node.kind {
        case .scalar(let text, _): return scalar(text, node, key, shape, owner)
        case .sequence(let items):
            let list = Meant.list(
                items.map { meaning(of: $0, key: key, shape: shape?.items.first, owner: owner) })
            guard let shape, let table = shape.table, !shape.isOneKey,
                let short = WrittenForms.short[table]
            else {
                return list
            }
            return .keys([short: list])
        case .mapping(let entries):
            let table = shape?.table
            var keys: [String: Meant] = [:]
            for entry in entries {
                guard let name = entry.key.text else { continue }
                let inner = shape?.entries.first ?? table.flatMap { tables[$0]?[name] }
                let value = meaning(of: entry.value, key: name, shape: inner, owner: table)
                keys[name] = name == "delete" && value == .text("message") ? .text("") : value
            }
            let common = WrittenForms.common(keys, table: table)
            // An action with nothing but what is so anyhow is the action alone.
            return common.isEmpty && !keys.isEmpty && table != nil ? .text("") : .keys(common)
        case .unreadable: return .text("?")
        }
    }

    private func scalar(
        _ text: String, _ node: YAMLNode, _ key: String, _ shape: ValueShape?, _ owner: String?
    ) -> Meant {
        let meant = Meant.text(WrittenForms.common(text, key: key, table: owner))
        guard let shape else { return meant }
        if let table = shape.table, shape.isOneKey, tables[table]?[text] != nil {
            return .keys([text: .text("")])
        }
        let listed = shape.items.isEmpty || key == "exempt" || text == "none" ? meant : .list([meant])
        guard let table = shape.table, !shape.isOneKey else { return listed }
        if table == "rate", let keys = WrittenForms.rate(text, at: Spot(file: "", place: node.place)) {
            return .keys(keys)
        }
        guard let short = WrittenForms.short[table], !text.isEmpty else { return listed }
        // As a number alone it is exactly so many, as a key at least so many.
        let isExact = table == "mentions"
        let inner = isExact ? meant : Meant.text(WrittenForms.common(text, key: short, table: table))
        let value = tables[table]?[short]?.items.isEmpty == false ? Meant.list([inner]) : inner
        let keys = WrittenForms.common([short: value], table: table)
        return keys.isEmpty ? .text("") : .keys(keys)
    }
}
