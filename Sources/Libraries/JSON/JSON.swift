// For libm, which the conversion of a double to an integer calls.
internal import Glibc

/// A JSON value that owns what it holds.
///
/// Whole numbers of 64 signed bits are `int`, all other numbers `double`; the two never equal each other.
/// For hot paths read through `JSONReader` instead, which copies nothing until asked.
package enum JSON: Sendable, Equatable {
    case null
    case bool(Bool)
    case int(Int64)
    case double(Double)
    case string(String)
    case array([JSON])
    case object(JSONObject)

    /// How deep arrays and objects may nest in a document that is read: a bare value is 0, `[[1]]` is 2; an
    /// empty array or object at the bottom does not count.
    package static let maximumDepth = 64
}

extension JSON {
    /// A whole number; the nearest that 64 signed bits hold.
    package init(_ value: some BinaryInteger) { self = .int(Int64(clamping: value)) }

    /// Reads one document.
    package init(parsing bytes: UnsafeRawBufferPointer) throws(JSONError) {
        let reader = JSONReader()
        self = try reader.tree(bytes)
    }

    /// Reads one document.
    package init(parsing bytes: [UInt8]) throws(JSONError) {
        let result = bytes.withUnsafeBytes { bytes in
            Result { () throws(JSONError) in try JSON(parsing: bytes) }
        }
        self = try result.get()
    }

    /// Reads one document.
    package init(parsing text: String) throws(JSONError) {
        try self.init(parsing: Array(text.utf8))
    }

    /// The value as compact JSON text in UTF-8.
    package func bytes() -> [UInt8] {
        var writer = JSONWriter()
        writer.value(self)
        return writer.bytes
    }
}

extension JSON {
    /// The value under a key; nil when there is none or this is not an object.
    package subscript(key: String) -> JSON? { object?[key] }

    /// The value at a place; nil when there is none or this is not an array.
    package subscript(index: Int) -> JSON? {
        guard case .array(let values) = self, values.indices.contains(index) else { return nil }
        return values[index]
    }

    package var string: String? {
        guard case .string(let value) = self else { return nil }
        return value
    }

    /// A whole number that 64 signed bits hold, also if it was written as `1.0` or `1e3`.
    package var int: Int64? {
        switch self {
        case .int(let value): value
        case .double(let value): Int64(exactly: value)
        default: nil
        }
    }

    /// Any number, the nearest double to it.
    package var double: Double? {
        switch self {
        case .int(let value): Double(value)
        case .double(let value): value
        default: nil
        }
    }

    package var bool: Bool? {
        guard case .bool(let value) = self else { return nil }
        return value
    }

    package var array: [JSON]? {
        guard case .array(let value) = self else { return nil }
        return value
    }

    package var object: JSONObject? {
        guard case .object(let value) = self else { return nil }
        return value
    }

    package var isNull: Bool { self == .null }
}

extension JSON: CustomStringConvertible {
    /// Compact JSON text.
    package var description: String { String(decoding: bytes(), as: UTF8.self) }
}

extension JSON: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByStringInterpolation, ExpressibleByArrayLiteral,
    ExpressibleByDictionaryLiteral
{
    package init(nilLiteral: ()) { self = .null }
    package init(booleanLiteral value: Bool) { self = .bool(value) }
    package init(integerLiteral value: Int64) { self = .int(value) }
    package init(floatLiteral value: Double) { self = .double(value) }
    package init(stringLiteral value: String) { self = .string(value) }
    package init(arrayLiteral elements: JSON...) { self = .array(elements) }
    package init(dictionaryLiteral elements: (String, JSON)...) {
        self = .object(JSONObject(elements.lazy.map { (key: $0, value: $1) }))
    }
}
