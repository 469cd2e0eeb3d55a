import Crypto
import Testing

@Suite struct SealTests {
    let secret = Array("correct horse battery staple".utf8)
    let token = Array("refresh-token".utf8)

    @Test func `what is sealed opens with the same key at the same place only`() throws {
        let seal = try #require(Seal(secret: secret, purpose: "tokens"))
        let other = try #require(Seal(secret: secret, purpose: "cookies"))
        let sealed = seal.seal(token, context: "account lobby")
        #expect(try seal.open(sealed, context: "account lobby") == token)
        #expect(throws: SealError.self) { try seal.open(sealed, context: "account kitchen") }
        #expect(throws: SealError.self) { try seal.open(sealed) }
        #expect(throws: SealError.self) { try other.open(sealed, context: "account lobby") }
    }

    @Test func `nothing at all can be sealed too`() throws {
        let seal = try #require(Seal(key: [UInt8](repeating: 7, count: 32)))
        #expect(try seal.open(seal.seal([])) == [])
    }

    @Test func `no sealing is like another`() throws {
        let seal = try #require(Seal(key: [UInt8](repeating: 7, count: 32)))
        #expect(seal.seal(token) != seal.seal(token))
        #expect(seal.seal(token).count == token.count + 29)
    }

    @Test func `a single changed, missing or added bit is noticed`() throws {
        let seal = try #require(Seal(secret: secret, purpose: "tokens"))
        let sealed = seal.seal(token)
        for place in 0..<(sealed.count * 8) {
            var damaged = sealed
            damaged[place / 8] ^= 1 << (place % 8)
            #expect(throws: SealError.self) { try seal.open(damaged) }
        }
        for count in 0..<sealed.count {
            #expect(throws: SealError.self) { try seal.open(Array(sealed.prefix(count))) }
        }
        #expect(throws: SealError.self) { try seal.open(sealed + [0]) }
    }

    /// Sealed by OpenSSL through Python's cryptography: key 00…1f, nonce 00…0b, context "here".
    @Test func `what was sealed years ago still opens`() throws {
        let seal = try #require(Seal(key: Array(0..<32)))
        let sealed = try #require(
            Hex.decode("01000102030405060708090a0b3567b069a096aa36f92efceedf64f469585aae74f44cb80338d0cf7b72")
        )
        #expect(try seal.open(sealed, context: "here") == token)
    }

    @Test func `short keys are refused and keys never printed`() throws {
        #expect(Seal(key: [1, 2, 3]) == nil)
        #expect(Seal(secret: Array("short".utf8), purpose: "tokens") == nil)
        let seal = try #require(Seal(key: [UInt8](repeating: 0x5A, count: 32)))
        var dumped = ""
        dump(seal, to: &dumped)
        #expect("\(seal)" == "seal(…)")
        #expect(!dumped.contains("90"))
    }
}
