/// The head of an HTTP/1.1 answer: status and fields.
struct AnswerHead: Equatable {
    var status: Int
    var fields: [(name: String, value: String)]

    static func == (one: AnswerHead, other: AnswerHead) -> Bool {
        one.status == other.status && one.fields.elementsEqual(other.fields, by: ==)
    }

    static let limit = 32 << 10

    /// Reads a head that is whole; nil while its end has not come. `length` is how many bytes it takes.
    static func read(_ bytes: [UInt8]) throws(WebSocketError) -> (head: AnswerHead, length: Int)? {
        guard let length = end(of: bytes) else {
            if bytes.count > limit { throw bad("too long") }
            return nil
        }
        var lines = bytes[..<length].split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: true)
            .map { $0.last == UInt8(ascii: "\r") ? $0.dropLast() : $0 }
        while lines.last?.isEmpty == true { lines.removeLast() }
        guard let first = lines.first, lines.count <= 201 else { throw bad("too long") }
        let start = String(decoding: first, as: UTF8.self)
        let words = start.split(separator: " ", maxSplits: 2)
        guard words.count >= 2, words[0].hasPrefix("HTTP/1."), words[1].utf8.count == 3,
            let status = Int(words[1]), status >= 100
        else { throw bad("not HTTP") }
        var fields: [(name: String, value: String)] = []
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { throw bad("not HTTP") }
            let name = String(decoding: line[..<colon], as: UTF8.self)
            guard Handshake.isToken(name) else { throw bad("not HTTP") }
            let value = line[(colon + 1)...].drop { $0 == 0x20 || $0 == 0x09 }
            let length = value.reversed().drop { $0 == 0x20 || $0 == 0x09 }.count
            fields.append((name, String(decoding: value.prefix(length), as: UTF8.self)))
        }
        return (AnswerHead(status: status, fields: fields), length)
    }

    /// The first field of that name, however it is spelled.
    func field(_ name: String) -> String? {
        fields.first { $0.name.lowercased() == name.lowercased() }?.value
    }

    /// Where an empty line ends the head.
    private static func end(of bytes: [UInt8]) -> Int? {
        var lineIsEmpty = false
        for (index, byte) in bytes.enumerated() {
            if byte == UInt8(ascii: "\n") {
                if lineIsEmpty { return index + 1 }
                lineIsEmpty = true
            } else if byte != UInt8(ascii: "\r") {
                lineIsEmpty = false
            }
        }
        return nil
    }

    private static func bad(_ why: String) -> WebSocketError {
        WebSocketError(.protocolError, "the answer to the upgrade is \(why)")
    }
}
