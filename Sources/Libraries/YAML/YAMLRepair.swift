/// What libyaml stumbled over, said in terms of the person who wrote it, and what to put in its place to read on.
struct YAMLRepair {
    let error: YAMLError
    /// Where a value can be replaced so that the rest of the file is read; nil when nothing helps.
    private(set) var place: YAMLPlace?
    private(set) var length: Int?

    init(of failure: YAMLFailure, in source: YAMLSource) {
        let place = failure.place
        let line = source.lines.indices.contains(place.line - 1) ? source.lines[place.line - 1] : []
        if let quote = Self.openQuote(in: source, upTo: place, failure) {
            error = YAMLError(
                at: quote, "this quote is not closed",
                hint: "close it on this line, or put the whole value into quotes of the other kind")
            return
        }
        if let value = Self.unquoted(failure, in: source) {
            error = value.error
            replace(at: value.place, in: source, isBracketed: true)
            return
        }
        if let bracket = Self.openBracket(failure, in: source) {
            error = bracket
            return
        }
        switch failure.problem {
        case "found a tab character that violates indentation":
            error = YAMLError(at: place, "a tab cannot indent", hint: "use spaces")
        case "could not find expected ':'":
            let start = failure.beginning ?? place
            error = Self.withoutColon(start, Self.withColon(source.line(start.line)))
        case "found character that cannot start any token":
            let character = line.dropFirst(place.column - 1).first
            if character == "\t" {
                error = YAMLError(at: place, "a tab cannot indent", hint: "use spaces")
                return
            }
            let written = source.value(at: place)
            let shown = character.map { String($0) } ?? ""
            error = YAMLError(
                at: place, "\"\(shown)\" cannot begin a value",
                hint: "put the value in quotes: \(quoted(written))")
            replace(at: place, in: source)
        case "did not find expected alphabetic or numeric character":
            let start = failure.beginning ?? place
            let written = source.value(at: start)
            let shown = written.first.map { String($0) } ?? "*"
            error = YAMLError(
                at: start, "\"\(shown)\" begins an alias or anchor in YAML",
                hint: "put the value in quotes: \(quoted(written))")
            replace(at: start, in: source)
        case "did not find expected comment or line break", "found an indentation indicator equal to 0":
            let start = failure.beginning ?? place
            let written = source.value(at: start)
            error = YAMLError(
                at: start, "\"\(written.prefix(1))\" begins a text of several lines in YAML",
                hint: "put the value in quotes: \(quoted(written))")
            replace(at: start, in: source)
        case "mapping values are not allowed in this context":
            let start = Self.value(of: line, before: place.column - 1).map {
                YAMLPlace(line: place.line, column: $0 + 1)
            }
            let written = start.map { source.value(at: $0) } ?? ""
            if written.isEmpty, let other = Self.misplaced(place.line, in: source) {
                error = other
                return
            }
            let hint =
                written.isEmpty
                ? Self.hint(above: place.line, in: source) : "put the value in quotes: \(quoted(written))"
            error = YAMLError(at: place, "\":\" cannot be inside a value without quotes", hint: hint)
            if let start { replace(at: start, in: source) }
        case "found undefined tag handle", "did not find expected tag URI",
            "did not find expected whitespace or line break":
            let start = failure.beginning ?? place
            error = YAMLError(
                at: start, "\"!\" begins a tag in YAML, and tags are not used here",
                hint: "put the value in quotes: \(quoted(source.value(at: start)))")
            replace(at: start, in: source)
        default:
            if let start = Self.template(in: line) {
                let start = YAMLPlace(line: place.line, column: start + 1)
                error = YAMLError(
                    at: start, "a template must be quoted", hint: "put the whole value in quotes")
                replace(at: start, in: source)
                return
            }
            if let start = Self.quotedBeginning(of: line, before: place.column - 1),
                failure.problem.hasPrefix("did not find expected")
            {
                error = YAMLError(
                    at: place, "the value goes on behind its closing quote",
                    hint: "put all of it into one pair of quotes")
                replace(at: YAMLPlace(line: place.line, column: start + 1), in: source)
                return
            }
            if !Self.flowProblems.contains(failure.problem),
                let column = Self.nearestColumn(to: place, in: source)
            {
                error = Self.wrongColumn(place, column)
                return
            }
            error = YAMLError(
                at: place, Self.plainWords[failure.problem] ?? failure.problem, hint: Self.hint(failure))
        }
    }

