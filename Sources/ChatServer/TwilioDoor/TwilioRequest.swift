internal import JSON

/// An HTTP request that came through the socket.
struct TwilioRequest: Sendable {
    var host: String
    var method: String
    /// The path's parts, decoded one by one: a slash inside a name stays inside.
    var path: [String]
    /// As in the path, still encoded, to say what was not found.
    var rawPath: String
    var parameters: [(name: String, value: String)]
    var headers: [(name: String, value: String)]
    var body: Body

    enum Body: Sendable, Equatable {
        case none
        case json(JSON)
        case form([String: String])
        case unreadable
    }

    func parameter(_ name: String) -> String? {
        parameters.first { $0.name == name }?.value
    }

    func header(_ name: String) -> String? {
        headers.first { $0.name.lowercased() == name }?.value
    }

    var json: JSON {
        if case .json(let json) = body { json } else { .null }
    }
}

extension TwilioRequest {
    /// From the `http_request` of a frame's header and its payload; nil when a part that must be there is missing.
    init?(_ request: JSONNode, payload: ArraySlice<UInt8>, type: String?) {
        guard let path = request["path"]?.string, let method = request["method"]?.string else { return nil }
        let cut = path.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        rawPath = String(cut[0])
        var parts: [String] = []
        for part in cut[0].split(separator: "/", omittingEmptySubsequences: false).dropFirst() {
            guard let decoded = percentDecoded(part) else { return nil }
            parts.append(decoded)
        }
        if parts.last == "" { parts.removeLast() }
        self.path = parts
        self.method = method.uppercased()
        host = request["host"]?.string ?? ""
        parameters = Self.pairs(request["params"]).map {
            ($0.name, percentDecoded($0.value[...]) ?? $0.value)
        }
        if cut.count > 1 { parameters += formFields(cut[1]) }
        headers = Self.pairs(request["headers"])
        body = Self.body(payload, type: type ?? "application/json")
    }

    /// A member's value is a string, or an array of strings.
    private static func pairs(_ node: JSONNode?) -> [(name: String, value: String)] {
        guard let node else { return [] }
        var pairs: [(name: String, value: String)] = []
        for (name, value) in node.members {
            if let text = value.string {
                pairs.append((name, text))
            } else if value.kind == .array {
                for value in value.elements { pairs.append((name, value.string ?? value.json.description)) }
            } else if !value.isNull {
                pairs.append((name, value.json.description))
            }
        }
        return pairs
    }

    private static func body(_ payload: ArraySlice<UInt8>, type: String) -> Body {
        guard !payload.isEmpty else { return .none }
        if type.lowercased().hasPrefix("application/x-www-form-urlencoded") {
            let fields = formFields(Substring(decoding: payload, as: UTF8.self))
            return .form(Dictionary(fields.map { ($0.name, $0.value) }) { first, _ in first })
        }
        guard let json = try? JSON(sent: Array(payload)) else { return .unreadable }
        return .json(json)
    }
}

/// The text with `%41` turned into `A`; nil when that is no UTF-8.
func percentDecoded(_ text: Substring, plusIsSpace: Bool = false) -> String? {
    guard text.utf8.contains(where: { $0 == UInt8(ascii: "%") || $0 == UInt8(ascii: "+") }) else {
        return String(text)
    }
    var bytes: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
        if byte == UInt8(ascii: "%") {
            guard rest.count >= 2,
                let code = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
            else { return nil }
            rest = rest.dropFirst(2)
            bytes.append(code)
        } else if byte == UInt8(ascii: "+"), plusIsSpace {
            bytes.append(UInt8(ascii: " "))
        } else {
            bytes.append(byte)
        }
    }
    return String(validating: bytes, as: UTF8.self)
}

/// The fields of a form or a query; those that cannot be decoded are left out.
func formFields(_ text: Substring) -> [(name: String, value: String)] {
    text.split(separator: "&").compactMap { field in
        let parts = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard let name = percentDecoded(parts[0], plusIsSpace: true),
            let value = parts.count > 1 ? percentDecoded(parts[1], plusIsSpace: true) : ""
        else { return nil }
        return (name, value)
    }
}

/// The text as one part of a path.
func percentEncoded(_ text: String) -> String {
    var encoded = ""
    for byte in text.utf8 {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            encoded.unicodeScalars.append(Unicode.Scalar(byte))
        default:
            let digits = String(byte, radix: 16, uppercase: true)
            encoded += "%" + (digits.count == 1 ? "0" : "") + digits
        }
    }
    return encoded
}
