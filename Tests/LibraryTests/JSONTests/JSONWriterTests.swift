import JSON
import Seeds
import Testing

@Suite struct JSONWriterTests {
    private func text(_ write: (inout JSONWriter) -> Void) -> String {
        var writer = JSONWriter()
        write(&writer)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    @Test func `commas and colons stand where they belong`() {
        let written = text { writer in
            writer.object {
                $0.member("text", "hi")
                $0.member("count", 3)
                $0.member("half", 0.5)
                $0.member("done", false)
                $0.member("none", nil)
                $0.array("list") {
                    $0.value(1)
                    $0.array { _ in }
                    $0.object { _ in }
                    $0.null()
                    $0.raw(#"{"as":"is"}"#.utf8)
                }
                $0.object("inner") { $0.member("tree", ["a": [true, "b"]]) }
                $0.key("last")
                $0.value(-1)
            }
        }
        #expect(
            written == #"{"text":"hi","count":3,"half":0.5,"done":false,"none":null,"#
                + #""list":[1,[],{},null,{"as":"is"}],"inner":{"tree":{"a":[true,"b"]}},"last":-1}"#)
    }

    @Test func `bytes that were there before stay in front`() {
        var writer = JSONWriter(appendingTo: Array("head\r\n".utf8))
        writer.array { $0.value(1) }
        #expect(String(decoding: writer.bytes, as: UTF8.self) == "head\r\n[1]")
        writer.removeAll()
        writer.value("again")
        #expect(String(decoding: writer.bytes, as: UTF8.self) == #""again""#)
    }

    @Test func `what must be escaped is, and nothing else`() {
        #expect(text { $0.value("") } == #""""#)
        #expect(text { $0.value("a\"b\\c/d\u{7F}é😀\u{2028}") } == "\"a\\\"b\\\\c/d\u{7F}é😀\u{2028}\"")
        #expect(text { $0.value("\n\r\t\u{8}\u{C}\u{0}\u{1F}") } == #""\n\r\t\u0008\u000c\u0000\u001f""#)
        #expect(text { writer in writer.object { $0.member("k\"", 1) } } == #"{"k\"":1}"#)
    }

    @Test func `every scalar comes back`() throws {
        for start in stride(from: UInt32(0), to: 0x11_0000, by: 0x100) {
            let string = String(
                String.UnicodeScalarView((start..<start + 0x100).compactMap(Unicode.Scalar.init)))
            #expect(try JSON(parsing: JSON.string(string).bytes()) == .string(string))
        }
    }

    @Test(arguments: [0, 1, -1, 9, 10, -10, 1_234_567_890_123, .max, .min] as [Int64])
    func `whole numbers come back`(_ number: Int64) throws {
        #expect(text { $0.value(number) } == "\(number)")
        #expect(try JSON(parsing: JSON.int(number).bytes()) == .int(number))
    }

    @Test func `doubles come back bit for bit, and what is no number becomes null`() throws {
        var random = SeededRandom(seed: 1)
        var numbers = [
            0.0, -0.0, 1, 0.1, 1e16, 1e-7, .leastNonzeroMagnitude, .greatestFiniteMagnitude,
            .leastNormalMagnitude, .pi,
        ]
        numbers += (0..<20_000).map { _ in Double(bitPattern: random.next()) }.filter(\.isFinite)
        for number in numbers {
            let back = try #require(try JSON(parsing: JSON.double(number).bytes()).double)
            #expect(back.bitPattern == number.bitPattern)
        }
        for number in [Double.nan, .infinity, -.infinity] { #expect(text { $0.value(number) } == "null") }
    }
}
