/// What the plain fold does beyond Unicode's case folding: apostrophes and hyphens that phones and word processors put
/// in place of those of a keyboard are those of a keyboard, what only stretches an Arabic word is left out, and what
/// joins the parts of an emoji stays, so that no part is taken for the whole.
struct PlainForms {
    private var bytes: [UInt8] = []
    private var stretches: [Stretch] = []
    private var last: UInt32 = 0

    /// Whether there may be anything to do.
    static func isNeeded(_ folded: [UInt8], _ original: UnsafeBufferPointer<UInt8>) -> Bool {
        folded.withUnsafeBufferPointer { folded in
            folded.hasPlace { first, second, third in
                switch first {
                case 0xE2: second == 0x80 && replaced(0x2000 | UInt32(third & 0x3F)) != nil
                case 0xCA: second == 0xBC
                case 0xD9: second == 0x80
                default: false
                }
            }
        }
            || original.hasPlace { first, second, third in
                first == 0xE2 && second == 0x80 && third == 0x8D || first == 0xF3 && second == 0xA0
            }
    }

    /// `bytes` are what was made of `original`, each from its stretch.
    static func apply(
        to bytes: inout [UInt8], _ stretches: inout [Stretch], _ original: UnsafeBufferPointer<UInt8>
    ) {
        var forms = PlainForms()
        forms.bytes.reserveCapacity(bytes.count)
        forms.stretches.reserveCapacity(bytes.count)
        bytes.withUnsafeBufferPointer { forms.read($0, stretches, original) }
        (bytes, stretches) = (forms.bytes, forms.stretches)
    }

    private mutating func read(
        _ text: UnsafeBufferPointer<UInt8>, _ origins: [Stretch], _ original: UnsafeBufferPointer<UInt8>
    ) {
        var i = 0
        var end: UInt32 = 0
        while i < text.count {
            let (scalar, width) = decodeScalar(text, at: i)
            let stretch = Stretch(start: origins[i].start, end: origins[i + width - 1].end)
            if stretch.start > end, last > 0xFF { keepJoiners(original, end..<stretch.start, before: scalar) }
            end = stretch.end
            if scalar == Self.tatweel {
                takeIntoLast(stretch)
            } else if let form = Self.replaced(scalar) {
                bytes.append(form)
                stretches.append(stretch)
            } else {
                bytes.append(contentsOf: text[i..<i + width])
                stretches.append(contentsOf: origins[i..<i + width])
            }
            last = scalar
            i += width
        }
        if end < original.count, last > 0xFF {
            keepJoiners(original, end..<UInt32(original.count), before: 0)
        }
    }

    private static let tatweel: UInt32 = 0x640

    private static func replaced(_ scalar: UInt32) -> UInt8? {
        switch scalar {
        case 0x2018, 0x2019, 0x201B, 0x2BC: UInt8(ascii: "'")
        case 0x2010, 0x2011: UInt8(ascii: "-")
        default: nil
        }
    }

    /// What is left out belongs to the letter before it.
    private mutating func takeIntoLast(_ stretch: Stretch) {
        var i = bytes.count - 1
        while i >= 0 {
            stretches[i].end = max(stretches[i].end, stretch.end)
            if bytes[i] & 0xC0 != 0x80 { return }
            i -= 1
        }
    }

    /// Keeps of what was left out there what makes one emoji of two, or a flag of a land's letters.
    private mutating func keepJoiners(
        _ original: UnsafeBufferPointer<UInt8>, _ range: Range<UInt32>, before next: UInt32
    ) {
        guard Self.isEmoji(last) else { return }
        var i = Int(range.lowerBound)
        while i < Int(range.upperBound) {
            let (scalar, width) = decodeScalar(original, at: i)
            let isKept =
                scalar == 0x200D && Self.isEmoji(next)
                || last == 0x1F3F4 && (0xE0020...0xE007F).contains(scalar)
            if isKept {
                let stretch = Stretch(start: UInt32(i), end: UInt32(i + width))
                bytes.append(contentsOf: original[i..<i + width])
                stretches.append(contentsOf: repeatElement(stretch, count: width))
            }
            i += width
        }
    }

    /// Letters in squares are none: a word may be written in them.
    private static func isEmoji(_ scalar: UInt32) -> Bool {
        guard scalar >= 0x203C, !(0x1F100...0x1F1FF).contains(scalar) else { return false }
        return Unicode.Scalar(scalar)?.properties.isEmoji == true
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// Whether something holds for a byte and the two after it; behind the end there are zeros.
    @inline(__always)
    fileprivate func hasPlace(_ holds: (UInt8, UInt8, UInt8) -> Bool) -> Bool {
        for i in indices where self[i] >= 0x80 {
            if holds(self[i], i + 1 < count ? self[i + 1] : 0, i + 2 < count ? self[i + 2] : 0) {
                return true
            }
        }
        return false
    }
}
