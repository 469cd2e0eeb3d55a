internal import Chat
internal import JSON
internal import Plugins
internal import Services

/// What editors check and complete `config.yaml` by.
enum ConfigSchema {
    static var json: JSON {
        var properties = JSONObject()
        for block in ConfigReader.blocks {
            guard case .object(var schema) = schema(of: block) else { continue }
            schema["description"] = .string(block.about)
            properties[block.key] = .object(schema)
        }
        return [
            "$schema": "https://json-schema.org/draft/2020-12/schema", "title": "steward: config.yaml",
            "type": "object", "additionalProperties": false, "properties": .object(properties),
            "required": ["accounts"],
            // What is text here may look like a number or a truth value to an editor.
            "$defs": ["scalar": ["type": ["string", "number", "boolean"]]],
        ]
    }

    private static func schema(of block: ConfigReader.Block) -> JSON {
        switch block.takes {
        case .value(let type): SettingsShape.schema(of: type)
        case .accounts: named(accounts, least: 1)
        case .plugins: plugins
        }
    }

    private static func named(_ entry: JSON, least: Int64) -> JSON {
        ["type": "object", "minProperties": .int(least), "additionalProperties": entry]
    }

    /// The settings of one of the services, and which.
    private static var accounts: JSON {
        let services = ServiceCatalog.services.sorted { $0.key < $1.key }
        return SettingsShape.anyOf(
            services.flatMap { name, type in
                SettingsShape.forms(of: type).compactMap { form -> JSON? in
                    guard case .object(var account) = form, case .object(let own)? = account["properties"]
                    else { return nil }
                    var keys: JSONObject = ["service": ["enum": [.string(name)]]]
                    for key in own { keys[key.key] = key.value }
                    account["properties"] = .object(keys)
                    account["required"] = .array(["service"] + (account["required"]?.array ?? []))
                    return .object(account)
                }
            })
    }

    /// Those that are linked in, each with its settings.
    private static var plugins: JSON {
        var properties = JSONObject()
        for (name, type) in PluginCatalog.plugins.sorted(by: { $0.key < $1.key }) {
            properties[name] = [
                "type": "object", "additionalProperties": false,
                "properties": ["settings": settings(of: type)],
            ]
        }
        return ["type": "object", "additionalProperties": false, "properties": .object(properties)]
    }

    private static func settings<Made: Plugin>(of type: Made.Type) -> JSON {
        SettingsShape.schema(of: Made.Settings.self)
    }
}
