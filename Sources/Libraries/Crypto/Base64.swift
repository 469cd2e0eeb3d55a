/// Bytes as text of 64 letters (RFC 4648).
package struct Base64: Sendable {
    /// With `+` and `/`, filled up with `=`.
    package static let standard = Base64(alphabet: "+/", pads: true)
    /// With `-` and `_`, not filled up: for URLs, file names and signed tokens.
    package static let url = Base64(alphabet: "-_", pads: false)

    private static let padding = UInt8(ascii: "=")
    private static let invalid: UInt8 = 0xFF
    private let letters: [UInt8]
    private let values: [UInt8]
    private let pads: Bool

    private init(alphabet last: String, pads: Bool) {
        letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789\(last)".utf8)
        var values = [UInt8](repeating: Self.invalid, count: 256)
        for (value, letter) in letters.enumerated() { values[Int(letter)] = UInt8(value) }
        self.values = values
        self.pads = pads
    }

    package func encode(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            var bits = group.reduce(0) { $0 << 8 | UInt32($1) } << (8 * UInt32(3 - group.count))
            for place in 0..<4 {
                if place <= group.count {
                    text.append(letters[Int(bits >> 18 & 63)])
                } else if pads {
                    text.append(Self.padding)
                }
                bits <<= 6
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The bytes; nil when the text is not exactly what `encode` makes: other letters, white space, padding too much
    /// or too little, or bits left over at the end.
    package func decode(_ text: String) -> [UInt8]? {
        var letters = Array(text.utf8)[...]
        if pads {
            guard letters.count.isMultiple(of: 4) else { return nil }
            for _ in 0..<2 where letters.last == Self.padding { letters.removeLast() }
        }
        guard letters.count % 4 != 1 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(letters.count * 3 / 4)
        var bits: UInt32 = 0
        var count = 0
        for letter in letters {
            let value = values[Int(letter)]
            guard value != Self.invalid else { return nil }
            bits = bits << 6 | UInt32(value)
            count += 6
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> count))
            }
        }
        guard bits & ((1 << count) - 1) == 0 else { return nil }
        return bytes
    }
}
