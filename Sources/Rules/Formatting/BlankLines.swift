internal import YAML

/// One blank line between rules and between the parts of a file, never two, and no space at the ends of lines.
enum BlankLines {
    static func lines(_ file: FileLayout) -> [FileLayout.Line] {
        let gaps = gaps(file)
        var result: [FileLayout.Line] = []
        for (index, line) in file.lines.enumerated() {
            switch file.kinds[index] {
            case .inside:
                result.append(line)
                continue
            case .blank:
                if let last = result.last, !last.isEmpty || isText(index - 1, file) { result.append([]) }
                continue
            case .comment, .content: break
            }
            if gaps.contains(index), result.last.map({ !$0.isEmpty }) == true { result.append([]) }
            var trimmed = line
            while let last = trimmed.last, last == " " || last == "\t" { trimmed.removeLast() }
            result.append(trimmed)
        }
        while result.last?.isEmpty == true, result.count > 1, !endsInText(file) { result.removeLast() }
        return result
    }

    private static func isText(_ index: Int, _ file: FileLayout) -> Bool {
        file.kinds.indices.contains(index) && file.kinds[index] == .inside
    }

    private static func endsInText(_ file: FileLayout) -> Bool { file.kinds.last == .inside }

    /// Lines before which a blank one belongs: where a part or a rule of several lines begins, or one after such.
    private static func gaps(_ file: FileLayout) -> Set<Int> {
        var gaps: Set<Int> = []
        for node in [file.root, file.root["rules"]] {
            guard let node, !node.isFlow, !node.isAlias, let entries = node.entries else { continue }
            var wasLong = false
            for (number, entry) in entries.enumerated() {
                let isLong = file.lastLine(of: entry.value) > entry.key.place.line
                var start = entry.key.place.line - 1
                while start > 0, file.isComment(start - 1, about: entry.key) { start -= 1 }
                if number > 0, isLong || wasLong { gaps.insert(start) }
                wasLong = isLong
            }
        }
        return gaps
    }
}
