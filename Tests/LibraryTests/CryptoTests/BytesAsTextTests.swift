import Crypto
import Testing

@Suite struct BytesAsTextTests {
    /// RFC 4648, section 10.
    @Test(arguments: [
        ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
        ("foobar", "Zm9vYmFy"),
    ])
    func `Base64 of the standard's examples`(_ text: String, _ encoded: String) {
        #expect(Base64.standard.encode(Array(text.utf8)) == encoded)
        #expect(Base64.standard.decode(encoded) == Array(text.utf8))
        let bare = String(encoded.prefix { $0 != "=" })
        #expect(Base64.url.encode(Array(text.utf8)) == bare)
        #expect(Base64.url.decode(bare) == Array(text.utf8))
    }

    @Test func `the last two letters differ in URLs`() {
        let bytes: [UInt8] = [0xFB, 0xEF, 0xFF]
        #expect(Base64.standard.encode(bytes) == "++//")
        #expect(Base64.url.encode(bytes) == "--__")
        #expect(Base64.standard.decode("--__") == nil)
        #expect(Base64.url.decode("++//") == nil)
    }

    @Test(arguments: [
        "Zg", "Zg=", "Zg===", "Z===", "====", "=", "Zh==", "Zm9=", "Zm9v\n", " Zm9v", "Zm=v", "Zmöv",
    ])
    func `Base64 that no encoder writes is refused`(_ text: String) {
        #expect(Base64.standard.decode(text) == nil)
    }

    @Test(arguments: ["Zg==", "Zm8=", "Z", "Zh", "Zm9vZ", "Zm 9v"])
    func `Base64 of URLs that no encoder writes is refused`(_ text: String) {
        #expect(Base64.url.decode(text) == nil)
    }

    @Test func `all bytes survive both ways`() {
        for count in 0..<260 {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ count) }
            #expect(Base64.standard.decode(Base64.standard.encode(bytes)) == bytes)
            #expect(Base64.url.decode(Base64.url.encode(bytes)) == bytes)
            #expect(Hex.decode(Hex.encode(bytes)) == bytes)
        }
    }

    @Test func `hexadecimal digits of either case, in pairs`() {
        #expect(Hex.encode([0, 0x0F, 0xA5, 0xFF]) == "000fa5ff")
        #expect(Hex.decode("000Fa5fF") == [0, 0x0F, 0xA5, 0xFF])
        for text in ["0", "0g", " 00", "é0", "0x00"] { #expect(Hex.decode(text) == nil) }
    }
}
