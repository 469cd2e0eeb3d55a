import CSockets

/// What a piece of input brought.
struct Arrivals {
    var messages: [SocketMessage] = []
    var bytes = 0
    /// The payload of the latest ping; only that one needs an answer.
    var ping: [UInt8]?
    /// The peer's goodbye; nothing after it is read.
    var close: (code: UInt16, reason: String)?

    var isEmpty: Bool { messages.isEmpty && ping == nil && close == nil }
}

/// Turns bytes as they come into messages. It keeps what is incomplete, never reserves what a header only promises,
/// and after an error or a close it must not be fed again.
struct FrameReader {
    /// Frames from a client must be masked, those from a server must not.
    let expectsMask: Bool
    /// Bytes of the largest message we take.
    let limit: Int

    private var head: [UInt8] = []
    private var frame: Frame?
    private var kind: Opcode?
    private var message: [UInt8] = []
    private var control: [UInt8] = []

    private struct Frame {
        var opcode: Opcode
        var isLast: Bool
        var length: Int
        var remaining: Int
        var mask: UInt32?
    }

    init(expectsMask: Bool, limit: Int) {
        self.expectsMask = expectsMask
        self.limit = limit
        head.reserveCapacity(14)
    }

    mutating func feed(_ input: UnsafeRawBufferPointer, _ arrivals: inout Arrivals) throws(FrameError) {
        var at = 0
        while arrivals.close == nil {
            if frame == nil {
                let needed = try headLength()
                if head.count < needed {
                    guard at < input.count else { return }
                    let count = min(needed - head.count, input.count - at)
                    head.append(contentsOf: input[at..<at + count])
                    at += count
                    continue
                }
                frame = try readHead()
                head.removeAll(keepingCapacity: true)
            }
            guard let current = frame else { return }
            let count = min(current.remaining, input.count - at)
            if count > 0 {
                append(UnsafeRawBufferPointer(rebasing: input[at..<at + count]), of: current)
                at += count
                frame?.remaining -= count
            }
            guard count == current.remaining else { return }
            frame = nil
            try finish(current, &arrivals)
        }
    }

    /// How many bytes the head has, as far as its first bytes tell.
    private func headLength() throws(FrameError) -> Int {
        guard head.count >= 2 else { return 2 }
        let length =
            switch head[1] & 0x7F {
            case 126: 4
            case 127: 10
            default: 2
            }
        // Refused before more is read: the rest of such a frame may never come.
        if head.count == 2 { try check(head[0], head[1]) }
        return length + (expectsMask ? 4 : 0)
    }

    private func check(_ first: UInt8, _ second: UInt8) throws(FrameError) {
        guard first & 0x70 == 0 else { throw FrameError(1002, "a reserved bit is set") }
        guard let opcode = Opcode(rawValue: first & 0x0F) else {
            throw FrameError(1002, "unknown opcode \(first & 0x0F)")
        }
        guard (second & 0x80 != 0) == expectsMask else {
            throw FrameError(1002, expectsMask ? "a frame is not masked" : "a frame is masked")
        }
        switch opcode {
        case .close, .ping, .pong:
            guard first & 0x80 != 0 else { throw FrameError(1002, "a control frame is in pieces") }
            guard second & 0x7F < 126 else { throw FrameError(1002, "a control frame is too long") }
        case .continuation:
            guard kind != nil else { throw FrameError(1002, "nothing to continue") }
        case .text, .binary:
            guard kind == nil else { throw FrameError(1002, "a message begins inside another") }
        }
    }

    private func readHead() throws(FrameError) -> Frame {
        let short = Int(head[1] & 0x7F)
        var length = UInt64(short)
        var maskAt = 2
        if short == 126 {
            length = UInt64(head[2]) << 8 | UInt64(head[3])
            maskAt = 4
            guard length >= 126 else { throw FrameError(1002, "a length is not in its shortest form") }
        } else if short == 127 {
            length = head[2..<10].reduce(0) { $0 << 8 | UInt64($1) }
            maskAt = 10
            guard length < 1 << 63 else { throw FrameError(1002, "a length is too large") }
            guard length >= 65_536 else { throw FrameError(1002, "a length is not in its shortest form") }
        }
        guard let opcode = Opcode(rawValue: head[0] & 0x0F) else { throw FrameError(1002, "unknown opcode") }
        let held = opcode.isControl ? 0 : UInt64(message.count)
        guard length <= UInt64(limit), held + length <= UInt64(limit) else {
            throw FrameError(1009, "a message is larger than \(limit) bytes")
        }
        return Frame(
            opcode: opcode, isLast: head[0] & 0x80 != 0, length: Int(length), remaining: Int(length),
            mask: expectsMask ? head[maskAt..<maskAt + 4].reversed().reduce(0) { $0 << 8 | UInt32($1) } : nil)
    }

    private mutating func append(_ piece: UnsafeRawBufferPointer, of frame: Frame) {
        if frame.opcode.isControl {
            Self.append(piece, of: frame, to: &control)
        } else {
            Self.append(piece, of: frame, to: &message)
        }
    }

    private static func append(_ piece: UnsafeRawBufferPointer, of frame: Frame, to target: inout [UInt8]) {
        let start = target.count
        target.append(contentsOf: piece)
        guard let mask = frame.mask else { return }
        target.withUnsafeMutableBytes { bytes in
            let new = UnsafeMutableRawBufferPointer(rebasing: bytes[start...])
            sockets_mask(new.baseAddress, new.count, mask, frame.length - frame.remaining)
        }
    }

    private mutating func finish(_ frame: Frame, _ arrivals: inout Arrivals) throws(FrameError) {
        if frame.opcode.isControl {
            let payload = control
            control = []
            switch frame.opcode {
            case .ping: arrivals.ping = payload
            case .close: arrivals.close = try goodbye(payload)
            default: break
            }
            return
        }
        if frame.opcode != .continuation { kind = frame.opcode }
        guard frame.isLast, let whole = kind else { return }
        let bytes = message
        message = []
        kind = nil
        if whole == .text, !isValidUTF8(bytes) { throw FrameError(1007, "a text is not UTF-8") }
        arrivals.messages.append(whole == .text ? .text(bytes) : .binary(bytes))
        arrivals.bytes += bytes.count
    }

    private func goodbye(_ payload: [UInt8]) throws(FrameError) -> (UInt16, String) {
        guard !payload.isEmpty else { return (1005, "") }
        guard payload.count >= 2 else { throw FrameError(1002, "a close frame has half a code") }
        let code = UInt16(payload[0]) << 8 | UInt16(payload[1])
        guard isCloseCode(code) else { throw FrameError(1002, "close code \(code) is not to be sent") }
        let reason = Array(payload[2...])
        guard isValidUTF8(reason) else { throw FrameError(1007, "a close reason is not UTF-8") }
        return (code, String(decoding: reason, as: UTF8.self))
    }
}
