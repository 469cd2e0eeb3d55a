import Testing

@testable import JSON

struct JSONFieldsTests {
    private static let keys = JSONKeys("a", "b", "long name", "c")

    private func read(_ text: String) throws -> [Int64?] {
        try JSONReader().read(text) { node in
            let fields = node.fields(Self.keys)
            return (0..<4).map { fields[$0]?.int }
        }
    }

    @Test(
        arguments: [
            (#"{"a":1,"b":2,"long name":3,"c":4}"#, [1, 2, 3, 4]),
            (#"{"c":4,"long name":3,"b":2,"a":1}"#, [1, 2, 3, 4]),
            (#"{"x":9,"b":2,"y":{"a":7},"c":4,"z":[1]}"#, [nil, 2, nil, 4]),
            (#"{"b":2,"b":3,"a":1}"#, [1, 2, nil, nil]),
            (#"{}"#, [nil, nil, nil, nil]),
            (#"[1,2]"#, [nil, nil, nil, nil]),
            (#""a""#, [nil, nil, nil, nil]),
        ] as [(String, [Int64?])])
    func `members are found together, in whatever order, and of two equal ones the first`(
        text: String, expected: [Int64?]
    ) throws {
        #expect(try read(text) == expected)
    }

    @Test func `a null that is there is a value`() throws {
        let kinds = try JSONReader().read(#"{"a":null}"#) { node in
            let fields = node.fields(Self.keys)
            return (fields[0]?.isNull, fields[1]?.isNull)
        }
        #expect(kinds.0 == true)
        #expect(kinds.1 == nil)
    }
}
