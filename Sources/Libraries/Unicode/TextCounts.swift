internal import CICU

/// What can be counted in a text without understanding it.
package struct TextCounts: Sendable, Equatable {
    /// In bytes of UTF-8.
    package private(set) var size = 0
    package private(set) var isASCII = true
    /// Letters of scripts that have capitals.
    package private(set) var letters = 0
    package private(set) var capitals = 0
    /// A line break at the end begins no other line; an empty text has none.
    package private(set) var lines = 0
    /// Combining marks, without those that only choose how an emoji looks.
    package private(set) var marks = 0
    /// The most of them on one letter.
    package private(set) var marksOnOne = 0
    /// Whether it has a scalar that only stands in emoji; most texts that have none say no.
    package private(set) var mayHaveEmoji = false
    private var pairs = 0

    package init() {}

    package init(_ text: String) {
        var text = text
        text.withUTF8 { count($0) }
    }

    /// What people call letters: grapheme clusters.
    package func length(of text: String) -> Int { isASCII ? size - pairs : text.count }

    /// Emoji, each once, of however many parts it is made.
    package func emoji(in text: String) -> Int { mayHaveEmoji ? text.count(where: \.isEmoji) : 0 }

    package mutating func count(_ text: UnsafeBufferPointer<UInt8>) {
        self = TextCounts()
        size = text.count
        isASCII = FoldedText.isASCII(text)
        var breaks = 0
        if isASCII {
            breaks = countASCII(text)
        } else {
            breaks = countScalars(text)
        }
        if size > 0 { lines = Self.endsLine(text) ? breaks : breaks + 1 }
    }

    /// Answers the number of line breaks.
    private mutating func countASCII(_ text: UnsafeBufferPointer<UInt8>) -> Int {
        let bytes = UnsafeRawBufferPointer(text)
        var breaks = 0
        var start = 0
        while start + 16 <= bytes.count {
            // Sums of sixteen bytes each in a byte.
            let end = min(start + 255 * 16, bytes.count)
            var (small, large, controls) = (Bytes.zero, Bytes.zero, Bytes.zero)
            while start + 16 <= end {
                let part = bytes.loadUnaligned(fromByteOffset: start, as: Bytes.self)
                // All bits of a byte are set where it is so, which is one less than nothing.
                small &-= part.isWithin(97, 26)
                large &-= part.isWithin(65, 26)
                controls &-= part.isWithin(10, 4)
                start += 16
            }
            letters += small.total + large.total
            capitals += large.total
            breaks += controls.total
        }
        for byte in bytes[start...] {
            if byte &- 97 < 26 { letters += 1 }
            if byte &- 65 < 26 {
                letters += 1
                capitals += 1
            }
            if byte &- 10 < 4 { breaks += 1 }
        }
        if breaks > 0 {
            for i in text.indices.dropLast() where text[i] == 13 && text[i + 1] == 10 { pairs += 1 }
        }
        return breaks - pairs
    }

    private mutating func countScalars(_ text: UnsafeBufferPointer<UInt8>) -> Int {
        var (breaks, run, i) = (0, 0, 0)
        var last: UInt32 = 0
        while i < text.count {
            let (scalar, width) = decodeScalar(text, at: i)
            i += width
            switch Self.kind(of: scalar) {
            case .small:
                letters += 1
                run = 0
            case .capital:
                letters += 1
                capitals += 1
                run = 0
            case .mark:
                marks += 1
                run += 1
                if run > marksOnOne { marksOnOne = run }
            case .lineBreak:
                if !(scalar == 10 && last == 13) { breaks += 1 }
                run = 0
            case .nothing: break
            case .emoji:
                mayHaveEmoji = true
                if scalar != 0xFE0F { run = 0 }
            case .other: run = 0
            }
            last = scalar
        }
        return breaks
    }

    private typealias Bytes = SIMD16<UInt8>

    private static func endsLine(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        switch kind(of: decodeScalar(text, before: text.count)) {
        case .lineBreak: true
        default: false
        }
    }

    private enum Kind: UInt8 {
        case small, capital, mark, lineBreak, emoji, other
        /// Not seen: it parts no marks from their letter.
        case nothing
    }

    @inline(__always)
    private static func kind(of scalar: UInt32) -> Kind {
        scalar < UInt32(common.count) ? common[Int(scalar)] : slowKind(of: scalar)
    }

    private static let common: [Kind] = (0..<0x700).map(slowKind)

    private static func slowKind(of scalar: UInt32) -> Kind {
        switch scalar {
        case 10...13, 0x85, 0x2028, 0x2029: return .lineBreak
        case 0xFE00...0xFE0F, 0xE0100...0xE01EF:
            // The one that asks for an emoji may stand behind any character.
            return scalar == 0xFE0F ? .emoji : .nothing
        case 0x2E80...0x302F, 0x3040...0xD7FF: break
        case 0x203C...0x2BFF, 0x1F000...0x1FAFF: return scalar == 0x20E3 ? .mark : .emoji
        default: break
        }
        // The numbers are ICU's UCharCategory.
        switch cicu_category(scalar) {
        case 1, 3: return .capital
        case 2: return .small
        case 6, 7: return .mark
        case 16: return .nothing
        default: return .other
        }
    }
}

extension Character {
    /// Whether it is shown as an emoji, be it one scalar or a sequence.
    package var isEmoji: Bool {
        guard let first = unicodeScalars.first, first.value > 0x7F || unicodeScalars.count > 1 else {
            return false
        }
        let properties = first.properties
        if properties.isEmojiPresentation { return true }
        return properties.isEmoji
            && unicodeScalars.dropFirst().contains {
                $0.value == 0xFE0F || $0.value == 0x20E3 || $0.properties.isEmojiModifier
            }
    }
}

extension SIMD16<UInt8> {
    /// All bits set in the bytes from `first` on, `count` of them.
    @inline(__always)
    fileprivate func isWithin(_ first: UInt8, _ count: UInt8) -> SIMD16<UInt8> {
        unsafeBitCast((self &- SIMD16(repeating: first)) .< SIMD16(repeating: count), to: SIMD16<UInt8>.self)
    }

    fileprivate var total: Int {
        var total = 0
        for place in 0..<16 { total += Int(self[place]) }
        return total
    }
}
