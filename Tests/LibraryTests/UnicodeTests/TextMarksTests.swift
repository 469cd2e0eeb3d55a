import Testing

@testable import Unicode

struct TextMarksTests {
    /// The same without looking at several bytes at once.
    private func expected(_ bytes: [UInt8]) -> TextMarks {
        var marks: TextMarks = []
        for (place, byte) in bytes.enumerated() {
            let next = place + 1 < bytes.count ? bytes[place + 1] : 0x41
            if byte >= 0x80 { marks.insert(.others) }
            if byte < 32 || byte == 0x7F || byte == 0xC2 { marks.insert(.controls) }
            if byte == 32, next == 32 { marks.insert(.wideSpace) }
            if byte == 0x60 || byte == 0x3E { marks.insert(.markup) }
            if byte == 0x3A, next == 0x2F { marks.insert(.markup) }
            if byte | 32 == 0x77, next == 0x2E { marks.insert(.markup) }
            if byte == 0x40 { marks.insert(.ats) }
            guard place + 1 < bytes.count else { continue }
            if byte == 0x2E, next != 32 { marks.insert(.dots) }
            if byte == 0x3A, next == 0x2F || next == 0x5C { marks.insert(.dots) }
        }
        return marks
    }

    @Test(arguments: 0...70)
    func `whatever stands anywhere in a text of any length is seen, and nothing else`(length: Int) {
        let plain = [UInt8](repeating: 0x61, count: length)
        #expect(plain.withUnsafeBufferPointer { TextMarks(of: $0) } == [])
        let pieces: [[UInt8]] = [
            [9], [10], [0x1F], [0x20], [0x7F], [0xC2, 0x85], [0xD0, 0xB0], [32, 32], [0x60], [0x3E],
            [0x3A, 0x2F], [0x3A], [0x2F], [0x57, 0x2E], [0x77, 0x2E], [0x2E], [0x77],
            [0x2E, 0x20], [0x3A, 0x5C], [0x40],
        ]
        for piece in pieces where piece.count <= length {
            for place in 0...(length - piece.count) {
                var text = plain
                text.replaceSubrange(place..<place + piece.count, with: piece)
                #expect(
                    text.withUnsafeBufferPointer { TextMarks(of: $0) } == expected(text),
                    "\(piece) at \(place) of \(length)")
            }
        }
    }
}
