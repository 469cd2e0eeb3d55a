import JSON
import Testing

@Suite struct JSONErrorTests {
    @Test(arguments: [
        ("", JSONError.Kind.empty, "there is nothing in it"),
        (" \n", .empty, "there is nothing in it"),
        ("{\"a\":1", .incomplete, "it ends too early, at byte 6"),
        ("[1,", .incomplete, "it ends too early, at byte 3"),
        ("tru", .incomplete, "it ends too early, at byte 3"),
        ("[\"a", .incomplete, "a string without end begins at byte 1"),
        ("[1 2]", .syntax, "a comma or \"]\" is missing at byte 3"),
        ("{\"a\" 1}", .syntax, "a colon is missing at byte 5"),
        ("{a:1}", .syntax, "a key is missing at byte 1"),
        ("{\"a\":1,}", .syntax, "a key is missing at byte 7"),
        ("{\"a\":1]", .syntax, "a comma or \"}\" is missing at byte 6"),
        ("[1,]", .syntax, "a value is missing at byte 3"),
        ("[trie]", .syntax, "neither true, false nor null at byte 3"),
        ("1 2", .syntax, "something after the value at byte 2"),
        ("{}x", .syntax, "something after the value at byte 2"),
        ("NaN", .syntax, "a value is missing at byte 0"),
        ("[-]", .number, "a digit is missing at byte 2"),
        ("[1.]", .number, "a digit is missing at byte 3"),
        ("[01]", .syntax, "a comma or \"]\" is missing at byte 2"),
        ("[1e999]", .number, "a number too large at byte 1"),
        ("123456789012345678901234567890", .number, "a number too large at byte 0"),
        ("\"\u{1}\"", .string, "a control character in a string at byte 1"),
        ("\"\\x\"", .string, "an unknown escape at byte 1"),
        ("\"\\u12g4\"", .string, "not four hexadecimal digits in an escape at byte 1"),
        ("\"ab\\ud83d\"", .string, "half of a surrogate pair at byte 3"),
        ("\"\\ude00\"", .string, "half of a surrogate pair at byte 1"),
        ("\"\\ud83d\\u0041\"", .string, "half of a surrogate pair at byte 1"),
    ])
    func `a mistake is named with its place`(_ text: String, _ kind: JSONError.Kind, _ words: String) {
        let error = #expect(throws: JSONError.self) { try JSON(parsing: text) }
        #expect(error?.kind == kind)
        #expect(error?.description == "not JSON: \(words)")
    }

    @Test(
        arguments: [
            [0x22, 0x80, 0x22], [0x22, 0xC0, 0x80, 0x22], [0x22, 0xED, 0xA0, 0x80, 0x22], [0x22, 0xE2, 0x82],
            [0x22, 0xF5, 0x80, 0x80, 0x80, 0x22], [0x7B, 0xFF],
        ] as [[UInt8]])
    func `bytes that are no UTF-8 are refused`(_ bytes: [UInt8]) {
        let error = #expect(throws: JSONError.self) { try JSON(parsing: bytes) }
        #expect(error?.kind == .invalidUTF8)
        #expect(error?.description == "not JSON: invalid UTF-8 at byte 1")
    }

    @Test func `64 levels are read and 65 refused`() throws {
        for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
            let text = { (depth: Int) in
                String(repeating: open, count: depth) + "1" + String(repeating: close, count: depth)
            }
            #expect(try JSON(parsing: text(64)).description == text(64))
            let error = #expect(throws: JSONError.self) { try JSON(parsing: text(65)) }
            #expect(error?.kind == .tooDeep)
            #expect(error?.description == "not JSON: nested deeper than 64 at byte \(64 * open.utf8.count)")
        }
        #expect(throws: JSONError.self) { try JSON(parsing: String(repeating: "[", count: 1_000_000)) }
    }

    @Test func `a document above the limit is not read`() {
        let error = #expect(throws: JSONError.self) {
            try JSONReader(maximumSize: 4).read("[1,2]") { $0.json }
        }
        #expect(error?.kind == .tooLarge)
        #expect(error?.description == "not JSON: 5 bytes where 4 are allowed")
    }

    @Test func `an emoji cut in half may be replaced, so that the rest can be read`() throws {
        let reader = JSONReader(loneSurrogates: .replaced)
        let text = #"["\ud83d","\ude00x","\\ud83d","\ud83d\ude00","\ud83d\ud83d\ude00","\\\ud83d"]"#
        let words = try reader.read(text) { $0.elements.compactMap(\.string) }
        #expect(words == ["\u{FFFD}", "\u{FFFD}x", #"\ud83d"#, "😀", "\u{FFFD}😀", "\\\u{FFFD}"])
        #expect(throws: JSONError.self) { try reader.read(#"["\ud83d", "\x"]"#) { $0.json } }
        #expect(throws: JSONError.self) { try reader.read(#"["\u12"#) { $0.json } }
    }
}
