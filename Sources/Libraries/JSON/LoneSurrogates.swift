/// What a reader does with an escape such as `\ud83d` that is half of a pair without the other half. Programs that cut
/// text by UTF-16 write them, in the middle of an emoji.
package enum LoneSurrogates: Sendable {
    /// The document is refused, as a string cannot hold it.
    case refused
    /// U+FFFD stands for it, so that one bad message does not take the others of a document with it.
    case replaced

    /// The document with U+FFFD for each of them, of the same length.
    static func replacing(in document: UnsafeRawBufferPointer) -> [UInt8] {
        var bytes = [UInt8](document)
        var at = 0
        while at < bytes.count {
            guard bytes[at] == UInt8(ascii: "\\") else {
                at += 1
                continue
            }
            guard let unit = codeUnit(at, in: bytes) else {
                // Another escape: what comes after the backslash is no start of one.
                at += 2
                continue
            }
            if unit & 0xFC00 == 0xD800, let low = codeUnit(at + 6, in: bytes), low & 0xFC00 == 0xDC00 {
                at += 12
                continue
            }
            if unit & 0xF800 == 0xD800 { bytes.replaceSubrange(at..<(at + 6), with: #"\ufffd"#.utf8) }
            at += 6
        }
        return bytes
    }

    /// The value of an escape `\uXXXX` that begins there; nil for anything else.
    private static func codeUnit(_ start: Int, in bytes: [UInt8]) -> UInt16? {
        guard start + 6 <= bytes.count, bytes[start] == UInt8(ascii: "\\"),
            bytes[start + 1] == UInt8(ascii: "u")
        else { return nil }
        var unit: UInt16 = 0
        for byte in bytes[(start + 2)..<(start + 6)] {
            guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue else { return nil }
            unit = unit << 4 | UInt16(digit)
        }
        return unit
    }
}
