internal import CCrypto

/// Hashes of bytes.
package enum Digest {
    /// 20 bytes. Broken as a hash; for protocols that ask for it, such as the WebSocket handshake.
    package static func sha1(_ bytes: [UInt8]) -> [UInt8] { digest(EVP_sha1(), of: bytes, count: 20) }

    /// 32 bytes.
    package static func sha256(_ bytes: [UInt8]) -> [UInt8] { digest(EVP_sha256(), of: bytes, count: 32) }

    private static func digest(_ kind: OpaquePointer?, of bytes: [UInt8], count: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { out, written in
            let done = EVP_Digest(bytes, bytes.count, out.baseAddress, nil, kind, nil)
            precondition(done == 1, "libcrypto has no memory or not this digest")
            written = count
        }
    }
}

/// Hashes of bytes that only who has the key can make.
package enum HMAC {
    /// 20 bytes.
    package static func sha1(key: [UInt8], data: [UInt8]) -> [UInt8] {
        code(EVP_sha1(), key: key, data: data, count: 20)
    }

    /// 32 bytes.
    package static func sha256(key: [UInt8], data: [UInt8]) -> [UInt8] {
        code(EVP_sha256(), key: key, data: data, count: 32)
    }

    private static func code(_ kind: OpaquePointer?, key: [UInt8], data: [UInt8], count: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { out, written in
            let done = crypto_hmac(kind, key, Int32(key.count), data, data.count, out.baseAddress)
            precondition(done == 1, "libcrypto has no memory or not this digest")
            written = count
        }
    }
}

/// Whether the bytes are the same, found out in a time that tells nothing about where they differ. The count is no
/// secret.
package func constantTimeEqual(_ one: [UInt8], _ other: [UInt8]) -> Bool {
    one.count == other.count && CRYPTO_memcmp(one, other, one.count) == 0
}

/// Whether the texts are the same bytes, in constant time.
package func constantTimeEqual(_ one: String, _ other: String) -> Bool {
    constantTimeEqual(Array(one.utf8), Array(other.utf8))
}

/// Bytes that nobody can guess.
package func randomBytes(_ count: Int) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: count) { out, written in
        // Without randomness every token would be open to guessing: better to stop.
        precondition(RAND_bytes(out.baseAddress, Int32(count)) == 1, "the system gives no random bytes")
        written = count
    }
}
