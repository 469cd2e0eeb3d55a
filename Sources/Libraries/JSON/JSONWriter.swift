/// Writes compact JSON at the end of a byte array; commas are its care, values and keys in the right order are yours.
///
///     var writer = JSONWriter()
///     writer.object { writer in
///         writer.member("method", "message.ack")
///         writer.array("ids") { for id in ids { $0.value(id) } }
///     }
///     send(writer.bytes)
package struct JSONWriter {
    package private(set) var bytes: [UInt8]
    private var needsComma = false

    /// Goes on at the end of these bytes.
    package init(appendingTo bytes: consuming [UInt8] = []) { self.bytes = bytes }

    /// Starts over, in the same memory.
    package mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        needsComma = false
    }
}

// MARK: Objects and arrays

extension JSONWriter {
    package mutating func object<E>(_ body: (inout JSONWriter) throws(E) -> Void) throws(E) {
        open("{")
        try body(&self)
        close("}")
    }

    package mutating func array<E>(_ body: (inout JSONWriter) throws(E) -> Void) throws(E) {
        open("[")
        try body(&self)
        close("]")
    }

    /// A member whose value is an object.
    package mutating func object<E>(_ key: String, _ body: (inout JSONWriter) throws(E) -> Void) throws(E) {
        self.key(key)
        try object(body)
    }

    /// A member whose value is an array.
    package mutating func array<E>(_ key: String, _ body: (inout JSONWriter) throws(E) -> Void) throws(E) {
        self.key(key)
        try array(body)
    }

    /// The key of the member whose value is written next.
    package mutating func key(_ key: String) {
        value(key)
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }

    package mutating func member(_ key: String, _ value: String) {
        self.key(key)
        self.value(value)
    }

    package mutating func member(_ key: String, _ value: Int64) {
        self.key(key)
        self.value(value)
    }

    package mutating func member(_ key: String, _ value: Int) {
        self.key(key)
        self.value(Int64(value))
    }

    package mutating func member(_ key: String, _ value: Double) {
        self.key(key)
        self.value(value)
    }

    package mutating func member(_ key: String, _ value: Bool) {
        self.key(key)
        self.value(value)
    }

    package mutating func member(_ key: String, _ value: JSON) {
        self.key(key)
        self.value(value)
    }
}

// MARK: Values

extension JSONWriter {
    package mutating func null() {
        comma()
        append("null")
    }

    package mutating func value(_ value: Bool) {
        comma()
        append(value ? "true" : "false")
    }

    package mutating func value(_ value: Int) { self.value(Int64(value)) }

    package mutating func value(_ value: Int64) {
        comma()
        if value < 0 { bytes.append(UInt8(ascii: "-")) }
        let start = bytes.count
        var rest = value.magnitude
        repeat {
            bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10))
            rest /= 10
        } while rest > 0
        bytes[start...].reverse()
    }

    /// The shortest text that reads back as the same double; `null` for what JSON has no number for (not a number,
    /// infinity).
    package mutating func value(_ value: Double) {
        guard value.isFinite else { return null() }
        comma()
        bytes.append(contentsOf: value.description.utf8)
    }

    package mutating func value(_ value: String) {
        var value = value
        value.withUTF8 { string($0) }
    }

    package mutating func value(_ value: JSON) {
        switch value {
        case .null: null()
        case .bool(let value): self.value(value)
        case .int(let value): self.value(value)
        case .double(let value): self.value(value)
        case .string(let value): self.value(value)
        case .array(let values): array { for value in values { $0.value(value) } }
        case .object(let members): object { for (key, value) in members { $0.member(key, value) } }
        }
    }

    /// A value that is JSON text already; it is not looked at.
    package mutating func raw(_ json: some Sequence<UInt8>) {
        comma()
        bytes.append(contentsOf: json)
    }

    /// A string of these bytes, which must be valid UTF-8.
    package mutating func string(_ text: UnsafeBufferPointer<UInt8>) {
        comma()
        bytes.append(UInt8(ascii: "\""))
        // Nearly no text has anything to escape: one look at all of it, without branches, and one copy.
        if Self.hasToEscape(text) {
            escaped(text)
        } else {
            bytes.append(contentsOf: text)
        }
        bytes.append(UInt8(ascii: "\""))
    }
}

// MARK: Pieces

extension JSONWriter {
    private mutating func comma() {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
        needsComma = true
    }

    private mutating func open(_ bracket: Unicode.Scalar) {
        comma()
        bytes.append(UInt8(ascii: bracket))
        needsComma = false
    }

    private mutating func close(_ bracket: Unicode.Scalar) {
        bytes.append(UInt8(ascii: bracket))
        needsComma = true
    }

    private mutating func append(_ text: StaticString) {
        bytes.append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    private static func mustEscape(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }

    private static func hasToEscape(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        var found: UInt8 = 0
        for byte in text { found |= mustEscape(byte) ? 1 : 0 }
        return found != 0
    }

    private mutating func escaped(_ text: UnsafeBufferPointer<UInt8>) {
        var start = 0
        for index in text.indices where Self.mustEscape(text[index]) {
            bytes.append(contentsOf: text[start..<index])
            escape(text[index])
            start = index + 1
        }
        bytes.append(contentsOf: text[start...])
    }

    private mutating func escape(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""): append(#"\""#)
        case UInt8(ascii: "\\"): append(#"\\"#)
        case UInt8(ascii: "\n"): append(#"\n"#)
        case UInt8(ascii: "\r"): append(#"\r"#)
        case UInt8(ascii: "\t"): append(#"\t"#)
        default:
            append(#"\u00"#)
            for digit in [byte >> 4, byte & 15] {
                bytes.append(digit + (digit < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10))
            }
        }
    }
}
