internal import YAML

/// The items of a list.
struct NodeItems: UnkeyedDecodingContainer {
    let decoder: NodeDecoder
    let items: [YAMLNode]
    let codingPath: [any CodingKey] = []
    var currentIndex = 0

    init(decoder: NodeDecoder, items: [YAMLNode]) {
        self.decoder = decoder
        self.items = items
    }

    var count: Int? { items.count }
    var isAtEnd: Bool { currentIndex >= items.count }

    mutating func decodeNil() throws -> Bool { false }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try decoder.at(next()).value(of: type)
    }

    mutating func nestedContainer<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<
        Key
    > {
        try decoder.at(next()).container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try decoder.at(next()).unkeyedContainer()
    }

    mutating func superDecoder() throws -> any Decoder { decoder.at(try next()) }

    private mutating func next() throws -> YAMLNode {
        guard !isAtEnd else { throw NodeDecoder.Given() }
        defer { currentIndex += 1 }
        return items[currentIndex]
    }
}
