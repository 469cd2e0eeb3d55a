import CSockets

/// The kinds of frame that RFC 6455 section 5.2 knows.
enum Opcode: UInt8 {
    case continuation = 0
    case text = 1
    case binary = 2
    case close = 8
    case ping = 9
    case pong = 10

    var isControl: Bool { rawValue >= 8 }
}

/// A frame that cannot be accepted, with the close code that says so to the peer.
struct FrameError: Error, Equatable {
    let code: UInt16
    let text: String

    init(_ code: UInt16, _ text: String) {
        self.code = code
        self.text = text
    }
}

/// Appends one whole frame. A client masks with four random bytes, a server passes nil.
func appendFrame(_ opcode: Opcode, _ payload: [UInt8], mask: UInt32?, to output: inout [UInt8]) {
    let masked: UInt8 = mask == nil ? 0 : 0x80
    output.append(0x80 | opcode.rawValue)
    switch payload.count {
    case ..<126:
        output.append(masked | UInt8(payload.count))
    case ..<65_536:
        output.append(masked | 126)
        output.append(UInt8(payload.count >> 8))
        output.append(UInt8(payload.count & 0xFF))
    default:
        output.append(masked | 127)
        for shift in stride(from: 56, through: 0, by: -8) {
            output.append(UInt8(truncatingIfNeeded: payload.count >> shift))
        }
    }
    guard let mask else {
        output.append(contentsOf: payload)
        return
    }
    for shift in stride(from: 0, to: 32, by: 8) { output.append(UInt8(truncatingIfNeeded: mask >> shift)) }
    let start = output.count
    output.append(contentsOf: payload)
    output.withUnsafeMutableBytes { bytes in
        let body = UnsafeMutableRawBufferPointer(rebasing: bytes[start...])
        sockets_mask(body.baseAddress, body.count, mask, 0)
    }
}

/// What a close frame carries; the reason is cut to what fits, at a character's border.
func closePayload(code: UInt16, reason: String) -> [UInt8] {
    var payload = [UInt8(code >> 8), UInt8(code & 0xFF)]
    for character in reason {
        let bytes = Array(String(character).utf8)
        if payload.count + bytes.count > 125 { break }
        payload += bytes
    }
    return payload
}

/// Codes that may appear in a close frame, RFC 6455 section 7.4 and the IANA registry.
func isCloseCode(_ code: UInt16) -> Bool {
    switch code {
    case 1000...1003, 1007...1014, 3000...4999: true
    default: false
    }
}

func isValidUTF8(_ bytes: [UInt8]) -> Bool {
    (try? UTF8Span(validating: bytes.span)) != nil
}
