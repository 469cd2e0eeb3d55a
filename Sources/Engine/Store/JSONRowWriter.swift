/// Writes values straight into the bytes of their JSON, in the order in which they give their members. (Foundation's
/// encoder makes a tree of objects first, and a row is written while an answer waits.)
///
/// Containers end when the one around them goes on, so a value must be done with one before it goes on with another.
final class JSONRowWriter {
    private var bytes: [UInt8] = []
    /// What closes the containers that are open.
    private var ends: [UInt8] = []
    private var needsComma = false

    static func bytes(of value: some Encodable) throws -> [UInt8] {
        let writer = JSONRowWriter()
        writer.bytes.reserveCapacity(1024)
        try writer.write(value)
        writer.close(to: 0)
        return writer.bytes
    }

    /// What `body` writes by hand, as the members of one object.
    static func object(_ body: (JSONRowWriter) -> Void) -> [UInt8] {
        let writer = JSONRowWriter()
        writer.bytes.reserveCapacity(1024)
        writer.object(body)
        return writer.bytes
    }

    /// Begins an object or an array; gives how many are open with it.
    fileprivate func open(_ begin: Character, _ end: Character) -> Int {
        bytes.append(begin.asciiValue ?? 0)
        ends.append(end.asciiValue ?? 0)
        needsComma = false
        return ends.count
    }

    /// Begins the next element of the container that so many are open with.
    fileprivate func next(in depth: Int) {
        close(to: depth)
        if needsComma { bytes.append(UInt8(ascii: ",")) }
        needsComma = false
    }

    fileprivate func next(_ key: any CodingKey, in depth: Int) {
        next(in: depth)
        write(key.stringValue)
        bytes.append(UInt8(ascii: ":"))
    }

    fileprivate func write(_ value: some Encodable) throws {
        switch value {
        case let value as String: write(value)
        case let value as Bool: write(plain: value ? "true" : "false")
        case let value as Int64: write(plain: String(value))
        case let value as Double: try write(plain: text(of: value, value))
        case let value as Float: try write(plain: text(of: Double(value), value))
        case let value as any BinaryInteger: write(plain: String(value))
        default:
            let count = bytes.count
            try value.encode(to: Whole(writer: self))
            if bytes.count == count { _ = open("{", "}") }
        }
        needsComma = true
    }

    fileprivate func writeNull() {
        write(plain: "null")
        needsComma = true
    }

    private func close(to depth: Int) {
        while ends.count > depth {
            bytes.append(ends.removeLast())
            needsComma = true
        }
    }

    private func write(plain text: String) { bytes.append(contentsOf: text.utf8) }

    private func write(_ text: String) {
        var text = text
        bytes.append(UInt8(ascii: "\""))
        text.withUTF8 { text in
            if text.contains(where: { Self.isSpecial($0) }) {
                for byte in text { escape(byte) }
            } else {
                bytes.append(contentsOf: text)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private static func isSpecial(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }

    private func escape(_ byte: UInt8) {
        if byte < 0x20 {
            write(plain: byte < 0x10 ? "\\u000" : "\\u00")
            write(plain: String(byte, radix: 16))
        } else {
            if Self.isSpecial(byte) { bytes.append(UInt8(ascii: "\\")) }
            bytes.append(byte)
        }
    }

    private func text(of number: Double, _ value: some Encodable & LosslessStringConvertible) throws -> String
    {
        guard number.isFinite else {
            throw EncodingError.invalidValue(value, .init(codingPath: [], debugDescription: "no number"))
        }
        return String(value)
    }
}

// By hand.
extension JSONRowWriter {
    func object(_ key: StaticString, _ body: (JSONRowWriter) -> Void) {
        self.key(key)
        object(body)
    }

    func member(_ key: StaticString, _ value: String) {
        self.key(key)
        write(value)
        needsComma = true
    }

    func member(_ key: StaticString, _ value: Int64) {
        self.key(key)
        write(plain: String(value))
        needsComma = true
    }

    func member(_ key: StaticString, _ value: Bool) {
        self.key(key)
        write(plain: value ? "true" : "false")
        needsComma = true
    }

    func member(_ key: StaticString, _ values: [String]) {
        self.key(key)
        let depth = open("[", "]")
        for value in values {
            next(in: depth)
            write(value)
            needsComma = true
        }
        close(to: depth - 1)
    }

    private func object(_ body: (JSONRowWriter) -> Void) {
        let depth = open("{", "}")
        body(self)
        close(to: depth - 1)
    }

    private func key(_ key: StaticString) {
        next(in: ends.count)
        bytes.append(UInt8(ascii: "\""))
        key.withUTF8Buffer { bytes.append(contentsOf: $0) }
        write(plain: "\":")
    }
}

private struct Whole: Encoder {
    let writer: JSONRowWriter
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(Members<Key>(writer: writer, depth: writer.open("{", "}")))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        Elements(writer: writer, depth: writer.open("[", "]"))
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { Single(writer: writer) }
}

private struct Members<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let writer: JSONRowWriter
    let depth: Int
    var codingPath: [any CodingKey] { [] }

    func encodeNil(forKey key: Key) {
        writer.next(key, in: depth)
        writer.writeNull()
    }

    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
        writer.next(key, in: depth)
        try writer.write(value)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        writer.next(key, in: depth)
        return Whole(writer: writer).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        writer.next(key, in: depth)
        return Whole(writer: writer).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { Whole(writer: writer) }

    func superEncoder(forKey key: Key) -> any Encoder {
        writer.next(key, in: depth)
        return Whole(writer: writer)
    }
}

private struct Elements: UnkeyedEncodingContainer {
    let writer: JSONRowWriter
    let depth: Int
    var count = 0
    var codingPath: [any CodingKey] { [] }

    private mutating func next() {
        writer.next(in: depth)
        count += 1
    }

    mutating func encodeNil() {
        next()
        writer.writeNull()
    }

    mutating func encode<Value: Encodable>(_ value: Value) throws {
        next()
        try writer.write(value)
    }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) -> KeyedEncodingContainer<Nested> {
        next()
        return Whole(writer: writer).container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        next()
        return Whole(writer: writer).unkeyedContainer()
    }

    mutating func superEncoder() -> any Encoder {
        next()
        return Whole(writer: writer)
    }
}

private struct Single: SingleValueEncodingContainer {
    let writer: JSONRowWriter
    var codingPath: [any CodingKey] { [] }

    func encodeNil() { writer.writeNull() }

    func encode<Value: Encodable>(_ value: Value) throws { try writer.write(value) }
}
