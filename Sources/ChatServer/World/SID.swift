/// A name that the server gave: two letters for the kind and 32 hexadecimal digits, kept as the number they are.
package struct SID: Hashable, Sendable, CustomStringConvertible {
    package enum Kind: String, Sendable, CaseIterable {
        case account = "AC"
        case key = "SK"
        case service = "IS"
        case user = "US"
        case channel = "CH"
        case member = "MB"
        case message = "IM"
        case role = "RL"
        case media = "ME"
        case invite = "IN"
        case map = "MP"
        case list = "ES"
        case document = "ET"
        case messagingService = "MG"
    }

    package let kind: Kind
    let high: UInt64
    let low: UInt64

    init(_ kind: Kind, high: UInt64, low: UInt64) {
        self.kind = kind
        self.high = high
        self.low = low
    }

    /// A new one that nobody can guess.
    static func fresh(_ kind: Kind) -> SID {
        var random = SystemRandomNumberGenerator()
        return SID(kind, high: random.next(), low: random.next())
    }

    /// Nil unless the text is two known letters and 32 lower-case hexadecimal digits.
    package init?(_ text: some StringProtocol) {
        let bytes = Array(text.utf8)
        guard bytes.count == 34, let kind = Kind(rawValue: String(decoding: bytes[..<2], as: UTF8.self))
        else {
            return nil
        }
        var halves: [UInt64] = [0, 0]
        for (place, byte) in bytes[2...].enumerated() {
            let digit: UInt8
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = byte - UInt8(ascii: "a") + 10
            default: return nil
            }
            halves[place / 16] = halves[place / 16] << 4 | UInt64(digit)
        }
        self.init(kind, high: halves[0], low: halves[1])
    }

    package var text: String {
        String(unsafeUninitializedCapacity: 34) { buffer in
            let letters = Array(kind.rawValue.utf8)
            buffer[0] = letters[0]
            buffer[1] = letters[1]
            writeHex(high, into: buffer, at: 2)
            writeHex(low, into: buffer, at: 18)
            return 34
        }
    }

    package var description: String { text }
}

private func writeHex(_ number: UInt64, into buffer: UnsafeMutableBufferPointer<UInt8>, at start: Int) {
    for place in 0..<16 {
        let digit = UInt8(truncatingIfNeeded: number >> UInt64(60 - place * 4)) & 15
        buffer[start + place] = digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
    }
}
