internal import Chat
internal import YAML

/// A condition that a plugin offers, as it is written.
struct BotPlugin: Sendable {
    var plugin: Placed<String>
    var condition: Placed<String>
    /// What stands behind it; empty for nothing.
    var argument: Placed<String>
}

/// A condition of a plugin, ready to be asked.
final class PluginTest: Sendable {
    /// As it was written.
    let words: String
    let holds: PluginCondition.Question

    init(_ plugin: BotPlugin, _ holds: @escaping PluginCondition.Question) {
        let argument = plugin.argument.value.isEmpty ? "" : ": \(plugin.argument.value)"
        words = "\(plugin.plugin.value) \(plugin.condition.value)\(argument)"
        self.holds = holds
    }
}

extension BotTables {
    static let plugins: [Key<[BotCondition]>] = [
        Key("plugin", "A condition that a plugin offers: {last-seen: {seen_within: 1h}}.") {
            node, conditions, reader in
            let hint = "name a plugin and its condition: {last-seen: {seen_within: 1h}}"
            let plugins = reader.mapping(node, "plugin", hint: hint) ?? []
            if plugins.isEmpty, node.entries != nil {
                reader.error("\"plugin\" has no keys", at: node, hint: hint)
            }
            for plugin in plugins {
                guard let name = plugin.key.text else { continue }
                let placed = Placed(name, at: reader.spot(plugin.key))
                if case .scalar = plugin.value.kind {
                    guard let condition = reader.text(plugin.value) else { continue }
                    let spot = reader.spot(plugin.value)
                    conditions.append(
                        .plugin(
                            BotPlugin(
                                plugin: placed, condition: Placed(condition, at: spot),
                                argument: Placed("", at: spot))))
                    continue
                }
                let entries = reader.mapping(plugin.value, "a plugin's condition") ?? []
                if entries.isEmpty, plugin.value.entries != nil {
                    reader.error(
                        "\"\(name.shortened)\" is asked for no condition", at: plugin.value, hint: hint)
                }
                for entry in entries {
                    guard let condition = entry.key.text, let argument = reader.text(entry.value) else {
                        continue
                    }
                    conditions.append(
                        .plugin(
                            BotPlugin(
                                plugin: placed, condition: Placed(condition, at: reader.spot(entry.key)),
                                argument: Placed(argument, at: reader.spot(entry.value)))))
                }
            }
        }
    ]
}

extension RuleCompiler {
    func compile(_ written: BotPlugin) -> Condition {
        guard let plugin = plugins.first(where: { $0.name == written.plugin.value }) else {
            findings.error(
                "no plugin \"\(written.plugin.value.shortened)\" is in use", at: written.plugin.spot,
                hint: Suggestion.hint(for: written.plugin.value, among: plugins.map(\.name))
                    ?? "switch it on under plugins: in config.yaml")
            return .any([])
        }
        let offers = plugin.conditions
        guard let offer = offers.first(where: { $0.name == written.condition.value }) else {
            let names = offers.map(\.name)
            findings.error(
                "plugin \"\(plugin.name)\" offers no condition \"\(written.condition.value.shortened)\"",
                at: written.condition.spot,
                hint: Suggestion.hint(for: written.condition.value, among: names)
                    ?? (names.isEmpty ? nil : "it offers " + names.joined(separator: ", ")))
            return .any([])
        }
        do {
            return .plugin(PluginTest(written, try offer.read(written.argument.value)))
        } catch {
            findings.error("\(error)", at: written.argument.spot)
            return .any([])
        }
    }
}
