internal import JSON

/// One command as it goes over the line: four capital letters, a JSON object, a line break.
enum SendbirdFrame {
    /// What a client sent, cut at its line breaks; nil in place of what is no command.
    static func read(_ text: [UInt8]) -> [(code: String, fields: JSON)?] {
        text.split(separator: UInt8(ascii: "\n")).filter { !$0.allSatisfy { $0 == 32 || $0 == 13 } }.map {
            line in
            let code = line.prefix(4)
            guard code.count == 4, code.allSatisfy({ (65...90).contains($0) }),
                let fields = try? JSON(sent: Array(line.dropFirst(4))), fields.object != nil
            else { return nil }
            return (String(decoding: code, as: UTF8.self), fields)
        }
    }

    static func make(_ code: String, _ write: (inout JSONWriter) -> Void) -> [UInt8] {
        var writer = JSONWriter(appendingTo: Array(code.utf8))
        writer.object { write(&$0) }
        return writer.bytes + [UInt8(ascii: "\n")]
    }
}
