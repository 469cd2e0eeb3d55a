/// A part of a YAML file that knows where it stands.
package struct YAMLNode: Sendable {
    package var kind: Kind
    /// Where it begins.
    package var place: YAMLPlace
    /// Where it ends: the place behind its last character.
    package var end: YAMLPlace
    /// What a comment on the same line says, from its `#` on; only scalars have it.
    package var comment: String?
    /// A sequence or mapping in brackets or braces.
    package var isFlow = false
    /// It stands elsewhere in the file, and `*name` stands here for it.
    package var isAlias = false

    package init(_ kind: Kind, at place: YAMLPlace, to end: YAMLPlace, comment: String? = nil) {
        self.kind = kind
        self.place = place
        self.end = end
        self.comment = comment
    }

    package indirect enum Kind: Sendable {
        /// Text as written; what it means is for the reader to say, never for YAML.
        case scalar(String, Style)
        case sequence([YAMLNode])
        case mapping([Entry])
        /// Something was wrong here, and an error about it is in the document already.
        case unreadable
    }

    package enum Style: Sendable {
        case plain, single, double, literal, folded
    }

    package struct Entry: Sendable {
        package var key: YAMLNode
        package var value: YAMLNode

        package init(key: YAMLNode, value: YAMLNode) {
            self.key = key
            self.value = value
        }
    }

    /// The text of a scalar.
    package var text: String? {
        guard case .scalar(let text, _) = kind else { return nil }
        return text
    }

    package var items: [YAMLNode]? {
        guard case .sequence(let items) = kind else { return nil }
        return items
    }

    package var entries: [Entry]? {
        guard case .mapping(let entries) = kind else { return nil }
        return entries
    }

    /// Nothing was written: `key:` and the end of the line.
    package var isEmpty: Bool {
        guard case .scalar(let text, .plain) = kind else { return false }
        return text.isEmpty
    }

    package var isUnreadable: Bool {
        guard case .unreadable = kind else { return false }
        return true
    }

    /// The value of a key of a mapping; the first, should there be two.
    package subscript(key: String) -> YAMLNode? {
        entries?.first { $0.key.text == key }?.value
    }
}

/// A line and a column, both counted from 1; columns are code points.
package struct YAMLPlace: Sendable, Hashable, Comparable, CustomStringConvertible {
    package var line: Int
    package var column: Int

    package init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }

    package static let start = YAMLPlace(line: 1, column: 1)

    package static func < (left: YAMLPlace, right: YAMLPlace) -> Bool {
        (left.line, left.column) < (right.line, right.column)
    }

    package var description: String { "\(line):\(column)" }
}

/// What is wrong at a place of a YAML file, and what helps.
package struct YAMLError: Error, Sendable, Equatable, CustomStringConvertible {
    package var place: YAMLPlace
    package var problem: String
    package var hint: String?
    /// The file can be used all the same.
    package var isWarning: Bool

    package init(at place: YAMLPlace, _ problem: String, hint: String? = nil, isWarning: Bool = false) {
        self.place = place
        self.problem = problem
        self.hint = hint
        self.isWarning = isWarning
    }

    package var description: String {
        let kind = isWarning ? "warning" : "error"
        return "\(place): \(kind): \(problem)" + (hint.map { " - \($0)" } ?? "")
    }
}
