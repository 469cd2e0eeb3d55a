import JSON
import Testing

@Suite struct JSONReaderTests {
    let text =
        #"{"s":"häh","i":-3,"d":2.5,"u":18446744073709551615,"t":true,"n":null,"a":[1,[2],{}],"o":{"k":"v"}}"#

    @Test func `a node answers for its own kind and nil for any other`() throws {
        try JSONReader().read(text) { root in
            #expect(root["s"]?.string == "häh")
            #expect(root["s"]?.withUTF8 { $0.count } == 4)
            #expect(root["s"]?.equals("häh") == true)
            #expect(root["s"]?.equals("hä") == false)
            #expect(root["i"]?.int == -3)
            #expect(root["i"]?.double == -3)
            #expect(root["d"]?.double == 2.5)
            #expect(root["d"]?.int == nil)
            #expect(root["u"]?.int == nil)
            #expect(root["u"]?.double == 18_446_744_073_709_551_616)
            #expect(root["t"]?.bool == true)
            #expect(root["n"]?.isNull == true)
            #expect(root["o"]?["k"]?.string == "v")
            #expect(root["a"]?[1]?[0]?.int == 2)
            #expect(root["a"]?[3] == nil)
            #expect(root["a"]?[-1] == nil)
            #expect(root["missing"] == nil)
            for key in ["i", "d", "u", "t", "n", "a", "o"] {
                #expect(root[key]?.string == nil)
                #expect(root[key]?.equals("") == false)
            }
            for key in ["s", "t", "n", "a", "o"] { #expect(root[key]?.double == nil) }
            for key in ["s", "i", "n", "a", "o"] { #expect(root[key]?.bool == nil) }
            for key in ["s", "i", "d", "t", "n", "a"] { #expect(root[key]?["k"] == nil) }
            let kinds: [JSONNode.Kind?] = [.string, .number, .number, .number, .bool, .null, .array, .object]
            #expect(root.members.map(\.value.kind) == kinds)
        }
    }

    @Test func `arrays and objects give what they hold in order, anything else nothing`() throws {
        try JSONReader().read(text) { root in
            #expect(root.members.map(\.key) == ["s", "i", "d", "u", "t", "n", "a", "o"])
            #expect(root["a"]?.elements.map(\.kind) == [.number, .array, .object])
            #expect(root["a"]?.elements.underestimatedCount == 3)
            #expect(root.elements.map(\.json) == [])
            #expect(root["a"]?.members.map(\.key) == [])
            #expect(root["s"]?.elements.map(\.json) == [])
        }
    }

    @Test func `only the slice is read, whatever stands around it`() throws {
        let reader = JSONReader()
        let frame = Array(#"garbage[1,"two"]{"not":"this"}"#.utf8)
        #expect(try reader.read(frame[7..<16]) { $0.json } == [1, "two"])
        #expect(try reader.read(frame[16...]) { $0.json } == ["not": "this"])
        #expect(throws: JSONError.self) { try reader.read(frame[7..<17]) { $0.json } }
        #expect(throws: JSONError.self) { try reader.read(frame[7..<15]) { $0.json } }
    }

    @Test func `JSON in a string of JSON is read without losing the outer document`() throws {
        let reader = JSONReader()
        try reader.read(#"{"attributes":"{\"colour\":\"red\",\"inner\":\"[7]\"}","text":"hi"}"#) { root in
            let attributes = try #require(root["attributes"]?.string)
            try reader.read(attributes) { inner in
                let number = try #require(inner["inner"]?.string)
                #expect(try reader.read(number) { $0[0]?.int } == 7)
                #expect(inner["colour"]?.string == "red")
            }
            #expect(root["text"]?.string == "hi")
        }
    }

    @Test func `a reader goes on after a bad document and after a body that throws`() throws {
        struct Enough: Error {}
        let reader = JSONReader()
        #expect(throws: JSONError.self) { try reader.read("[1") { _ in } }
        #expect(throws: Enough.self) { try reader.read("[1]") { _ in throw Enough() } }
        #expect(throws: JSONError.self) { try reader.read("") { _ in } }
        #expect(try reader.read("[1]") { $0.json } == [1])
    }

    @Test func `a document of ten megabytes is read, and a small one after it`() throws {
        let reader = JSONReader()
        let row = #"{"id":1234567,"text":"some line of chat"},"#
        let text = "[" + String(repeating: row, count: 9_999_000 / row.utf8.count) + "null]"
        #expect(try reader.read(text) { $0.elements.reduce(0) { $0 + ($1["id"] == nil ? 0 : 1) } } == 238_071)
        #expect(try reader.read("[1]") { $0.json } == [1])
        #expect(throws: JSONError.self) { try reader.read(text + text) { _ in } }
    }
}