    /// Why a line with a key is taken for more of the value above: that has no colon, or this is too far in.
    private static func misplaced(_ number: Int, in source: YAMLSource) -> YAMLError? {
        guard let indent = source.lines[number - 1].firstIndex(where: { $0 != " " }) else { return nil }
        if let above = source.lines[..<(number - 1)].lastIndex(where: { $0.contains { $0 != " " } }) {
            let line = source.line(above + 1)
            if !line.contains(":"), let written = withColon(line),
                let column = source.lines[above].firstIndex(where: { $0 != " " })
            {
                return withoutColon(YAMLPlace(line: above + 1, column: column + 1), written)
            }
        }
        let place = YAMLPlace(line: number, column: indent + 1)
        return nearestColumn(to: place, in: source).map { wrongColumn(place, $0) }
    }

    private static func withoutColon(_ place: YAMLPlace, _ written: String?) -> YAMLError {
        YAMLError(
            at: place, "there is no \": \" between a key and its value",
            hint: written.map { "write \"\($0)\"" } ?? "check the indentation and the quotes of this line")
    }

    private static func wrongColumn(_ place: YAMLPlace, _ column: Int) -> YAMLError {
        YAMLError(
            at: place, "this begins in column \(place.column), and nothing above does",
            hint: "begin it in column \(column)")
    }

    /// The last quote before the failure that opens and does not close on its line.
    private static func openQuote(
        in source: YAMLSource, upTo place: YAMLPlace, _ failure: YAMLFailure
    ) -> YAMLPlace? {
        guard quoteProblems.contains(failure.problem) else { return nil }
        let last = min(place.line, source.lines.count)
        let first = min(failure.beginning?.line ?? last, last)
        for number in stride(from: last, through: max(first, 1), by: -1) {
            if let column = openQuote(in: source.lines[number - 1]) {
                return YAMLPlace(line: number, column: column + 1)
            }
        }
        return nil
    }

    private static let quoteProblems: Set = [
        "could not find expected ':'", "did not find expected key", "did not find expected '-' indicator",
        "did not find expected ',' or ']'", "did not find expected ',' or '}'",
        "found unexpected end of stream",
    ]

    private static func openQuote(in line: [Unicode.Scalar]) -> Int? {
        var index = 0
        while index < line.count {
            let scalar = line[index]
            let before = index == 0 ? " " : line[index - 1]
            if scalar == "#", before == " " { return nil }
            guard scalar == "\"" || scalar == "'", " [{,".unicodeScalars.contains(before) else {
                index += 1
                continue
            }
            var end = index + 1
            while end < line.count, line[end] != scalar {
                end += scalar == "\"" && line[end] == "\\" ? 2 : 1
            }
            guard end < line.count else { return index }
            index = end + 1
        }
        return nil
    }

    /// `cooldown: 10m` for `cooldown 10m`; nil when it does not begin like a key.
    private static func withColon(_ line: String) -> String? {
        let words = line.split(separator: " ", maxSplits: 1).map(String.init)
        guard let key = words.first, key.allSatisfy({ $0.isLetter || $0 == "_" }) else { return nil }
        return ([key + ":"] + words.dropFirst()).joined(separator: " ")
    }

    /// Where lines above begin that this one could belong to; nil when it begins at one of them.
    private static func nearestColumn(to place: YAMLPlace, in source: YAMLSource) -> Int? {
        func indent(_ line: [Unicode.Scalar]) -> Int? {
            line.firstIndex { $0 != " " }.flatMap { line[$0] == "#" ? nil : $0 }
        }
        guard source.lines.indices.contains(place.line - 1),
            let own = indent(source.lines[place.line - 1]), own == place.column - 1
        else { return nil }
        var open: [Int] = []
        for line in source.lines[..<(place.line - 1)].reversed() {
            guard let column = indent(line), column < open.last ?? .max else { continue }
            open.append(column)
        }
        guard !open.contains(own) else { return nil }
        // Of two that are as near, the outer one.
        return open.min { (abs($0 - own), $0) < (abs($1 - own), $1) }.map { $0 + 1 }
    }

