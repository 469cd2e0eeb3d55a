internal import YAML

/// Lays bots' files out in one way, without changing what they say.
///
/// Every comment stays, and so does every blank line between two things (one of several). The keys of a rule are put
/// in the usual order, lines are indented by two, what other YAML readers would take for a number or a truth value is
/// put in quotes, and regular expressions in double quotes move to single ones.
package enum BotFormatter {
    package enum Result: Sendable {
        case formatted([UInt8])
        /// The file has these mistakes and is better left alone.
        case broken([BotFileError])
    }

    package static func format(_ source: BotSource) -> Result {
        let findings = Findings()
        _ = BotFileReader(source, findings: findings).read()
        let errors = findings.inOrder.filter { $0.severity == .error }
        guard errors.isEmpty else { return .broken(errors) }
        return .formatted(layout(source.bytes))
    }

    /// Each step is taken back when the file would say something else after it: then a step met a way of writing that
    /// it does not know, and how the file looks matters less than what it means.
    static func layout(_ bytes: [UInt8]) -> [UInt8] {
        guard var file = FileLayout(bytes)?.closed else { return bytes }
        let meaning = Meaning(file)
        let steps = [Requoting.lines, KeyOrder.lines, Indentation.lines, BlankLines.lines]
        for step in steps {
            guard let next = file.with(step(file)), Meaning(next) == meaning else { continue }
            file = next
        }
        return file.bytes
    }
}

/// What a file says, with its comments: all that a new layout must leave as it is.
struct Meaning: Equatable {
    private var content: String
    private var comments: [String]

    init(_ file: FileLayout) {
        content = Self.text(of: file.root, path: [])
        comments = file.comments.sorted()
    }

    /// One text for all ways of writing the same; only within a rule the order of keys makes no difference.
    private static func text(of node: YAMLNode, path: [String]) -> String {
        switch node.kind {
        case .scalar(let text, let style):
            // Only without quotes do these mean yes and no, or nothing.
            let mark = style == .plain && ["true", "false", ""].contains(text) ? "!" : ""
            return "\(mark)\(text.utf8.count):\(text)"
        case .sequence(let items):
            return "[" + items.map { text(of: $0, path: path + ["-"]) }.joined(separator: ",") + "]"
        case .mapping(let entries):
            var pairs = entries.map { entry in
                let key = entry.key.text ?? "?"
                return "\(key.utf8.count):\(key)=" + text(of: entry.value, path: path + [key])
            }
            if KeyOrder.isRule(path) { pairs.sort() }
            return "{" + pairs.joined(separator: ",") + "}"
        case .unreadable: return "?"
        }
    }
}
