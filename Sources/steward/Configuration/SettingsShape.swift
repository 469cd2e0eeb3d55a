internal import Chat
internal import JSON
internal import Services

/// Learns what a `Decodable` type takes by letting it ask: what it asks for is what may be written. So nothing of
/// `config.yaml` has to be said twice.
enum SettingsShape {
    static let text: JSON = ["$ref": "#/$defs/scalar"]

    /// A JSON Schema of the type.
    static func schema<Value: Decodable>(of type: Value.Type) -> JSON {
        anyOf(forms(of: type))
    }

    /// Of several forms one must fit.
    static func anyOf(_ forms: [JSON]) -> JSON {
        let different = forms.reduce(into: [JSON]()) { if !$0.contains($1) { $0.append($1) } }
        return switch different.count {
        case 0: .object(JSONObject())
        case 1: different[0]
        default: ["anyOf": .array(different)]
        }
    }

    /// The forms in which it may be written.
    static func forms<Value: Decodable>(of type: Value.Type) -> [JSON] {
        if let simple = simple(type) { return simple }
        if let words = (type as? any CaseIterable.Type)?.words, !words.isEmpty {
            return [["enum": .array(words.map { .string($0) })]]
        }
        let asText = Questions(isText: true)
        _ = try? Value(from: Asker(questions: asText))
        let first = Questions(isText: false)
        _ = try? Value(from: Asker(questions: first))
        var forms = asText.scalars + first.forms
        // What it asks for only when something else is there.
        for key in first.looked where !first.keys.contains(where: { $0.name == key }) {
            let others = Questions(isText: false, has: key)
            _ = try? Value(from: Asker(questions: others))
            forms += others.forms
        }
        return forms
    }

    private static func simple(_ type: any Decodable.Type) -> [JSON]? {
        switch type {
        case is Bool.Type: [["type": "boolean"]]
        case is String.Type, is SettingsPath.Type: [text]
        case is any FixedWidthInteger.Type: [["type": "integer"]]
        case is Duration.Type: [["type": "string", "pattern": "^([0-9]+(ms|s|m|h|d|w))+$"]]
        // A secret stands somewhere else.
        case is Secret.Type: [["type": "string", "pattern": "^[$][{].*:.*[}]$"]]
        case is SettingsCommand.Type: [text, ["type": "array", "items": text]]
        default: nil
        }
    }

    /// Something to go on with.
    fileprivate static func standIn<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let standIn: Any? =
            switch type {
            case is Bool.Type: false
            case is String.Type: ""
            case is Duration.Type: Duration.zero
            case is Secret.Type: Secret("")
            default:
                (type as? any FixedWidthInteger.Type).map { Self.zero($0) }
                    ?? (type as? any StandIn.Type)?.standIn
            }
        if let standIn = standIn as? Value { return standIn }
        return try Value(from: Asker(questions: Questions(isText: false)))
    }

    private static func zero<Number: FixedWidthInteger>(_ type: Number.Type) -> Any { Number.zero }
}

/// What a type has asked for.
private final class Questions {
    let isText: Bool
    /// The one key that is said to be there.
    private let there: String?
    /// Whether it asked for keys at all.
    var wantsKeys = false
    private(set) var keys: [(name: String, isRequired: Bool, schema: JSON)] = []
    /// Keys of which it asked whether they are there.
    private(set) var looked: [String] = []
    /// What may stand behind a name that people choose.
    private var entries: JSON?
    /// Forms that are no mapping.
    private(set) var others: [JSON] = []

    /// Stands for any name.
    static let anyName = "\u{0}"

    init(isText: Bool, has there: String? = nil) {
        self.isText = isText
        self.there = there
    }

    var forms: [JSON] {
        guard wantsKeys, !keys.isEmpty || entries != nil else { return others }
        var properties = JSONObject()
        for key in keys { properties[key.name] = key.schema }
        var object: JSONObject = [
            "type": "object", "additionalProperties": entries ?? false, "properties": .object(properties),
        ]
        let required = keys.filter(\.isRequired).map { JSON.string($0.name) }
        if !required.isEmpty { object["required"] = .array(required) }
        return others + [.object(object)]
    }

    /// Without mappings, which are no text.
    var scalars: [JSON] { others.filter { $0["type"]?.string != "array" && $0["type"]?.string != "object" } }

    func isThere(_ key: String) -> Bool {
        if !looked.contains(key) { looked.append(key) }
        return key == there
    }

    func ask(_ key: String, _ schema: JSON, isRequired: Bool) {
        if key == Self.anyName {
            entries = schema
        } else if !keys.contains(where: { $0.name == key }) {
            keys.append((key, isRequired, schema))
        }
    }

    func ask(_ forms: [JSON]) { others += forms }
}

/// A decoder in which nothing stands, and which notes what was wanted.
private struct Asker: Decoder {
    let questions: Questions
    let codingPath: [any CodingKey] = []
    var userInfo: [CodingUserInfoKey: Any] {
        CodingUserInfoKey.isText.map { [$0: questions.isText] } ?? [:]
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        questions.wantsKeys = true
        return KeyedDecodingContainer(AskedKeys(questions: questions))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { AskedItems(questions: questions) }

    func singleValueContainer() throws -> any SingleValueDecodingContainer {
        AskedValue(questions: questions)
    }
}

private struct AskedKeys<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let questions: Questions
    let codingPath: [any CodingKey] = []

    var allKeys: [Key] { [Key(stringValue: Questions.anyName)].compactMap(\.self) }

    func contains(_ key: Key) -> Bool { questions.isThere(key.stringValue) }

    func decodeNil(forKey key: Key) throws -> Bool { false }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        questions.ask(key.stringValue, SettingsShape.schema(of: type), isRequired: true)
        return try SettingsShape.standIn(type)
    }

    func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
        questions.ask(key.stringValue, SettingsShape.schema(of: type), isRequired: false)
        return nil
    }

    // Without these the compiler's own versions would look whether the key is there.
    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? { try optional(type, key) }
    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? { try optional(type, key) }
    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? { try optional(type, key) }
    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? { try optional(type, key) }

    private func optional<Value: Decodable>(_ type: Value.Type, _ key: Key) throws -> Value? {
        questions.ask(key.stringValue, SettingsShape.schema(of: type), isRequired: false)
        return nil
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> { throw NodeDecoder.Given() }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        throw NodeDecoder.Given()
    }

    func superDecoder() throws -> any Decoder { Asker(questions: questions) }
    func superDecoder(forKey key: Key) throws -> any Decoder { Asker(questions: questions) }
}

private struct AskedItems: UnkeyedDecodingContainer {
    let questions: Questions
    let codingPath: [any CodingKey] = []
    let count: Int? = 1
    var currentIndex = 0

    init(questions: Questions) {
        self.questions = questions
    }

    var isAtEnd: Bool { currentIndex > 0 }

    mutating func decodeNil() throws -> Bool { false }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        currentIndex += 1
        questions.ask([["type": "array", "items": SettingsShape.schema(of: type)]])
        return try SettingsShape.standIn(type)
    }

    mutating func nestedContainer<Key: CodingKey>(
        keyedBy type: Key.Type
    ) throws -> KeyedDecodingContainer<Key> { throw NodeDecoder.Given() }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        throw NodeDecoder.Given()
    }

    mutating func superDecoder() throws -> any Decoder { Asker(questions: questions) }
}

private struct AskedValue: SingleValueDecodingContainer {
    let questions: Questions
    let codingPath: [any CodingKey] = []

    func decodeNil() -> Bool { false }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        questions.ask(SettingsShape.forms(of: type))
        return try SettingsShape.standIn(type)
    }
}
