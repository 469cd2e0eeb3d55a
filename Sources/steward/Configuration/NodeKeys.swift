internal import YAML

/// The keys of a mapping, as `Decodable` types ask for them.
struct NodeKeys<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let decoder: NodeDecoder
    let codingPath: [any CodingKey] = []

    /// Asking for all keys means that any key may stand there.
    var allKeys: [Key] {
        decoder.asked.takesAny = true
        return (decoder.node.entries ?? []).compactMap { $0.key.text.flatMap(Key.init(stringValue:)) }
    }

    func contains(_ key: Key) -> Bool { node(key) != nil }

    func decodeNil(forKey key: Key) throws -> Bool { node(key).map(\.isEmpty) ?? true }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        if let node = node(key) { return try decoder.at(node).value(of: type) }
        if !decoder.node.isUnreadable {
            decoder.findings.add("\"\(key.stringValue)\" is missing", at: decoder.node.place)
        }
        // A stand-in, so that the other keys are looked at all the same.
        return try decoder.at(YAMLNode(.unreadable, at: decoder.node.place, to: decoder.node.end)).value(
            of: type)
    }

    func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
        try optional(key)
    }

    private func optional<Value: Decodable>(_ key: Key) throws -> Value? {
        guard let node = node(key) else { return nil }
        if node.isEmpty {
            decoder.findings.add(
                "\"\(key.stringValue)\" has no value", at: node.place,
                hint: node.comment.map { "did you mean \"\($0)\" in quotes?" }
                    ?? "give it one, or delete the line")
            return nil
        }
        do {
            return try decoder.at(node).value(of: Value.self)
        } catch is NodeDecoder.Given {
            // The mistake is noted; the other keys are looked at all the same.
            return nil
        }
    }

    private func node(_ key: Key) -> YAMLNode? {
        decoder.asked.keys.insert(key.stringValue)
        return decoder.node[key.stringValue]
    }

    // Without these the compiler's own versions would go past the stand-ins.
    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? { try optional(key) }
    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? { try optional(key) }
    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? { try optional(key) }
    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? { try optional(key) }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        guard let node = node(key) else { throw NodeDecoder.Given() }
        return try decoder.at(node).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        guard let node = node(key) else { throw NodeDecoder.Given() }
        return try decoder.at(node).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder { decoder }
    func superDecoder(forKey key: Key) throws -> any Decoder { node(key).map(decoder.at) ?? decoder }
}
