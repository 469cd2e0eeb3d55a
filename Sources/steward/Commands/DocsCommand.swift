internal import Rules

/// `steward docs`: every word of the rule language, or what the configured rules do.
enum DocsCommand {
    static let command = Command(
        name: "docs", summary: "print the reference of the rule language, or of your rules",
        details: """
            Prints every key, condition, action, event, value and filter of the rule language as Markdown, made from the \
            tables that read rules. With --rules it prints the configured rules instead: what each is about, and its \
            examples.
            """,
        options: [
            .init(name: "rules", value: nil, summary: "describe the configured rules"), .config,
        ]
    ) { arguments in
        guard arguments.has("rules") else {
            print(page(LanguageReference()), terminator: "")
            return .fine
        }
        return Bots.look(arguments) { _, rules, _ in
            print(page(rules.descriptions), terminator: "")
            return .fine
        }
    }

    static func page(_ language: LanguageReference) -> String {
        var text = "# Words of the rule language\n"
        for table in language.tables where !table.keys.isEmpty {
            text += "\n## \(table.owner.prefix(1).uppercased() + table.owner.dropFirst())\n\n"
            text += "| key | takes | what it does |\n|---|---|---|\n"
            for key in table.keys {
                let mark = table.required.contains(key.name) ? " (required)" : ""
                text +=
                    "| `\(key.name)`\(mark) | \(cell(words(key.takes, language))) | \(cell(key.about)) |\n"
            }
        }
        text += "\n## Events\n\n" + language.events.map { "`\($0)`" }.joined(separator: " ") + "\n"
        text += list("Values in templates", language.values)
        text += list("Filters in templates", language.filters)
        text += list("Warnings that `# allow: NAME` switches off", language.warnings)
        return text
    }

    static func page(_ rules: [RuleDescription]) -> String {
        var text = "# Rules\n"
        for rule in rules {
            text += "\n## \(rule.name)\n\n"
            if let about = rule.about { text += about + "\n\n" }
            let places = rule.places.isEmpty ? "every channel" : rule.places.joined(separator: ", ")
            text +=
                "\(rule.file), at \(rule.events.joined(separator: ", ")) in \(places); \(rule.stage) rule.\n"
            for (title, examples) in [("Matches", rule.matching), ("Does not match", rule.notMatching)]
            where !examples.isEmpty {
                text += "\n\(title): " + examples.map { code($0) }.joined(separator: ", ") + "\n"
            }
        }
        return text
    }

    private static func list(_ title: String, _ entries: [LanguageReference.Entry]) -> String {
        "\n## \(title)\n\n| name | what it is |\n|---|---|\n"
            + entries.map { "| `\($0.name)` | \(cell($0.about)) |\n" }.joined()
    }

    /// What a key takes, in words.
    private static func words(_ shape: ValueShape, _ language: LanguageReference) -> String {
        var forms: [String] = []
        switch shape.scalar {
        case .text: forms.append("text")
        case .truth: forms.append("true or false")
        case .words(let words):
            forms.append(
                words == language.events ? "an event" : words.map { "`\($0)`" }.joined(separator: ", "))
        case nil: break
        }
        for items in shape.items {
            let inner = words(items, language)
            forms.append(inner == forms.first && forms.count == 1 ? "a list" : "a list of: \(inner)")
        }
        for entries in shape.entries { forms.append("names, each with: \(words(entries, language))") }
        if let name = shape.table, let table = language.tables.first(where: { $0.name == name }) {
            forms.append(shape.isOneKey ? "one key of \(table.owner)" : "keys of \(table.owner)")
        }
        return forms.isEmpty ? "nothing" : forms.joined(separator: "; ")
    }

    private static func cell(_ text: String) -> String {
        text.replacing("|", with: "\\|").replacing("\n", with: " ")
    }

    private static func code(_ text: String) -> String {
        let line = String(text.map { $0.isNewline ? " " : $0 })
        return line.contains("`") ? "`` \(line) ``" : "`\(line)`"
    }
}
