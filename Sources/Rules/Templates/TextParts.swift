internal import Chat
internal import Unicode

/// Cuts a text that is longer than its service allows.
enum TextParts {
    static let most = 5

    /// Parts of at most the limit each, cut at line or word borders where that loses little, never inside a letter. A
    /// code fence that is cut is closed and opened again. What five parts do not hold is left out, and `…` says so.
    static func split(_ text: String, _ limit: Abilities.TextLimit, most: Int = Self.most) -> [String] {
        let unit = limit.textUnit
        guard limit.count > 0, text.length(in: unit) > limit.count else { return [text] }
        var parts: [String] = []
        var rest = text[...]
        var fence: CodeFence?
        // Room for what is added around a part: "…", or the fence that closes it.
        let margin = max(8, CodeFence.longest(in: text) + 1)
        while !rest.isEmpty {
            let opening = fence.map { $0.opening + "\n" } ?? ""
            let whole = opening + String(rest)
            if whole.length(in: unit) <= limit.count {
                parts.append(whole)
                break
            }
            let isLast = parts.count == most - 1
            let room = limit.count - opening.length(in: unit) - margin
            let part = beginning(of: rest, max(room, 1), unit, limit.count)
            rest = rest[part.endIndex...]
            if !isLast { rest = rest.drop { $0 == " " || $0.isNewline } }
            fence = CodeFence(leftOpenBy: opening + String(part))
            var done = opening + (isLast ? String(part) : part.trimmedEnd)
            if isLast, !rest.isEmpty { done += "…" }
            if let fence { done += "\n" + fence.closing }
            parts.append(String(done.prefix(limit.count, in: unit)))
            if isLast { break }
        }
        return parts
    }

    private static func beginning(
        of text: Substring, _ room: Int, _ unit: TextUnit, _ limit: Int
    ) -> Substring {
        var piece = String(text).prefix(room, in: unit)
        // One letter that is longer than the limit has to be cut all the same.
        if piece.isEmpty { piece = text.firstScalars(of: max(1, min(room, limit)), unit) }
        let length = piece.count
        let part = text.prefix(max(length, 0))
        if part.utf8.count != piece.utf8.count {
            return text[..<(text.utf8.index(text.startIndex, offsetBy: piece.utf8.count))]
        }
        guard part.endIndex < text.endIndex else { return part }
        if let line = part.lastIndex(where: \.isNewline),
            part.distance(from: line, to: part.endIndex) < length / 2
        {
            return text[..<line]
        }
        if let word = part.lastIndex(of: " "), part.distance(from: word, to: part.endIndex) < length / 2 {
            return text[..<word]
        }
        return part
    }
}

/// A fence around code: three backticks or tildes at the beginning of a line, or more, up to a line of as many.
private struct CodeFence {
    /// The line that opens it.
    let opening: String
    let closing: String

    private static let shortest = 3
    /// A longer run is somebody's drawing.
    private static let most = 32

    /// The one that a text opens and does not close.
    init?(leftOpenBy text: String) {
        var open: Substring?
        for line in text.split(whereSeparator: \.isNewline) {
            guard let marks = Self.marks(of: line) else { continue }
            let rest = line[marks.endIndex...]
            if let fence = open.flatMap(Self.marks) {
                let closes =
                    marks.first == fence.first && marks.count >= fence.count
                    && rest.allSatisfy(\.isWhitespace)
                if closes { open = nil }
            } else if marks.first == "~" || !rest.contains("`") {
                open = line
            }
        }
        guard let open, let marks = Self.marks(of: open) else { return nil }
        opening = String(open.prefix(Self.most + 8))
        closing = String(marks)
    }

    /// How many marks the longest fence of a text has; 0 if it has none.
    static func longest(in text: String) -> Int {
        text.split(whereSeparator: \.isNewline).reduce(0) { max($0, marks(of: $1)?.count ?? 0) }
    }

    private static func marks(of line: Substring) -> Substring? {
        let text = line.drop { $0 == " " }
        guard line.distance(from: line.startIndex, to: text.startIndex) <= 3, let first = text.first,
            first == "`" || first == "~"
        else { return nil }
        let marks = text.prefix { $0 == first }
        return (shortest...most).contains(marks.count) ? marks : nil
    }
}

extension StringProtocol {
    fileprivate var trimmedEnd: String {
        var text = String(self)
        while text.last?.isWhitespace == true { text.removeLast() }
        return text
    }
}

extension Substring {
    fileprivate func firstScalars(of room: Int, _ unit: TextUnit) -> Substring {
        var result = String.UnicodeScalarView()
        for scalar in unicodeScalars {
            result.append(scalar)
            if String(result).length(in: unit) > room {
                result.removeLast()
                break
            }
        }
        if result.isEmpty, let first = unicodeScalars.first { result.append(first) }
        return Substring(String(result))
    }
}

extension Abilities.TextLimit {
    fileprivate var textUnit: TextUnit {
        switch unit {
        case .bytes: .utf8
        case .codePoints: .scalars
        case .utf16: .utf16
        }
    }
}
