internal import Gzip
internal import JSON
internal import WebSocket

/// What goes through the socket: four letters, a JSON object, a line feed. One message may hold several.
enum SendbirdCommand {
    /// The commands in a message, in order; `damage` is told of pieces that are none.
    static func each(
        in bytes: [UInt8], damage: (String) -> Void, _ body: (String, ArraySlice<UInt8>) -> Void
    ) {
        for piece in bytes.split(separator: UInt8(ascii: "\n")) {
            // JSON escapes line feeds, so each one ends a command; the last may lack it.
            let letters = piece.prefix(4)
            guard letters.count == 4, letters.allSatisfy({ (65...90).contains($0) }),
                piece.dropFirst(4).first == UInt8(ascii: "{")
            else {
                if piece.contains(where: { $0 > 32 }) { damage("\(piece.count) bytes that are no command") }
                continue
            }
            body(String(decoding: letters, as: UTF8.self), piece.dropFirst(4))
        }
    }

    static func bytes(_ letters: String, _ body: JSON) -> [UInt8] {
        var writer = JSONWriter(appendingTo: Array(letters.utf8))
        writer.value(body)
        return writer.bytes + [UInt8(ascii: "\n")]
    }

    /// The text of a message, which may come compressed.
    static func plain(_ message: SocketMessage) throws(Gzip.Failure) -> [UInt8] {
        guard case .binary(let bytes) = message, bytes.starts(with: [0x1F, 0x8B]) else {
            return message.bytes
        }
        return try Gzip.decompress(bytes, limit: 8 << 20)
    }
}

extension JSONNode {
    /// A whole number, or one written as text, as older traffic has it.
    var number: Int64? { int ?? string.flatMap { Int64($0) } }

    /// Text that says something: Sendbird does not tell an empty one from none.
    var words: String? { string.flatMap { $0.isEmpty ? nil : $0 } }

    /// True, or the number 1.
    var isOn: Bool { bool ?? (int == 1) }
}
