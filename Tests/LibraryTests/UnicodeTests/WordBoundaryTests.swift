import Seeds
import Testing

@testable import Unicode

@Suite struct WordsOfTexts {
    @Test(arguments: [
        ("hello world", ["hello", " ", "world"]),
        ("don't stop", ["don't", " ", "stop"]),
        ("3.14,15", ["3.14,15"]),
        ("snake_case", ["snake_case"]),
        ("@ana hi@é", ["@", "ana", " ", "hi", "@", "é"]),
        ("note:this", ["note", ":", "this"]),
        ("it's.", ["it's", "."]),
        ("l'été", ["l'été"]),
        ("Привет, мир", ["Привет", ",", " ", "мир"]),
        ("你好世界", ["你好", "世界"]),
        ("私は学生です", ["私", "は", "学生", "です"]),
        ("สวัสดีชาวโลก", ["สวัสดี", "ชาว", "โลก"]),
        ("مرحبا بالعالم", ["مرحبا", " ", "بالعالم"]),
        ("שלום עולם", ["שלום", " ", "עולם"]),
        ("👍🏽👍", ["👍🏽", "👍"]),
        ("👨\u{200D}👩\u{200D}👧x", ["👨\u{200D}👩\u{200D}👧", "x"]),
        ("🇳🇴🇸🇪", ["🇳🇴", "🇸🇪"]),
        ("e\u{301}a", ["e\u{301}a"]),
    ])
    func `words are those of Unicode's segmentation`(_ text: String, _ words: [String]) {
        #expect(pieces(text) == words)
    }

    @Test(arguments: [
        ("don't", ["don", "'", "t"]),
        ("a.scam.b", ["a", ".", "scam", ".", "b"]),
        ("_scam_", ["_", "scam", "_"]),
        ("é·a", ["é", "·", "a"]),
        ("你好世界", ["你好", "世界"]),
    ])
    func `loosely, nothing but letters and digits joins`(_ text: String, _ words: [String]) {
        #expect(pieces(text, loosely: true) == words)
    }

    @Test func `the shortcuts say what ICU says`() {
        var random = SeededRandom(seed: 5)
        let ascii = (0..<128).filter { $0 != 64 }.map { String(UnicodeScalar(UInt8($0))) }
        let some = [
            "a", "b", "1", " ", ".", "'", ":", ",", "_", "\"", "é", "ж", "א", "你", "好", "か", "カ", "ท", "ี",
            "한",
            "\u{301}", "\u{200D}", "👍", "🏽", "🇳", "。", "·", "\u{AD}", "٣",
        ]
        for (parts, rounds) in [
            (ascii, 4_000), (["a", "1", ".", "'", ":", ",", "_", " ", "\r", "\n"], 4_000), (some, 6_000),
        ] {
            for _ in 0..<rounds {
                let text = random.text(from: parts, upTo: 8)
                var shortcut = WordBoundaries()
                var bytes = Array(text.utf8)
                bytes.withUnsafeMutableBufferPointer { buffer in
                    let buffer = UnsafeBufferPointer(buffer)
                    let places = buffer.indices.filter { $0 > 0 && buffer[$0] & 0xC0 != 0x80 }
                    let ours = places.filter { shortcut.isBoundary(buffer, at: $0) }
                    let theirs = places.filter { WordBoundaries.isBoundaryByICU(buffer, at: $0) }
                    #expect(ours == theirs, "\(text.debugDescription)")
                }
            }
        }
    }

    private func pieces(_ text: String, loosely: Bool = false) -> [String] {
        var text = text
        return text.withUTF8 { bytes in
            var boundaries = WordBoundaries()
            var found: [String] = []
            var start = 0
            for end in 1...bytes.count where end == bytes.count || bytes[end] & 0xC0 != 0x80 {
                if boundaries.isBoundary(bytes, at: end, loosely: loosely) {
                    found.append(String(decoding: bytes[start..<end], as: UTF8.self))
                    start = end
                }
            }
            return found
        }
    }
}
