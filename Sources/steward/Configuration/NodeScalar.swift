internal import YAML

/// A single value. A wrong one is noted and replaced by a stand-in, so that reading can go on.
struct NodeScalar: SingleValueDecodingContainer {
    let decoder: NodeDecoder
    let codingPath: [any CodingKey] = []

    func decodeNil() -> Bool { decoder.node.isEmpty }

    func decode(_ type: Bool.Type) throws -> Bool {
        switch decoder.node.text {
        case "true": return true
        case "false": return false
        default: return wrong("is not a true/false", hint: "yes, no, on and off are text here", false)
        }
    }

    func decode(_ type: String.Type) throws -> String {
        guard let text = decoder.node.text else { return wrong("is not text", "") }
        if case .scalar(_, .plain) = decoder.node.kind, let first = text.first, "“”„‟‘’‚‛".contains(first) {
            return wrong("has quotes that YAML takes for text", hint: "use straight ones: \"…\"", "")
        }
        do {
            return try decoder.findings.resolve(text)
        } catch {
            decoder.findings.miss(error, at: decoder.node.place)
            return NodeDecoder.Findings.unreadText
        }
    }

    func decode(_ type: Double.Type) throws -> Double {
        guard let text = decoder.node.text, let number = Double(text), number.isFinite else {
            return wrong("is not a number", 0)
        }
        return number
    }

    func decode(_ type: Float.Type) throws -> Float { Float(try decode(Double.self)) }
    func decode(_ type: Int.Type) throws -> Int { integer() }
    func decode(_ type: Int8.Type) throws -> Int8 { integer() }
    func decode(_ type: Int16.Type) throws -> Int16 { integer() }
    func decode(_ type: Int32.Type) throws -> Int32 { integer() }
    func decode(_ type: Int64.Type) throws -> Int64 { integer() }
    func decode(_ type: UInt.Type) throws -> UInt { integer() }
    func decode(_ type: UInt8.Type) throws -> UInt8 { integer() }
    func decode(_ type: UInt16.Type) throws -> UInt16 { integer() }
    func decode(_ type: UInt32.Type) throws -> UInt32 { integer() }
    func decode(_ type: UInt64.Type) throws -> UInt64 { integer() }
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try decoder.value(of: type) }

    private func integer<Number: FixedWidthInteger>() -> Number {
        guard let text = decoder.node.text, let number = Number(text) else {
            return wrong("is not a whole number", 0)
        }
        return number
    }

    private func wrong<Value>(_ problem: String, hint: String? = nil, _ standIn: Value) -> Value {
        if !decoder.node.isUnreadable {
            decoder.findings.add("\(decoder.shown) \(problem)", at: decoder.node.place, hint: hint)
        }
        return standIn
    }
}