    private mutating func replace(
        at place: YAMLPlace, in source: YAMLSource, isBracketed: Bool = false
    ) {
        let line = source.lines[place.line - 1]
        let length = source.valueLength(line, from: place.column - 1, isBracketed: isBracketed)
        guard length > 0 else { return }
        self.place = place
        self.length = length
    }

    /// Where the value of a line begins: behind the first `: ` outside quotes, or the `- ` of an item.
    static func value(of line: [Unicode.Scalar], before limit: Int) -> Int? {
        var found: Int?
        var index = 0
        while index < min(limit, line.count), line[index] == " " || line[index] == "-" { index += 1 }
        if index > 0, line[index - 1] == " ", index < limit { found = nil }
        while index + 1 < min(limit, line.count) {
            let scalar = line[index]
            if scalar == "\"" || scalar == "'" {
                guard let close = line[(index + 1)...].firstIndex(of: scalar) else { return found }
                index = close
            } else if scalar == ":", line[index + 1] == " " {
                found = index + 1
                // In a flow collection the innermost pair counts, elsewhere the first.
                if YAMLSource.openBrackets(line[..<index]).isEmpty { break }
            }
            index += 1
        }
        guard var start = found else { return nil }
        while start < line.count, line[start] == " " { start += 1 }
        return start < limit ? start : nil
    }

    /// Where an unquoted value begins that starts with or holds `{{`.
    private static func template(in line: [Unicode.Scalar]) -> Int? {
        guard let braces = line.indices.dropLast().first(where: { line[$0] == "{" && line[$0 + 1] == "{" })
        else { return nil }
        let before = line[..<braces]
        if before.contains("\"") || before.contains("'") { return nil }
        return value(of: line, before: braces + 1) ?? braces
    }

    /// Where a quoted value begins that ends before the index.
    private static func quotedBeginning(of line: [Unicode.Scalar], before limit: Int) -> Int? {
        guard let start = value(of: line, before: limit), start < line.count,
            line[start] == "\"" || line[start] == "'",
            line[(start + 1)..<min(max(limit, start + 1), line.count)].contains(line[start])
        else { return nil }
        return start
    }

    /// Why a key cannot begin here: most often the line above is no key, only text that would go on.
    private static func hint(above number: Int, in source: YAMLSource) -> String {
        var number = number - 1
        while number > 0, source.line(number).allSatisfy({ $0 == " " }) { number -= 1 }
        let line = source.line(number).drop { $0 == " " || $0 == "-" }
        guard number > 0, !line.isEmpty, !line.hasPrefix("#"), !line.contains(": "), !line.hasSuffix(":")
        else {
            return "check the indentation"
        }
        return "line \(number) has no \": \" behind its key"
    }

    private static let plainWords = [
        "did not find expected key": "this does not fit in here",
        "did not find expected '-' indicator": "this does not fit into the list above",
        "did not find expected ',' or ']'": "the list in \"[ ]\" is not closed, or a comma is missing",
        "did not find expected ',' or '}'": "the mapping in \"{ }\" is not closed, or a comma is missing",
        "did not find expected node content": "a value is missing, or a bracket is not closed",
        "found unexpected end of stream": "a quote is not closed",
        "found unknown escape character": "unknown escape behind \"\\\" in double quotes",
        "block sequence entries are not allowed in this context": "\"- \" cannot begin a list here",
    ]

    private static func hint(_ failure: YAMLFailure) -> String? {
        switch failure.problem {
        case "did not find expected key", "did not find expected '-' indicator":
            "check the indentation and the quotes of this and the line before"
        case "did not find expected ',' or ']'", "did not find expected ',' or '}'":
            failure.beginning.map { "it begins at \($0)" }
        case "found unexpected end of stream": failure.beginning.map { "it opens at \($0)" }
        case "found unknown escape character": "use single quotes"
        default: nil
        }
    }
}
