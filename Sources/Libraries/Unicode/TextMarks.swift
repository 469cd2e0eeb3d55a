/// What a text's bytes may have in them, found in one look at all of them: nearly all texts have nothing of it, and
/// are spared what it would take to find out more.
package struct TextMarks: OptionSet, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Control characters, line breaks and tabs among them.
    package static var controls: TextMarks { TextMarks(rawValue: 1) }
    /// Two spaces in a row.
    package static var wideSpace: TextMarks { TextMarks(rawValue: 2) }
    /// A link, code or a quote.
    package static var markup: TextMarks { TextMarks(rawValue: 4) }
    /// A dot that no space follows, or the beginning of "://".
    package static var dots: TextMarks { TextMarks(rawValue: 8) }
    /// An "@".
    package static var ats: TextMarks { TextMarks(rawValue: 16) }
    /// Other than ASCII.
    package static var others: TextMarks { TextMarks(rawValue: 128) }

    /// Of no text.
    package static var none: TextMarks { TextMarks(rawValue: 0) }

    /// Whether it has any of those. Plain, as it is asked of every text and sets are made for more.
    package func has(_ others: TextMarks) -> Bool { rawValue & others.rawValue != 0 }

    package init(of text: String) {
        self =
            text.utf8.withContiguousStorageIfAvailable { TextMarks(of: $0) } ?? TextMarks(rawValue: .max)
    }

    /// Sixteen bytes at a time, each beside the one that follows it.
    init(of text: UnsafeBufferPointer<UInt8>) {
        var marks = Self.neighbourless(text.last ?? 97)
        let bytes = UnsafeRawBufferPointer(text)
        guard bytes.count > 16 else {
            for i in bytes.indices.dropLast() { marks |= Self.marks(bytes[i], bytes[i + 1]) }
            self.init(rawValue: marks)
            return
        }
        var all = Bytes.zero
        let last = bytes.count - 17
        for i in stride(from: 0, to: last, by: 16) { all |= Self.marks(bytes, at: i) }
        // What is left, and some of it twice.
        all |= Self.marks(bytes, at: last)
        let halves = unsafeBitCast(all, to: SIMD2<UInt64>.self)
        var rest = halves[0] | halves[1]
        rest |= rest >> 32
        rest |= rest >> 16
        rest |= rest >> 8
        self.init(rawValue: marks | UInt8(truncatingIfNeeded: rest))
    }

    private typealias Bytes = SIMD16<UInt8>

    // Vectors with vectors: what the library offers for a vector and a number, or to choose by a mask, is done byte by
    // byte.
    @inline(__always)
    private static func marks(_ bytes: UnsafeRawBufferPointer, at i: Int) -> Bytes {
        let here = bytes.loadUnaligned(fromByteOffset: i, as: Bytes.self)
        let next = bytes.loadUnaligned(fromByteOffset: i &+ 1, as: Bytes.self)
        let isControl = (here & all(0xE0)).equals(0) | here.equals(0x7F) | here.equals(0xC2)
        let isWide = here.equals(32) & next.equals(32)
        let isColon = here.equals(UInt8(ascii: ":"))
        let isSlash = next.equals(UInt8(ascii: "/"))
        let isLink =
            isColon & isSlash
            | (here | all(32)).equals(UInt8(ascii: "w")) & next.equals(UInt8(ascii: "."))
        let isMarkup = here.equals(UInt8(ascii: "`")) | here.equals(UInt8(ascii: ">")) | isLink
        let isDot =
            here.equals(UInt8(ascii: ".")) & ~next.equals(32)
            | isColon & (isSlash | next.equals(UInt8(ascii: "\\")))
        let isAt = here.equals(UInt8(ascii: "@"))
        return here & all(others.rawValue) | isDot & all(dots.rawValue) | isAt & all(ats.rawValue)
            | isControl & all(controls.rawValue)
            | isWide & all(wideSpace.rawValue) | isMarkup & all(markup.rawValue)
    }

    @inline(__always)
    private static func all(_ byte: UInt8) -> Bytes { Bytes(repeating: byte) }

    private static func marks(_ here: UInt8, _ next: UInt8) -> UInt8 {
        var marks = neighbourless(here)
        if here == 32, next == 32 { marks |= wideSpace.rawValue }
        if here == UInt8(ascii: ":"), next == UInt8(ascii: "/") { marks |= markup.rawValue }
        if here | 32 == UInt8(ascii: "w"), next == UInt8(ascii: ".") { marks |= markup.rawValue }
        if here == UInt8(ascii: "."), next != 32 { marks |= dots.rawValue }
        if here == UInt8(ascii: ":"), next == UInt8(ascii: "/") || next == UInt8(ascii: "\\") {
            marks |= dots.rawValue
        }
        return marks
    }

    private static func neighbourless(_ byte: UInt8) -> UInt8 {
        var marks = byte & 0x80
        if byte < 32 || byte == 0x7F || byte == 0xC2 { marks |= controls.rawValue }
        if byte == UInt8(ascii: "`") || byte == UInt8(ascii: ">") { marks |= markup.rawValue }
        if byte == UInt8(ascii: "@") { marks |= ats.rawValue }
        return marks
    }
}

extension SIMD16<UInt8> {
    /// All bits set in the bytes that are so, none in the others.
    @inline(__always)
    fileprivate func equals(_ byte: UInt8) -> SIMD16<UInt8> {
        unsafeBitCast(self .== SIMD16(repeating: byte), to: SIMD16<UInt8>.self)
    }
}
