internal import YAML

/// A YAML file without mistakes as lines, and what is in each line.
struct FileLayout {
    typealias Line = [Unicode.Scalar]

    enum Kind {
        case blank, comment
        /// Something begins here.
        case content
        /// Inside a text, a list or a mapping that began in a line before.
        case inside
    }

    let lines: [Line]
    let root: YAMLNode
    /// A text goes up to the end of the file, and a line end there would become part of it.
    let isOpen: Bool
    let kinds: [Kind]
    /// Where comments begin, by line; the index of the `#`.
    private let commentStarts: [Int?]

    /// Nil when there is nothing to lay out.
    init?(_ bytes: [UInt8]) {
        let document = YAMLDocument.read(bytes)
        guard let root = document.root, !document.errors.contains(where: { !$0.isWarning }) else {
            return nil
        }
        var lines = document.source.lines
        let isOpen = bytes.last != 0x0A && bytes.last != 0x0D
        if lines.count > 1, lines.last?.isEmpty == true { lines.removeLast() }
        self.init(lines: lines, root: root, isOpen: isOpen)
    }

    /// The same file with other lines.
    func with(_ lines: [Line]) -> FileLayout? { FileLayout(Self.bytes(of: lines, isOpen: isOpen)) }

    /// The same file with a line end at its end, where that changes nothing.
    var closed: FileLayout {
        guard isOpen, let closed = FileLayout(Self.bytes(of: lines, isOpen: false)),
            Meaning(closed) == Meaning(self)
        else { return self }
        return closed
    }

    private static func bytes(of lines: [Line], isOpen: Bool) -> [UInt8] {
        var text = String.UnicodeScalarView()
        for (index, line) in lines.enumerated() {
            if index > 0 { text.append("\n") }
            text.append(contentsOf: line)
        }
        if !isOpen { text.append("\n") }
        return Array(String(text).utf8)
    }

    private init(lines: [Line], root: YAMLNode, isOpen: Bool) {
        self.lines = lines
        self.root = root
        self.isOpen = isOpen
        var covered = [[Range<Int>]](repeating: [], count: lines.count)
        var isInside = [Bool](repeating: false, count: lines.count)
        Self.cover(root, lines, &covered, &isInside)
        var kinds: [Kind] = []
        var comments: [Int?] = []
        for (number, line) in lines.enumerated() {
            let comment = line.indices.first { index in
                line[index] == "#" && (index == 0 || line[index - 1] == " " || line[index - 1] == "\t")
                    && !covered[number].contains { $0.contains(index) }
            }
            comments.append(comment)
            let start = line.indentation
            if isInside[number] {
                kinds.append(.inside)
            } else if start == line.count {
                kinds.append(.blank)
            } else {
                kinds.append(comment == start ? .comment : .content)
            }
        }
        self.kinds = kinds
        commentStarts = comments
    }

    var bytes: [UInt8] { Self.bytes(of: lines, isOpen: isOpen) }

    /// All comments without the space around them.
    var comments: [String] {
        zip(lines, commentStarts).compactMap { line, start in
            guard let start else { return nil }
            var text = String.UnicodeScalarView()
            text.append(contentsOf: line[start...])
            while text.last?.properties.isWhitespace == true { text.removeLast() }
            return String(text)
        }
    }

    /// Notes where texts are, in which no `#` begins a comment, and which lines begin inside of something.
    private static func cover(
        _ node: YAMLNode, _ lines: [Line], _ covered: inout [[Range<Int>]], _ isInside: inout [Bool]
    ) {
        guard !node.isAlias else { return }
        switch node.kind {
        case .scalar(_, let style):
            let last = lastLine(of: node, lines)
            for number in node.place.line...max(last, node.place.line)
            where lines.indices.contains(number - 1) {
                let isFirst = number == node.place.line
                let count = lines[number - 1].count
                if isFirst, style == .literal || style == .folded { continue }
                let start = isFirst ? node.place.column - 1 : 0
                let end = number == node.end.line ? node.end.column - 1 : count
                covered[number - 1].append(min(start, end)..<end)
                if !isFirst { isInside[number - 1] = true }
            }
        case .sequence(let items):
            for item in items { cover(item, lines, &covered, &isInside) }
        case .mapping(let entries):
            for entry in entries {
                cover(entry.key, lines, &covered, &isInside)
                cover(entry.value, lines, &covered, &isInside)
            }
        case .unreadable: break
        }
        if node.isFlow, node.place.line < node.end.line {
            for number in node.place.line..<min(node.end.line, lines.count) { isInside[number] = true }
        }
    }

    /// Whether a line is a comment that may be about the key below it; one that is indented further is about what is
    /// above.
    func isComment(_ index: Int, about key: YAMLNode) -> Bool {
        kinds[index] == .comment && lines[index].indentation < key.place.column
    }

    /// The last line of a node that has anything of it; comments and space behind it do not count.
    func lastLine(of node: YAMLNode) -> Int { Self.lastLine(of: node, lines) }

    private static func lastLine(of node: YAMLNode, _ lines: [Line]) -> Int {
        if node.isFlow || node.isAlias { return node.isAlias ? 0 : node.end.line }
        switch node.kind {
        case .scalar(_, let style):
            guard style == .literal || style == .folded else { return node.end.line }
            var last = node.end.column == 1 ? node.end.line - 1 : node.end.line
            last = min(last, lines.count)
            let header = lines[node.place.line - 1].dropFirst(node.place.column - 1).prefix { $0 != "#" }
            guard !header.contains("+") else { return last }
            while last > node.place.line, lines[last - 1].indentation == lines[last - 1].count { last -= 1 }
            return last
        case .sequence(let items):
            return items.map { lastLine(of: $0, lines) }.max().map { max($0, node.place.line) }
                ?? node.place.line
        case .mapping(let entries):
            return entries.map { max($0.key.end.line, lastLine(of: $0.value, lines)) }.max()
                ?? node.place.line
        case .unreadable: return node.end.line
        }
    }
}

extension [Unicode.Scalar] {
    /// How many spaces it begins with.
    var indentation: Int { firstIndex { $0 != " " && $0 != "\t" } ?? count }
}
