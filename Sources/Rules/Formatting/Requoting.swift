internal import YAML

/// Puts quotes where other readers of YAML would see something else than text, and the right ones around expressions.
enum Requoting {
    static func lines(_ file: FileLayout) -> [FileLayout.Line] {
        var lines = file.lines
        var edits: [YAMLPlace: (end: YAMLPlace, text: String)] = [:]
        collect(file.root, isExpression: false, &edits)
        // From the end, so that what is still to be replaced stays where it is.
        for (place, edit) in edits.sorted(by: { $1.key < $0.key }) {
            let line = lines[place.line - 1]
            guard edit.end.column - 1 <= line.count else { continue }
            lines[place.line - 1].replaceSubrange(
                (place.column - 1)..<(edit.end.column - 1), with: Array(edit.text.unicodeScalars))
        }
        return lines
    }

    private static func collect(
        _ node: YAMLNode, isExpression: Bool, _ edits: inout [YAMLPlace: (end: YAMLPlace, text: String)]
    ) {
        guard !node.isAlias else { return }
        switch node.kind {
        case .scalar(let text, let style):
            guard node.place.line == node.end.line else { return }
            if style == .plain, node.end.column - node.place.column == text.unicodeScalars.count, isTrap(text)
            {
                edits[node.place] = (node.end, quoted(text))
            } else if style == .double, isExpression, isPrintable(text), text.contains("\\") {
                edits[node.place] = (node.end, "'" + text.replacing("'", with: "''") + "'")
            }
        case .sequence(let items):
            for item in items { collect(item, isExpression: isExpression, &edits) }
        case .mapping(let entries):
            for entry in entries {
                collect(entry.key, isExpression: false, &edits)
                collect(entry.value, isExpression: entry.key.text == "regex", &edits)
            }
        case .unreadable: break
        }
    }

    private static func quoted(_ text: String) -> String {
        text.contains("\"") || text.contains("\\")
            ? "'" + text.replacing("'", with: "''") + "'" : "\"\(text)\""
    }

    private static func isPrintable(_ text: String) -> Bool {
        text.unicodeScalars.allSatisfy { scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .unassigned, .privateUse: false
            default: true
            }
        }
    }

    private static let words: Set<String> = [
        "y", "n", "yes", "no", "on", "off", "null", "~", "=", ".inf", "-.inf", "+.inf", ".nan",
    ]

    /// What YAML 1.1 takes for something else than text. `true`, `false` and plain numbers are that here, too.
    static func isTrap(_ text: String) -> Bool {
        if words.contains(text.lowercased()) { return true }
        let scalars = Array(text.unicodeScalars)
        guard let first = scalars.first(where: { $0 != "-" && $0 != "+" }), "0" <= first, first <= "9" else {
            return false
        }
        func isDigits(_ part: some Collection<Unicode.Scalar>) -> Bool {
            !part.isEmpty && part.allSatisfy { "0" <= $0 && $0 <= "9" }
        }
        let digits = scalars.first == "-" || scalars.first == "+" ? scalars.dropFirst() : scalars[...]
        if isDigits(digits) { return digits.count > 1 && digits.first == "0" }
        let isNumber = digits.allSatisfy {
            ("0" <= $0 && $0 <= "9") || ("a" <= $0 && $0 <= "f") || ("A" <= $0 && $0 <= "F") || $0 == "_"
                || $0 == "x" || $0 == "o"
        }
        if isNumber, digits.first == "0",
            digits.dropFirst().first.map({ "xob".unicodeScalars.contains($0) }) == true
        {
            return true
        }
        if digits.contains("_"), isDigits(digits.filter { $0 != "_" }) { return true }
        let times = digits.split(separator: ":", omittingEmptySubsequences: false)
        if times.count > 1, times.allSatisfy({ isDigits($0) }) { return true }
        let dates = digits.split(separator: "-", omittingEmptySubsequences: false)
        return dates.count >= 3 && dates[0].count == 4 && isDigits(dates[0]) && isDigits(dates[1])
            && dates[2].first.map { "0" <= $0 && $0 <= "9" } == true
    }
}
