internal import Chat

extension ActionKey {
    /// The key of an action: 128 bits of SipHash-2-4 over realm, event, rule and path, as hexadecimal digits. It must
    /// never change between versions: it is how an action is found again after a restart.
    package init(realm: String, event: String, by: String, path: String) {
        self.init(text: stableHash(realm, event, by, path))
    }
}

/// 32 hexadecimal digits that stand for these texts, the same in every process.
func stableHash(_ texts: String...) -> String {
    var hash = SipHash128()
    for text in texts {
        for byte in text.utf8 { hash.add(byte) }
        // 0xFF is in no UTF-8 text, so "ab", "c" and "a", "bc" differ.
        hash.add(0xFF)
    }
    return hash.finish()
}

/// SipHash-2-4 with 128 bits of result and a key of zeros (Aumasson and Bernstein's reference code).
private struct SipHash128 {
    private var v0: UInt64 = 0x736f_6d65_7073_6575
    private var v1: UInt64 = 0x646f_7261_6e64_6f6d ^ 0xee
    private var v2: UInt64 = 0x6c79_6765_6e65_7261
    private var v3: UInt64 = 0x7465_6462_7974_6573
    private var tail: UInt64 = 0
    private var count: UInt64 = 0

    mutating func add(_ byte: UInt8) {
        tail |= UInt64(byte) << ((count & 7) * 8)
        count += 1
        if count & 7 == 0 {
            compress(tail)
            tail = 0
        }
    }

    mutating func finish() -> String {
        compress(tail | (count << 56))
        v2 ^= 0xee
        for _ in 0..<4 { round() }
        let first = v0 ^ v1 ^ v2 ^ v3
        v1 ^= 0xdd
        for _ in 0..<4 { round() }
        return hexadecimal(first) + hexadecimal(v0 ^ v1 ^ v2 ^ v3)
    }

    private mutating func compress(_ word: UInt64) {
        v3 ^= word
        round()
        round()
        v0 ^= word
    }

    private mutating func round() {
        v0 &+= v1
        v2 &+= v3
        v1 = (v1 << 13 | v1 >> 51) ^ v0
        v3 = (v3 << 16 | v3 >> 48) ^ v2
        v0 = v0 << 32 | v0 >> 32
        v2 &+= v1
        v0 &+= v3
        v1 = (v1 << 17 | v1 >> 47) ^ v2
        v3 = (v3 << 21 | v3 >> 43) ^ v0
        v2 = v2 << 32 | v2 >> 32
    }

    private func hexadecimal(_ word: UInt64) -> String {
        // The reference writes the least significant byte first.
        let digits = String(word.byteSwapped, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
