import Crypto

/// The upgrade from HTTP, RFC 6455 section 4.
package enum Handshake {
    /// What a server answers to a client's `Sec-WebSocket-Key`; nil when that is not 16 bytes in base64.
    package static func accept(key: String) -> String? {
        guard Base64.standard.decode(key)?.count == 16 else { return nil }
        let text = key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
        return Base64.standard.encode(Digest.sha1(Array(text.utf8)))
    }

    /// The elements of a comma-separated field.
    package static func elements(_ field: String) -> [String] {
        field.split(separator: ",").map { element in
            String(
                element.drop { $0 == " " || $0 == "\t" }.reversed().drop { $0 == " " || $0 == "\t" }
                    .reversed())
        }
    }

    /// 16 random bytes.
    static func newKey() -> String {
        var random = SystemRandomNumberGenerator()
        return Base64.standard.encode((0..<16).map { _ in random.next() })
    }

    /// The client's request. Throws when a header or subprotocol cannot stand in one.
    static func request(
        _ address: SocketAddress, key: String, headers: [(String, String)], subprotocols: [String]
    ) throws(WebSocketError) -> [UInt8] {
        var text = "GET \(address.target) HTTP/1.1\r\n"
        var fields = [
            ("Host", address.hostField), ("Upgrade", "websocket"), ("Connection", "Upgrade"),
            ("Sec-WebSocket-Key", key), ("Sec-WebSocket-Version", "13"),
        ]
        for name in subprotocols where !isToken(name) {
            throw WebSocketError(.invalid, "\"\(name)\" cannot be a subprotocol")
        }
        if !subprotocols.isEmpty {
            fields.append(("Sec-WebSocket-Protocol", subprotocols.joined(separator: ", ")))
        }
        for (name, value) in headers {
            // Values are often secrets, so only the name is told.
            guard isToken(name), value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else {
                throw WebSocketError(.invalid, "the header \"\(name)\" holds a character it must not")
            }
            if let own = fields.firstIndex(where: { $0.0.lowercased() == name.lowercased() }) {
                guard own == 0 else {
                    throw WebSocketError(.invalid, "the header \"\(name)\" belongs to the handshake")
                }
                fields[own].1 = value
            } else {
                fields.append((name, value))
            }
        }
        for (name, value) in fields { text += "\(name): \(value)\r\n" }
        return Array((text + "\r\n").utf8)
    }

    /// A name as RFC 9110 section 5.6.2 allows it.
    static func isToken(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                    UInt8(ascii: "A")...UInt8(ascii: "Z"):
                    true
                default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
                }
            }
    }

    /// Checks a server's answer; the subprotocol it chose.
    static func check(
        _ answer: AnswerHead, key: String, subprotocols: [String], name: String
    ) throws(WebSocketError) -> String? {
        guard answer.status == 101 else {
            let seconds = answer.field("Retry-After").flatMap { Int($0) }
            throw WebSocketError(
                .refused(status: answer.status), "\(name) answered \(answer.status) instead of a WebSocket",
                retryAfter: seconds.flatMap { $0 >= 0 ? .seconds($0) : nil })
        }
        func bad(_ what: String) -> WebSocketError { WebSocketError(.protocolError, "\(name) \(what)") }
        guard answer.field("Upgrade")?.lowercased() == "websocket",
            elements(answer.field("Connection") ?? "").contains(where: { $0.lowercased() == "upgrade" })
        else { throw bad("answered 101 but did not switch to WebSocket") }
        guard let accepted = answer.field("Sec-WebSocket-Accept"), accepted == accept(key: key) else {
            throw bad("answered another client's key")
        }
        guard answer.field("Sec-WebSocket-Extensions") == nil else {
            throw bad("chose an extension that was not offered")
        }
        guard let chosen = answer.field("Sec-WebSocket-Protocol") else { return nil }
        guard subprotocols.contains(chosen) else { throw bad("chose a subprotocol that was not offered") }
        return chosen
    }
}
