import Seeds
import Testing

@testable import WebSocket

/// All that a reader makes of bytes, or the mistake it finds.
private func read(
    _ bytes: [UInt8], masked: Bool = false, limit: Int = 1 << 20, piece: Int = .max
) -> Result<Arrivals, FrameError> {
    var reader = FrameReader(expectsMask: masked, limit: limit)
    var arrivals = Arrivals()
    var at = 0
    do throws(FrameError) {
        while at < bytes.count, arrivals.close == nil {
            let end = piece < bytes.count - at ? at + piece : bytes.count
            let part = Array(bytes[at..<end])
            at = end
            var failure: FrameError?
            part.withUnsafeBytes { part in
                do throws(FrameError) { try reader.feed(part, &arrivals) } catch { failure = error }
            }
            if let failure { throw failure }
        }
        return .success(arrivals)
    } catch {
        return .failure(error)
    }
}

private func failure(_ bytes: [UInt8], masked: Bool = false, limit: Int = 1 << 20) -> FrameError? {
    if case .failure(let error) = read(bytes, masked: masked, limit: limit) { error } else { nil }
}

private func frame(_ opcode: Opcode, _ payload: [UInt8], mask: UInt32? = nil) -> [UInt8] {
    var output: [UInt8] = []
    appendFrame(opcode, payload, mask: mask, to: &output)
    return output
}

