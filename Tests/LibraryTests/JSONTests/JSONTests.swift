import JSON
import Testing

@Suite struct JSONTests {
    @Test func `a document becomes a tree and a tree a document`() throws {
        let text = #" {"a": [1, 2.5, "x\n\u00e9\"\\\ud83d\ude00", true, null, {}],"b":{"c":-7,"":[]}}"#
        let tree = try JSON(parsing: text)
        #expect(tree == ["a": [1, 2.5, "x\né\"\\😀", true, nil, [:]], "b": ["c": -7, "": []]])
        #expect(tree.description == #"{"a":[1,2.5,"x\né\"\\😀",true,null,{}],"b":{"c":-7,"":[]}}"#)
        #expect(tree["a"]?[2]?.string == "x\né\"\\😀")
        #expect(tree["b"]?["c"]?.int == -7)
        #expect(tree["a"]?[9] == nil)
        #expect(tree["a"]?[-1] == nil)
        #expect(tree["a"]?["b"] == nil)
        #expect(tree["nothing"] == nil)
    }

    @Test(arguments: ["true", "null", "7", "\"x\"", " [] \n"])
    func `a document need not be an object`(_ text: String) throws {
        #expect(try JSON(parsing: text).description == text.filter { !$0.isWhitespace })
    }

    @Test func `whole numbers of 64 bits are exact, larger ones the nearest double`() throws {
        #expect(try JSON(parsing: "9223372036854775807") == .int(.max))
        #expect(try JSON(parsing: "-9223372036854775808") == .int(.min))
        #expect(try JSON(parsing: "9223372036854775808") == .double(9_223_372_036_854_775_808))
        #expect(try JSON(parsing: "1.0") == .double(1))
        #expect(try JSON(parsing: "1e3").int == 1000)
        #expect(try JSON(parsing: "1.5").int == nil)
        #expect(try JSON(parsing: "1e300").int == nil)
        #expect(try JSON(parsing: "7").double == 7)
        #expect([JSON(7 as UInt16), JSON(UInt64.max)] == [.int(7), .int(.max)])
    }

    @Test func `of a key that comes twice the first value counts, for trees and for nodes`() throws {
        let text = #"{"a":1,"b":2,"a":3}"#
        #expect(try JSON(parsing: text) == ["a": 1, "b": 2])
        #expect(try JSONReader().read(text) { $0["a"]?.int } == 1)
        let many = "{" + (0..<100).map { "\"\($0 % 50)\":\($0)" }.joined(separator: ",") + "}"
        let object = try #require(try JSON(parsing: many).object)
        #expect(object.map(\.value) == (0..<50).map { .int($0) })
    }

    @Test func `objects keep their order and are equal in any`() {
        let one: JSONObject = ["b": 1, "a": 2]
        let other: JSONObject = ["a": 2, "b": 1]
        #expect(one.keys == ["b", "a"])
        #expect(one == other)
        #expect(JSON.object(one).description == #"{"b":1,"a":2}"#)
        #expect(one != ["b": 1, "a": 3])
        #expect(one != ["b": 1, "c": 2])
        #expect(one != ["b": 1])
    }

    @Test func `members can be set, added and removed`() {
        var object: JSONObject = ["a": 1, "b": 2]
        object["a"] = "new"
        object["c"] = [3]
        object["b"] = nil
        object["nothing"] = nil
        #expect(JSON.object(object).description == #"{"a":"new","c":[3]}"#)
    }
}
