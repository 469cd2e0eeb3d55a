// The fast path: what there is to know of a text without looking at its bytes one by one.
extension FoldedText {
    // These loops have no exits in the middle, so that the compiler makes vector code of them.
    static func isASCII(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        var all: UInt8 = 0
        for byte in text { all |= byte }
        return all < 0x80
    }

    static func lower(_ bytes: inout [UInt8]) {
        bytes.withUnsafeMutableBufferPointer { bytes in
            for i in bytes.indices {
                let byte = bytes[i]
                bytes[i] = byte &- 65 < 26 ? byte | 32 : byte
            }
        }
    }

    /// Whether there is white space other than single spaces; now and then yes where there is none.
    static func hasOddSpace(_ bytes: [UInt8]) -> Bool {
        hasOddASCIISpace(bytes) || bytes.contains { $0 == 0xC2 || $0 == 0xE1 || $0 == 0xE2 }
    }

    static func hasOddASCIISpace(_ bytes: [UInt8]) -> Bool {
        bytes.withUnsafeBytes { bytes in
            bytes.hasPlace { (a, b, _) in
                let isASCII = ~a.bytes & EightBytes.highBits
                let isControl = a.isIn(9, 13) & isASCII
                return isControl | a.equals(EightBytes(all: 32)) & b.equals(EightBytes(all: 32))
            }
        }
    }

    /// Whether folded ASCII has a digit beside a letter, or three equal letters in a row.
    static func hasPadding(_ bytes: [UInt8]) -> Bool {
        bytes.withUnsafeBytes { bytes in
            bytes.hasPlace { (a, b, c) in
                let (isLetter, isNextLetter) = (a.isIn(97, 122), b.isIn(97, 122))
                let (isDigit, isNextDigit) = (a.isIn(48, 57), b.isIn(48, 57))
                return isLetter & (isNextDigit | a.equals(b) & b.equals(c)) | isDigit & isNextLetter
            }
        }
    }
}

/// Eight bytes of a text side by side in a word, asked all at once. An answer has the high bit of each byte for
/// which it is yes.
private struct EightBytes {
    static let highBits: UInt64 = 0x8080_8080_8080_8080

    var bytes: UInt64

    init(_ bytes: UInt64) {
        self.bytes = bytes
    }

    init(all byte: UInt8) {
        bytes = UInt64(byte) &* 0x0101_0101_0101_0101
    }

    private var low: UInt64 { bytes & ~Self.highBits }

    /// Looks at the lower seven bits only, so that no sum runs over into the next byte.
    func isIn(_ first: UInt8, _ last: UInt8) -> UInt64 {
        (low &+ EightBytes(all: 128 - first).bytes) & ~(low &+ EightBytes(all: 127 - last).bytes)
            & Self.highBits
    }

    func equals(_ other: EightBytes) -> UInt64 {
        let differing = EightBytes(bytes ^ other.bytes)
        return ~(differing.low &+ ~Self.highBits | differing.bytes) & Self.highBits
    }
}

extension UnsafeRawBufferPointer {
    /// Whether something holds for a byte and the two after it, eight places at a time. It must not hold for zeros,
    /// which stand behind the text.
    @inline(__always)
    fileprivate func hasPlace(_ holds: (EightBytes, EightBytes, EightBytes) -> UInt64) -> Bool {
        var found: UInt64 = 0
        var i = 0
        while i &+ 10 <= count {
            found |= holds(
                EightBytes(loadUnaligned(fromByteOffset: i, as: UInt64.self)),
                EightBytes(loadUnaligned(fromByteOffset: i &+ 1, as: UInt64.self)),
                EightBytes(loadUnaligned(fromByteOffset: i &+ 2, as: UInt64.self)))
            i &+= 8
        }
        // At most nine bytes are left.
        var rest: UInt64 = 0
        for offset in 0..<Swift.min(count &- i, 8) {
            rest |= UInt64(self[i &+ offset]) << (8 &* UInt64(offset))
        }
        let last = count &- i == 9 ? UInt64(self[i &+ 8]) : 0
        found |= holds(
            EightBytes(rest), EightBytes(rest >> 8 | last << 56), EightBytes(rest >> 16 | last << 48))
        found |= holds(EightBytes(last), EightBytes(0), EightBytes(0))
        return found != 0
    }
}
