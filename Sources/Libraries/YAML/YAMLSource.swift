/// The text of a YAML file, cut into lines the way YAML counts them.
package struct YAMLSource: Sendable {
    package let lines: [[Unicode.Scalar]]

    package init(text: String) {
        self.init(Array(text.unicodeScalars))
    }

    init(_ scalars: [Unicode.Scalar]) {
        var lines: [[Unicode.Scalar]] = []
        var line: [Unicode.Scalar] = []
        var index = 0
        while index < scalars.count {
            let scalar = scalars[index]
            index += 1
            guard Self.isBreak(scalar) else {
                line.append(scalar)
                continue
            }
            if scalar == "\r", index < scalars.count, scalars[index] == "\n" { index += 1 }
            lines.append(line)
            line.removeAll()
        }
        lines.append(line)
        self.lines = lines
    }

    static func isBreak(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "\n" || scalar == "\r" || scalar == "\u{85}" || scalar == "\u{2028}"
            || scalar == "\u{2029}"
    }

    /// The line of a place as text; empty when there is no such line.
    package func line(_ number: Int) -> String {
        guard lines.indices.contains(number - 1) else { return "" }
        var text = String.UnicodeScalarView()
        text.append(contentsOf: lines[number - 1])
        return String(text)
    }

    /// The column behind what begins at a place: behind the closing quote, or where the word ends.
    package func end(at place: YAMLPlace) -> Int {
        guard lines.indices.contains(place.line - 1) else { return place.column }
        let line = lines[place.line - 1]
        guard let first = line.dropFirst(place.column - 1).first else { return place.column }
        let rest = line[place.column...]
        let end: Int?
        if first == "\"" || first == "'" {
            end = rest.firstIndex(of: first).map { $0 + 1 }
        } else {
            end = rest.firstIndex { " \t,:]}".unicodeScalars.contains($0) }
        }
        return (end ?? line.count) + 1
    }

    /// The source line and below it a caret at the place; long lines are cut around it.
    package func excerpt(at place: YAMLPlace, width: Int = 100) -> String {
        guard lines.indices.contains(place.line - 1) else { return "" }
        var line = lines[place.line - 1]
        var column = min(max(place.column - 1, 0), line.count)
        var prefix = ""
        if column > width - 20 {
            let cut = column - width / 2
            line.removeFirst(cut)
            column -= cut
            prefix = "…"
        }
        var suffix = ""
        if line.count > width {
            line.removeLast(line.count - width)
            suffix = "…"
        }
        var shown = String.UnicodeScalarView()
        var below = String(repeating: " ", count: prefix.count)
        for (index, scalar) in line.enumerated() {
            let isControl = scalar.properties.generalCategory == .control && scalar != "\t"
            shown.append(isControl ? "\u{FFFD}" : scalar)
            guard index < column else { continue }
            below += scalar == "\t" ? "\t" : String(repeating: " ", count: Self.width(of: scalar))
        }
        return "    \(prefix)\(String(shown))\(suffix)\n    \(below)^"
    }

    /// How many cells of a terminal a scalar takes, as far as a caret needs to know.
    private static func width(of scalar: Unicode.Scalar) -> Int {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return 0
        default: break
        }
        switch scalar.value {
        case 0x1100...0x115F, 0x2E80...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
            0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1FAFF, 0x20000...0x3FFFD:
            return 2
        default: return 1
        }
    }
}
