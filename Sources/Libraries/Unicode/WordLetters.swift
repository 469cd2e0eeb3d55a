internal import CICU

/// Scalars below U+0600 between any two of which there is never a word boundary: the letters and digits of the
/// alphabets of Europe and of Hebrew and Armenian.
package enum WordLetters {
    package static let end = 0x600

    /// Whether the scalar of that number is one.
    package static let table: [Bool] = (0..<UInt32(end)).map { scalar in
        let property = cicu_word_break(scalar)
        return property == 1 || property == 6 || property == 14
    }
}
