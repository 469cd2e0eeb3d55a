import Seeds
import Testing

@testable import Unicode

@Suite struct FastPaths {
    @Test func `the quick look at a text sees what a slow one sees`() {
        var random = SeededRandom(seed: 17)
        let parts = [
            "a", "b", "z", "`", "{", "0", "9", "/", ":", " ", "x", "y", "\u{8}", "\u{E}", "\u{7F}", "-", "~",
        ]
        let odd = ["\t", "\r", "  ", "aaa", "1a", "z9"]
        for _ in 0..<20_000 {
            var text = (0..<Int.random(in: 0...40, using: &random)).map { i in
                (i.isMultiple(of: 2) ? parts[..<9] : parts[9...]).randomElement(using: &random) ?? ""
            }
            if Bool.random(using: &random), !text.isEmpty {
                text[Int.random(in: text.indices, using: &random)] = odd.randomElement(using: &random) ?? ""
            }
            let bytes = Array(text.joined().utf8)
            #expect(FoldedText.hasOddASCIISpace(bytes) == hasOddSpace(bytes), "\(bytes)")
            #expect(FoldedText.hasPadding(bytes) == hasPadding(bytes), "\(bytes)")
        }
        #expect(!FoldedText.hasOddASCIISpace(Array("рстуфхцчшщ я".utf8)))
    }

    private func hasOddSpace(_ bytes: [UInt8]) -> Bool {
        bytes.contains { (9...13).contains($0) }
            || zip(bytes, bytes.dropFirst()).contains { $0 == 32 && $1 == 32 }
    }

    private func hasPadding(_ bytes: [UInt8]) -> Bool {
        func isLetter(_ byte: UInt8) -> Bool { (97...122).contains(byte) }
        func isDigit(_ byte: UInt8) -> Bool { (48...57).contains(byte) }
        return zip(bytes, bytes.dropFirst()).contains {
            isLetter($0) && isDigit($1) || isDigit($0) && isLetter($1)
        }
            || bytes.indices.dropFirst(2).contains {
                isLetter(bytes[$0]) && bytes[$0] == bytes[$0 - 1] && bytes[$0] == bytes[$0 - 2]
            }
    }
}
