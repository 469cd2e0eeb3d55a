internal import CICU

/// Tells whether a word may begin or end at a place of a text. One for each task; it keeps ICU's segmenter.
///
/// Words are those of Unicode's word segmentation (UAX #29 with ICU's dictionaries for Thai, Japanese, Chinese,
/// …), which is only asked where a look at the two letters that meet does not settle it. Other than ICU, which
/// takes "@" for a letter, and as the standard has it, "@" is part of no word.
package struct WordBoundaries {
    private var segmenter: Segmenter?
    private var isSet = false

    package init() {}

    /// Forgets the text asked about before. Call it whenever the next question is about another one.
    package mutating func begin() {
        isSet = false
    }

    /// Whether there is a word boundary before byte `position`, which must be where a scalar begins, or the end.
    ///
    /// `loosely`: what otherwise joins two parts of one word ("don't", "a.b", "_a") parts them.
    /// The text must be the same, at the same address, since `begin`.
    package mutating func isBoundary(
        _ text: UnsafeBufferPointer<UInt8>, at position: Int, loosely: Bool = false
    ) -> Bool {
        guard position > 0, position < text.count else { return true }
        if text[position - 1] < 0x80, text[position] < 0x80,
            let answer = Self.asciiBoundary(text, position, loosely)
        {
            return answer
        }
        return slowBoundary(text, position, loosely)
    }

    /// The answer without any shortcut.
    static func isBoundaryByICU(_ text: UnsafeBufferPointer<UInt8>, at position: Int) -> Bool {
        guard let segmenter = Segmenter(), segmenter.set(text) else { return true }
        return segmenter.isBoundary(at: position)
    }

    /// Nil if a letter further away has a say that is not ASCII.
    private static func asciiBoundary(
        _ text: UnsafeBufferPointer<UInt8>, _ position: Int, _ loosely: Bool
    ) -> Bool? {
        let (left, right) = (ASCIIClass(text[position - 1]), ASCIIClass(text[position]))
        if left.isWord, right.isWord { return loosely && (left == .underscore || right == .underscore) }
        if loosely { return !(left == .space && right == .space) }
        let far: Int
        let (outer, joiner): (ASCIIClass, ASCIIClass)
        if left.isWord, right.isJoiner {
            (far, outer, joiner) = (position + 1, left, right)
        } else if left.isJoiner, right.isWord {
            (far, outer, joiner) = (position - 2, right, left)
        } else if left == .space, right == .space {
            return false
        } else {
            return !(text[position - 1] == 13 && text[position] == 10)
        }
        guard text.indices.contains(far) else { return true }
        guard text[far] < 0x80 else { return nil }
        let other = ASCIIClass(text[far])
        return !(other == outer && joiner.joins(outer))
    }

    private mutating func slowBoundary(
        _ text: UnsafeBufferPointer<UInt8>, _ position: Int, _ loosely: Bool
    ) -> Bool {
        let (before, after) = (decodeScalar(text, before: position), decodeScalar(text, at: position).scalar)
        let (left, right) = (WordBreak(before), WordBreak(after))
        if before == 64 && !right.clings || after == 64 { return true }
        if loosely, left.isConnector || right.isConnector { return true }
        if left.isLetterOrDigit, right.isLetterOrDigit { return false }
        if before < 0x80 && left == .other && !right.clings || after < 0x80 && right == .other { return true }
        if !isSet {
            if segmenter == nil { segmenter = Segmenter() }
            isSet = segmenter?.set(text) ?? false
        }
        guard isSet, let segmenter else { return !(left.clings || right.clings) }
        return segmenter.isBoundary(at: position)
    }
}

/// What ASCII is to word segmentation.
private enum ASCIIClass {
    case letter, digit, underscore
    /// Joins digits, joins letters or digits.
    case digitJoiner, joiner
    case space, other

    @inline(__always)
    init(_ byte: UInt8) {
        switch byte {
        case 97...122, 65...90: self = .letter
        case 48...57: self = .digit
        case 95: self = .underscore
        case 32: self = .space
        case UInt8(ascii: ","), UInt8(ascii: ";"): self = .digitJoiner
        case UInt8(ascii: "."), UInt8(ascii: "'"): self = .joiner
        default: self = .other
        }
    }

    var isWord: Bool { self == .letter || self == .digit || self == .underscore }
    var isJoiner: Bool { self == .digitJoiner || self == .joiner }

    func joins(_ kind: ASCIIClass) -> Bool {
        switch kind {
        case .letter: self == .joiner
        case .digit: self == .digitJoiner || self == .joiner
        default: false
        }
    }
}

/// The Word_Break property, as far as it matters here.
private enum WordBreak {
    case letter, digit, connectorPunctuation, joiner, clinging, other, special

    init(_ scalar: UInt32) {
        // The numbers are ICU's UWordBreakValues.
        switch cicu_word_break(scalar) {
        // ICU parts Hangul from other letters, which the property does not tell.
        case 1, 14:
            self =
                (0x1100...0x11FF).contains(scalar) || (0x3130...0xD7FF).contains(scalar) ? .special : .letter
        case 6: self = .digit
        case 7: self = .connectorPunctuation
        case 4, 5, 11, 15, 16: self = .joiner
        case 2, 9, 21: self = .clinging
        case 0: self = .other
        default: self = .special
        }
    }

    var isLetterOrDigit: Bool { self == .letter || self == .digit || self == .connectorPunctuation }
    var isConnector: Bool { self == .connectorPunctuation || self == .joiner }
    /// Marks and joiners belong to what is before them.
    var clings: Bool { self == .clinging }
}

private final class Segmenter {
    private let words: OpaquePointer

    init?() {
        guard let words = cicu_words_open() else { return nil }
        self.words = words
    }

    deinit { cicu_words_close(words) }

    func set(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        cicu_words_set(words, text.baseAddress, Int32(text.count))
    }

    func isBoundary(at position: Int) -> Bool {
        cicu_words_is_boundary(words, Int32(position))
    }
}
