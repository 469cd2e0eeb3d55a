/// A word or some words to look for.
package struct Phrase: Sendable, Hashable {
    /// Where in a text it counts.
    package enum Place: String, Sendable, CaseIterable {
        /// Between word boundaries.
        case word
        /// At the beginning of a word.
        case prefix
        /// At the end of a word.
        case suffix
        case anywhere
    }

    package var text: String
    package var place: Place

    package init(_ text: String, _ place: Place = .word) {
        self.text = text
        self.place = place
    }

    /// A phrase as people write it in a list: "scam", "scam*", "*scam" or "*scam*". Without stars it counts in `place`.
    package init(written: String, in place: Place = .word) throws(PhraseError) {
        var text = written[...]
        let isOpenBefore = text.first == "*"
        if isOpenBefore { text.removeFirst() }
        let isOpenAfter = text.last == "*"
        if isOpenAfter { text.removeLast() }
        while text.first?.isWhitespace == true { text.removeFirst() }
        while text.last?.isWhitespace == true { text.removeLast() }
        guard !text.isEmpty else { throw PhraseError(text: #""\#(written)" has no letters to look for"#) }
        guard !text.contains("*") else {
            throw PhraseError(text: #""*" may only stand at the ends of a word, not as in "\#(written)""#)
        }
        self.text = String(text)
        self.place =
            switch (isOpenBefore, isOpenAfter) {
            case (false, false): place
            case (false, true): .prefix
            case (true, false): .suffix
            case (true, true): .anywhere
            }
    }
}

/// What is wrong with a phrase.
package struct PhraseError: Error, Equatable, CustomStringConvertible {
    package let text: String
    package var description: String { text }
}

/// A phrase found in a text.
package struct PhraseHit: Sendable, Hashable {
    /// The phrase's number in its set.
    package let phrase: Int
    /// The bytes of the folded text.
    package let range: Range<Int>
}
