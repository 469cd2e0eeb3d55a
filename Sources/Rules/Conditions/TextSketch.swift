internal import Unicode

/// A text in sixteen bytes, by which it can be told whether another is much the same.
///
/// Of all stretches of three letters, split into sixteen groups by their hash, each group keeps the smallest: two texts
/// agree in about as many groups as they share of their stretches (one-permutation hashing).
struct TextSketch: Sendable, Equatable {
    private var marks = SIMD16<UInt8>()
    private var isUsed = SIMD16<UInt8>()
    /// Of the whole text as `plain` sees it.
    private(set) var hash: UInt64 = 0

    /// Nil for a text that says nothing.
    init?(_ text: String, similarity: Bool, using folded: inout FoldedText) {
        folded.fold(text, to: .plain)
        let begun = folded.bytes.drop { $0 == 32 }
        let plain = begun.last == 32 ? begun.dropLast() : begun
        guard !plain.isEmpty else { return nil }
        hash = 0xCBF2_9CE4_8422_2325
        for byte in plain { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        guard similarity else { return }
        folded.fold(text, to: .loose)
        read(Self.letters(folded.bytes))
    }

    /// Six of ten groups agree.
    func resembles(_ other: TextSketch) -> Bool {
        if hash == other.hash { return true }
        let one = SIMD16<UInt8>(repeating: 1)
        let used = isUsed | other.isUsed
        let equal = one.replacing(with: 0, where: marks .!= other.marks) & used
        return Int(equal.wrappedSum()) * 10 >= Int(used.wrappedSum()) * 6
    }

    /// Words with one space between them, without punctuation, and each number as one digit: counting up makes no
    /// difference. A text of nothing but signs is taken as it is.
    private static func letters(_ bytes: [UInt8]) -> [Unicode.Scalar] {
        let scalars = Array(String(decoding: bytes, as: UTF8.self).unicodeScalars)
        var letters: [Unicode.Scalar] = [" "]
        for scalar in scalars {
            if isSmallLetter(scalar) {
                letters.append(scalar)
            } else if isDigit(scalar) {
                if letters[letters.count - 1] != "0" { letters.append("0") }
            } else if scalar.value > 0x7F, scalar.properties.isAlphabetic {
                letters.append(scalar)
            } else if letters[letters.count - 1] != " " {
                letters.append(" ")
            }
        }
        if letters[letters.count - 1] != " " { letters.append(" ") }
        return letters.count > 3 ? letters : [" "] + scalars + [" "]
    }

    private static func isSmallLetter(_ scalar: Unicode.Scalar) -> Bool { scalar.value &- 97 < 26 }

    private static func isDigit(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value < 0x80 ? scalar.value &- 48 < 10 : scalar.properties.numericType != nil
    }

    private mutating func read(_ letters: [Unicode.Scalar]) {
        var least = [UInt32](repeating: .max, count: 16)
        for start in 0..<max(0, letters.count - 2) {
            var hash = UInt64(letters[start].value) << 42
            hash ^= UInt64(letters[start + 1].value) << 21 ^ UInt64(letters[start + 2].value)
            hash = (hash ^ hash >> 31) &* 0x9E37_79B9_7F4A_7C15
            hash ^= hash >> 29
            let group = Int(hash & 15)
            isUsed[group] = 1
            least[group] = min(least[group], UInt32(truncatingIfNeeded: hash >> 32))
        }
        for group in 0..<16 where isUsed[group] == 1 {
            marks[group] = UInt8(truncatingIfNeeded: (least[group] &* 0x9E37_79B1) >> 24)
        }
    }
}
