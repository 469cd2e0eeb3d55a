/// Looks for words with spelling mistakes.
final class NearTest: Sendable {
    /// Folded, each cut into its words.
    let phrases: [[NearWord]]
    let edits: Int
    let words: [Placed<String>]
    let lanes: [Int]

    init(phrases: [[[Unicode.Scalar]]], edits: Int, words: [Placed<String>], lanes: [Int]) {
        self.phrases = phrases.map { $0.map { NearWord($0) } }
        self.edits = edits
        self.words = words
        self.lanes = lanes
    }

    /// Whether words have one of the phrases, each with so many mistakes at most.
    func matches(_ words: [NearWord]) -> Bool { match(words) != nil }

    /// The words that are near one of the phrases.
    func match(_ words: [NearWord]) -> ArraySlice<NearWord>? {
        for phrase in phrases where !phrase.isEmpty && words.count >= phrase.count {
            for start in 0...(words.count - phrase.count) {
                let isNear = zip(phrase, words[start...]).allSatisfy { wanted, word in
                    wanted.isNear(word, edits: min(edits, wanted.letters.count / 4))
                }
                if isNear { return words[start..<start + phrase.count] }
            }
        }
        return nil
    }

    /// Stretches of which a text has one wherever it has the phrase, be it misspelt.
    static func pieces(of phrase: [[Unicode.Scalar]], edits: Int) -> [[Unicode.Scalar]] {
        guard let word = phrase.max(by: { $0.count < $1.count }) else { return [] }
        return pieces(of: word, edits: min(edits, word.count / 4))
    }

    /// A word in one piece more than there may be edits has a piece without one, unless a swap of neighbours spoils two.
    /// Then, between two pieces that were spoilt only by that, the swapped letters stand with what is around them.
    private static func pieces(of word: [Unicode.Scalar], edits: Int) -> [[Unicode.Scalar]] {
        guard edits > 0 else { return [word] }
        let count = edits + 1
        let borders = (0...count).map { $0 * word.count / count }
        var pieces = (0..<count).map { Array(word[borders[$0]..<borders[$0 + 1]]) }
        for index in 0..<edits {
            let (left, right) = (pieces[index], pieces[index + 1])
            guard let last = left.last, let first = right.first else { continue }
            let isEdge = (index == 0, index == edits - 1)
            let before = isEdge.0 ? left.dropLast() : left.dropFirst().dropLast()
            let after = isEdge.1 ? right.dropFirst() : right.dropFirst().dropLast()
            pieces.append(before + [first, last] + after)
        }
        return pieces
    }
}

/// A word of a text, ready to be compared.
struct NearWord: Sendable, Equatable {
    let letters: [Unicode.Scalar]
    /// A bit for each letter that occurs, as far as bits go.
    private let mask: UInt64

    init(_ letters: [Unicode.Scalar]) {
        self.letters = letters
        mask = letters.reduce(0) { $0 | 1 << UInt64($1.value & 63) }
    }

    var text: String { String(String.UnicodeScalarView(letters)) }

    func isNear(_ other: NearWord, edits: Int) -> Bool {
        // An edit changes the length by one at most, and two letters at most.
        guard abs(letters.count - other.letters.count) <= edits else { return false }
        guard (mask ^ other.mask).nonzeroBitCount <= 2 * edits else { return false }
        return Suggestion.edits(between: other.letters, and: letters, atMost: edits) != nil
    }

    static func words(of text: String) -> [[Unicode.Scalar]] {
        var words: [[Unicode.Scalar]] = []
        var word: [Unicode.Scalar] = []
        for scalar in text.unicodeScalars {
            if scalar.properties.isAlphabetic || scalar.properties.numericType != nil {
                word.append(scalar)
            } else if !word.isEmpty {
                words.append(word)
                word = []
            }
        }
        if !word.isEmpty { words.append(word) }
        return words
    }
}
