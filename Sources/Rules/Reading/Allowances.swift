internal import YAML

/// Comments that switch a warning off: `# allow: edits-unseen`, several with commas.
///
/// Behind something, such a comment holds for its line; on a line of its own, for all that is indented below it and for
/// what stands in the line below.
struct Allowances {
    /// Names that no warning has.
    private(set) var unknown: [(value: String, place: YAMLPlace)] = []
    private var ranges: [(code: FindingCode, lines: ClosedRange<Int>)] = []

    init(_ source: YAMLSource) {
        for (index, line) in source.lines.enumerated() {
            guard let start = Self.comment(in: line) else { continue }
            var text = String.UnicodeScalarView()
            text.append(contentsOf: line[start...])
            let words = String(text).dropFirst().drop { $0 == " " }
            guard words.hasPrefix("allow:") else { continue }
            let isAlone = line[..<start].allSatisfy { $0 == " " || $0 == "\t" }
            let lines = isAlone ? Self.entry(below: index, in: source) : (index + 1)...(index + 1)
            for name in words.dropFirst("allow:".count).split(whereSeparator: { $0 == "," || $0 == " " }) {
                if let code = FindingCode(rawValue: String(name)), code.about != nil {
                    ranges.append((code, lines))
                } else {
                    unknown.append((String(name), YAMLPlace(line: index + 1, column: start + 1)))
                }
            }
        }
    }

    func allows(_ code: FindingCode, at line: Int) -> Bool {
        ranges.contains { $0.code == code && $0.lines.contains(line) }
    }

    private static func comment(in line: [Unicode.Scalar]) -> Int? {
        line.indices.first { line[$0] == "#" && ($0 == 0 || line[$0 - 1] == " " || line[$0 - 1] == "\t") }
    }

    /// The next line that is not a comment, and those indented below it.
    private static func entry(below index: Int, in source: YAMLSource) -> ClosedRange<Int> {
        func indentation(_ index: Int) -> Int? {
            let line = source.lines[index]
            guard let start = line.firstIndex(where: { $0 != " " && $0 != "\t" }), line[start] != "#" else {
                return nil
            }
            return start
        }
        guard let first = source.lines.indices.dropFirst(index + 1).first(where: { indentation($0) != nil }),
            let indent = indentation(first)
        else { return (index + 1)...(index + 1) }
        let end = source.lines.indices.dropFirst(first + 1).first {
            indentation($0).map { $0 <= indent } == true
        }
        return (index + 1)...(end ?? source.lines.count)
    }
}
