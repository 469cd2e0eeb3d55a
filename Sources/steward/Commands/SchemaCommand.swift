internal import JSON
internal import Rules

/// `steward schema`: what editors check and complete bots' files and `config.yaml` by.
enum SchemaCommand {
    static let command = Command(
        name: "schema", summary: "print a JSON Schema of rules files or config.yaml, for editors",
        details: """
            Prints a JSON Schema (2020-12) of rules files, made from the tables that read them. Save it as \
            bots.schema.json and let an editor's YAML language server use it with a first line "# yaml-language-server: \
            $schema=../bots.schema.json". With --config it is the schema of config.yaml, for a first line \
            "# yaml-language-server: $schema=config.schema.json". It knows keys and words; "steward check" knows the rest.
            """,
        options: [.init(name: "config", value: nil, summary: "of config.yaml instead")]
    ) { arguments in
        let json = arguments.has("config") ? ConfigSchema.json : schema(LanguageReference())
        print(String(decoding: json.bytes(), as: UTF8.self))
        return .fine
    }

    static func schema(_ language: LanguageReference) -> JSON {
        var definitions = JSONObject()
        for table in language.tables.dropFirst() where !table.keys.isEmpty {
            definitions[table.name] = definition(of: table)
        }
        // What is text here may look like a number or a truth value to an editor.
        definitions["scalar"] = ["type": ["string", "number", "boolean"]]
        var root: JSONObject = [
            "$schema": "https://json-schema.org/draft/2020-12/schema", "title": "steward: a rules file",
        ]
        if let file = language.tables.first, case .object(let object) = definition(of: file) {
            for entry in object { root[entry.key] = entry.value }
        }
        root["$defs"] = .object(definitions)
        return .object(root)
    }

    private static func definition(of table: LanguageReference.Table) -> JSON {
        var properties = JSONObject()
        for key in table.keys {
            guard case .object(var value) = schema(of: key.takes) else { continue }
            value["description"] = .string(key.about)
            properties[key.name] = .object(value)
        }
        var object: JSONObject = [
            "type": "object", "additionalProperties": false, "properties": .object(properties),
        ]
        if !table.required.isEmpty { object["required"] = .array(table.required.map { .string($0) }) }
        return .object(object)
    }

    private static func schema(of shape: ValueShape) -> JSON {
        var forms: [JSON] = []
        switch shape.scalar {
        case .text: forms.append(["$ref": "#/$defs/scalar"])
        case .truth: forms.append(["type": "boolean"])
        case .words(let words): forms.append(["enum": .array(words.map { .string($0) })])
        case nil: break
        }
        for items in shape.items {
            forms.append(["type": "array", "minItems": 1, "items": schema(of: items)])
        }
        for entries in shape.entries {
            forms.append(["type": "object", "additionalProperties": schema(of: entries)])
        }
        if let table = shape.table {
            let reference: JSON = ["$ref": .string("#/$defs/\(table)")]
            if shape.isOneKey {
                forms.append(["allOf": [reference], "minProperties": 1, "maxProperties": 1])
            } else if shape.oneOf.isEmpty {
                forms.append(reference)
            } else {
                let choice = shape.oneOf.map { JSON.object(["required": [.string($0)]]) }
                forms.append(["allOf": [reference], "oneOf": .array(choice)])
            }
        }
        // What the tables do not tell is for `check` to judge.
        if forms.isEmpty { forms = [.object(JSONObject())] }
        return forms.count == 1 ? forms[0] : ["anyOf": .array(forms)]
    }
}
