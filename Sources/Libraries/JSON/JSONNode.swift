internal import CSimdjson

/// A value inside of the document that a `JSONReader` has parsed: two words, nothing copied until asked for.
///
/// Valid only inside of the closure that `read` called. A step (`node["key"]`) walks the members of one object; of a
/// key that comes twice the first counts.
package struct JSONNode {
    package enum Kind: Sendable { case null, bool, number, string, array, object }

    let raw: sj_node

    package var kind: Kind {
        switch Int(sj_kind(raw)) {
        case SJ_NULL: .null
        case SJ_BOOL: .bool
        case SJ_STRING: .string
        case SJ_ARRAY: .array
        case SJ_OBJECT: .object
        default: .number
        }
    }

    package var isNull: Bool { kind == .null }

    /// The value under a key; nil when there is none or this is not an object.
    package subscript(key: String) -> JSONNode? {
        var key = key
        return key.withUTF8 { key in
            var value = sj_node()
            return sj_find(raw, key.baseAddress, key.count, &value) ? JSONNode(raw: value) : nil
        }
    }

    /// The value at a place; nil when there is none or this is not an array. Walks all values before it.
    package subscript(index: Int) -> JSONNode? {
        guard index >= 0 else { return nil }
        return elements.dropFirst(index).first { _ in true }
    }

    /// A copy of the string.
    package var string: String? {
        utf8.map { String(decoding: $0, as: UTF8.self) }
    }

    /// The string's bytes in place, for as long as the node is valid; nil when this is not a string.
    package var utf8: UnsafeBufferPointer<UInt8>? {
        var start: UnsafePointer<UInt8>?
        var count = 0
        guard sj_string(raw, &start, &count) else { return nil }
        return UnsafeBufferPointer(start: start, count: count)
    }

    /// The string's bytes in place; nil when this is not a string.
    package func withUTF8<R>(_ body: (UnsafeBufferPointer<UInt8>) throws -> R) rethrows -> R? {
        guard let utf8 else { return nil }
        return try body(utf8)
    }

    /// Whether this is a string of just these bytes; nothing is copied.
    package func equals(_ text: String) -> Bool {
        guard let utf8 else { return false }
        var text = text
        return text.withUTF8 { utf8.elementsEqual($0) }
    }

    /// A whole number that 64 signed bits hold, also if it was written as `1.0` or `1e3`.
    package var int: Int64? {
        var value: Int64 = 0
        if sj_int(raw, &value) { return value }
        return double.flatMap { Int64(exactly: $0) }
    }

    /// Any number, the nearest double to it.
    package var double: Double? {
        var value = 0.0
        return sj_double(raw, &value) ? value : nil
    }

    package var bool: Bool? {
        var value = false
        return sj_bool(raw, &value) ? value : nil
    }

    /// A copy of the value and of all that is in it.
    package var json: JSON {
        switch Int(sj_kind(raw)) {
        case SJ_BOOL: .bool(bool ?? false)
        case SJ_INT: .int(int ?? 0)
        case SJ_UINT, SJ_DOUBLE: .double(double ?? 0)
        case SJ_STRING: .string(string ?? "")
        case SJ_ARRAY: .array(elements.map(\.json))
        case SJ_OBJECT: .object(JSONObject(members.lazy.map { (key: $0.key, value: $0.value.json) }))
        default: .null
        }
    }
}

extension JSONNode {
    /// The values of an array, in order; none when this is not an array.
    package var elements: Elements { Elements(of: kind == .array ? self : nil) }

    /// The members of an object, in the document's order, keys copied, those of a repeated key all of them; none when
    /// this is not an object.
    package var members: Members { Members(of: kind == .object ? self : nil) }

    package struct Elements: Sequence, IteratorProtocol {
        private var at = sj_node()
        private var end = sj_node()
        package let underestimatedCount: Int

        init(of node: JSONNode?) {
            underestimatedCount = node.map { sj_count($0.raw) } ?? 0
            if let node { _ = sj_begin(node.raw, &at, &end) }
        }

        package mutating func next() -> JSONNode? {
            guard at.index != end.index else { return nil }
            var value = sj_node()
            sj_next_value(&at, &value)
            return JSONNode(raw: value)
        }
    }

    package struct Members: Sequence, IteratorProtocol {
        private var at = sj_node()
        private var end = sj_node()
        package let underestimatedCount: Int

        init(of node: JSONNode?) {
            underestimatedCount = node.map { sj_count($0.raw) } ?? 0
            if let node { _ = sj_begin(node.raw, &at, &end) }
        }

        package mutating func next() -> (key: String, value: JSONNode)? {
            guard at.index != end.index else { return nil }
            var key: UnsafePointer<UInt8>?
            var count = 0
            var value = sj_node()
            sj_next_member(&at, &key, &count, &value)
            let bytes = UnsafeBufferPointer(start: key, count: count)
            return (key: String(decoding: bytes, as: UTF8.self), value: JSONNode(raw: value))
        }
    }
}
