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
    /// The request line's target, as it came.
    private let target: String

    package init(
        method: String, target: String, headers: [(name: String, value: String)] = [], body: [UInt8] = [],
        remote: String = ""
    ) {
        self.method = method
        self.headers = headers
        self.body = body
        self.remote = remote
        self.target = target
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

    /// The first name of the query, or of the form that a body claims to be, whose value is no UTF-8; decoding puts
    /// U+FFFD in its place. Nil when all can be read.
    package var unreadable: String? {
        let query = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false).dropFirst()
        let isForm =
            header("Content-Type")?.lowercased().hasPrefix("application/x-www-form-urlencoded") ?? false
        for fields in query.map({ Array($0.utf8) }) + (isForm ? [body] : []) {
            for field in fields.split(separator: UInt8(ascii: "&")) {
                let sides = field.split(
                    separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
                for side in sides where !Self.isReadable(side) {
                    return Self.decoded(Substring(decoding: sides[0], as: UTF8.self), plusIsSpace: true)
                }
            }
        }
        return nil
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

    private static func decoded(_ text: Substring, plusIsSpace: Bool) -> String {
        String(decoding: bytes(text.utf8, plusIsSpace: plusIsSpace), as: UTF8.self)
    }

    /// Percent signs that are not followed by two digits stand for themselves.
    private static func bytes(_ text: some Collection<UInt8>, plusIsSpace: Bool) -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = text[...]
        while let byte = rest.popFirst() {
            let digits = rest.prefix(2)
            if byte == UInt8(ascii: "%"), digits.count == 2, let high = value(of: digits.first),
                let low = value(of: digits.dropFirst().first)
            {
                bytes.append(high << 4 | low)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(plusIsSpace && byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
            }
        }
        return bytes
    }

    /// What came as raw bytes that are no UTF-8 has been read as U+FFFD already.
    private static func isReadable(_ side: ArraySlice<UInt8>) -> Bool {
        String(validating: bytes(side, plusIsSpace: true), as: UTF8.self) != nil
            && String(validating: side, as: UTF8.self)?.unicodeScalars.contains("\u{FFFD}") == false
    }

    private static func value(of digit: UInt8?) -> UInt8? {
        switch digit {
        case let digit? where (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit):
            digit - UInt8(ascii: "0")
        case let digit? where (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(digit | 0x20):
            (digit | 0x20) - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}
