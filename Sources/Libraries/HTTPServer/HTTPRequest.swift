/// A request, whole.
package struct HTTPRequest: Sendable {
    package let method: String
    /// As it came, still percent-encoded; starts with "/", or is "*".
    package let path: String
    /// Names and values in order, decoded.
    package let query: [(name: String, value: String)]
    /// Fields in order.
    package let headers: [(name: String, value: String)]
    package let body: [UInt8]
    /// The client: `address:port`.
    package let remote: String

    package init(
        method: String, target: String, headers: [(name: String, value: String)] = [], body: [UInt8] = [],
        remote: String = ""
    ) {
        self.method = method
        self.headers = headers
        self.body = body
        self.remote = remote
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        path = parts.first.map(String.init) ?? "/"
        query = parts.count > 1 ? Self.pairs(parts[1]) : []
    }

    /// The first field of that name, however it is spelled.
    package func header(_ name: String) -> String? {
        let lower = name.lowercased()
        return headers.first { $0.name.lowercased() == lower }?.value
    }

    /// The first value of that name in the query.
    package func parameter(_ name: String) -> String? {
        query.first { $0.name == name }?.value
    }

    /// The path's parts, decoded one by one, so that an encoded slash stays inside its part.
    package var segments: [String] {
        path.split(separator: "/", omittingEmptySubsequences: true).map {
            Self.decoded($0, plusIsSpace: false)
        }
    }

    /// The body read as a form (`application/x-www-form-urlencoded`).
    package var form: [(name: String, value: String)] {
        Self.pairs(Substring(String(decoding: body, as: UTF8.self)))
    }

    private static func pairs(_ text: Substring) -> [(name: String, value: String)] {
        text.split(separator: "&").map { pair in
            let sides = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return (
                decoded(sides[0], plusIsSpace: true),
                sides.count > 1 ? decoded(sides[1], plusIsSpace: true) : ""
            )
        }
    }

    /// Percent signs that are not followed by two digits stand for themselves.
    private static func decoded(_ text: Substring, plusIsSpace: Bool) -> String {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), rest.count >= 2,
                let value = UInt8(String(Substring(rest.prefix(2))), radix: 16),
                rest.prefix(2).allSatisfy({ $0 != UInt8(ascii: "+") && $0 != UInt8(ascii: "-") })
            {
                bytes.append(value)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(plusIsSpace && byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
