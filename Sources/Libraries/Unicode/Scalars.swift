/// The scalar that starts at a byte of UTF-8, and its width. U+FFFD of width 1 where none starts.
@inline(__always)
func decodeScalar(_ text: UnsafeBufferPointer<UInt8>, at i: Int) -> (scalar: UInt32, width: Int) {
    let first = UInt32(text[i])
    if first < 0x80 { return (first, 1) }
    func tail(_ offset: Int) -> UInt32? {
        guard i + offset < text.count, text[i + offset] & 0xC0 == 0x80 else { return nil }
        return UInt32(text[i + offset]) & 0x3F
    }
    if first >= 0xC2, first < 0xE0, let a = tail(1) { return ((first & 0x1F) << 6 | a, 2) }
    if first >= 0xE0, first < 0xF0, let a = tail(1), let b = tail(2) {
        return ((first & 0x0F) << 12 | a << 6 | b, 3)
    }
    if first >= 0xF0, first < 0xF5, let a = tail(1), let b = tail(2), let c = tail(3) {
        return ((first & 0x07) << 18 | a << 12 | b << 6 | c, 4)
    }
    return (0xFFFD, 1)
}

/// The scalar that ends before a byte of UTF-8.
@inline(__always)
func decodeScalar(_ text: UnsafeBufferPointer<UInt8>, before end: Int) -> UInt32 {
    var i = end - 1
    while i > 0, text[i] & 0xC0 == 0x80, end - i < 4 { i -= 1 }
    return decodeScalar(text, at: i).scalar
}

func appendScalar(_ scalar: UInt32, to text: inout [UInt8]) {
    switch scalar {
    case ..<0x80: text.append(UInt8(scalar))
    case ..<0x800:
        text.append(UInt8(0xC0 | scalar >> 6))
        text.append(UInt8(0x80 | scalar & 0x3F))
    case ..<0x10000:
        text.append(UInt8(0xE0 | scalar >> 12))
        text.append(UInt8(0x80 | scalar >> 6 & 0x3F))
        text.append(UInt8(0x80 | scalar & 0x3F))
    default:
        text.append(UInt8(0xF0 | scalar >> 18 & 0x07))
        text.append(UInt8(0x80 | scalar >> 12 & 0x3F))
        text.append(UInt8(0x80 | scalar >> 6 & 0x3F))
        text.append(UInt8(0x80 | scalar & 0x3F))
    }
}
