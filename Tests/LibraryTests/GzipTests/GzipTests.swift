import Gzip
import Testing

@Suite struct Gzips {
    /// `printf 'hello\n' | gzip -n`
    static let hello: [UInt8] = [
        0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x03, 0xcb, 0x48, 0xcd, 0xc9, 0xc9, 0xe7, 0x02,
        0x00, 0x20, 0x30, 0x3a, 0x36, 0x06, 0x00, 0x00, 0x00,
    ]

    @Test func `what gzip wrote is read`() throws {
        #expect(try Gzip.decompress(Self.hello, limit: 6) == Array("hello\n".utf8))
    }

    @Test(arguments: [0, 1, 100, 200_000])
    func `bytes come back as they were`(_ count: Int) throws {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 3) }
        #expect(try Gzip.decompress(Gzip.compress(bytes), limit: count) == bytes)
    }

    @Test func `damage is told from what is cut off and from what is too large`() {
        #expect(throws: Gzip.Failure.damaged) { try Gzip.decompress(Array("no gzip here".utf8), limit: 100) }
        #expect(throws: Gzip.Failure.damaged) { try Gzip.decompress(Self.hello + [0], limit: 100) }
        #expect(throws: Gzip.Failure.cut) { try Gzip.decompress(Array(Self.hello.dropLast(9)), limit: 100) }
        #expect(throws: Gzip.Failure.cut) { try Gzip.decompress([], limit: 100) }
        #expect(throws: Gzip.Failure.tooLarge) { try Gzip.decompress(Self.hello, limit: 5) }
        let bomb = Gzip.compress([UInt8](repeating: 0, count: 10_000_000))
        #expect(throws: Gzip.Failure.tooLarge) { try Gzip.decompress(bomb, limit: 100_000) }
    }
}
