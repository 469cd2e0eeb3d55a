internal import YAML

extension YAMLNode {
    /// The same for two nodes that say the same, whatever their layout and comments.
    var outline: String {
        switch kind {
        case .scalar(let text, _): "\"\(text)\""
        case .sequence(let items): "[" + items.map(\.outline).joined(separator: ",") + "]"
        case .mapping(let entries):
            "{" + entries.map { "\($0.key.outline):\($0.value.outline)" }.sorted().joined(separator: ",")
                + "}"
        case .unreadable: "?"
        }
    }
}