@Suite struct Frames {
    // The examples of RFC 6455 section 5.7.
    @Test func `frames are written byte for byte as the standard shows them`() {
        #expect(frame(.text, Array("Hello".utf8)) == [0x81, 0x05, 0x48, 0x65, 0x6C, 0x6C, 0x6F])
        let mask: UInt32 = 0x3D21_FA37
        #expect(
            frame(.text, Array("Hello".utf8), mask: mask)
                == [0x81, 0x85, 0x37, 0xFA, 0x21, 0x3D, 0x7F, 0x9F, 0x4D, 0x51, 0x58])
        #expect(frame(.ping, Array("Hello".utf8)) == [0x89, 0x05, 0x48, 0x65, 0x6C, 0x6C, 0x6F])
        let middle = [UInt8](repeating: 7, count: 256)
        #expect(frame(.binary, middle) == [0x82, 0x7E, 0x01, 0x00] + middle)
        let large = [UInt8](repeating: 7, count: 65_536)
        #expect(frame(.binary, large) == [0x82, 0x7F, 0, 0, 0, 0, 0, 1, 0, 0] + large)
        #expect(frame(.binary, [UInt8](repeating: 7, count: 125)).prefix(2) == [0x82, 125])
        #expect(frame(.binary, [UInt8](repeating: 7, count: 65_535)).prefix(4) == [0x82, 126, 0xFF, 0xFF])
    }

    @Test(arguments: [1, 2, 3, 7, 64, Int.max])
    func `messages are read however the bytes are cut`(_ piece: Int) throws {
        let long = (0..<70_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        var bytes = frame(.text, Array("Grüße".utf8), mask: 0xA1B2_C3D4)
        bytes +=
            [0x01, 0x83, 1, 2, 3, 4] + [UInt8(ascii: "a") ^ 1, UInt8(ascii: "b") ^ 2, UInt8(ascii: "c") ^ 3]
        bytes += frame(.ping, [9, 9], mask: 5)
        bytes += [0x80, 0x81, 1, 2, 3, 4, UInt8(ascii: "d") ^ 1]
        bytes += frame(.binary, long, mask: 0xFFEE_DDCC) + frame(.binary, [], mask: 1)
        bytes += frame(.close, closePayload(code: 4001, reason: "enough"), mask: 77) + [0xFF, 0xFF, 0xFF]
        let arrivals = try read(bytes, masked: true, piece: piece).get()
        #expect(
            arrivals.messages
                == [.text(Array("Grüße".utf8)), .text(Array("abcd".utf8)), .binary(long), .binary([])])
        #expect(arrivals.ping == [9, 9])
        #expect(arrivals.close?.code == 4001)
        #expect(arrivals.close?.reason == "enough")
    }

    @Test(
        arguments: [
            ([0xC1, 0x00], 1002, "a reserved bit is set"),
            ([0x83, 0x00], 1002, "unknown opcode 3"),
            ([0x81, 0x80, 1, 2, 3, 4], 1002, "a frame is masked"),
            ([0x09, 0x00], 1002, "a control frame is in pieces"),
            ([0x89, 0x7E, 0x00, 0x7E], 1002, "a control frame is too long"),
            ([0x80, 0x00], 1002, "nothing to continue"),
            ([0x01, 0x00, 0x81, 0x00], 1002, "a message begins inside another"),
            ([0x82, 0x7E, 0x00, 0x05], 1002, "a length is not in its shortest form"),
            ([0x82, 0x7F, 0, 0, 0, 0, 0, 0, 1, 0], 1002, "a length is not in its shortest form"),
            ([0x82, 0x7F, 0x80, 0, 0, 0, 0, 0, 0, 0], 1002, "a length is too large"),
            (
                [0x82, 0x7F, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], 1009,
                "a message is larger than 1048576 bytes"
            ),
            ([0x81, 0x02, 0xC3, 0x28], 1007, "a text is not UTF-8"),
            ([0x88, 0x01, 0x03], 1002, "a close frame has half a code"),
            ([0x88, 0x02, 0x03, 0xED], 1002, "close code 1005 is not to be sent"),
            ([0x88, 0x03, 0x03, 0xE8, 0xFF], 1007, "a close reason is not UTF-8"),
        ] as [([UInt8], UInt16, String)])
    func `a bad frame is named and has its close code`(_ bytes: [UInt8], _ code: UInt16, _ text: String) {
        #expect(failure(bytes) == FrameError(code, text))
    }

    @Test func `a server takes masked frames only`() {
        #expect(failure([0x81, 0x00], masked: true) == FrameError(1002, "a frame is not masked"))
    }

    @Test func `pieces count together against the limit`() {
        let piece = [0x02, 0x7E, 0x03, 0xE8] + [UInt8](repeating: 1, count: 1_000)
        let next = [0x00, 0x7E, 0x03, 0xE8] + [UInt8](repeating: 1, count: 1_000)
        #expect(failure(piece + next, limit: 2_000) == nil)
        #expect(
            failure(piece + next, limit: 1_999) == FrameError(1009, "a message is larger than 1999 bytes"))
    }

    @Test func `a close reason is cut at a letter's border`() {
        let payload = closePayload(code: 1000, reason: String(repeating: "ü", count: 100))
        #expect(payload.count == 124)
        #expect(isValidUTF8(Array(payload[2...])))
    }

    @Test func `damaged frames never trap and never hold more than they brought`() {
        var dice = SeededRandom(seed: 99)
        let seeds = [
            frame(.text, Array("hello".utf8), mask: 3) + frame(.ping, [1], mask: 9),
            [0x01, 0x81, 0, 0, 0, 0, 0x61] + frame(.pong, [], mask: 2) + [0x80, 0x81, 0, 0, 0, 0, 0x62],
            frame(.binary, [UInt8](repeating: 4, count: 300), mask: 0x0102_0304),
            frame(.close, closePayload(code: 1000, reason: "bye"), mask: 4),
        ]
        for _ in 0..<5_000 {
            var bytes = seeds[Int(dice.next() % UInt64(seeds.count))]
            for _ in 0...dice.next() % 4 {
                bytes[Int(dice.next() % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: dice.next())
            }
            let piece = Int(dice.next() % 20 + 1)
            guard case .success(let arrivals) = read(bytes, masked: true, piece: piece) else { continue }
            #expect(arrivals.bytes <= bytes.count)
        }
    }
}
