/// Text within `[ ]` and `{ }` that YAML cuts in two.
extension YAMLRepair {
    /// A value that needs quotes: where it is, and what is said of it.
    struct Unquoted {
        let place: YAMLPlace
        let error: YAMLError
    }

    static let flowProblems: Set = [
        "did not find expected ',' or ']'", "did not find expected ',' or '}'",
        "did not find expected node content",
    ]

    /// The bracket that is open where the file ends: there is nothing to see at the end itself.
    static func openBracket(_ failure: YAMLFailure, in source: YAMLSource) -> YAMLError? {
        let behind = source.lines.dropFirst(failure.place.line - 1)
        guard flowProblems.contains(failure.problem), behind.allSatisfy({ $0.allSatisfy { $0 == " " } })
        else {
            return nil
        }
        var open: [YAMLPlace] = []
        for (number, line) in source.lines.enumerated() {
            let comment = line.indices.first { line[$0] == "#" && ($0 == 0 || line[$0 - 1] == " ") }
            open = YAMLSource.openBrackets(line[..<(comment ?? line.count)], of: number + 1, after: open)
        }
        return open.last.map { place in
            let bracket = source.lines[place.line - 1][place.column - 1]
            return YAMLError(
                at: place, "this bracket is not closed",
                hint: "close it with \"\(bracket == "[" ? "]" : "}")\"")
        }
    }

    /// The value in brackets because of which libyaml could not go on; nil when it was something else.
    static func unquoted(_ failure: YAMLFailure, in source: YAMLSource) -> Unquoted? {
        guard flowProblems.contains(failure.problem) else { return nil }
        return comment(before: failure, in: source) ?? colon(at: failure.place, in: source)
    }

    /// `{text: foo: bar}`.
    private static func colon(at place: YAMLPlace, in source: YAMLSource) -> Unquoted? {
        guard source.lines.indices.contains(place.line - 1) else { return nil }
        let line = source.lines[place.line - 1]
        guard line.dropFirst(place.column - 1).first == ":" else { return nil }
        let (depth, start) = value(in: line, upTo: place.column - 1, isOpen: true)
        // A key that begins its line is itself well written: a bracket above it is not closed.
        let isKey = line.firstIndex { $0 != " " } == start
        guard depth > 0, !isKey, start < place.column - 1 else { return nil }
        return Unquoted(
            place: YAMLPlace(line: place.line, column: start + 1),
            error: YAMLError(
                at: place, "\":\" cannot be inside a value without quotes",
                hint: "put the value in quotes: \(quoted(text(of: line, from: start, source)))"))
    }

    /// `{to: #lobby}`: the bracket is part of the comment, so libyaml stumbles over some line below.
    private static func comment(before failure: YAMLFailure, in source: YAMLSource) -> Unquoted? {
        let isOpen = failure.problem != "did not find expected node content"
        let first = isOpen ? failure.beginning?.line ?? 1 : 1
        for number in stride(from: min(failure.place.line, source.lines.count), through: first, by: -1) {
            let line = source.lines[number - 1]
            guard let (mark, start) = comment(in: line, isOpen: isOpen && number > first) else { continue }
            return Unquoted(
                place: YAMLPlace(line: number, column: start + 1),
                error: YAMLError(
                    at: YAMLPlace(line: number, column: mark + 1),
                    "\"#\" begins a comment here, and the bracket behind it is part of that",
                    hint: "put the value in quotes: \(quoted(text(of: line, from: start, source)))"))
        }
        return nil
    }

    private static func text(of line: [Unicode.Scalar], from start: Int, _ source: YAMLSource) -> String {
        let length = source.valueLength(line, from: start, isBracketed: true)
        return String(String.UnicodeScalarView(line[start..<(start + length)]))
    }

    /// Where a comment within brackets begins that holds one that closes, and where the value does that it cuts.
    private static func comment(in line: [Unicode.Scalar], isOpen: Bool) -> (mark: Int, start: Int)? {
        for mark in line.indices where line[mark] == "#" && (mark == 0 || line[mark - 1] == " ") {
            let (depth, start) = value(in: line, upTo: mark, isOpen: isOpen)
            // In quotes.
            guard start <= mark else { continue }
            guard depth > 0, line[mark...].contains(where: { $0 == "]" || $0 == "}" }) else { return nil }
            return (mark, start)
        }
        return nil
    }

    /// How many brackets are open at an index of the line, and where the value begins that it is in; that is behind it if
    /// it is in quotes.
    private static func value(
        in line: [Unicode.Scalar], upTo end: Int, isOpen: Bool
    ) -> (depth: Int, start: Int) {
        var depth = isOpen ? 1 : 0
        var start = 0
        var index = 0
        while index < end {
            switch line[index] {
            case "\"", "'":
                if index == start {
                    index = line[(index + 1)...].firstIndex(of: line[index]) ?? line.count
                }
            case "[", "{":
                depth += 1
                start = index + 1
            case "]", "}": depth -= 1
            case ",": start = index + 1
            case " " where start == index || line[index - 1] == ":": start = index + 1
            default: break
            }
            index += 1
        }
        return (depth, index > end ? index : start)
    }
}
