import JSON
import Testing

@Suite struct JSONTests {
    @Test func `a document becomes a tree and a tree a document`() throws {
        let text = #"{"a":[1,2.5,"x\n\u00e9\"\\",true,null,{}],"b":{"c":-7}}"#
        let tree = try JSON(parsing: text)
        #expect(tree == ["a": [1, 2.5, "x\né\"\\", true, nil, [:]], "b": ["c": -7]])
        #expect(tree.description == #"{"a":[1,2.5,"x\né\"\\",true,null,{}],"b":{"c":-7}}"#)
    }
}
