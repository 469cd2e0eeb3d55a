/// What people see of a text in HTML: without tags, with the characters that entities stand for.
struct HTMLText {
    let text: String

    init(_ html: String) {
        var rest = html[...]
        // What was answered once stood before the answer.
        if rest.hasPrefix("<mx-reply>"), let end = rest.firstRange(of: "</mx-reply>") {
            rest = rest[end.upperBound...]
        }
        var text = ""
        while let letter = rest.first {
            if letter == "<", let end = rest.firstIndex(of: ">") {
                let tag = rest[rest.index(after: rest.startIndex)..<end]
                // Only these break a line or a word; letters of one word may be in several tags.
                let name = tag.drop { $0 == "/" }.prefix { $0.isLetter || $0.isNumber }.lowercased()
                if Self.blocks.contains(name), text.last != "\n" { text += "\n" }
                rest = rest[rest.index(after: end)...]
            } else if letter == "&", let (entity, after) = Self.entity(rest) {
                text += entity
                rest = after
            } else {
                text.append(letter)
                rest = rest.dropFirst()
            }
        }
        self.text = text
    }

    private static let blocks: Set<String> = [
        "br", "p", "div", "li", "ul", "ol", "tr", "td", "th", "table", "blockquote", "pre", "hr", "h1", "h2",
        "h3", "h4", "h5", "h6",
    ]

    private static let entities = [
        "amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'", "nbsp": " ", "#39": "'",
    ]

    private static func entity(_ rest: Substring) -> (String, Substring)? {
        guard let end = rest.prefix(12).firstIndex(of: ";") else { return nil }
        let name = rest[rest.index(after: rest.startIndex)..<end]
        let after = rest[rest.index(after: end)...]
        if let known = entities[String(name)] { return (known, after) }
        guard name.hasPrefix("#") else { return nil }
        let digits = name.dropFirst()
        let number =
            digits.first == "x" || digits.first == "X"
            ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
        return number.flatMap(Unicode.Scalar.init).map { (String($0), after) }
    }

    /// Whether there is a word in it that the plain text has not.
    func says(moreThan plain: String) -> Bool {
        let known = Set(Self.words(plain))
        return Self.words(text).contains { !known.contains($0) }
    }

    private static func words(_ text: String) -> [Substring] {
        text.split { !$0.isLetter && !$0.isNumber }
    }
}
