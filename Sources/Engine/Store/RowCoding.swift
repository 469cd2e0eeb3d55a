internal import Chat
internal import FoundationEssentials

/// Writes the body of a row: numbers in as few bytes as they need, texts with their length.
struct RowWriter {
    private(set) var bytes: [UInt8] = []

    mutating func reserve(_ count: Int) { bytes.reserveCapacity(count) }

    mutating func number(_ number: Int64) {
        // Small negative numbers stay small, too.
        unsigned(UInt64(bitPattern: (number << 1) ^ (number >> 63)))
    }

    mutating func count(_ count: Int) { unsigned(UInt64(count)) }

    mutating func time(_ time: Timestamp?) {
        // 0 is nothing; everything else is shifted by one.
        guard let time else { return unsigned(0) }
        unsigned(1)
        number(time.milliseconds)
    }

    mutating func text(_ text: String) {
        var text = text
        text.withUTF8 {
            count($0.count)
            bytes.append(contentsOf: $0)
        }
    }

    /// One more than the count stands before them, so that 0 is nil.
    mutating func bytes(_ body: [UInt8]?) {
        guard let body else { return unsigned(0) }
        unsigned(UInt64(body.count) + 1)
        bytes.append(contentsOf: body)
    }

    private mutating func unsigned(_ number: UInt64) {
        var rest = number
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }
}

/// Reads what `RowWriter` wrote; nil where the bytes are something else.
struct RowReader {
    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    var isAtEnd: Bool { position >= bytes.count }

    mutating func number() -> Int64? {
        unsigned().map { Int64(bitPattern: $0 >> 1) ^ -Int64(bitPattern: $0 & 1) }
    }

    /// How many things follow; never more than there are bytes left.
    mutating func count() -> Int? {
        guard let number = unsigned(), number <= UInt64(bytes.count - position) else { return nil }
        return Int(number)
    }

    /// Twice optional: nil is broken, `.some(nil)` is no time.
    mutating func time() -> Timestamp?? {
        guard let flag = unsigned() else { return nil }
        if flag == 0 { return .some(nil) }
        return number().map { Timestamp(milliseconds: $0) }
    }

    mutating func text() -> String? {
        guard let count = count() else { return nil }
        defer { position += count }
        return String(decoding: bytes[position..<position + count], as: UTF8.self)
    }

    /// Twice optional: nil is broken, `.some(nil)` is none.
    mutating func bytesOrNil() -> [UInt8]?? {
        guard let number = unsigned(), number <= UInt64(bytes.count - position) + 1 else { return nil }
        if number == 0 { return .some(nil) }
        defer { position += Int(number) - 1 }
        return Array(bytes[position..<position + Int(number) - 1])
    }

    private mutating func unsigned() -> UInt64? {
        var number: UInt64 = 0
        var shift: UInt64 = 0
        while position < bytes.count, shift < 64 {
            let byte = bytes[position]
            position += 1
            number |= UInt64(byte & 0x7F) << shift
            if byte & 0x80 == 0 { return number }
            shift += 7
        }
        return nil
    }
}

/// Rows that are few and worth reading by eye are JSON.
package enum JSONRow {
    package static func body(of value: some Encodable) -> [UInt8] {
        // Only a number that JSON cannot write would throw, and no row has one.
        (try? JSONRowWriter.bytes(of: value)) ?? []
    }

    package static func value<Value: Decodable>(_ type: Value.Type, from body: [UInt8]) -> Value? {
        try? JSONDecoder().decode(type, from: Data(body))
    }
}
