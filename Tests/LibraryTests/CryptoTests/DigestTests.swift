import Crypto
import Testing

@Suite struct DigestTests {
    /// FIPS 180-4's examples.
    @Test(arguments: [
        (
            "", "da39a3ee5e6b4b0d3255bfef95601890afd80709",
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        ),
        (
            "abc", "a9993e364706816aba3e25717850c26c9cd0d89d",
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        ),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "84983e441c3bd26ebaae4aa1f95129e5e54670f1",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
    ])
    func `SHA-1 and SHA-256 of the standard's examples`(_ text: String, _ sha1: String, _ sha256: String) {
        #expect(Hex.encode(Digest.sha1(Array(text.utf8))) == sha1)
        #expect(Hex.encode(Digest.sha256(Array(text.utf8))) == sha256)
    }

    /// RFC 2202 and RFC 4231: a usual key, and one longer than a block.
    @Test(arguments: [
        (
            Array("Jefe".utf8), "what do ya want for nothing?", "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79",
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        ),
        (
            [UInt8](repeating: 0xAA, count: 131), "Test Using Larger Than Block-Size Key - Hash Key First",
            "90d0dace1c1bdc957339307803160335bde6df2b",
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        ),
        (
            [], "", "fbdb1d1b18aa6c08324b7d64b71fb76370690e1d",
            "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad"
        ),
    ])
    func `HMAC of the standards' examples`(_ key: [UInt8], _ text: String, _ sha1: String, _ sha256: String) {
        #expect(Hex.encode(HMAC.sha1(key: key, data: Array(text.utf8))) == sha1)
        #expect(Hex.encode(HMAC.sha256(key: key, data: Array(text.utf8))) == sha256)
    }

    @Test func `secrets are equal only when every byte is`() {
        #expect(constantTimeEqual([1, 2, 3], [1, 2, 3]))
        #expect(constantTimeEqual([UInt8](), []))
        #expect(constantTimeEqual("hunter2", "hunter2"))
        #expect(!constantTimeEqual([1, 2, 3], [1, 2, 4]))
        #expect(!constantTimeEqual([1, 2, 3], [1, 2]))
        #expect(!constantTimeEqual("hunter2", "Hunter2"))
    }

    @Test func `random bytes do not repeat`() {
        #expect(randomBytes(0).isEmpty)
        #expect(randomBytes(32).count == 32)
        #expect(Set((0..<100).map { _ in randomBytes(16) }).count == 100)
    }
}
