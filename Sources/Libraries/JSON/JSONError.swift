/// Why bytes are not a JSON document that we take.
package struct JSONError: Error, Equatable, CustomStringConvertible {
    package enum Kind: Sendable {
        /// Nothing but white space.
        case empty
        /// Ends before the value does.
        case incomplete
        /// Not JSON's grammar.
        case syntax
        /// A bad escape, half of a surrogate pair, or a control character inside a string.
        case string
        /// Not a number, or one that neither 64 bits nor a double hold.
        case number
        case invalidUTF8
        /// Nested deeper than `JSON.maximumDepth`.
        case tooDeep
        case tooLarge
        /// No memory for it.
        case memory
    }

    package let kind: Kind
    /// Where the mistake is, in bytes from the start, when it is known.
    package let offset: Int?
    private let text: String

    init(_ kind: Kind, _ text: String, at offset: Int? = nil) {
        self.kind = kind
        self.text = text
        self.offset = offset
    }

    package var description: String {
        guard let offset else { return "not JSON: \(text)" }
        return "not JSON: \(text) at byte \(offset)"
    }
}
