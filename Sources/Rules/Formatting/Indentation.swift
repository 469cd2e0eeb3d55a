internal import YAML

/// Indents by two, also the items of lists under their key.
struct Indentation {
    private let file: FileLayout
    private var lines: [FileLayout.Line]
    /// How far each line is to be indented, by index; nil where nothing is known yet.
    private var wanted: [Int?]

    static func lines(_ file: FileLayout) -> [FileLayout.Line] {
        var indentation = Indentation(file)
        indentation.place(file.root, at: 0)
        indentation.placeComments()
        return indentation.result
    }

    private init(_ file: FileLayout) {
        self.file = file
        lines = file.lines
        wanted = Array(repeating: nil, count: file.lines.count)
    }

    private var result: [FileLayout.Line] {
        zip(lines, wanted).map { line, wanted in
            guard let wanted else { return line }
            let text = line.dropFirst(line.indentation)
            return text.isEmpty ? [] : Array(repeating: " ", count: max(0, wanted)) + text
        }
    }

    /// A node in block style whose first character is to be in a column.
    private mutating func place(_ node: YAMLNode, at column: Int) {
        guard !node.isAlias else { return }
        if node.isFlow {
            placeInside(node, column)
            return
        }
        switch node.kind {
        case .mapping(let entries):
            for entry in entries {
                startLine(entry.key, at: column)
                placeValue(entry.value, of: entry.key, column)
            }
        case .sequence(let items):
            for item in items { placeItem(item, at: column) }
        case .scalar, .unreadable: placeInside(node, column)
        }
    }

    private mutating func placeValue(_ value: YAMLNode, of key: YAMLNode, _ column: Int) {
        guard !value.isAlias, !value.isEmpty else { return }
        if value.place.line == key.place.line {
            // A block under an anchor begins on the key's line.
            place(value, at: value.isFlow || value.text != nil ? column : column + 2)
        } else {
            startLine(value, at: column + 2)
            place(value, at: value.isFlow || value.text != nil ? column : column + 2)
        }
    }

    private mutating func placeItem(_ item: YAMLNode, at column: Int) {
        guard !item.isAlias else { return startLine(atDashBefore: item, column) }
        startLine(atDashBefore: item, column)
        guard !item.isEmpty else { return }
        if item.isFlow || item.text != nil {
            if item.place.line - 1 < lines.count, !hasDash(item) { startLine(item, at: column + 2) }
            place(item, at: column)
        } else {
            closeGap(before: item)
            place(item, at: column + 2)
        }
    }

    /// The line on which a node begins, if nothing is before it.
    private mutating func startLine(_ node: YAMLNode, at column: Int) {
        let index = node.place.line - 1
        guard file.lines[index].indentation == node.place.column - 1 else { return }
        wanted[index] = column
    }

    private func hasDash(_ item: YAMLNode) -> Bool {
        let line = file.lines[item.place.line - 1]
        return line.indentation < item.place.column - 1
    }

    /// The line with the dash of an item: its own, or one above.
    private mutating func startLine(atDashBefore item: YAMLNode, _ column: Int) {
        var index = item.place.line - 1
        while index >= 0 {
            let line = file.lines[index]
            let start = line.indentation
            if start < line.count, file.kinds[index] != .comment {
                if line[start] == "-", wanted[index] == nil { wanted[index] = column }
                return
            }
            index -= 1
        }
    }

    /// One space between the dash and a block that begins behind it.
    private mutating func closeGap(before item: YAMLNode) {
        let index = item.place.line - 1
        var start = item.place.column - 1
        guard start <= file.lines[index].count, lines[index].count == file.lines[index].count else { return }
        let end = start
        while start > 0, lines[index][start - 1] == " " { start -= 1 }
        guard end - start > 1, start > 0, lines[index][start - 1] == "-" else { return }
        lines[index].removeSubrange((start + 1)..<end)
    }

    /// The lines of a text, list or mapping that goes on over several; `column` is its parent's.
    private mutating func placeInside(_ node: YAMLNode, _ column: Int) {
        let first = node.place.line
        let last = file.lastLine(of: node)
        guard last > first else { return }
        let inner = Array(first..<min(last, file.lines.count))
        if case .scalar(_, let style) = node.kind {
            guard style == .literal || style == .folded else {
                for index in inner { wanted[index] = column + 2 }
                return
            }
            let header = file.lines[first - 1].dropFirst(node.place.column - 1).prefix { $0 != "#" }
            let filled = inner.filter { file.lines[$0].indentation < file.lines[$0].count }
            guard let least = filled.map({ file.lines[$0].indentation }).min() else { return }
            // With a digit the text's own indentation is counted from its parent's.
            if header.contains(where: { "1" <= $0 && $0 <= "9" }) {
                shift(inner, by: (wanted[first - 1] ?? 0) - file.lines[first - 1].indentation)
            } else {
                shift(inner, by: column + 2 - least)
            }
        } else {
            shift(inner, by: (wanted[first - 1] ?? 0) - file.lines[first - 1].indentation)
        }
    }

    /// Space at the beginning may be part of a text, also in a line that has nothing else.
    private mutating func shift(_ indices: [Int], by distance: Int) {
        for index in indices {
            let line = file.lines[index]
            if distance >= 0 {
                if !line.isEmpty { lines[index] = Array(repeating: " ", count: distance) + line }
            } else {
                lines[index] = Array(line.dropFirst(min(-distance, line.indentation)))
            }
            wanted[index] = nil
        }
    }

    /// A comment stands with what is above it if it is indented like that and what is below is not, else with the line
    /// below.
    private mutating func placeComments() {
        for index in lines.indices.reversed() where file.kinds[index] == .comment {
            let indent = file.lines[index].indentation
            let above = file.kinds.indices[..<index].last {
                file.kinds[$0] == .content && file.lines[$0].indentation <= indent
            }
            let below = file.kinds[(index + 1)...].firstIndex { $0 == .content }
            guard let above, below.map({ file.lines[$0].indentation < file.lines[above].indentation }) ?? true
            else {
                wanted[index] = below.flatMap { wanted[$0] } ?? 0
                continue
            }
            let isInItem =
                file.lines[above].indentation < indent
                && file.lines[above].dropFirst(
                    file.lines[above].indentation
                ).first == "-"
            wanted[index] = wanted[above].map { isInItem ? $0 + 2 : $0 }
        }
    }
}
