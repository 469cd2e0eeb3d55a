internal import YAML

/// Puts the keys of each rule in the usual order: what it is, when, where, under which conditions, how often, what it
/// does, and how that is tested.
enum KeyOrder {
    static let rule = [
        "about", "was", "run", "stage", "when", "in", "not_in", "group", "vars", "if", "exempt", "cooldown",
        "once",
        "batch", "overlap", "limits", "breaker", "also", "continue", "do", "examples", "tests",
    ]

    private static let ranks = Dictionary(uniqueKeysWithValues: rule.enumerated().map { ($1, $0) })

    /// Whether a mapping under these keys is a rule.
    static func isRule(_ path: [String]) -> Bool { path.count == 2 && path[0] == "rules" }

    static func lines(_ file: FileLayout) -> [FileLayout.Line] {
        var lines = file.lines
        for rule in file.root["rules"]?.entries ?? [] {
            guard !rule.value.isFlow, !rule.value.isAlias, let entries = rule.value.entries else { continue }
            sort(entries, in: file, &lines)
        }
        return lines
    }

    private static func sort(
        _ entries: [YAMLNode.Entry], in file: FileLayout, _ lines: inout [FileLayout.Line]
    ) {
        let ranked = entries.enumerated().sorted { left, right in
            let (a, b) = (rank(left.element), rank(right.element))
            return (a, left.offset) < (b, right.offset)
        }.map(\.offset)
        guard ranked != Array(entries.indices), let last = entries.last else { return }
        var starts: [Int] = []
        for entry in entries {
            var start = entry.key.place.line - 1
            // Another entry on the same line, or something before the key: not to be cut into lines.
            guard file.lines[start].indentation == entry.key.place.column - 1 else { return }
            while start > 0, file.isComment(start - 1, about: entry.key),
                !(starts.last.map { $0 >= start - 1 } ?? false)
            {
                start -= 1
            }
            starts.append(start)
        }
        var end = max(file.lastLine(of: last.value), last.key.place.line)
        while end < file.lines.count, file.kinds[end] == .comment, !file.isComment(end, about: last.key) {
            end += 1
        }
        starts.append(end)
        let blocks = entries.indices.map { Array(file.lines[starts[$0]..<starts[$0 + 1]]) }
        lines.replaceSubrange(starts[0]..<end, with: ranked.flatMap { blocks[$0] })
    }

    private static func rank(_ entry: YAMLNode.Entry) -> Int { rank(entry.key.text ?? "") }

    /// Keys that are not a rule's come last.
    static func rank(_ name: String) -> Int { ranks[name] ?? rule.count }
}
