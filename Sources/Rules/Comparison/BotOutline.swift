internal import YAML

/// What bots' files declare, by kind and name.
struct BotOutline {
    struct Rule {
        var name: String
        var was: String?
        var file: String
        var stage: String
        var meaning: Meant
    }

    /// Parts of a file whose entries are told apart by their names, as they are called in what is printed.
    static let sections = [
        "variable", "list", "window", "group", "mode", "ladder", "counter", "rota", "bridge", "part",
    ]

    private static let keys = [
        "vars": "variable", "lists": "list", "windows": "window", "groups": "group", "modes": "mode",
        "ladders": "ladder", "counters": "counter", "rotas": "rota", "bridges": "bridge",
    ]

    private(set) var sections: [String: [String: Meant]] = [:]
    private(set) var rules: [Rule] = []

    init(_ side: BotComparison.Side, _ reader: MeaningReader) throws(BotComparisonError) {
        let findings = Findings()
        for file in side.files {
            let read = BotFileReader(file, findings: findings).read()
            guard let root = YAMLDocument.read(file.bytes).root else { continue }
            guard case .keys(let parts) = reader.meaning(of: root, table: "file") else { continue }
            let stages = Dictionary(
                read.rules.map { ($0.id.value, "\($0.stage?.value ?? $0.derivedStage)") }
            ) { first, _ in first }
            for entry in root["rules"]?.entries ?? [] {
                guard let name = entry.key.text else { continue }
                var meaning = reader.meaning(of: entry.value, table: "rule")
                var was: String?
                if case .keys(var keys) = meaning {
                    if case .text(let text)? = keys.removeValue(forKey: "was") { was = text }
                    meaning = .keys(keys)
                }
                rules.append(
                    Rule(
                        name: name, was: was, file: file.name, stage: stages[name] ?? "answer",
                        meaning: meaning))
            }
            for (key, value) in parts where key != "rules" && key != "version" {
                add(key, value, of: file, side)
            }
        }
        let errors = findings.inOrder.filter { $0.severity == .error }
        guard errors.isEmpty else { throw BotComparisonError(findings: errors) }
    }

    private mutating func add(_ key: String, _ value: Meant, of file: BotSource, _ side: BotComparison.Side) {
        let name = file.name.split(separator: "/").last.map(String.init) ?? file.name
        guard let section = Self.keys[key], case .keys(let entries) = value else {
            // One file against one file may have any names.
            sections["part", default: [:]][side.files.count == 1 ? key : "\(key) of \(name)"] = value
            return
        }
        for (entry, value) in entries {
            var value = value
            if section == "list", case .keys(let keys) = value, case .text(let path)? = keys["file"],
                let bytes = side.list(path)
            {
                value = .list(Self.words(of: bytes).map { .text($0) })
            }
            if section == "list", case .text = value { value = .list([value]) }
            sections[section, default: [:]][entry] = value
        }
    }

    /// The entries of a word list.
    private static func words(of bytes: [UInt8]) -> [String] {
        YAMLSource(text: String(decoding: bytes, as: UTF8.self)).lines.compactMap { line in
            let word = String(String.UnicodeScalarView(line.prefix { $0 != "#" })).trimmed
            return word.isEmpty ? nil : word
        }
    }
}
